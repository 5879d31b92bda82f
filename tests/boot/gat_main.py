# Stand-in for the application: GAT's wire on the board's own files, with no device behind it.
from binascii import crc32

from hal.clock import Clock
from hal.store import Files, Store
from wire.gat import Wire


class Device:
    calendar = None

    def host_spoke(self, now):
        pass


def run(boot):
    clock = Clock(boot.port.ticks, boot.port.seconds)
    device = Device()
    device.calendar = clock.calendar
    wire = Wire(device, boot.wire, boot.crc16, print, boot, clock.now())
    wire.store = Store(Files("/data"), crc32)
    boot.link.write(b"READY\n")
    while True:
        now = clock.now()
        boot.port.wait((boot.link, boot.wire, boot.control), max(0, min(wire.next() - now, wire.patience(now))))
        boot.control.read()
        now = clock.now()
        wire.poll(now)
        wire.tick(now)
