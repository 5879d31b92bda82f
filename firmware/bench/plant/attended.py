# The physical world of a device with an attendant: buttons and a key, and what is done once it is due.
from bench.plant import base
from micropython import const

_PRESS_MS = const(50)


class Plant(base.Plant):
    def __init__(self):
        super().__init__()
        self.key = 0
        self.button = None
        self.due = {}  # a motor, a button: when it has done what it does

    # What is done is told when it was due, which may be before now.
    def step(self, now):
        self.time = now
        for name in [name for name, due in self.due.items() if due <= now]:
            at = self.due.pop(name)
            getattr(self, "_done_" + name)(at)
            self.changed = True

    # The next moment at which a sensor changes by itself, or None.
    def next(self):
        return min(self.due.values(), default=None)

    def _done_button(self, at):
        self.button = None

    # Those that every one has.
    def levels(self):
        levels = {"key": self.key, "battery": self.charged()}
        if self.button:
            levels[self.button] = 1
        return levels

    def _op_press(self, request):
        self.button = request["button"]
        self.due["button"] = self.time + _PRESS_MS
        self.changed = True

    def _op_key(self, request):
        self.key = 1 if request["turned"] else 0
        self.changed = True
