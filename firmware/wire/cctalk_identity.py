# What a ccTalk bill validator says of itself: what it is, which bills it knows, what is wrong with it.
from binascii import crc32

_COUNTRY = b"US"

# Header -> what is always answered to it; data that come with it are ignored, as the simple poll's padding.
FIXED = {
    254: b"",
    249: b"\x02\x14",  # to be polled every 20 times 10 ms
    247: b"\x10\x01",  # bill types, banks
    246: b"PBN",
    245: b"Bill Validator",
    244: b"PB-BV",
    243: b"\0",  # bills can't be programmed from outside
    213: b"\x03",  # has stacker and escrow
    192: b"PB01",
    4: b"\x01\x04\x07",
}

# Fault code of each condition, and of each step of the self-test that may fail (sensors: fault on opto sensor).
FAULT_CODES = {
    "memory_error": 9,
    "acceptor_door": 51,
    "stacker_removed": 44,
    "stacker_door": 44,
    "stacker_unlocked": 44,
    "jam_stacker": 39,
    "jam_acceptor": 39,
    "stacker_full": 45,
    "memory": 9,
    "signature": 30,
    "sensors": 49,
    "scanner": 36,
    "transport_motor": 37,
    "stack_motor": 38,
}
_UNSPECIFIED = 255  # a cheating attempt is no fault of a part


# The most severe of what stands, 0 for nothing; None while a self-test is still to tell.
def fault_code(device):
    names = device.standing.names()
    if not names:
        return 0 if device.post.ok else None
    name = device.post.failed_step() if names[0] == "post_failed" else names[0]
    return FAULT_CODES.get(name, _UNSPECIFIED)


# Three bytes of the board's own id.
def serial(unique_id):
    number = crc32(unique_id.encode())
    return bytes((number & 255, number >> 8 & 255, number >> 16 & 255))


# Country, value and issue; dots where a type has no bill.
def bill_id(currency, number):
    if not 1 <= number <= len(currency.DENOMINATIONS):
        return b"......."
    return _COUNTRY + b"%04dA" % (currency.cents(number - 1) // 100)


# A bill's value times 100, with two decimal places.
def scaling(country):
    return b"\x64\0\x02" if country == _COUNTRY else b"\0\0\0"


# The inhibit mask that enables a country's bills.
def position(currency, country):
    bills = (1 << len(currency.DENOMINATIONS)) - 1 if country == _COUNTRY else 0
    return bytes((bills & 255, bills >> 8))


def currency_revision(country):
    return b"PB01" if country in (b"", _COUNTRY) else b"Unknown"
