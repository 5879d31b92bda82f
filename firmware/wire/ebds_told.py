# What EBDS tells of a device: four status bytes, and the document that they are about.
from micropython import const

_IDLE = const(0x01)
_RETURNED = const(0x40)
_CASSETTE = const(0x10)
_POWER_UP = const(0x01)
_INVALID = const(0x02)
_VALUE_SHIFT = const(3)
_DISABLED = const(0x20)

_NOTES = const(7)  # as many as three bits of value tell apart
_VALUE_MAX = const(999)  # three digits, and a power of ten
_BARCODE = const(28)
_PADDING = b"\x28"
_ISO = {1: b"USD"}

POWER_UPS = ("power_up", "power_up_acceptor", "power_up_stacker")
# States with a document that the host is told the value of.
WITH_DOCUMENT = ("escrow", "holding", "vend_valid")

# First status byte of each state. Initialising, and out of service: none of its bits.
STATES = {
    "idle": _IDLE,
    "disabled": _IDLE,
    "accepting": 0x02,
    "escrow": 0x04,
    "holding": 0x04,
    "stacking": 0x08,
    "vend_valid": 0x10,
    "storing": 0x08,
    "stacked": _IDLE,  # the host has heard of it: a second time would be a second note
    "rejecting": 0x20,
    "returning": 0x20,
    "power_up": _IDLE,
    "power_up_acceptor": 0x20,
    "power_up_stacker": 0x10,
}
# Bits that each condition sets in the second and third status byte, all of them at once.
CONDITIONS = {
    "memory_error": (0, 0x04),
    "post_failed": (0, 0x04),
    "acceptor_door": (0, 0x40),
    "jam_stacker": (0x04, 0),
    "jam_acceptor": (0x04, 0),
    "cheated": (0x01, 0),
    "stacker_full": (0x08, 0),
}
_NO_CASSETTE = ("stacker_removed", "stacker_door", "stacker_unlocked")
_REJECTED = const(0x02)


# value: of the document, 1 to 7, or 0; fresh: just reset.
def status(device, state, value, returned, fresh, invalid):
    names = device.standing.names()
    first, second, third = STATES.get(state, 0), _CASSETTE, value << _VALUE_SHIFT
    for name in names:
        if name in _NO_CASSETTE:
            second &= ~_CASSETTE
        bits = CONDITIONS.get(name, (0, 0))
        second |= bits[0]
        third |= bits[1]
    if state == "stacker_open" and all(name in _NO_CASSETTE for name in names):
        first = _IDLE  # as real acceptors have it: idle, without its cassette
    if state == "rejecting":
        second |= _REJECTED
    if returned:
        first |= _RETURNED
    third |= (_POWER_UP if fresh else 0) | (_INVALID if invalid else 0)
    off = first & _IDLE and state not in POWER_UPS and device.settings.inhibited()
    return bytes((first, second, third, _DISABLED if off else 0))


# The place of a value in the currency table, from 1; 0 where it has none.
def place(currency, cents):
    for index in range(len(currency.DENOMINATIONS)):
        if currency.cents(index) == cents:
            return index + 1
    return 0


# ISO code, three digits, sign and power of ten.
def _worth(currency, index):
    base, power = currency.cents(index) // 100, 0
    while base > _VALUE_MAX:
        base, power = base // 10, power + 1
    return _ISO[currency.COUNTRY] + b"%03d+%02d" % (base, power)


# Specification of a note: its index (0 of a note that was inserted), worth, orientation, and no words of a variant.
# Right edge first is ours for not turned round; EBDS has face down in the low bit.
def note(currency, at, index, orientation=0):
    if not 1 <= at <= len(currency.DENOMINATIONS):
        return bytes((index,)) + bytes(17)
    turned = (orientation & 1) << 1 | orientation >> 1
    return bytes((index,)) + _worth(currency, at - 1) + bytes((turned,)) + bytes(7)


def barcode(digits):
    return digits.encode() + _PADDING * (_BARCODE - len(digits))


# Ten bytes a value: its number, and what it is worth.
def value_table(currency):
    known = len(currency.DENOMINATIONS)
    rows = [bytes((n + 1,)) + (_worth(currency, n) if n < known else bytes(9)) for n in range(_NOTES)]
    return b"".join(rows)
