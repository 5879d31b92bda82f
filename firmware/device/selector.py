# A selector, the "computerized random number generator" of 13:69E-1.13B(f), T(e) and W(e): at a press it draws a number
# from 1 through 7 and displays it, the starting position for the deal.
from binascii import unhexlify

from device import base
from device.conditions import MESSAGE
from device.date import written
from device.drawn import Drawn
from device.generator import DeadSource, Generator
from device.rounds import Rounds
from device.selector_selftest import SelectorTest
from device.selector_table import CONDITIONS, TABLE
from micropython import const

_POSITIONS = const(7)
_BLANK_MS = const(800)  # between two numbers the display shows none
_SETTLE_MS = const(100)
_ROUNDS = const(16)  # 13:69E-1.28P(i) asks for ten
_PAI_GOW_POKER = "pai gow poker"
_GAMES = (_PAI_GOW_POKER, "asia poker", "supreme pai gow")
_LINES = ("display_1", "display_2", "display_4", "display_8")
# Pulled up: a part that isn't there doesn't stop the others.
PULLED_UP = ("battery",)
# It has no reader.
UNMEASURED = {}  # type: dict[str, int]


def blank_record():
    record = base.blank()
    record["meters"] = {"rounds": 0}
    record["settings"] = dict(Selector.defaults)
    record["rounds"] = []  # number, calendar, game, outcome
    record["open"] = None  # how far the last of them is: "drawn", "shown"; None once it was taken away
    record["seed"] = ""
    return record


# entropy(): the source, with read(n), healthy, name. unique: what no other board has, in hex.
def create(record, verified, calendar, new, entropy, unique):
    if new and record is None:
        record = blank_record()
    return Selector(record, verified, calendar, Generator(entropy(), unhexlify(unique)))


