# What the bench feeds in place of the board's noise. It goes through the same health tests.
import hashlib

from link.frame import Refused


# SHA-256 in counter mode: healthy to look at, and the same each time.
class _Fixed:
    def __init__(self, seed):
        self.seed = seed.encode()
        self.count = 0
        self.rest = b""

    def read(self, n):
        while len(self.rest) < n:
            self.count += 1
            self.rest += hashlib.sha256(self.seed + b"%d" % self.count).digest()
        data, self.rest = self.rest[:n], self.rest[n:]
        return data


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


# how: "fixed", "stuck", "biased", "slow", or "board" for the board's own again.
def fed(source, how, seed=""):
    source.own = getattr(source, "own", None) or (source.source, source.name)
    feeds = {"fixed": _Fixed(seed).read, "stuck": _stuck, "biased": _Biased(seed).read, "slow": _Slow(seed).read}
    if how != "board" and how not in feeds:
        raise Refused("bad_args", "how is fixed, stuck, biased, slow or board")
    if how == "board":
        source.source, source.name = source.own
    else:
        source.source, source.name = feeds[how], "fed by the bench: " + how
