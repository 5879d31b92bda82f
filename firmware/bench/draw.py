# Outcomes and words, drawn by the device's own generator without a game.
from binascii import b2a_base64, unhexlify

from device import drbg
from device.generator import DeadSource
from link.args import Operations
from link.frame import Refused
from micropython import const

_ROOM = const(640)  # bytes of outcomes or words that fit into one reply


def _text(data):
    return b2a_base64(data)[:-1].decode()


# A number as a byte; of an order a byte a slot, and where one doesn't hold it, the ninth bits of all behind them.
def _packed(order):
    if isinstance(order, int):
        return bytes((order,))
    if len(order) <= 256:
        return bytes(order)
    high = bytearray((len(order) + 7) // 8)
    for at, slot in enumerate(order):
        high[at >> 3] |= slot >> 8 << (7 - (at & 7))
    return bytes(slot & 255 for slot in order) + high


# The words of a draw, as the bench chose them.
class _Chosen:
    def __init__(self, words):
        self.words = words

    def generate(self, n):
        if not self.words:
            raise Refused("bad_args", "words: none is left, all before it were rejected")
        block, self.words = self.words[:n], self.words[n:]
        return block


class Ops(Operations):
    ARGS = """
draw: games=:int at?=:int step?=:int
rescale: n=:int words=:str
words: n=:int
spoil:
"""

    # The outcomes of as many games as were asked for: drawn where a game draws its own, from the same state.
    # at, step: with the calendar there at the first, so many seconds later at each other, and seeded anew before each.
    def _draw(self, request):
        device = self.machine.device
        if device.under_way():
            raise Refused("refused", device.under_way())
        size = len(_packed(range(device.cards()))) if hasattr(device, "cards") else 1
        if not 0 < request["games"] * size <= _ROOM:
            raise Refused("bad_args", "games is 1 to %d" % (_ROOM // size))
        drawn = bytearray()
        try:
            for number in range(request["games"]):
                if "at" in request:
                    self._seed_at(request["at"] + number * request.get("step", 0))
                drawn += _packed(device.draw())
        except DeadSource as e:
            raise Refused("refused", "no entropy: " + e.args[0])
        return {"drawn": _text(drawn), "bits": device.generator.bits}

    def _seed_at(self, second):
        self.machine.clock.set_calendar(second)
        self.machine.device.seed(self.machine.now)

    # Which outcome each of the words leads to, by the generator's own rescaling: None where a word is rejected.
    def _rescale(self, request):
        generator, n = self.machine.device.generator, request["n"]
        width = 2 if n > 256 else 1
        words = unhexlify(request["words"])
        if not 1 < n <= 65536 or len(words) > 100 or len(words) % width:
            raise Refused("bad_args", "n is 2 to 65536, words are at most 100 bytes, whole ones")
        return {"outcomes": [_outcome(generator, words[i : i + width], n) for i in range(0, len(words), width)]}

    def _words(self, request):
        if not 0 < request["n"] <= _ROOM:
            raise Refused("bad_args", "n is 1 to %d" % _ROOM)
        return {"words": _text(self.machine.device.generator.source.generate(request["n"]))}

    def _spoil(self, request):
        _spoil()
        return {}


# The generator computes wrongly until the next start: in each output of its HMAC one bit is turned over.
def _spoil():
    right = drbg.tag

    def wrong(*parts):
        out = bytearray(right(*parts))
        out[7] ^= 1
        return bytes(out)

    drbg.tag = wrong


# A word and, where it is rejected, the word 0 after it: which of the two was taken?
def _outcome(generator, word, n):
    kept, rejected = generator.source, generator.rejected
    generator.source = _Chosen(word + bytes(len(word)))
    generator.drop()
    try:
        outcome = generator.below(n)
    finally:
        generator.source = kept
        generator.drop()
    return None if generator.rejected > rejected else outcome