class Selector(Drawn, Rounds):
    table = TABLE
    conditions = CONDITIONS
    capabilities = ["selector", "doors", "lcd", "access"]
    sensed = (("service_door", 1, "service_door"), ("housing", 1, "housing"))
    calm = ("idle", "shown")
    unseen = ("software_error", "entropy_failed", "display_failed")
    buttons = ("select", "done", "recall", "clear")
    resting = recalls = ("idle", "shown", "locked")
    # bonus: whether the table offers the wagers of 13:69F-11.17.
    defaults = {"game": _PAI_GOW_POKER, "bonus": False}
    ranges = {}  # type: dict[str, tuple[int, int]]
    round_fields = "number calendar game outcome"

    def __init__(self, record, verified, calendar, generator):
        super().__init__(record, verified, calendar, SelectorTest())
        self.begin_drawing(generator)
        self.driven = 0  # what the display is to show, 0 for nothing
        self.settled = None  # when it has to

    # Of a memory that is lost or cleared: what the table offers is known no more, so that it may not be used.
    def blank(self):
        record = blank_record()
        record["settings"]["bonus"] = True
        return record

    # -- what it shows -----------------------------------------------------

    def message(self):
        top = self.standing.top()
        if top:
            return top[MESSAGE]
        if self.recalled:
            return self._recalled()
        if self.state == "selecting":
            return ""
        if self.state == "shown":
            return str(self.number())
        if self.state == "locked":
            return "Not for pai gow poker with the bonus wagers of 13:69F-11.17: use shaker and dice"
        return super().message()

    def _recalled(self):
        number, when, game, outcome = self.rounds()[-self.recalled]
        return "Round %d, %s, %s: %d" % (number, written(when), game, outcome)

    # No number before it is shown.
    def status(self):
        return {
            "enabled": self.state in ("idle", "shown"),
            "round": self.record["meters"]["rounds"],
            "number": self.number() if self.state == "shown" else None,
            "bits": self.generator.bits,
            "draws": self.generator.draws,
        }

    # Of the last round.
    def number(self):
        return self.record["rounds"][-1][3]

    # The rounds that were shown, for everybody.
    def rounds(self):
        rounds = self.record["rounds"]
        return rounds[:-1] if self.record["open"] == "drawn" else rounds

    # Why it can't be set, or its memory cleared, now.
    def under_way(self):
        return "a round is open: press done first" if self.record["open"] else ""

    def wrong_setting(self, settings):
        wrong = super().wrong_setting(settings)
        if wrong or settings.get("game", _PAI_GOW_POKER) in _GAMES:
            return wrong
        return "game is " + ", ".join(_GAMES)

    def next(self):
        times = (self.timer, self.post.until, self.cycle, self.settled)
        return min((t for t in times if t is not None), default=None)

    # -- events ------------------------------------------------------------

    def _progress(self, now):
        self._check_display(now)
        super()._progress(now)
        self._cycle(now)

    def _on_configure(self, now, settings, who):
        super()._on_configure(now, settings, who)
        self._fire("configured", now)

    def _on_clear_memory(self, now, who):
        super()._on_clear_memory(now, who)
        self._fire("configured", now)

    def _on_store_error(self, now, why):
        super()._on_store_error(now, why)
        self._drive(0, now)

    # There is nothing on its way that a sensor could follow.
    def follow(self, now, levels, reading, before):
        pass

    def overdue(self, now):
        self._fire("drawn", now)

    # -- guards ------------------------------------------------------------

    # 13:69E-1.13B(f): not where the casino offers the optional bonus wagers of 13:69F-11.17.
    def barred(self):
        settings = self.record["settings"]
        return settings["game"] == _PAI_GOW_POKER and settings["bonus"]

    def allowed(self):
        return not self.barred()

    # 13:69E-1.28P(j)
    def has_result(self):
        return self.record["open"] is not None

    # -- actions -----------------------------------------------------------

    # The number is on the store before anybody sees it: a cut leaves this round no other.
    def _begin_round(self, now):
        self.recalled = 0
        self._drive(0, now)
        self.record["open"] = None
        try:
            number = self.draw()
        except DeadSource as e:
            return self._raise("entropy_failed", e.args[0], now)
        self.meters.add("rounds", 1)
        row = [self.record["meters"]["rounds"], self.calendar(), self.record["settings"]["game"], number]
        self.record["rounds"] = (self.record["rounds"] + [row])[-_ROUNDS:]
        self.record["open"] = "drawn"
        self._commit()
        self.timer = now + _BLANK_MS

    # The outcome of a round: the one path to it.
    def draw(self):
        self.generator.begin()
        number = self.generator.below(_POSITIONS) + 1
        self.keep_state()
        return number

    def _show(self, now):
        self.record["open"] = "shown"
        self._commit()
        self._drive(self.number(), now)
        self._event("result", str(self.number()))

    def _take_away(self, now):
        self.recalled = 0
        self.record["open"] = None
        self._commit()
        self._drive(0, now)

    # The round stays open: its number is shown once the fault was cleared.
    def _abort(self, now):
        self.recalled = 0
        self._halt()
        if not self.post.running():
            self._drive(0, now)

    def _halt(self):
        self.timer = None

    # -- parts -------------------------------------------------------------

    # A cut inside a round: its number is on the store, and is shown after the self-test.
    def _restore(self, now):
        if self.record["open"]:
            self._note("round_resumed", str(self.record["meters"]["rounds"]), now)

    # However it ended, the lamp test is over.
    def _post_done(self, now):
        super()._post_done(now)
        self._drive(0, now)

    def _drive(self, value, now):
        self.driven = value
        self.settled = now + _SETTLE_MS
        self._motor("display", value)

    # What the display's lines say that it shows.
    def read_back(self):
        return sum(1 << bit for bit, line in enumerate(_LINES) if self.levels.get(line))

    def _check_display(self, now):
        if self.post.running():
            self.settled = None  # it looks at it itself
            return
        if self.settled is not None:
            if now < self.settled:
                return
            self.settled = None
        if self.read_back() != self.driven:
            self._raise("display_failed", self.state, now)
