# What an SSP host may ask of the acceptor itself: who it is, and which channel is which note.
from binascii import unhexlify

from micropython import const

OK = b"\xf0"
_RANGE = const(b"\xf4")
_FIRMWARE = const(b"0010")  # 0.10
_STANDARD_SECURITY = const(b"\2")
_EXPANDED = const(6)  # from this version on, channels have a currency and a value of their own
_NOTES = {1: b"USD"}  # by ID-003's country code
_MULTIPLIER = const(b"\0\0\1")
_CENTS = const(b"\0\0\x64")
_BUILD = const(b"\0\1\0")


def channels(device):
    return len(device.currency.DENOMINATIONS)


# 1 and up, in the order of the currency table.
def channel(device, code):
    return [row[0] for row in device.currency.DENOMINATIONS].index(code) + 1


# Of the item that a power cut left in the stacker; 0 for what is no note.
def channel_in_flight(device):
    flight = device.record["flight"]
    return _values(device).index(flight["cents"] // 100) + 1 if flight["kind"] == "note" else 0


def _values(device):
    return bytes(device.currency.cents(index) // 100 for index in range(channels(device)))


class Facts:
    def begin(self, device, boot, events):
        self.device = device
        self.boot = boot
        self.events = events

    # A banknote validator: unit type 0.
    def _unit(self):
        return OK + b"\0" + _FIRMWARE + self._currency() + _MULTIPLIER

    def _currency(self):
        return _NOTES[self.device.currency.COUNTRY]

    def _of_channels(self, data):
        return bytes((channels(self.device),)) + data

    def _expanded(self):
        values = _values(self.device)
        if self.events.version < _EXPANDED:
            return b""
        return self._currency() * len(values) + b"".join(value.to_bytes(4, "little") for value in values)

    def do_setup(self, data):
        values = _values(self.device)
        plain = self._unit() + self._of_channels(values + _STANDARD_SECURITY * len(values))
        return plain + _CENTS + bytes((self.events.version,)) + self._expanded()

    def do_unit(self, data):
        return self._unit() + bytes((self.events.version,))

    def do_values(self, data):
        return OK + self._of_channels(_values(self.device)) + self._expanded()

    def do_security(self, data):
        return OK + self._of_channels(_STANDARD_SECURITY * channels(self.device))

    def do_reteach(self, data):
        return OK + bytes(3)

    # 31 bits of the board's own number, for hosts read it with a sign. Nothing with another is attached.
    def do_serial(self, data):
        if data not in (b"", b"\0"):
            return _RANGE
        number = unhexlify(self.boot.identity()["uid"][-8:])
        return OK + bytes((number[0] & 0x7F,)) + number[1:]

    # It ends with the embedded signature, in the shape of a sixteen-letter version.
    def do_firmware(self, data):
        return OK + b"PB0010010000%04X" % self.boot.image_crc

    def do_dataset(self, data):
        return OK + self._currency() + b"01001"

    def do_build(self, data):
        return OK + _BUILD
