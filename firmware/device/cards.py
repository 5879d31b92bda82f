# Playing cards, and what a deck of the configured game holds (13:69F). A face is suit * 13 + rank, 52 for a joker.
from micropython import const

JOKER = const(52)
_FACES = const(53)
_RANKS = "A23456789TJQK"
_SUITS = "SHDC"
_NAMED = const(6)


def name(face):
    return "joker" if face == JOKER else _RANKS[face % 13] + _SUITS[face // 13]


# "Missing: 7H QS. Extra: joker."
def _listed(word, faces):
    if not faces:
        return ""
    more = " ..." if len(faces) > _NAMED else ""
    return "%s: %s%s. " % (word, " ".join(name(face) for face in faces[:_NAMED]), more)


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

    def _due(self, face):
        return self.decks * self.jokers if face == JOKER else self.decks

    # What is wrong with the cards, in words; "" for the deck of the game.
    def wrong(self):
        said = ""
        if self.total != self.expected():
            said = "%d cards, %d are right. " % (self.total, self.expected())
        if self.recognise:
            missing = [face for face in range(_FACES) for _ in range(self._due(face) - self._faces[face])]
            extra = [face for face in range(_FACES) for _ in range(self._faces[face] - self._due(face))]
            said += _listed("Missing", missing) + _listed("Extra", extra)
        return said.rstrip()
