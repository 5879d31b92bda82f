# The bench inside a bench image: stimulus, time, faults. A release image has
# none of these files.
import sys

from bench.world import World
from hal.power import restart
from link.frame import Refused

CAPABILITIES = ["bench", "plant", "advance", "calendar", "store_fault"]
_ADVANCE_MAX = 10000


def plant(boot, device):
    name = "bench.plant." + device.replace("-", "_")
    __import__(name)
    return World(sys.modules[name].Plant(), boot)


# The files that the store writes through; a fault for this very start is armed before anything is written.
def files(plain, boot, world):
    return faulty(plain, boot, int(world.fault[0]), world.fault[1]) if world.fault else plain


def faulty(plain, boot, at, how):
    from bench.faults import FaultyFiles

    return FaultyFiles(plain, boot, at, how)


def ops(machine):
    rig = Rig(machine)
    table = {name: getattr(rig, "_" + name) for name in Rig.OPS}
    for name in machine.sensors.plant.OPS:
        table[name] = rig.stimulate
    return table


class Rig:
    OPS = ("plant", "advance", "calendar", "store_fault", "store", "restart", "damage", "crash")

    def __init__(self, machine):
        self.machine = machine

    # The device has seen what a person did before the reply says that it is done.
    def stimulate(self, request):
        world = self.machine.sensors
        getattr(world.plant, "_op_" + request["do"])(request)
        world.save()
        self.machine.turn(self.machine.clock.now())
        return {}

    def _plant(self, request):
        return self.machine.sensors.plant.truth()

    # Time passes event by event, never in one jump over what would have
    # happened; ports and link keep real time.
    def _advance(self, request):
        ms = int(request["ms"])
        if not 0 <= ms <= _ADVANCE_MAX:
            raise Refused("bad_args", "ms is 0 to %d" % _ADVANCE_MAX)
        machine = self.machine
        until = machine.clock.now() + ms
        while True:
            now = machine.clock.now()
            due = min(until, max(now, machine.next()))
            machine.clock.advance(due - now)
            machine.turn(due)
            if due >= until and machine.next() > until:
                return {"now": machine.now}

    def _calendar(self, request):
        second = request["set"]
        self.machine.clock.set_calendar(None if second is None else int(second))
        return {}

    def _store_fault(self, request):
        machine = self.machine
        plain = getattr(machine.files, "files", machine.files)
        machine.files = faulty(plain, machine.boot, request["at"], request["how"])
        machine.store.files = machine.log.files = machine.files
        return {}

    def _store(self, request):
        return {"writes": self.machine.files.writes, "commits": self.machine.store.commits}

    def _restart(self, request):
        self.machine.after_reply = lambda: restart(self.machine.boot, request["how"])
        return {}

    # Damage to one copy of the record, as a worn cell would do it.
    def _damage(self, request):
        name = request["copy"]
        if name not in ("a", "b"):
            raise Refused("bad_args", "copy is a or b")
        data = bytearray(self.machine.files.read(name))
        data[len(data) // 2] ^= 0x10
        self.machine.files.write(name, data)
        return {}

    # A program error, in the middle of whatever is under way.
    def _crash(self, request):
        self.machine.after_reply = _raise_program_error
        return {}


def _raise_program_error():
    raise RuntimeError("program error asked for by the bench")
