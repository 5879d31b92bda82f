# Paper on its way through a bill acceptor: what the sensors along the path say
# in each state, jams, strings, and the pusher.
from device.validator import REJECT_INHIBITED, REJECT_LENGTH
from micropython import const

_STALL_MS = const(100)
_STRING_MS = const(800)
_PUSHER_MS = const(1000)


class PaperPath:
    # Nothing is under way: paper where none may be is a jam, and so is a sensor that sees some.
    def _watch_path(self, now):
        entry = self.levels.get("entry")
        if self.residue() or self.levels.get("chute") or entry and not self._parted:
            if self.timer is None:
                self.timer = now + _PUSHER_MS
            return
        self.timer = None
        if entry:
            self._fire("item", now)

    def _jam(self, now):
        self.stalled = None
        beyond = self._pushing or self.levels.get("lever") or self.levels.get("chute")
        self._pushing = False
        self._motor("transport", 0)
        self._motor("stack", 0)
        self._raise("jam_stacker" if beyond else "jam_acceptor", self.state, now)

    def _read_motion(self, now):
        if self.transport == 0 or self.levels.get("moving") or self.post.running():
            self.stalled = None
        elif self.stalled is None:
            self.stalled = now + _STALL_MS

    def _jams_cleared(self, now):
        covered = self.residue() or self.levels.get("entry")
        if not covered:
            self._lower("jam_acceptor", now)
            self._lower("cheated", now)
            if not self.levels.get("chute"):
                self._lower("jam_stacker", now)

    def _follow_path(self, now, before, reading):
        if self._pushing:
            self._follow_pusher(now)
        handler = getattr(self, "_path_" + self.state, None)
        if handler:
            handler(now, reading)
        if self.state == "accepting" and self.levels.get("exit") and not before.get("exit"):
            # No paper is so short that it left the centre behind: that sensor is blind.
            self.retest = self.retest or not self.levels.get("centre")

    def _path_accepting(self, now, reading):
        if reading is not None:
            self.item, self.reason = self.validator.judge(reading)
            if self.item and (self.inhibited() or not self.settings.allows(self.item, self.currency)):
                self.item, self.reason = None, REJECT_INHIBITED
            self._fire("arrived" if self.item else "invalid", now)
        elif self.levels.get("lever"):
            self.reason = REJECT_LENGTH
            self._fire("invalid", now)
        elif not self.levels.get("entry") and not self.residue():
            self._fire("gone", now)

    def _path_escrow(self, now, reading):
        if not self.levels.get("exit"):
            self._raise("cheated", "pulled from escrow", now)

    _path_holding = _path_escrow

    # Lever down, then up with the item in the chute: it is through. Up without
    # it, or nothing left to see: it was pulled back.
    def _path_stacking(self, now, reading):
        if self._credited:
            return
        if self.levels.get("lever"):
            self._at_lever = True
            if not self.levels.get("exit") and self.string is None:
                self.string = now + _STRING_MS
        elif self._at_lever and self.levels.get("chute"):
            self._fire("past_lever", now)
        elif self._at_lever or not (self.levels.get("entry") or self.residue()):
            self._raise("cheated", "pulled while stacking", now)

    def _path_returning(self, now, reading):
        self.string = None
        if not self.levels.get("entry") and not self.residue():
            self._out = True
            self._motor("transport", 0)
            self.timer = None
            self._leave(now)

    _path_rejecting = _path_returning

    # The host hears of a rejection or return at least once before it ends.
    def _leave(self, now):
        if self._out and (self._told or self.faulty()) and self._fire("left", now):
            self._out = False
            flight = self.record["flight"]
            if flight and flight["stage"] == "stacking":
                self._end_flight(now)

    def _follow_pusher(self, now):
        if not self.levels.get("home"):
            self._left_home = True
        elif self._left_home:
            self._pushing = False
            self._motor("stack", 0)
            self.timer = None
            self._fire("stored", now)
