# A dice shaker, as 13:69E-1.13A to W, 1.16 and 1.16A ask: filled by two persons, locked and secured, it shakes, waits
# for rest, and shows what both readers are sure of. The outcome is read from the dice; nothing here draws one.
from device import base
from device.attended import is_name
from device.conditions import MESSAGE
from device.date import written
from device.dice import GAMES, HANDED, WRONG, counted, judge
from device.dice_age import DiceAge
from device.dice_shaker_selftest import DiceShakerTest
from device.dice_shaker_table import CONDITIONS, TABLE
from device.rounds import Rounds
from micropython import const

# Motor level, and how long: fast, then slower.
_PROFILE = ((2, 800), (1, 400))
_TUMBLES = const(8)  # at least; a motor that turns gives thirty
_REST_MS = const(4000)
_STILL_MS = const(200)
_LOOK_MS = const(500)
_ROUNDS = const(10)  # 13:69E-1.28P(i)
# The words of a filling, with their longest: all of them, and a proof, stand in one line of the link.
PEOPLE = (("who", 20), ("licence", 12), ("witness", 20), ("witness_licence", 12), ("seal", 12))
_FOUND = const(40)
# Pulled up: a part that isn't there doesn't stop the others.
PULLED_UP = ("reader_above", "reader_below", "drive", "still", "battery")
# A look of which the readers said nothing.
UNMEASURED = {"above": [], "below": [], "sure": []}
# Where an open lid is no fault as long as nobody filled it.
_EMPTY = ("power_up", "initialize", "unfilled")
# What is about the dice that are in.
_OF_DICE = ("dice_wrong", "die_impossible", "dice_expired", "tampered")


def blank_record():
    record = base.blank()
    record["meters"] = {"rounds": 0, "shakes": 0}
    record["settings"] = dict(DiceShaker.defaults)
    record["filled"] = None  # who, licence, witness, witness_licence, seal, at
    record["age"] = [0, None]
    record["used"] = False  # dice were in since the last inspection
    record["tamper"] = None  # the report of the last tampering found
    record["rounds"] = []
    record["tries"] = None  # shakes of the open round that gave no result
    record["flight"] = None
    record["shown"] = ""
    return record


# In a proof they are parted by what none of them has.
def is_word(text, longest):
    return is_name(text, longest) and "|" not in text


# Written otherwise, it is still the same person.
def alike(one, other):
    return one.replace(" ", "").lower() == other.replace(" ", "").lower()


# entropy, unique: for devices that draw.
def create(record, verified, calendar, new, entropy, unique):
    if new and record is None:
        record = blank_record()
    return DiceShaker(record, verified, calendar)


