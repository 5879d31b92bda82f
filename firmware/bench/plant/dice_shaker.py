# The physical world of a dice shaker: dice in a cup with a transparent floor, a motor, two readers, lid, lock, latch
# on the table, buttons. Stepped with the device's own `now`; it knows nothing of the device. What it tumbles proves
# nothing about real dice: the bench says how they come to rest where that matters.
#
# A die is a letter: f fair, s stuck to its face, l loaded towards six, w one that wears (its one comes ever oftener), i
# impossible (two sixes, opposite each other).
from bench.plant import attended
from micropython import const

_LOOK_MS = const(80)
_TUMBLE_MS = const(50)
_REST_MS = const(400)
_SURE = const(99)
_NEVER = const(1 << 29)


class Plant(attended.Plant):
    ARGS = """
place: dice=:str
take:
press: button=shake|next|recall|clear
key: turned=:bool
lid: open=:bool
lock: locked=:bool
latch: secured=:bool
lie: above=:str|:empty below?=:str|:empty sure?=:int|:list
knock:
battery: mv=:int
break: part=shaker|still|rest|reader_above|reader_below|drive|look
mend: part=:str
"""
    # Operations of their own module: none.
    LATE = ()
    CAPABILITIES = []

    def __init__(self):
        super().__init__()
        self.dice = ""
        self.faces = []
        self.coming = []  # how the dice will lie after the next shakes, as the bench said: above, below, sure
        self.lying = None  # how they lie now, if the bench said so
        self.lid = 0
        self.locked = 1
        self.secured = 1
        self.speed = 0
        self.still = 1
        self.tumble = 0
        self.chance = 88675123
        self.turned = 0

    # -- what survives a power cut: everything but what the motors did ------

    _WORLD = (
        "dice", "faces", "coming", "lying", "lid", "locked", "secured", "broken", "battery", "key", "chance", "turned",
    )  # fmt: skip

    def world(self):
        world = super().world()
        world["moving"] = not self.still
        return world

    def restore(self, world):
        super().restore(world)
        # Dice that were in the air fall somewhere, unseen.
        if world["moving"]:
            self._fall()

    # -- time ---------------------------------------------------------------

    # The cup turns over once, and the faster the oftener.
    def _done_tumble(self, at):
        self.tumble ^= 1
        self.turned += 1
        self.due["tumble"] = at + _TUMBLE_MS // self.speed

    def _done_rest(self, at):
        self.still = 1

    def _done_look(self, at):
        if "look" not in self.broken:
            self.reading = self._seen()

    def _seen(self):
        above, below, sure = self.lying or (self.faces, self._opposite(), _SURE)
        blind = [part for part in ("reader_above", "reader_below") if part in self.broken]
        if blind:
            return None
        return {
            "above": list(above),
            "below": list(below),
            "sure": sure if isinstance(sure, list) else [sure] * max(len(above), len(below)),
        }

    def _opposite(self):
        return [6 if die == "i" else 7 - face for die, face in zip(self.dice, self.faces)]

    # -- dice ---------------------------------------------------------------

    # xorshift32: good enough to tumble by.
    def _random(self, n):
        x = self.chance
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        self.chance = x
        return (x >> 8) % n

    def _fall(self):
        self.lying = self.coming.pop(0) if self.coming else None
        self.faces = [self._fallen(die, face) for die, face in zip(self.dice, self.faces)]

    def _fallen(self, die, face):
        if die == "i":
            return 6
        if die == "s":
            return face
        if die == "l" and self._random(4) == 0:
            return 6
        if die == "w" and self._random(4000) < self.turned // 40:
            return 1
        return 1 + self._random(6)

    # -- what the device sees -------------------------------------------------

    def levels(self):
        still = self.still and self.emitters
        if "still" in self.broken:
            still = 1
        levels = super().levels()
        levels.update(
            {
                "lid": self.lid,
                "locked": self.locked,
                "secured": self.secured,
                "still": 1 if still else 0,
                "tumble": self.tumble,
                "drive": 0 if "drive" in self.broken else 1,
                "reader_above": 0 if "reader_above" in self.broken else 1,
                "reader_below": 0 if "reader_below" in self.broken else 1,
            }
        )
        return levels

    # -- what the device does -------------------------------------------------

    def motor(self, name, level):
        self.changed = True
        if name == "look":
            self.due.pop("look", None)
            if level:
                self.due["look"] = self.time + _LOOK_MS
        elif name == "shaker":
            self._turn(level)

    def _turn(self, level):
        stalled = "shaker" in self.broken
        if level and not stalled:
            self.still = 0
            self.due.pop("rest", None)
            if not self.speed:
                self.due["tumble"] = self.time + _TUMBLE_MS // level
            self.speed = level
        elif not level and self.speed:
            self.speed = 0
            del self.due["tumble"]
            self._fall()
            self._settle()

    def _settle(self):
        self.still = 0
        self.due["rest"] = self.time + (_NEVER if "rest" in self.broken else _REST_MS)

    # -- what a person does ---------------------------------------------------

    def _op_place(self, request):
        self._must_be_open()
        self.dice += request["dice"]
        self.faces += [1] * len(request["dice"])
        self.lying = None
        self.changed = True

    def _op_take(self, request):
        self._must_be_open()
        self.dice, self.faces, self.lying = "", [], None
        self.changed = True

    def _must_be_open(self):
        if not self.lid:
            raise ValueError("open the lid first")

    def _op_lid(self, request):
        self.lid = 1 if request["open"] else 0
        self.changed = True

    def _op_lock(self, request):
        self.locked = 1 if request["locked"] else 0
        self.changed = True

    def _op_latch(self, request):
        self.secured = 1 if request["secured"] else 0
        self.changed = True

    # How the dice will lie after the next shake that is not spoken for: spots as each reader sees them, 0 where it
    # can't read them; below, unless given, what is opposite; how sure both are, in per cent, of all or of each.
    def _op_lie(self, request):
        above = [int(digit) for digit in request["above"]]
        below = request.get("below")
        below = [7 - face if face else 0 for face in above] if below is None else [int(digit) for digit in below]
        self.coming.append([above, below, request.get("sure", _SURE)])

    # Somebody knocks at the table: the dice move where they lie.
    def _op_knock(self, request):
        if self.still and self.dice:
            self._settle()
            self.changed = True

    def _op_break(self, request):
        super()._op_break(request)
        if request["part"] == "shaker" and self.speed:
            self._turn(0)

    def _op_mend(self, request):
        super()._op_mend(request)
        if request["part"] == "rest" and not self.still and not self.speed:
            self._settle()

    def truth(self):
        return {
            "dice": self.dice,
            "faces": self.faces,
            "lying": self.lying,
            "coming": len(self.coming),
            "moving": not self.still,
            "turned": self.turned,
            "running": sorted(name for name in self.due if name in ("tumble", "look")),
        }
