# AES-128 of single blocks (FIPS 197), for boards whose MicroPython has none; it is called as MicroPython's is.
from micropython import const

_BLOCK = const(16)
_ROUNDS = const(10)
_REDUCE = const(0x11B)


def _doubled(a):
    return a << 1 ^ (_REDUCE if a & 0x80 else 0)


# Section 5.1.1, by powers of the generator 3 and of its inverse.
def _boxes():
    box, inverse, p, q = bytearray(256), bytearray(256), 1, 1
    while True:
        p = (p ^ _doubled(p)) & 255
        q ^= q << 1
        q ^= q << 2
        q = (q ^ q << 4) & 255
        if q & 0x80:
            q ^= 9
        rotated = q * 0x101
        value = (q ^ rotated >> 7 ^ rotated >> 6 ^ rotated >> 5 ^ rotated >> 4) & 255 ^ 0x63
        box[p], inverse[value] = value, p
        if p == 1:
            break
    box[0], inverse[0x63] = 0x63, 0
    return bytes(box), bytes(inverse)


_BOX, _INVERSE = _boxes()


def _expanded(key):
    keys, constant = bytearray(key), 1
    while len(keys) < _BLOCK * (_ROUNDS + 1):
        word = keys[-4:]
        if len(keys) % _BLOCK == 0:
            word = bytearray(_BOX[word[n]] for n in (1, 2, 3, 0))
            word[0] ^= constant
            constant = _doubled(constant)
        keys.extend(a ^ b for a, b in zip(word, keys[-_BLOCK:]))
    return keys


def _mixed(s):
    for c in range(0, _BLOCK, 4):
        a = s[c : c + 4]
        every = a[0] ^ a[1] ^ a[2] ^ a[3]
        for n in range(4):
            s[c + n] = a[n] ^ every ^ _doubled(a[n] ^ a[(n + 1) & 3])


# Three times mixed undoes it once: the fourth power is nothing.
def _unmixed(s):
    for _ in range(3):
        _mixed(s)


class aes:
    # mode: 1, single blocks.
    def __init__(self, key, mode):
        if mode != 1 or len(key) != _BLOCK:
            raise ValueError("AES-128 in mode 1 only")
        self._keys = _expanded(key)

    def _add(self, s, turn):
        at = turn * _BLOCK
        for n in range(_BLOCK):
            s[n] ^= self._keys[at + n]

    def encrypt(self, data):
        return b"".join(self._encrypted(data[at : at + _BLOCK]) for at in range(0, len(data), _BLOCK))

    def decrypt(self, data):
        return b"".join(self._decrypted(data[at : at + _BLOCK]) for at in range(0, len(data), _BLOCK))

    def _encrypted(self, block):
        s = bytearray(block)
        self._add(s, 0)
        for turn in range(1, _ROUNDS + 1):
            s = bytearray(_BOX[s[n * 5 & 15]] for n in range(_BLOCK))
            if turn < _ROUNDS:
                _mixed(s)
            self._add(s, turn)
        return bytes(s)

    def _decrypted(self, block):
        s = bytearray(block)
        for turn in range(_ROUNDS, 0, -1):
            self._add(s, turn)
            if turn < _ROUNDS:
                _unmixed(s)
            s = bytearray(_INVERSE[s[n * 13 & 15]] for n in range(_BLOCK))
        self._add(s, 0)
        return bytes(s)
