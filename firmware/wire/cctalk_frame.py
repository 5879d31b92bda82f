# Frames of ccTalk, in both kinds: DST LEN SRC HEADER data SUM, where all bytes add up to 0, and
# DST LEN CRClo HEADER data CRChi, CRC-16/XMODEM over all but itself.
from micropython import const

SUM = const(1)
CRC = const(2)
LEN_MIN = const(5)
HOST = const(1)
DEVICE = const(40)


def xmodem(data):
    crc = 0
    for byte in data:
        x = crc >> 8 ^ byte
        x ^= x >> 4
        crc = (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 0xFFFF
    return crc


# The kinds in which a whole frame checks, as a mask. To the device only the host speaks, which a CRC frame doesn't say.
def kinds(frame):
    found = 0
    if not sum(frame) & 255 and (frame[0] != DEVICE or frame[2] == HOST):
        found = SUM
    if xmodem(frame[:2] + frame[3:-1]) == frame[2] | frame[-1] << 8:
        found |= CRC
    return found


# An answer of the device.
def pack(kind, header, data):
    head = bytes((HOST, len(data)))
    body = bytes((header,)) + data
    if kind == CRC:
        crc = xmodem(head + body)
        return head + bytes((crc & 255,)) + body + bytes((crc >> 8,))
    frame = head + bytes((DEVICE,)) + body
    return frame + bytes((-sum(frame) & 255,))
