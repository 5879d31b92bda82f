# What the bench feeds in place of the board's noise. It goes through the same health tests.
import hashlib
from binascii import unhexlify

from link.frame import Refused


# SHA-256 in counter mode: healthy to look at, and the same each time. "SEED~N": with bit N of it turned over.
class _Fixed:
    def __init__(self, seed):
        seed, _, turned = seed.partition("~")
        self.seed = seed.encode()
        self.turned = int(turned or -1)
        self.given = self.count = 0
        self.rest = b""

    def read(self, n):
        while len(self.rest) < n:
            self.count += 1
            self.rest += hashlib.sha256(self.seed + b"%d" % self.count).digest()
        data, self.rest = bytearray(self.rest[:n]), self.rest[n:]
        at = self.turned // 8 - self.given
        if 0 <= at < n:
            data[at] ^= 128 >> self.turned % 8
        self.given += n
        return data


_LED_MAX = 8192


# "HEX*TIMES,...": these bytes first, and healthy ones behind them.
class _Led(_Fixed):
    def __init__(self, seed):
        super().__init__("led")
        for part in seed.split(","):
            data, _, times = part.partition("*")
            if len(self.rest) + len(data) // 2 * int(times) > _LED_MAX:
                raise Refused("bad_args", "seed: led takes %d bytes at most" % _LED_MAX)
            self.rest += unhexlify(data) * int(times)


def _stuck(n):
    return b"\x5a" * n


# Three bits of four are set.
class _Biased(_Fixed):
    def read(self, n):
        return bytes(a | b for a, b in zip(super().read(n), super().read(n)))


# Half of what was asked for.
class _Slow(_Fixed):
    def read(self, n):
        return super().read(n // 2)


# Each takes a seed and has read(n).
_FEEDS = {"fixed": _Fixed, "led": _Led, "biased": _Biased, "slow": _Slow}


# how: one of these, "stuck", or "board" for the board's own again.
def fed(source, how, seed=""):
    source.own = getattr(source, "own", None) or (source.source, source.name)
    if how == "board":
        source.source, source.name = source.own
        return
    if how != "stuck" and how not in _FEEDS:
        raise Refused("bad_args", "how is board, stuck, " + ", ".join(sorted(_FEEDS)))
    source.source = _stuck if how == "stuck" else _FEEDS[how](seed).read
    source.name = "fed by the bench: " + how
