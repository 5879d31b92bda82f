# Frames of SSP: STX, sequence and address, length, data, CRC low and high. Behind the first STX each 7F is doubled, the
# CRC's too; a lone one begins another frame, wherever it stands.
from micropython import const

_STX = const(0x7F)
_AROUND = const(4)  # sequence, length and CRC
_LEN_MIN = const(5)

# Polynomial 8005, by four bits.
_NIBBLES = (
    0x0000, 0x8005, 0x800F, 0x000A, 0x801B, 0x001E, 0x0014, 0x8011,
    0x8033, 0x0036, 0x003C, 0x8039, 0x0028, 0x802D, 0x8027, 0x0022,
)  # fmt: skip


# Highest bit first, from FFFF.
def crc16(data):
    crc = 0xFFFF
    for b in data:
        crc = (crc << 4 & 0xFFFF) ^ _NIBBLES[crc >> 12 ^ b >> 4]
        crc = (crc << 4 & 0xFFFF) ^ _NIBBLES[crc >> 12 ^ b & 15]
    return crc


# `first`: sequence bit and address.
def framed(first, data):
    frame = bytes((first, len(data))) + data
    crc = crc16(frame)
    return b"\x7f" + (frame + bytes((crc & 255, crc >> 8))).replace(b"\x7f", b"\x7f\x7f")


# Of bytes that begin with STX -> (what stands behind it, how many bytes that took): a whole frame, or b"" for what is
# none; (None, 0) where more must come.
def taken(b):
    if len(b) > 1 and b[1] == _STX:
        return b"", 1  # no address: the second may begin one
    frame, at = bytearray(), 1
    while len(frame) < 2 or len(frame) < frame[1] + _AROUND:
        if b[at : at + 1] == b"\x7f":
            if at + 1 == len(b):
                return None, 0
            if b[at + 1] != _STX:
                return b"", at
            at += 1
        if at >= len(b):
            return None, 0
        frame.append(b[at])
        at += 1
    return bytes(frame), at


def good(frame):
    return len(frame) >= _LEN_MIN and crc16(frame[:-2]) == frame[-2] | frame[-1] << 8
