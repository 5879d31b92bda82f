# Draws: which of n outcomes comes next. Nothing else decides one, and without healthy entropy there is none.
from device.drbg import HmacDrbg
from micropython import const

_STRENGTH = const(256)  # bits
_STATE = const(32)  # bytes
_NONCE = const(16)
_BLOCK = const(64)
# A word is rejected less than one time in two: if as many blocks have none to keep, the generator is broken.
_BLOCKS_MAX = const(128)


class DeadSource(Exception):
    pass


# The least w, at least 1, with n <= 2^w.
def bits_of(n):
    if not 0 < n <= 65536:
        raise ValueError("outcomes")
    width = 1
    while 1 << width < n:
        width += 1
    return width


def pairs(block):
    for i in range(0, len(block), 2):
        yield block[i] << 8 | block[i + 1]


class Generator:
    # entropy: read(n) and `healthy`, as of hal/entropy.py. unique: bytes that no other board has.
    # source gives the words: generate(n) -> at most n bytes, whole words only.
    # Of the game since begin(): fresh bits gathered, outcomes drawn, words rejected.
    def __init__(self, entropy, unique):
        self.entropy = entropy
        self.unique = unique
        self.source = None
        self.bits = self.draws = self.rejected = 0
        self._drbg = None
        self._room = 0
        self._width = 1
        self._wide = False
        self._words = iter(b"")

    # -- seed ----------------------------------------------------------------------

    # seed = H(fresh entropy, saved state, unique id), H being the instantiation. -> the state that is to be stored
    # in place of the saved one before the first draw, so that no start uses the same one again.
    def restore(self, saved):
        data = self._gather(_STATE + _NONCE)
        known = (saved or bytes(_STATE)) + self.unique
        self._drbg = self.source = HmacDrbg(data[:_STATE], data[_STATE:], known)
        self._room = 0
        self.drop()
        return self.state()

    # An output that nothing else uses: who reads the store knows neither past nor coming draws.
    def state(self):
        return bytes(self._drbg.generate(_STATE))

    # seed = H(state, fresh entropy, unique id), H being the reseed. Words drawn before it are worth nothing after it.
    def fresh(self, bits=_STRENGTH):
        if not self._drbg:
            raise DeadSource("not seeded")
        data = self._gather((max(bits, _STRENGTH) + 7) // 8)
        self._drbg.reseed(data, self.unique)
        self.bits += 8 * len(data)
        self._room = _STRENGTH
        self.drop()

    # 13:69E-1.28G(b)4: cycles between games, as often as there is time.
    def background(self):
        if self._drbg:
            self._drbg.generate(_STATE)
            self.drop()

    def _gather(self, n):
        data = self.entropy.read(n)
        self._must_live()
        return data

    def _must_live(self):
        if not self.entropy.healthy:
            raise DeadSource(self.entropy.name)

    # -- draws ---------------------------------------------------------------------

    # Before each game.
    def begin(self):
        self.bits = self.draws = self.rejected = 0
        self.fresh()

    # One of 0 .. n - 1. Words are bytes for n <= 256, else 16 bits, high byte first. The highest words, that would make
    # the first outcomes likelier, are rejected: from 256 - 256 % n (6: 252, 52: 208), or from 65536 - 65536 % n.
    def below(self, n):
        self._spend(n)
        wide = n > 256
        limit = 65536 - 65536 % n if wide else 256 - 256 % n
        if wide != self._wide:
            self.drop()
        for _ in range(_BLOCKS_MAX):
            for word in self._words:
                if word < limit:
                    self.draws += 1
                    return word % n
                self.rejected += 1
            block = self.source.generate(_BLOCK)
            self._words = pairs(block) if wide else iter(block)
            self._wide = wide
        raise DeadSource("rejected")

    # Fisher-Yates into `order`, a bytearray or array("H") as long as the deck: whatever stood there before is gone.
    # After an exception there is no order in it.
    def permutation(self, order):
        n = len(order)
        for i in range(n):
            order[i] = i
        if order[n - 1] != n - 1:
            raise ValueError("order")  # too narrow for its own length
        self.begin()
        for i in range(n - 1):
            j = i + self.below(n - i)
            order[i], order[j] = order[j], order[i]
        return order

    # Room for every outcome: from 256 fresh bits no more than 2^256 outcomes are drawn, counted in whole bits, rounded
    # up. A deck of 52 takes 249 (225.6 needed); a shoe gathers more on the way.
    def _spend(self, n):
        width = self._width
        if not 1 << (width - 1) < n <= 1 << width:
            self._width = width = bits_of(n)
        if self._room < width:
            self.fresh()
        self._must_live()
        self._room -= width

    def drop(self):
        self._words = iter(b"")
