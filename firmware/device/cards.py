# Playing cards, and what a deck of the configured game holds (13:69F). A face is suit * 13 + rank, 52 for a joker.
from micropython import const

JOKER = const(52)
_FACES = const(53)
_RANKS = "A23456789TJQK"
_SUITS = "SHDC"


def name(face):
    return "joker" if face == JOKER else _RANKS[face % 13] + _SUITS[face // 13]


# "Missing: 7H x2 QS. Extra: joker." faces: (face, how many). Of more than at_most the rest are dots.
def _listed(word, faces, at_most):
    if not faces:
        return ""
    names = [name(face) if number == 1 else "%s x%d" % (name(face), number) for face, number in faces[:at_most]]
    return "%s: %s%s " % (word, " ".join(names), " ..." if len(faces) > at_most else ".")


class Count:
    # decks of 52 with so many jokers each; recognise: whether faces are looked at, or cards only counted.
    def __init__(self, decks, jokers, recognise):
        self.decks = decks
        self.jokers = jokers
        self.recognise = recognise
        self.total = 0
        self._faces = bytearray(_FACES)

    def expected(self):
        return self.decks * (52 + self.jokers)

    def add(self, face):
        self.total += 1
        if self.recognise:
            self._faces[face] += 1

    # One that went out again.
    def take(self, face):
        self.total -= 1
        if self.recognise:
            self._faces[face] -= 1

    # Whether the game has no more of this face, or of cards, than are counted; in words, "" where it has.
    def too_many(self, face):
        if self.total > self.expected():
            return "more than %d cards." % self.expected()
        over = self.recognise and self._faces[face] > self._due(face)
        return _listed("Extra", [(face, 1)], 1).rstrip() if over else ""

    def _due(self, face):
        return self.decks * self.jokers if face == JOKER else self.decks

    # What is wrong with the cards, in words; "" for the deck of the game. At most so many faces are named.
    def wrong(self, at_most):
        said = ""
        if self.total != self.expected():
            said = "%d cards, %d are right. " % (self.total, self.expected())
        if self.recognise:
            odds = [(face, self._faces[face] - self._due(face)) for face in range(_FACES)]
            said += _listed("Missing", [(face, -odd) for face, odd in odds if odd < 0], at_most)
            said += _listed("Extra", [(face, odd) for face, odd in odds if odd > 0], at_most)
        return said.rstrip()
