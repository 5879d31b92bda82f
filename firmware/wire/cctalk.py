# ccTalk, device side: a bill validator at address 40, 9600 8N1. The host asks, and what happened it reads from the
# event buffer; headers are the host's, an answer has header 0.
from micropython import const
from wire import cctalk_identity as identity
from wire.cctalk_events import Events
from wire.cctalk_frame import CRC, DEVICE, LEN_MIN, SUM, kinds, pack
from wire.polled import Polled

SERIAL = (9600, 8, "N", 1)

_PIECE = const(8)  # steps of a checksum in one go: 40 ms on a Pico
_DATA_MAX = const(8)  # no request that is understood has more: such a length is damage
_OTHERS_MAX = const(64)  # so is one to another device: longer ones are passed over byte by byte
_FRAME_MS = const(100)  # a frame of so many takes 72 ms

_REPLY = const(0)
_NAK = const(5)
_BUSY = const(6)
_SIMPLE_POLL = const(254)
_POLL = const(159)

_STACKER = const(1)  # bits of the operating mode
_ESCROW = const(2)
_BITS = const(0xFFFF)
_VOUCHERS_FROM = const(14)  # bits 14 and 15 of the inhibit mask are vouchers and coupons
_ESCROW_EMPTY = b"\xfe"
_ROUTE_FAILED = b"\xff"
_EXTEND = const(255)

# Header -> method, fewest and most data bytes.
REQUESTS = {
    242: ("_serial", 0, 0),
    241: ("_revision", 0, 0),
    232: ("_self_check", 0, 0),
    231: ("_set_mask", 1, _DATA_MAX),
    230: ("_mask", 0, 0),
    228: ("_set_master", 1, 1),
    227: ("_master", 0, 0),
    197: ("_rom_checksum", 0, 0),
    _POLL: ("_poll", 0, 0),
    157: ("_bill_id", 1, 1),
    156: ("_scaling", 2, 2),
    155: ("_position", 2, 2),
    154: ("_route", 1, 1),
    153: ("_set_mode", 1, 1),
    152: ("_mode", 0, 0),
    145: ("_currency_revision", 0, 2),
    129: ("_barcode", 0, 0),
    1: ("_reset", 0, 0),
}
ROUTES = {0: ("return", None), 1: ("stack", 1), _EXTEND: ("hold", None)}
# Where a route said again finds what it asked for under way: it was obeyed, and its answer lost.
_UNDER_WAY = {0: ("returning",), 1: ("stacking", "vend_valid", "storing", "stacked")}


