# CCNET's words for what an acceptor shows: the bytes that answer a poll, and the bill types.
from micropython import const

# Bill types are the rows of the currency table; the last one is what has a barcode (?).
TYPES = const(24)
BARCODE = const(23)
_RETURNED = const(0x82)
_RETURNING = b"\x18"

# First byte of the answer to a poll.
STATUS = {
    "power_up": 0x10,
    "power_up_acceptor": 0x11,
    "power_up_stacker": 0x12,
    "initialize": 0x13,
    "idle": 0x14,
    "accepting": 0x15,
    "stacking": 0x17,
    "storing": 0x17,
    "returning": 0x18,
    "disabled": 0x19,
    "holding": 0x1A,
    "rejecting": 0x1C,
    "stacker_full": 0x41,
    "stacker_open": 0x42,
    "jam_acceptor": 0x43,
    "jam_stacker": 0x44,
    "cheated": 0x45,
    "communication_error": 0x46,
    "failure": 0x47,
    "escrow": 0x80,
    "vend_valid": 0x81,
}

# Why an item is rejected, by ID-003's reason: insertion, magnetic, identification, inhibit, operation, length, UV;
# characters in the barcode, capacity for two vouchers at once, barcode not recognised.
REASONS = {
    0x71: 0x60,
    0x72: 0x61,
    0x76: 0x65,
    0x79: 0x68,
    0x7B: 0x6A,
    0x7D: 0x6C,
    0x7F: 0x6D,
    0x92: 0x93,
    0x98: 0x69,
    0x9B: 0x92,
}
# What failed, by ID-003's code: stack motor, transport motor, optic canal; acceptor door, memory, signature (the last
# three are ours: public sources have no code for them).
FAILURES = {
    0xA2: 0x50,
    0xA6: 0x52,
    0xA8: 0x55,
    0xAF: 0x57,
    0xB2: 0x58,
    0xB0: 0x59,
}


def bill_type(item, currency):
    if item.kind != "note":
        return BARCODE
    return [row[0] for row in currency.DENOMINATIONS].index(item.code)


# An item that waited in escrow for too long leaves as rejected; CCNET has it returned.
def leaving(device):
    return device.item and not device.credited() and device.state in ("returning", "rejecting")


def status(device):
    state, detail = device.shown()
    code = STATUS[state]
    if leaving(device):
        return _RETURNING
    if state in ("escrow", "vend_valid"):
        return bytes((code, bill_type(device.item, device.currency)))
    if state == "rejecting":
        return bytes((code, REASONS[detail]))
    if state == "failure":
        return bytes((code, FAILURES[detail]))
    return bytes((code,))


def returned(kind):
    return bytes((_RETURNED, kind))


# Three bytes of bill types, the lowest in the last one.
def has(types, kind):
    return bool(types[2 - kind // 8] >> (kind % 8) & 1)


# ID-003's C0 of an enabled set: a set bit switches a note off.
def notes_off(types):
    return bytes((types[2] ^ 255, types[1] ^ 255))


def any_of(types, currency):
    return any(has(types, kind) for kind in tuple(range(len(currency.DENOMINATIONS))) + (BARCODE,))


# Base, country, power of ten, for each bill type; nought where there is none.
def bill_table(currency):
    rows = [bytes((base,)) + b"USA" + bytes((power,)) for _, base, power in currency.DENOMINATIONS]
    return b"".join(rows) + bytes(5 * (TYPES - len(rows)))