class DiceShaker(Rounds):
    table = TABLE
    conditions = CONDITIONS
    capabilities = ["dice", "doors", "lcd", "access"]
    calm = recalls = ("unfilled", "idle", "shown")
    unseen = ("software_error", "shaker_stalled", "rest_unseen", "reader_failed", "no_result", "post_failed")
    buttons = ("shake", "next", "recall", "clear")
    defaults = {"game": "sic bo", "tries": 3, "table": "-", "host": 0}
    ranges = {"tries": (1, 5), "host": (0, 60)}
    round_fields = "number calendar faces void end"
    rights = dict(Rounds.rights, tamper_report=("attendant", "regulator"))

    def __init__(self, record, verified, calendar):
        super().__init__(record, verified, calendar, DiceShakerTest())
        self.age = DiceAge(self.record["age"], calendar)
        self.watch = None
        self.heard_at = 0
        self.closing = False  # a round ends with the step under way
        self.people = None  # who fills, while it is looked at what they put in
        self.leg = 0
        self.tumbles = 0
        self.moved = False  # the sensor of rest saw that they don't lie
        self.resting = False
        self.until = 0  # when they have to lie still
        self.faces = None

    # Of a memory that is lost or cleared: nobody knows what was done with the dice that are in.
    def blank(self):
        record = blank_record()
        record["used"] = True
        return record

    # -- what it shows -----------------------------------------------------

    def message(self):
        top = self.standing.top()
        if top:
            return top[MESSAGE]
        if self.recalled:
            return self._recalled()
        if self.state == "shown":
            return "Result " + self.record["shown"]
        if self.state == "unfilled" and self.levels.get("battery", 1):
            return "No dice: fill"
        return super().message()

    def _recalled(self):
        number, when, faces, _, end = self.record["rounds"][-self.recalled]
        return "Round %d, %s: %s" % (number, written(when), faces or end)

    # No face before it is the result.
    def status(self):
        shown = self.state == "shown" or (self.state == "error" and self.record["shown"])
        return {
            "enabled": self.state == "idle",
            "dice": self.dice(),
            "filled": self.filled(),
            "round": self.record["meters"]["rounds"],
            "tries": self.record["tries"],
            "faces": [int(face) for face in self.record["shown"].split()] if shown else None,
        }

    # All of them are for everybody: each was on the display.
    def rounds(self):
        return self.record["rounds"]

    def dice(self):
        return GAMES[self.record["settings"]["game"]]

    # Why it can't be set, or its memory cleared, now.
    def under_way(self):
        return "dice are in: take them out first" if self.record["filled"] else ""

    def wrong_setting(self, settings):
        wrong = super().wrong_setting(settings)
        if wrong:
            return wrong
        if settings.get("game", "sic bo") not in GAMES:
            return "game is one of " + ", ".join(sorted(GAMES))
        return "" if is_name(settings.get("table", "-"), 12) else "table has 1 to 12 printable ASCII letters"

    def next(self):
        times = (self.timer, self.post.until, self.watch)
        return min((t for t in times if t is not None), default=None)

    # -- people ------------------------------------------------------------

    # Why these persons can't fill it now, in words; "" where they can. 1.16(f): two of them, each licensed.
    def wrong_fill(self, people):
        for name, longest in PEOPLE:
            if not is_word(people[name], longest) and (name != "seal" or people[name]):
                return "%s has 1 to %d printable ASCII letters, and no |" % (name, longest)
        if alike(people["who"], people["witness"]) or alike(people["licence"], people["witness_licence"]):
            return "two persons fill it: somebody else is the witness"
        if self.record["filled"]:
            return "dice are in already: take them out first"
        if self.state != "unfilled":
            return "it isn't ready to be filled: look at its display"
        if self.record["used"]:
            return "inspect it first: dice were in since the last inspection"
        if self.levels.get("lid"):
            return "the lid is open: close it first"
        if not self.levels.get("locked") and not people["seal"]:
            return "lock it, or give the number of its seal"
        if not self._is_secured():
            return "secure it to the table first"
        return ""

    def _on_configure(self, now, settings, who):
        self.heard_at = now  # whose patience was set has it whole
        super()._on_configure(now, settings, who)

    def _on_clear_memory(self, now, who):
        tamper = self.record["tamper"]
        super()._on_clear_memory(now, who)
        self.record["tamper"] = tamper
        self.age.kept = self.record["age"]

    def _on_fill(self, now, people):
        self.people = people
        self._fire("fill", now)

    def wrong_inspection(self, who, licence, found):
        for name, text, longest in (("who", who, 20), ("licence", licence, 12), ("found", found or "-", _FOUND)):
            if not is_word(text, longest):
                return "%s has 1 to %d printable ASCII letters, and no |" % (name, longest)
        return ""

    # 13:69E-1.16A(b): the report of a tampering has when, where, who.
    def _on_inspect(self, now, who, licence, found):
        self.record["used"] = self.filled() or bool(found)
        if found:
            table = self.record["settings"]["table"]
            self.record["tamper"] = [self.calendar(), table, who, licence, found]
        self._note("inspected", who + " " + licence, now)
        if found:
            self._raise("tampered", found, now)

    # -- events ------------------------------------------------------------

    def step(self, event, now):
        if event[0] != "store_error":
            self.closing = False
        return super().step(event, now)

    # What couldn't be stored is no result: its round is open.
    def _on_store_error(self, now, why):
        if self.closing:
            self._reopen()
        super()._on_store_error(now, why)

    # What couldn't be stored was a shake all the same.
    def _reopen(self):
        self.closing = False
        _, _, faces, self.record["tries"], _ = self.record["rounds"][-1]
        self.record["flight"] = "shaking" if faces else None
        self.record["rounds"] = self.record["rounds"][:-1]
        self.record["shown"] = ""

    def _progress(self, now):
        super()._progress(now)
        self._watch(now)

    def follow(self, now, levels, reading, before):
        if self.state == "shaking":
            self.tumbles += levels.get("tumble") != before.get("tumble")
            self.moved |= not levels.get("still")
        elif self.state == "resting":
            self._follow_rest(now, levels)
        elif self.state == "reading" and not levels.get("still"):
            self._void("moved", now)
        elif self.state in ("reading", "checking") and reading:
            self.timer = None
            self._take(reading, now)

    # A level from before the dice lay still means nothing: they rest when they stay so.
    def _follow_rest(self, now, levels):
        still = bool(levels.get("still"))
        if still and not self.resting:
            self.timer = now + _STILL_MS
        elif not still and self.resting:
            self.timer = self.until
        self.resting = still

    # A step that lasts too long, or is over.
    def overdue(self, now):
        if self.state == "shaking":
            self._next_leg(now)
        elif self.state == "resting":
            if self.resting:
                self._fire("at_rest", now)
            else:
                self._void("restless", now)
        elif self.state in ("reading", "checking"):
            self._motor("look", 0)
            self._raise("reader_failed", self.state, now)

    # A frame of the host's.
    def host_spoke(self, now):
        self.heard_at = now

    # -- guards --------------------------------------------------------------

    def filled(self):
        return self.record["filled"] is not None

    def has_result(self):
        return self.filled() and bool(self.record["shown"])

    # -- actions ---------------------------------------------------------------

    def _look(self, now):
        self._motor("look", 1)
        self.timer = now + _LOOK_MS

    def _accept_fill(self, now):
        self.record["filled"] = self.people
        self.people["at"] = self.calendar()
        self.record["used"] = True
        self.record["shown"] = ""
        self.age.begin(now)
        people = "%(who)s %(licence)s, %(witness)s %(witness_licence)s" % self.people
        people += ", seal " + self.people["seal"] if self.people["seal"] else ""
        self.people = None
        self._note("filled", people, now)

    def _begin_round(self, now):
        self.recalled = 0
        if self.record["tries"] is None:
            self.record["tries"] = 0
            self.meters.add("rounds", 1)
        self._shake_again(now)

    # On the store before the dice move: a cut finds that they did.
    def _shake_again(self, now):
        self.record["flight"] = "shaking"
        self.meters.add("shakes", 1)
        self._commit()
        self.leg = -1
        self.tumbles = 0
        self.moved = False
        self._next_leg(now)

    def _next_leg(self, now):
        self.leg += 1
        if self.leg < len(_PROFILE):
            level, ms = _PROFILE[self.leg]
            self._motor("shaker", level)
            self.timer = now + ms
            return
        self._motor("shaker", 0)
        if self.tumbles < _TUMBLES:
            self._raise("shaker_stalled", "%d tumbles" % self.tumbles, now)
        elif not self.moved:
            self._raise("rest_unseen", self.state, now)
        else:
            self._fire("shaken", now)

    def _wait_for_rest(self, now):
        self.resting = False
        self.until = self.timer = now + _REST_MS
        self._follow_rest(now, self.levels)

    def _take(self, reading, now):
        self._motor("look", 0)
        if self.state == "checking":
            if counted(reading) == self.dice():
                return self._fire("counted", now)
            return self._raise("dice_wrong", "%d dice" % counted(reading), now)
        self.faces, why = judge(reading, self.dice())
        if why in WRONG:
            self._raise("die_impossible" if why == "impossible" else "dice_wrong", why, now)
        elif why:
            self._void(why, now)
        else:
            self._fire("read", now)

    # A fault alone makes a shake void; the faces are nothing that is looked at here.
    def _void(self, why, now):
        self._motor("look", 0)
        self._count_void(why, now)
        if self.record["tries"] < self.record["settings"]["tries"]:
            self._fire("void", now)
        else:
            self._raise("no_result", why, now)

    def _count_void(self, why, now):
        self.record["tries"] += 1
        self.record["flight"] = None
        self.meters.add("void_" + why, 1)
        self._note("void", why, now)

    def _show(self, now):
        faces = " ".join(str(face) for face in self.faces)
        self.faces = None
        self.record["shown"] = faces
        self._close_round(faces, "result")
        self._event("result", faces)

    # Rounds are public once they are over: date, time, outcome of the last ten, and of shakes that were void.
    def _close_round(self, faces, how):
        row = [self.record["meters"]["rounds"], self.calendar(), faces, self.record["tries"], how]
        self.record["rounds"] = (self.record["rounds"] + [row])[-_ROUNDS:]
        self.record["flight"] = None
        self.record["tries"] = None
        self.closing = True
        self._commit()

    def _take_away(self, now):
        self.recalled = 0
        self.record["shown"] = ""
        self._commit()

    # Whatever the dice do now is no result.
    def _abort(self, now):
        self.recalled = 0
        self._halt()
        if self.record["flight"]:
            self._count_void("fault", now)
        if self.record["tries"] is not None:
            self._close_round("", self.standing.top()[0])

    def _halt(self):
        self.timer = None
        self.faces = self.people = None
        for name in ("shaker", "look"):
            self._motor(name, 0)

    # -- parts -------------------------------------------------------------

    # A cut inside a shake: it is void, and the round is still to be decided.
    def _restore(self, now):
        self.heard_at = now
        if self.filled():
            self.age.restore(now)
        if self.record["flight"]:
            self._count_void("interrupted", now)
            if self.record["tries"] >= self.record["settings"]["tries"]:
                self._raise("no_result", "interrupted", now)

    def _is_secured(self):
        return self.record["settings"]["game"] in HANDED or bool(self.levels.get("secured"))

    def _read_conditions(self, now):
        filled = self.record["filled"]
        lid = bool(self.levels.get("lid"))
        self._read_door("lid_open", lid, now, stops=bool(filled) or self.state not in _EMPTY)
        locked = self.levels.get("locked") or not filled or filled["seal"]
        self._read_door("unlocked", not locked, now)
        self._read_door("unsecured", bool(filled) and not self._is_secured(), now)
        if filled and lid:
            self._empty(now)
        if not self.record["filled"]:
            for name in _OF_DICE:
                # What was found in it stands until somebody could take it out.
                if lid or name != "tampered":
                    self.standing.sense(name, False)
        super()._read_conditions(now)

    # Whoever opens the lid may have changed the dice: nobody answers for them any more.
    def _empty(self, now):
        self.record["filled"] = None
        self.record["shown"] = ""
        self.age.end()
        self._commit()

    # What time alone brings: dice that are too old, a clock that was set, a host that is silent.
    def _watch(self, now):
        self.watch = self.age.next(now)
        if self.age.expired(now):
            self.watch = None
            self._raise("dice_expired", "", now)
            self._fire("fault", now)
        if self.age.due(now):
            self._commit()
        self._watch_host(now)

    def _watch_host(self, now):
        patience = 1000 * self.record["settings"]["host"]
        silent = bool(patience) and now - self.heard_at >= patience
        if not silent:
            self.standing.sense("host_lost", False)
            if patience:
                self.watch = min(self.watch or now + patience, self.heard_at + patience)
        elif "host_lost" not in self.standing.names():
            self._raise("host_lost", "", now)
            self._fire("fault", now)
