"""The generator that the devices' documentation declares, written from SP 800-90A and never from the firmware.

HMAC_DRBG with SHA-256 (10.1.2). Instantiated at each self-test with 32 bytes of entropy, 16 of nonce, and as
personalisation the saved state (zeros on a new board) and the unique id; an output of 32 bytes is the state to be
saved. Reseeded before each game with 32 bytes and the unique id, and again when 256 drawn bits were spent. Between
games an output of 32 bytes is thrown away each second. Words are bytes up to 256 outcomes, else 16 bits, from blocks
of 64 bytes; the highest ones that don't fill all outcomes alike are rejected. An order is Fisher and Yates from the
first place on; a number is one more than the outcome. An output of 32 bytes after it is the state to be saved.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from typing import TypeVar

STATE, NONCE, BLOCK, STRENGTH = 32, 16, 64, 256
# Bytes that a source is tested by at a start, before anybody gets any.
TESTED = 1024
# Bytes of a challenge to somebody who wants to prove a role.
CHALLENGE = 8
# Bytes at the self-test.
SEED = STATE + NONCE
Drawn = TypeVar("Drawn")


class Fed:
    """What the bench feeds as "fixed": SHA-256 in counter mode.

    Args:
        seed: as the link's operation `entropy` takes it.
    """

    def __init__(self, seed: str) -> None:
        self.seed, self.given, self._made = seed.encode(), 0, b""

    def read(self, n: int) -> bytes:
        """The next bytes; `given` says how many there were, and may be set back."""
        while len(self._made) < self.given + n:
            count = len(self._made) // 32 + 1
            self._made += hashlib.sha256(self.seed + str(count).encode()).digest()
        self.given += n
        return self._made[self.given - n : self.given]


class Drbg:
    """SP 800-90A Rev. 1, 10.1.2.2 to 10.1.2.5."""

    def __init__(self, seed: bytes) -> None:
        self.key, self.v = b"\x00" * 32, b"\x01" * 32
        self.update(seed)

    def _hmac(self, data: bytes) -> bytes:
        return hmac.digest(self.key, data, "sha256")

    def update(self, provided: bytes = b"") -> None:
        """10.1.2.2, and the reseed of 10.1.2.4."""
        for separator in (b"\x00", b"\x01") if provided else (b"\x00",):
            self.key = self._hmac(self.v + separator + provided)
            self.v = self._hmac(self.v)

    def generate(self, n: int) -> bytes:
        """10.1.2.5."""
        out = b""
        while len(out) < n:
            self.v = self._hmac(self.v)
            out += self.v
        self.update()
        return out[:n]


class Declared:
    """The declared generator of one board, a new one unless `saved` says otherwise.

    Args:
        seed: what the bench feeds from the start on; unique: the board's id, hex.
        saved: the state that the board had stored.
    """

    def __init__(self, seed: str, unique: str, saved: bytes = bytes(STATE)) -> None:
        self.source, self.unique, self.saved = Fed(seed), bytes.fromhex(unique), saved
        self.bits = self.room = self._size = 0
        self._words: Iterator[int] = iter(())
        self.source.read(TESTED)
        self.restore()

    def restore(self) -> None:
        """What a self-test does."""
        self.drbg = Drbg(self.source.read(SEED) + self.saved + self.unique)
        self.room = 0
        self._drop()
        self.saved = self.drbg.generate(STATE)

    def cycle(self) -> None:
        """One step of an idle machine."""
        self.drbg.generate(STATE)
        self._drop()

    def fresh(self) -> None:
        """Fresh entropy."""
        self.drbg.update(self.source.read(STATE) + self.unique)
        self.bits += 8 * STATE
        self.room = STRENGTH
        self._drop()

    def order(self, cards: int) -> list[int]:
        """The order of the next game: the slot that each card goes to."""
        order = list(range(cards))
        self._begin()
        for at in range(cards - 1):
            other = at + self.below(cards - at)
            order[at], order[other] = order[other], order[at]
        self.saved = self.drbg.generate(STATE)
        return order

    def number(self, most: int) -> int:
        """The number of the next round, from 1 through `most`."""
        self._begin()
        number = self.below(most) + 1
        self.saved = self.drbg.generate(STATE)
        return number

    def _begin(self) -> None:
        self.bits = 0
        self.fresh()

    def below(self, n: int) -> int:
        """One of n outcomes."""
        width = max(1, (n - 1).bit_length())
        if self.room < width:
            self.fresh()
        self.room -= width
        size = 1 if n <= 256 else 2
        if size != self._size:
            self._drop()
            self._size = size
        while True:
            for word in self._words:
                if word < 256**size - 256**size % n:
                    return word % n
            block = self.drbg.generate(BLOCK)
            self._words = iter([int.from_bytes(block[i : i + size], "big") for i in range(0, BLOCK, size)])

    def _drop(self) -> None:
        self._words = iter(())
        self._size = 0


def cycles_until(
    declared: Declared, draw: Callable[[Declared], Drawn], fits: Callable[[Drawn], bool], most: int
) -> int | None:
    """After how many idle steps, `most` at most, the declared generator draws what fits; None if after none.

    The generator is left as it is after that draw.
    """
    drbg, source = declared.drbg, declared.source
    for steps in range(most + 1):
        kept = drbg.key, drbg.v, source.given, declared.saved
        if fits(draw(declared)):
            return steps
        drbg.key, drbg.v, source.given, declared.saved = kept
        declared.cycle()
    return None


def cycles_before(declared: Declared, order: list[int], most: int) -> int | None:
    """The same for one order."""
    return cycles_until(declared, lambda generator: generator.order(len(order)), lambda drawn: drawn == order, most)
