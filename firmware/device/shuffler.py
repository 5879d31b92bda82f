# A card shuffler, as 13:69E-1.28X asks: each card is fed, recognised, and put into the slot of a rack that a random
# permutation gives it; dealing takes the slots in order. In continuous mode dealt cards come back into free slots that
# are drawn, and each card is dealt from an occupied slot that is drawn.
from array import array
from binascii import unhexlify

from device import base
from device.cards import Count
from device.conditions import MESSAGE
from device.drawn import Drawn
from device.generator import DeadSource, Generator
from device.shuffler_path import CardPath
from device.shuffler_selftest import ShufflerTest
from device.shuffler_table import CONDITIONS, TABLE
from micropython import const

_GAMES = const(10)
_HAND = const(5)
_BUTTONS = ("start", "deal", "hand", "unload", "clear")
# No sensor sees when these end: it is the key's holder who says so, and the self-test looks again.
_UNSEEN = (
    "software_error",
    "rack_stalled",
    "camera_failed",
    "cards_wrong",
    "count_wrong",
    "entropy_failed",
    "power_interrupted",
)
_SETTINGS = {"game": "blackjack", "decks": 1, "jokers": 0, "hand": _HAND, "recognise": True, "continuous": False}
_RANGES = {"decks": (1, 8), "jokers": (0, 2), "hand": (1, 13)}
# Pulled up: a part that isn't there doesn't stop the others.
PULLED_UP = ("camera", "aligned", "battery")
# A card of which the camera said nothing.
UNMEASURED = {"face": -1, "back": 0, "thickness": 0, "boxed": 0}


def blank_record():
    record = base.blank()
    record["meters"] = {"games": 0, "cards_in": 0, "cards_dealt": 0, "aborted": 0}
    record["settings"] = dict(_SETTINGS)
    record["flight"] = None
    record["games"] = []
    record["seed"] = ""
    record["dealt"] = 0  # cards of the game under way
    record["detail"] = ""  # what the top condition is about, in words
    return record


# It stands on receipts.
def _is_name(text):
    return 0 < len(text) <= 24 and all(" " <= letter <= "~" for letter in text)


# entropy(): the source, with read(n), healthy, name. unique: what no other board has, in hex.
def create(record, verified, calendar, new, entropy, unique):
    if new and record is None:
        record = blank_record()
    return Shuffler(record, verified, calendar, Generator(entropy(), unhexlify(unique)))


