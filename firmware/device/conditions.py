# The errors and security events that stop acceptance: N.J.A.C. 13:69E-1.28N(i).
# One row each, most severe first:
#   name, ID-003 state, failure code, latched, holds the item, message
# latched: once the cause is gone it still takes a positive act (host reset).
# holds the item: the transport must not run, so an item stays where it is.
from micropython import const

NAME = const(0)
STATE = const(1)
CODE = const(2)
LATCHED = const(3)
HOLDS = const(4)
MESSAGE = const(5)

CONDITIONS = (
    ("memory_error", "failure", 0xB2, 0, 1, "Memory error: authorised memory clear needed"),
    ("post_failed", "failure", 0, 1, 1, "Self-test failed: repair and reset"),
    ("acceptor_door", "failure", 0xAF, 0, 1, "Acceptor door open: close it"),
    ("stacker_removed", "stacker_open", 0, 0, 0, "Stacker removed: insert it"),
    ("stacker_door", "stacker_open", 0, 0, 0, "Stacker door open: close it"),
    ("stacker_unlocked", "stacker_open", 0, 0, 0, "Stacker not locked: lock it"),
    ("jam_stacker", "jam_stacker", 0, 1, 1, "Jam in stacker, out of reach: clear and reset"),
    ("jam_acceptor", "jam_acceptor", 0, 1, 1, "Jam in acceptor, in reach: clear and reset"),
    ("cheated", "cheated", 0, 1, 0, "Cheating attempt: call attendant"),
    ("stacker_full", "stacker_full", 0, 1, 0, "Stacker full: empty and reset"),
    ("comm_error", "communication_error", 0, 0, 0, "Communication error: check the cable"),
)


def row(name):
    for condition in CONDITIONS:
        if condition[NAME] == name:
            return condition
    return None


class Standing:
    # What stands now: the causes still sensed, and what is latched behind them.

    # What was latched is taken to be there still, until the sensors say otherwise.
    def __init__(self, latched):
        self.latched = [name for name in latched if row(name)]
        self.sensed = self.latched.copy()

    def names(self):
        return [c[NAME] for c in CONDITIONS if c[NAME] in self.sensed or c[NAME] in self.latched]

    def top(self):
        for condition in CONDITIONS:
            if condition[NAME] in self.sensed or condition[NAME] in self.latched:
                return condition
        return None

    def holds_item(self):
        return any(row(name)[HOLDS] for name in self.names())

    # True when this is news: the condition did not stand before.
    def sense(self, name, present):
        news = present and name not in self.sensed and name not in self.latched
        if present and name not in self.sensed:
            self.sensed.append(name)
        elif not present and name in self.sensed:
            self.sensed.remove(name)
        if present and row(name)[LATCHED] and name not in self.latched:
            self.latched.append(name)
        return news

    # The positive act: releases each latch whose cause is gone.
    def release(self):
        freed = [name for name in self.latched if name not in self.sensed]
        self.latched = [name for name in self.latched if name in self.sensed]
        return freed
