# Composition root: wires port, store, clock, sensors, device, wire and link
# together, and never returns. What goes wrong here is the boot block's to mark.
import gc
from binascii import crc32

import product
from hal.clock import Clock
from hal.power import cause, failure, restart
from hal.store import Files, Log, Store
from hal.wiring import inputs, outputs
from link import late
from link.events import Events
from link.late import load
from link.ops import ops
from link.server import Server
from micropython import const

try:
    from bench import rig
except ImportError:
    rig = None  # a release image has no bench

_IDLE_MS = const(100)
_HOUR_MS = const(3600000)
_SETTLE = const(16)  # reactions to one instant, at most


# A bench image has a plant instead, and never loads this module.
def pin_sensors(boot, parts, device):
    return load("hal.sensors").PinSensors(boot, inputs(boot.board, boot.board.PINS), parts, device)


class Machine:
    def __init__(self, boot):
        self.boot = boot
        self.clock = Clock(boot.port.ticks, boot.port.seconds)
        self.parts = outputs(boot.board)
        self._entropy = self._access = None
        self.events = Events()
        self.checking = None
        self.authenticating = None
        self.hours = 0
        self.after_reply = None  # what ends this run, once its reply is out
        module = load("device." + product.DEVICE.replace("-", "_"))
        self.sensors = rig.plant(boot, product.DEVICE, self.parts) if rig else pin_sensors(boot, self.parts, module)
        self.files = plain = Files("/data")
        if rig:
            self.files = rig.files(plain, boot, self.sensors)
            self.clock = rig.clock(self.clock, self.sensors)
        self.now = self.authentic_at = self.clock.now()  # the boot block has just looked
        self.hour = self.now + _HOUR_MS
        self.store = Store(self.files, crc32)
        self.log = Log(self.files)
        # Before the device: names of states that the wire's table has are not stored again with the device's.
        wire = load("wire." + product.WIRE)
        self.device = self._restore(module)
        self.wire = wire.Wire(self.device, boot.wire, boot.crc16, self.step, boot, self.now)
        self.wire.store = self.store  # for a protocol that keeps something of its own
        if hasattr(self.wire, "entropy"):
            self.wire.entropy = self.entropy  # for one that draws a key
        plain.between = self._between_writes
        kinds = ops(self, product.LATE_OPS) + (rig.ops(self) if rig else ())
        self.link = Server(boot.link, boot.crc16, kinds, self.identity)

    def _restore(self, module):
        record = self.store.load()
        new = record is None and self.store.damaged is None
        unique = self.boot.port.unique_id()
        device = module.create(record, (True, ""), self.clock.calendar, new, self.entropy, unique)
        self.log.trim(device.record["log"][0])
        return device

    # Loaded where something is drawn or proven.
    def entropy(self):
        if self._entropy is None:
            source = load("hal.entropy").Entropy(self.boot.board.ENTROPY)
            self._entropy = rig.entropy(source, self.sensors) if rig else source
        return self._entropy

    def access(self):
        if self._access is None:
            load("device.hmac_sha256")  # vouched for before the other imports it
            self._access = load("device.access").Access(self.device.record["secrets"], self.entropy().read)
        return self._access

    def identity(self):
        identity = self.boot.identity()
        identity.update(
            {
                "device": product.DEVICE,
                "version": product.VERSION,
                "revision": product.REVISION,
                "image": product.KIND,
                "digest": self.boot.image_digest,
                "caps": self.device.capabilities + (rig.capabilities(self) if rig else []),
                "boot": self.device.record["boot"],
                "reset": cause(self.boot),
                "inoperable": None,
                "wire": product.WIRE,
                "entropy": self._entropy.name if self._entropy else self.boot.board.ENTROPY,
            }
        )
        return identity

    # While the device stores, hosts see what stood before.
    def _between_writes(self):
        self.boot.port.feed()
        self.wire.stand(self.clock.now())

    # -- one event, and all that follows from it --------------------------------

    def step(self, event):
        try:
            effects = self.device.step(event, self.now)
        except Exception as e:  # noqa: BLE001 - handed on, to end this run
            # A program error, not the asker's mistake; its text may hold a voucher's number.
            raise RuntimeError("device: " + type(e).__name__)
        self._apply(effects)

    # In order: what stands behind a commit waits until it is durable.
    def _apply(self, effects):
        for effect in effects:
            try:
                getattr(self, "_do_" + effect[0])(*effect[1:])
            except OSError as e:
                self._apply(self.device.step(("store_error", repr(e)), self.now))
                return

    def _do_commit(self, record):
        self.store.commit(record)

    def _do_log(self, number, line):
        self.log.append(number, line)

    def _do_motor(self, name, direction):
        self.sensors.motor(name, direction)

    def _do_emitters(self, on):
        self.sensors.light_emitters(on)

    def _do_event(self, what, detail):
        self.events.add(self.now, what, detail)

    def _do_verify(self):
        self.checking = self.boot.signature()

    def _do_restart(self, how):
        restart(self.boot, how)

    # -- authenticity -----------------------------------------------------------

    # On demand, and hourly; one check serves both.
    def authenticate(self):
        self.authenticating = self.authenticating or self.boot.authenticity()

    # Right before a module is loaded.
    def vouch(self, path):
        check = self.boot.authenticity(path)
        while not self._authenticated(check.step()):
            pass

    # None while a check runs. What isn't what was signed doesn't run on: hard tilt.
    def _authenticated(self, result):
        if result and not result[0]:
            try:
                self.step(("service", "authenticity_failed", result[1]))
            finally:
                self.boot.tilt(result[1])
        return result

    # -- time ---------------------------------------------------------------------

    def start(self):
        self.now = self.clock.now()
        self.sensors.step(self.now)
        why = failure(self.boot)
        self.step(("start", self.sensors.levels(), cause(self.boot)))
        if why:
            self.step(("service", "software_error", why))
        if self.store.damaged in ("a", "b"):
            self.step(("service", "memory_repaired", self.store.damaged))

    def turn(self, now):
        self.happen(now)
        self.tell(now)

    # What paper, parts and time did until now.
    def happen(self, now):
        self.now = now
        self.sensors.step(now)
        self._settle()
        self._check()
        due = self.device.next()
        if due is not None and due <= now:
            self.step(("tick",))
            self._settle()

    # What host and people are to see of it, unasked.
    def tell(self, now):
        self.boot.port.feed()
        self.wire.tick(now)
        self.parts.show(self.device.light(), self.device.message())

    # Motors move sensors, and sensors move motors, within one instant.
    def _settle(self):
        for _ in range(_SETTLE):
            if not self.sensors.changed:
                return
            self.sensors.changed = False
            self.step(("sensors", self.sensors.levels(), self.sensors.take_reading()))

    def _check(self):
        if self.checking:
            result = self.checking.step()
            if result is not None:
                self.checking = None
                self.now = self.clock.now()  # it took long, and what follows is timed from its end
                self.step(("verified", result[0], result[1]))
        elif self.authenticating:
            if self._authenticated(self.authenticating.step()):
                self.authenticating = None
                self.authentic_at = self.now
        elif self.now >= self.hour:
            self.hour += _HOUR_MS
            self.hours += 1
            self.authenticate()

    # The earliest moment at which something happens by itself.
    def next(self):
        if self.checking or self.authenticating:
            return self.now
        times = (self.hour, self.device.next(), self.sensors.next(), self.wire.next())
        return min(t for t in times if t is not None)

    def delay(self):
        return max(0, min(_IDLE_MS, self.next() - self.now, self.wire.patience(self.now)))


def run(boot):
    machine = Machine(boot)
    late.vouch = machine.vouch
    machine.start()
    gc.collect()
    # A plant reads no control lines: what nobody reads would wake it for ever.
    ports = (boot.link, boot.wire) if rig else (boot.link, boot.wire, boot.control)
    while True:
        boot.port.wait(ports, machine.delay())
        now = machine.clock.now()
        if not machine.wire.receiving(now):
            machine.happen(now)
        machine.link.poll()
        if machine.after_reply:
            machine.after_reply()
        now = machine.clock.now()  # a request took time, and on a bench let it pass
        machine.wire.poll(now)
        machine.tell(now)
