# The bench inside a bench image: stimulus, time, faults. A release image has
# none of these files.
from bench.world import World
from hal.clock import Clock
from link.args import Operations
from link.frame import Refused
from link.late import load
from link.ops import Late, late

_CAPABILITIES = ["bench", "plant", "advance", "calendar", "store_fault", "still_clock"]
_ADVANCE_MAX = 10000


def plant(boot, device, outputs):
    return World(load("bench.plant." + device.replace("-", "_")).Plant(), boot, outputs)


# The files that the store writes through; a fault for this very start is armed before anything is written.
def files(plain, boot, world):
    return faulty(plain, boot, int(world.fault[0]), world.fault[1]) if world.fault else plain


def faulty(plain, boot, at, how):
    return load("bench.faults").FaultyFiles(plain, boot, at, how)


def capabilities(machine):
    return _CAPABILITIES + machine.sensors.plant.CAPABILITIES


# What the bench feeds in place of the board's source is told at the start too: the first seed is drawn then.
def entropy(source, world):
    if world.entropy:
        load("bench.chance").fed(source, *world.entropy)
    return source


# A clock that stands from the very start, and a calendar: both move by `advance` alone.
def clock(running, world):
    if not world.clock:
        return running
    ms, second = int(world.clock[0]), world.clock[1]
    still = Clock(lambda: ms)
    still.set_calendar(None if second == "unknown" else int(second))
    return still


def ops(machine):
    rare = Late(machine, "bench.rare", "calendar store_fault store restart start_over repl damage crash entropy")
    return (Stimuli(machine), Rig(machine), rare) + late(machine, machine.sensors.plant.LATE)


# What a person does; the plant says what there is to do.
class Stimuli(Operations):
    def __init__(self, machine):
        super().__init__(machine)
        self.ARGS = machine.sensors.plant.ARGS

    # The device has seen it before the reply says that it is done, and when.
    def carry_out(self, request):
        world = self.machine.sensors
        getattr(world.plant, "_op_" + request["do"])(request)
        world.save()
        self.machine.turn(self.machine.clock.now())
        return {"now": self.machine.now}


class Rig(Operations):
    ARGS = """
plant:
advance: ms=:int
"""

    def _plant(self, request):
        return self.machine.sensors.plant.truth()

    # Time passes event by event, never in one jump over what would have
    # happened; ports and link keep real time.
    def _advance(self, request):
        ms = request["ms"]
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