class Wire(Polled):
    frame_ms = _FRAME_MS

    def __init__(self, device, port, crc16, step, boot, now):
        super().__init__(port, SERIAL, step, now)
        self.device = device
        self.boot = boot
        self.events = Events(device)
        self.checksum = None
        self.signed = None
        self.kind = 0  # of the host's frames, held to until the host falls silent
        self.answering = False
        self.credit_out = False
        self._forget()

    # Nothing is accepted until the host has set both inhibits.
    def _forget(self):
        self.mask = 0
        self.master = None
        self.operating = _STACKER | _ESCROW

    def mode(self):
        return "polling"

    # A poll that came before the credit was answered to an earlier one says nothing of whether the host has it.
    def poll(self, now):
        self.credit_out = self.events.credit_told
        super().poll(now)

    # In the middle of a commit the device can't be stepped: a poll is answered with what stands. The counter says that
    # it is nothing new, and it settles nothing.
    def stand(self, now):
        self.stood = bool(self._read(now)) or self.stood
        b = self.buffer
        if self.answering or len(b) != LEN_MIN or b[:2] != bytes((DEVICE, 0)) or b[3] not in (_SIMPLE_POLL, _POLL):
            return
        kind = self._kind(b)
        if kind:
            self.buffer = b""
            self._count(now)
            self._send(kind, _REPLY, self.events.standing() if b[3] == _POLL else b"")

    # Time alone: what became of items and parts, and the host's silence.
    def tick(self, now):
        self._look(now)
        self._watch()
        if self._is_silent(now):
            self.kind = 0
            self.step(("silence",))

    def _watch(self):
        if self._decides_itself():
            self.step(("told",))
            self.step(("host", "stack", 1))
        self.events.watch()

    # Without escrow a note needs no word of the host, unless it was told of it before. A voucher always does: its worth
    # is known elsewhere.
    def _decides_itself(self):
        if self.operating & _ESCROW or self.device.state != "escrow":
            return False
        return self.events.state != "escrow" and not self.device.item.digits

    # -- frames ----------------------------------------------------------

    # Frames to others are taken off whole, lest their data begin a frame: our own answers too, where the single wire
    # brings them back.
    def _take(self, now):
        b = self.buffer
        if len(b) < 2:
            return False
        size = b[1] + LEN_MIN
        damaged = b[1] > (_DATA_MAX if b[0] == DEVICE else _OTHERS_MAX)
        if len(b) < size and not damaged:
            return False
        frame = b[:size]
        if damaged or not kinds(frame):
            self.buffer = b[1:]
            return True
        self.buffer = b[size:]
        kind = self._kind(frame)
        if frame[0] == DEVICE and kind:
            self.kind = kind
            self.answering = True
            self._heard(now)
            self._answer(frame[3], frame[4:-1])
            self.answering = False
        return True

    # In which a frame is to be answered; 0 where it doesn't check in the one that the host speaks.
    def _kind(self, frame):
        found = kinds(frame)
        if self.kind:
            return found & self.kind
        return CRC if found & CRC else found & SUM

    def _reply(self, data, header=_REPLY):
        self._send(self.kind, header, data)

    def _send(self, kind, header, data):
        self.out += pack(kind, header, data)
        self._flush()

    # An unknown header is met with silence, as the specification has it.
    def _answer(self, header, data):
        if header in identity.FIXED:
            self._reply(identity.FIXED[header])
        elif header in REQUESTS:
            name, least, most = REQUESTS[header]
            if least <= len(data) <= most:
                getattr(self, name)(data)
            else:
                self._reply(b"", _NAK)

    # -- events ----------------------------------------------------------

    def _poll(self, data):
        self._settle()
        self._watch()
        self._reply(self.events.take())
        if self.device.state in ("power_up", "power_up_acceptor"):
            self._start()
        elif not self.events.items:
            self.step(("told",))
        self._watch()

    # The host polls on after an answer that held the credit: it has it.
    def _settle(self):
        if not self.credit_out:
            return
        self.credit_out = self.events.credit_told = False
        if self.device.state == "power_up_stacker":
            self._start()
        else:
            self.step(("host", "ack"))

    # Told of a power-up, a host need not reset. What it has set meanwhile is set again.
    def _start(self):
        self.step(("told",))
        self.step(("host", "host_reset", None))
        self._set_device()

    # A stacked item that isn't settled stays so: its credit is told anew, after counter 0.
    def _reset(self, data):
        self._reply(b"")
        if self.device.state != "power_up_stacker":
            self.step(("host", "host_reset", None))
        self.events.start_over()
        self.credit_out = False
        self._forget()
        self._set_device()
        self._watch()

    # -- what is accepted ------------------------------------------------

    def _set_device(self):
        refused = ~self.mask & _BITS
        self.step(("setting", "enable", bytes((refused & 255, refused >> 8))))
        self.step(("setting", "barcode_inhibit", bytes((refused >> _VOUCHERS_FROM,))))
        # An error may have kept what was set before a reset.
        if self.master is not None or self.device.settings.known():
            self.step(("setting", "inhibit", b"\0" if self.master else b"\1"))

    def _set_mask(self, data):
        data += b"\0"
        self.mask = data[0] | data[1] << 8
        self._set_device()
        self._reply(b"")

    def _mask(self, data):
        self._reply(bytes((self.mask & 255, self.mask >> 8)))

    def _set_master(self, data):
        self.master = data[0] & 1
        self._set_device()
        self._reply(b"")

    def _master(self, data):
        self._reply(bytes((self.master or 0,)))

    # The stacker can't be left out.
    def _set_mode(self, data):
        self.operating = data[0] & _ESCROW | _STACKER
        self._reply(b"")

    def _mode(self, data):
        self._reply(bytes((self.operating,)))

    # -- escrow ----------------------------------------------------------

    def _route(self, data):
        code, state = data[0], self.device.state
        if code not in ROUTES:
            self._reply(b"", _NAK)
        elif state in _UNDER_WAY.get(code, ()):
            self._reply(b"")
        elif state in ("escrow", "holding"):
            self.step(("host",) + ROUTES[code])
            self._reply(_ROUTE_FAILED if self.device.refused else b"")
        else:
            busy = state in _UNDER_WAY[0] or state in _UNDER_WAY[1]
            self._reply(_ROUTE_FAILED if busy else _ESCROW_EMPTY)

    # Of the last voucher or coupon in escrow; a bare ACK where there was none.
    def _barcode(self, data):
        self._reply(self.events.barcode.encode())

    # -- what it is ------------------------------------------------------

    def _serial(self, data):
        self._reply(identity.serial(self.boot.port.unique_id()))

    # Ends with the embedded signature.
    def _revision(self, data):
        self._reply(b"PB-CCT-010 %04X" % self.boot.image_crc)

    # Busy while the self-test runs.
    def _self_check(self, data):
        code = identity.fault_code(self.device)
        if code is None:
            self._reply(b"", _BUSY)
        else:
            self._reply(bytes((code,)))

    # Busy while the signature is computed anew, a piece a request; then its two bytes, low first, in four.
    def _rom_checksum(self, data):
        crc, self.signed = self.signed, None
        if crc is not None:
            self._reply(bytes((crc & 255, crc >> 8, 0, 0)))
            return
        self._reply(b"", _BUSY)
        if self.checksum is None:
            self.checksum = self.boot.checksum(0, 16)
            return
        for _ in range(_PIECE):
            if self.checksum.step() is not None:
                self.signed, self.checksum = self.checksum.crc, None
                return

    def _bill_id(self, data):
        self._reply(identity.bill_id(self.device.currency, data[0]))

    def _scaling(self, data):
        self._reply(identity.scaling(data))

    def _position(self, data):
        self._reply(identity.position(self.device.currency, data))

    def _currency_revision(self, data):
        self._reply(identity.currency_revision(data))
