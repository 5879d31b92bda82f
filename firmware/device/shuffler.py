# A card shuffler, as 13:69E-1.28X asks: each card is fed, recognised, and put into the slot of a rack that a random
# permutation gives it; dealing takes the slots in order. In continuous mode dealt cards come back into free slots that
# are drawn, and each card is dealt from an occupied slot that is drawn.
from array import array
from binascii import unhexlify

from device import base
from device.attended import Attended, is_name
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
# Pulled up: a part that isn't there doesn't stop the others.
PULLED_UP = ("camera", "aligned", "battery")
# A card of which the camera said nothing.
UNMEASURED = {"face": -1, "back": 0, "thickness": 0, "boxed": 0}


def blank_record():
    record = base.blank()
    record["meters"] = {"games": 0, "cards_in": 0, "cards_dealt": 0, "aborted": 0}
    record["settings"] = dict(Shuffler.defaults)
    record["flight"] = None
    record["games"] = []
    record["seed"] = ""
    record["dealt"] = 0  # cards of the game under way
    record["detail"] = ""  # what the top condition is about, in words
    return record


# entropy(): the source, with read(n), healthy, name. unique: what no other board has, in hex.
def create(record, verified, calendar, new, entropy, unique):
    if new and record is None:
        record = blank_record()
    return Shuffler(record, verified, calendar, Generator(entropy(), unhexlify(unique)))


class Shuffler(Drawn, CardPath, Attended):
    table = TABLE
    conditions = CONDITIONS
    capabilities = ["cards", "doors", "camera", "lcd", "access", "receipt"]
    resting = ("idle", "ready", "spoiled")
    calm = ("idle", "ready")
    sensed = (("service_door", 1, "service_door"), ("shroud", 1, "shroud"))
    unseen = (
        "software_error",
        "rack_stalled",
        "camera_failed",
        "cards_wrong",
        "count_wrong",
        "entropy_failed",
        "power_interrupted",
    )
    buttons = ("start", "deal", "hand", "unload", "clear")
    defaults = {"game": "blackjack", "decks": 1, "jokers": 0, "hand": _HAND, "recognise": True, "continuous": False}
    ranges = {"decks": (1, 8), "jokers": (0, 2), "hand": (1, 13)}
    rights = dict(Attended.rights, history=("technician", "regulator"))

    def __init__(self, record, verified, calendar, generator):
        super().__init__(record, verified, calendar, ShufflerTest())
        self.begin_drawing(generator)
        self.inspected = None  # the cards counted last: calendar, game, decks, cards, what is wrong with them
        self.begin_path()

    def blank(self):
        return blank_record()

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

    # Whatever the cards are, this is the same: counts, and what the generator gathered.
    def status(self):
        return {
            "enabled": self.state in ("idle", "ready"),
            "inside": None if self.unknown else self.inside,
            "games": self.record["meters"]["games"],
            "bits": self.generator.bits,
            "draws": self.generator.draws,
        }

    # The game stands on receipts.
    def wrong_setting(self, settings):
        wrong = super().wrong_setting(settings)
        if wrong or is_name(settings.get("game", "-")):
            return wrong
        return "game has 1 to 24 printable ASCII letters"

    def under_way(self):
        return "a game is under way: end it first" if self.record["flight"] else ""

    def next(self):
        times = (self.timer, self.post.until, self.cycle)
        return min((t for t in times if t is not None), default=None)

    # -- events ----------------------------------------------------------

    def _progress(self, now):
        super()._progress(now)
        self._cycle(now)

    def _release(self, by, now):
        super()._release(by, now)
        self.record["detail"] = ""

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
        super()._read_conditions(now)
        for name in ("jam_feed", "jam_insert", "jam_exit", "card_damaged"):
            # what was stuck was taken out
            if not (self.levels.get("gate") or self.levels.get("exit")):
                self._lower(name, now)

    def _stop(self, now):
        self.halt_path()

    # The store fails: what is inside is nobody's shuffle, whatever can still be stored of it.
    def _halt(self):
        self.halt_path()
        self.record["flight"] = None
