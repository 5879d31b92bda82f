# Frames of EBDS: STX LEN CTL data ETX XOR, LEN of the whole frame, XOR over LEN to the last data byte.
from micropython import const

STX = const(0x02)
ETX = const(0x03)
_AROUND = const(5)  # bytes of a frame beside its data

# Types, the high half of CTL; its lowest bit is the host's ACK bit.
OMNIBUS = const(0x10)
REPLY = const(0x20)
AUXILIARY = const(0x60)
EXTENDED = const(0x70)


def xor(data):
    check = 0
    for b in data:
        check ^= b
    return check


def frame_of(control, data):
    body = bytes((len(data) + _AROUND, control)) + data
    return b"\x02" + body + bytes((ETX, xor(body)))


def sound(frame):
    return frame[-2] == ETX and frame[-1] == xor(frame[1:-2]) and max(frame) <= 0x7F


# The same frame with the other ACK bit.
def flipped(frame):
    return frame[:2] + bytes((frame[2] ^ 1,)) + frame[3:-1] + bytes((frame[-1] ^ 1,))
