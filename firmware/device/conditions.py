# What stops a device. One row each in the device's own table, most severe first:
#   name, state on the wire, failure code, latched, holds what is under way, message
# latched: once the cause is gone it still takes a positive act.
# holds: motors must not run, so what is under way stays where it is.
from micropython import const

NAME = const(0)
STATE = const(1)
CODE = const(2)
LATCHED = const(3)
HOLDS = const(4)
MESSAGE = const(5)


class Standing:
    # What stands now: the causes still sensed, and what is latched behind them.

    # What was latched is taken to be there still, until the sensors say otherwise.
    def __init__(self, table, latched):
        self.table = table
        self.latched = [name for name in latched if self.row(name)]
        self.sensed = self.latched.copy()

    def row(self, name):
        for condition in self.table:
            if condition[NAME] == name:
                return condition
        return None

    def names(self):
        return [c[NAME] for c in self.table if c[NAME] in self.sensed or c[NAME] in self.latched]

    def top(self):
        for condition in self.table:
            if condition[NAME] in self.sensed or condition[NAME] in self.latched:
                return condition
        return None

    def holds(self):
        return any(self.row(name)[HOLDS] for name in self.names())

    # True when this is news: the condition did not stand before.
    def sense(self, name, present):
        news = present and name not in self.sensed and name not in self.latched
        if present and name not in self.sensed:
            self.sensed.append(name)
        elif not present and name in self.sensed:
            self.sensed.remove(name)
        if present and self.row(name)[LATCHED] and name not in self.latched:
            self.latched.append(name)
        return news

    # The positive act: releases each latch whose cause is gone.
    def release(self):
        freed = [name for name in self.latched if name not in self.sensed]
        self.latched = [name for name in self.latched if name in self.sensed]
        return freed
