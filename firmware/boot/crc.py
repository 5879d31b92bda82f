# CRC-16/KERMIT: polynomial 0x1021 reflected (0x8408), init 0, no final xor.
import uarray


def _table():
    table = uarray.array("H", bytes(512))
    for i in range(256):
        c = i
        for _ in range(8):
            c = c >> 1 ^ 0x8408 if c & 1 else c >> 1
        table[i] = c
    return table


_TABLE = _table()


# The table as a default is a local: a third faster than a global in the loop.
def crc16(data, crc=0, table=_TABLE):
    for b in data:
        crc = crc >> 8 ^ table[(crc ^ b) & 255]
    return crc
