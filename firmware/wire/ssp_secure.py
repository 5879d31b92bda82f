# eSSP: a key agreed with the host (Diffie-Hellman, 64 bit), and packets under it: STEX, then in AES-128, block by
# block: length, count, data, padding, CRC.
from micropython import const
from wire.ssp_frames import crc16

try:
    import ucryptolib

    aes = getattr(ucryptolib, "aes")  # stubs of ports without one have the module all the same
except ImportError:
    from wire import ssp_aes

    aes = ssp_aes.aes

STEX = const(0x7E)
_ECB = const(1)
_BLOCK = const(16)
_HEAD = const(5)
_AROUND = const(7)
_COUNTS = const(0xFFFFFFFF)
# The half of the key that is the makers' to choose; this one is every unit's before its first machine.
FIXED_KEY = b"\x67\x45\x23\x01\x67\x45\x23\x01"
# With these, Miller and Rabin's test is exact up to 2^64.
_WITNESSES = b"\x02\x03\x05\x07\x0b\x0d\x11\x13\x17\x1d\x1f\x25"


def is_prime(n):
    if n < 2:
        return False
    odd, twos = n - 1, 0
    while not odd & 1:
        odd, twos = odd >> 1, twos + 1
    for witness in _WITNESSES:
        if n % witness == 0:
            return n == witness
        if not _passes(pow(witness, odd, n), n, twos):
            return False
    return True


def _passes(x, n, twos):
    if x == 1:
        return True
    for _ in range(twos):
        if x == n - 1:
            return True
        x = x * x % n
    return False


class Secure:
    # random: how many bytes -> that many.
    def __init__(self, random):
        self._random = random
        self._ciphers = None  # for what is opened and for what is sealed: MicroPython's serves one direction
        self.count = 0
        self.forget()

    # At a reset, once its answer is out.
    def forget(self):
        self.generator = self.modulus = None
        self._next = None

    # What was agreed on is in use from the answer's end on.
    def settle(self):
        if self._next is not self._ciphers:
            self._ciphers = self._next
            self.count = 0

    def on(self):
        return bool(self._ciphers)

    # The device's intermediate key. Raises OSError where there is nothing random.
    def exchange(self, host):
        secret = int.from_bytes(self._random(8), "little") % (self.modulus - 1) + 1
        key = FIXED_KEY + pow(host, secret, self.modulus).to_bytes(8, "little")
        self._next = aes(key, _ECB), aes(key, _ECB)
        return pow(self.generator, secret, self.modulus).to_bytes(8, "little")

    # What a packet says; b"" for one that is out of count, None for what isn't under this key. Nothing changes by it.
    def opened(self, packet):
        size = len(packet) - 1
        if not self._ciphers or size <= 0 or size % _BLOCK:
            return None
        plain = self._ciphers[0].decrypt(packet[1:])
        if crc16(plain[:-2]) != plain[-2] | plain[-1] << 8 or plain[0] > size - _AROUND:
            return None
        return plain[_HEAD : _HEAD + plain[0]] if int.from_bytes(plain[1:_HEAD], "little") == self.count else b""

    # One up with each packet of the host's; the answer has the new one.
    def step(self):
        self.count = self.count + 1 & _COUNTS

    def sealed(self, data):
        plain = bytes((len(data),)) + self.count.to_bytes(4, "little") + data
        plain += self._padding(-(len(data) + _AROUND) % _BLOCK)
        crc = crc16(plain)
        return bytes((STEX,)) + self._ciphers[1].encrypt(plain + bytes((crc & 255, crc >> 8)))

    # No secret: an answer isn't held back for it.
    def _padding(self, n):
        try:
            return self._random(n)
        except OSError:
            return bytes(n)
