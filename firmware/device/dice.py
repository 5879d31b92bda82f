# Dice as two readers see them: one from above, the other through the floor. A result is what both are sure of.
from micropython import const

_SURE = const(90)  # per cent
_SIDES = const(6)
# How many dice a game has: 13:69E-1.13A(d)1i, B(e)1, C(d)1, I(d)1, T(d)1, W(d)1, 1.16(f).
GAMES = {
    "sic bo": 3,
    "mini-dice": 2,
    "automated craps": 2,
    "pai gow": 3,
    "pai gow poker": 3,
    "asia poker": 3,
    "supreme pai gow": 3,
}
# A shaker that is handed to the dealer, 1.16(f)1iii(3): there is no latch on the table.
HANDED = ("mini-dice",)
# Dice that are not those of the game: shaken again, they would be no other.
WRONG = ("missing", "extra", "impossible")


# -> (faces, ""), or (None, why there is no result). Nothing is guessed.
def judge(reading, dice):
    above, below, sure = reading["above"], reading["below"], reading["sure"]
    seen = max(len(above), len(below))
    if seen != dice:
        return None, "missing" if seen < dice else "extra"
    if len(above) != len(below):
        return None, "stacked"
    if len(sure) != dice:
        return None, "unsure"
    read = [_is_face(top) and _is_face(bottom) for top, bottom in zip(above, below)]
    certain = [ok and confidence >= _SURE for ok, confidence in zip(read, sure)]
    for ok, top, bottom in zip(certain, above, below):
        # 13:69E-1.15(a)8: opposite sides of a die make seven.
        if ok and top + bottom != _SIDES + 1:
            return None, "impossible"
    if not all(read):
        return None, "leaning"
    if not all(certain):
        return None, "unsure"
    return tuple(above), ""


def _is_face(spots):
    return 1 <= spots <= _SIDES


# How many dice a reading shows, whatever lies on top of them.
def counted(reading):
    return max(len(reading["above"]), len(reading["below"]))