class Shuffler(Drawn, CardPath, base.Device):
    table = TABLE
    conditions = CONDITIONS
    capabilities = ["cards", "doors", "camera", "lcd", "access", "receipt"]
    resting = ("idle", "ready", "spoiled")
    sensed = (("service_door", 1, "service_door"), ("shroud", 1, "shroud"))
    # What takes more than a secret of its own: operation, roles that may.
    rights = {
        "history": ("technician", "regulator"),
        "configure": ("technician",),
        "clear_memory": ("technician",),
        "commission": ("technician",),
    }

    def __init__(self, record, verified, calendar, generator):
        super().__init__(record, verified, calendar, ShufflerTest())
        self.begin_drawing(generator)
        self.inspected = None  # the cards counted last: calendar, game, decks, cards, what is wrong with them
        self.opened = {}  # condition of a door: whether it is open
        self.begin_path()

    def blank(self):
        return blank_record()

    def shown(self):
        return self.state, 0

    # Causes in words, and the cards that are wrong by name: never an order.
    def message(self):
        top = self.standing.top()
        if top:
            about = self.record["detail"] if top[0] in ("cards_wrong", "count_wrong") else ""
            return top[MESSAGE] + (": %s Clear with the key, unload." % about if about else "")
        if self.state == "spoiled":
            return "Cards inside are not shuffled: unload"
        if self.state == "ready" and not self.record["settings"]["recognise"]:
            return "ready, counted only"
        return super().message()

    def light(self):
        if self.standing.top() or not self.memory_ok:
            return "red"
        good = self.state in ("idle", "ready") and self.levels.get("battery", 1)
        return "green" if good else "amber"

    # Whatever the cards are, this is the same: counts, and what the generator gathered.
    def status(self):
        return {
            "enabled": self.state in ("idle", "ready"),
            "inside": None if self.unknown else self.inside,
            "games": self.record["meters"]["games"],
            "bits": self.generator.bits,
            "draws": self.generator.draws,
        }

    # What a setting may be, in words; "" where all of them may.
    def wrong_setting(self, settings):
        for name, value in settings.items():
            if name not in _SETTINGS or type(value) is not type(_SETTINGS[name]):
                return "%s is no setting, or of another type" % name
            if name in _RANGES and not _RANGES[name][0] <= settings[name] <= _RANGES[name][1]:
                return "%s is %d to %d" % ((name,) + _RANGES[name])
        return "" if _is_name(settings.get("game", "-")) else "game has 1 to 24 printable ASCII letters"

    def under_way(self):
        return "a game is under way: end it first" if self.record["flight"] else ""

    def next(self):
        times = (self.timer, self.post.until, self.cycle)
        return min((t for t in times if t is not None), default=None)

    # -- events ----------------------------------------------------------

    def _progress(self, now):
        self._run_post(now)
        self._watch_time(now)
        if self.state == "power_up":
            self.state = "initialize"
        if self.standing.top():
            self._fire("fault", now)
        elif self.state == "error":
            self._fire("clear", now)
        if self.state == "initialize" and self.post.ok and not self.standing.top():
            self._fire("passed", now)
        self._cycle(now)

    def _on_sensors(self, now, levels, reading):
        before = self.levels
        self.levels = levels
        self._read_conditions(now)
        if not (self.post.running() or self.standing.top()):
            self.follow(now, reading)
        for button in _BUTTONS:
            if levels.get(button) and not before.get(button):
                self._press(button, now)

    def _press(self, button, now):
        if button == "clear":
            self._clear(now)
        elif not self._fire(button, now):
            self._event("refused", button)

    # The positive act: an attendant with the key, and no cause there any more.
    def _clear(self, now):
        if not self.levels.get("key"):
            self._note("clear_refused", "no key", now)
        elif self.standing.latched:
            for name in _UNSEEN:
                self.standing.sense(name, False)
            self._release("key", now)
            self.record["detail"] = ""

    def _on_configure(self, now, settings, who):
        self.record["settings"].update(settings)
        self._note("configured", who, now)

    # What ended the run before is told until someone has cleared it, as everything that stops it.
    def _on_service(self, now, what, who):
        if what == "software_error":
            self._raise(what, who, now)
        else:
            super()._on_service(now, what, who)

    # -- guards ----------------------------------------------------------

    def loaded(self):
        return bool(self.levels.get("loaded") or self.levels.get("gate") or self.levels.get("exit"))

    def fed(self):
        return bool(self.levels.get("input"))

    def recycles(self):
        return self.record["settings"]["continuous"] and self.fed()

    def empty(self):
        return self.inside == 0

    # -- actions ---------------------------------------------------------

    def _begin_shuffle(self, now):
        self.record["dealt"] = 0
        self.inspected = None
        settings = self.record["settings"]
        self.count = Count(settings["decks"], settings["jokers"], settings["recognise"])
        try:
            self.order = self.draw()
        except DeadSource as e:
            return self._raise("entropy_failed", e.args[0], now)
        self.record["flight"] = "shuffling"
        self.meters.add("games", 1)
        self._commit()
        self.feed_next(now)

    # Of the configured game.
    def cards(self):
        return self.record["settings"]["decks"] * (52 + self.record["settings"]["jokers"])

    # The order of a game: the one path to it, with the state stored that makes no other start repeat it.
    def draw(self):
        cards = self.cards()
        order = self.generator.permutation(bytearray(cards) if cards <= 256 else array("H", bytes(2 * cards)))
        self.keep_state()
        return order

    def _complete(self, now):
        self._stop(now)
        self.record["flight"] = "ready"
        self.meters.add("cards_in", self.count.total)
        self._commit()

    def _begin_recycling(self, now):
        self.feed_next(now)

    def _deal_card(self, now):
        self.take_out(1, now)

    def _deal_hand(self, now):
        self.take_out(self.record["settings"]["hand"], now)

    def _end_game(self, now):
        self._stop(now)
        self._close_game("dealt", now)

    def _begin_unloading(self, now):
        if self.record["flight"]:
            self._close_game("unloaded", now)
        self.take_all(now)

    # Whatever is inside now is no shuffled deck any more, and never becomes one.
    def _abort(self, now):
        self.halt_path()
        if self.record["flight"]:
            self.meters.add("aborted", 1)
            self._close_game("aborted", now)

    def _recover(self, now):
        self._begin_post("recovery", now)

    # History, for those who may read it: no order, no card. The log is for everybody, and says nothing of games
    # (13:69E-1.28X(c)2).
    def _close_game(self, how, now):
        settings = self.record["settings"]
        row = [self.record["meters"]["games"], self.calendar(), settings["game"], self.record["dealt"], how]
        self.record["games"] = (self.record["games"] + [row])[-_GAMES:]
        self.record["flight"] = None
        self._commit()

    # -- parts -----------------------------------------------------------

    # A cut inside a game: what is in the rack is nobody's shuffle.
    def _restore(self, now):
        self.unknown = self.loaded()
        if self.record["flight"]:
            self._raise("power_interrupted", self.record["flight"], now)
            self._abort(now)

    def _read_conditions(self, now):
        for sensor, wrong, name in self.sensed:
            self._read_door(name, self.levels.get(sensor) == wrong, now)
        self._battery(now)
        for name in ("jam_feed", "jam_insert", "jam_exit", "card_damaged"):
            # what was stuck was taken out
            if not (self.levels.get("gate") or self.levels.get("exit")):
                self._lower(name, now)

    # Each opening and each closing is on the log, whatever stands already.
    def _read_door(self, name, is_open, now):
        was_open, self.opened[name] = self.opened.get(name), is_open
        if is_open and not was_open:
            stood = name in self.standing.names()
            self._raise(name, self.state, now)
            if stood:
                self._note(name, self.state, now)
        elif not is_open:
            self.standing.sense(name, False)
            if was_open:
                self._note(name + "_closed", self.state, now)

    def _begin_post(self, why, now):
        self.retest = False
        self.post.begin(why, now)

    def _watch_time(self, now):
        if self.timer is not None and now >= self.timer:
            self.timer = None
            self.overdue(now)

    def _stop(self, now):
        self.halt_path()

    # The store fails: what is inside is nobody's shuffle, whatever can still be stored of it.
    def _halt(self):
        self.halt_path()
        self.record["flight"] = None
