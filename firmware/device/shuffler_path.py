# Cards on their way through a shuffler, one at a time: hopper, gate with the camera, slot of the rack, exit.
from device.generator import DeadSource
from micropython import const

_MOVE_MS = const(1000)  # a motor that hasn't done its work by then never will
_RACK_MS = const(3000)
_LOOK_MS = const(500)
_EMPTY_MS = const(100)  # no card at the exit by then: the slot was empty
_SLOTS = const(440)  # eight decks with two jokers each, and room for cards too many
_SPARE = const(8)
_THICKNESS = const(450)  # um: between one card and two
_UNREADABLE = const(53)
_UNKNOWN = const(255)
_FACES = const(53)
_NAMED = const(6)  # faces that a message has room for; a receipt has it for all


class CardPath:
    def begin_path(self):
        self.step_name = None  # what the card under way waits for
        self.count = None
        self.order = None
        self.inside = 0  # cards that went in and didn't come out
        self.wanted = 0
        self.slot = None
        self.occupied = bytearray(_SLOTS)  # 0 for a free slot, else what is in it
        self.face = None
        self.unknown = False  # cards were inside at the start: nobody counted them
        self.moving_out = False
        self.leaving = False  # a card stood in the exit before the first slot was emptied

    def halt_path(self):
        self.step_name = None
        self.timer = None
        for name in ("feed", "rack", "insert", "eject"):
            self._motor(name, 0)

    # What a sensor says ends the step that waits for it.
    def follow(self, now, levels, reading, before):
        if self.step_name:
            getattr(self, "_at_" + self.step_name)(now, reading)

    # A step that lasts too long.
    def overdue(self, now):
        step = self.step_name
        if step == "eject" and self.state == "unloading":
            self._slot_was_empty(now)
        elif step:
            fault = {"feed": "jam_feed", "look": "camera_failed", "insert": "jam_insert"}.get(step, "jam_exit")
            self._raise("rack_stalled" if step in ("leave", "reach") else fault, self.state, now)

    def _wait(self, step, now, ms):
        self.step_name = step
        self.timer = now + ms

    # -- in --------------------------------------------------------------------

    def feed_next(self, now):
        if self.levels.get("input") and self.inside < _SLOTS:
            self._motor("feed", 1)
            self._wait("feed", now, _MOVE_MS)
        else:
            self._all_in(now)

    def _at_feed(self, now, reading):
        if self.levels.get("gate"):
            self._motor("feed", 0)
            self._wait("look", now, _LOOK_MS)
            self._at_look(now, reading)

    def _at_look(self, now, reading):
        recognise = self.record["settings"]["recognise"]
        if reading is None and recognise:
            return
        if reading and reading["thickness"] > _THICKNESS:
            self._raise("jam_feed", "more than one card", now)
        elif not (recognise and self._refused(reading, now)):
            self._place(reading["face"] if recognise else None, now)

    # A face that can't be read, a back of another deck, a card that lies face up.
    def _refused(self, reading, now):
        if reading["boxed"]:
            self._tell("cards_wrong", "boxed card.", now)
        elif reading["back"]:
            self._tell("cards_wrong", "foreign back.", now)
        elif not 0 <= reading["face"] < _UNREADABLE:
            self._raise("card_damaged", self.state, now)
        else:
            return False
        return True

    def _tell(self, name, detail, now):
        self.record["detail"] = detail
        self._raise(name, detail, now)

    def _place(self, face, now):
        try:
            slot = self._free_slot()
        except DeadSource as e:
            return self._raise("entropy_failed", e.args[0], now)
        self.count.add(face)
        wrong = self._too_many(face)
        if wrong:
            is_number = self.count.total > self.count.expected()
            return self._tell("count_wrong" if is_number else "cards_wrong", wrong, now)
        self.face = face
        self.moving_out = False
        self._turn_to(slot, now)

    # A deck is looked at when all of it is in, so that all that is wrong is named; of cards that come back none may be
    # one that the game hasn't got.
    def _too_many(self, face):
        if self.state == "shuffling" and self.count.total <= self.count.expected() + _SPARE:
            return ""
        return self.count.too_many(face)

    # The permutation's slot; what is too many goes behind. Later cards get one of the free slots.
    def _free_slot(self):
        if self.state == "shuffling":
            n = self.count.total
            return self.order[n] if n < len(self.order) else n
        free = _SLOTS - self.inside
        return self._nth(0, self.generator.below(free))

    # The n-th slot that is free (0) or occupied (1).
    def _nth(self, kind, n):
        for slot in range(_SLOTS):
            if bool(self.occupied[slot]) == kind:
                if n == 0:
                    return slot
                n -= 1

    def _at_insert(self, now, reading):
        if not self.levels.get("gate"):
            self._motor("insert", 0)
            self.occupied[self.slot] = _UNKNOWN if self.face is None else self.face + 1
            self.inside += 1
            if self.state == "unloading":
                return self.take_all(now)
            if self.state == "recycling":
                self.meters.add("cards_in", 1)
            self.feed_next(now)

    def _all_in(self, now):
        if self.state == "shuffling":
            count = self.count
            game = self.record["settings"]["game"]
            self.inspected = (self.calendar(), game, count.decks, count.total, count.wrong(_FACES))
            wrong = count.wrong(_NAMED)
            if wrong:
                return self._tell("cards_wrong" if count.total == count.expected() else "count_wrong", wrong, now)
        self._fire("shuffled", now)

    # -- the rack --------------------------------------------------------------

    # It leaves its place before it reaches the next: a level from before the move means nothing.
    def _turn_to(self, slot, now):
        self.slot = slot
        self._motor("rack", slot + 1)
        self._wait("leave", now, _RACK_MS)

    def _at_leave(self, now, reading):
        if not self.levels.get("aligned"):
            self._wait("reach", now, _RACK_MS)

    def _at_reach(self, now, reading):
        if self.levels.get("aligned"):
            if self.moving_out:
                self._motor("eject", 1)
                self._wait("eject", now, _EMPTY_MS if self.state == "unloading" else _MOVE_MS)
            else:
                self._motor("insert", 1)
                self._wait("insert", now, _MOVE_MS)

    # -- out -------------------------------------------------------------------

    def take_out(self, cards, now):
        self.wanted = cards
        self._next_out(now)

    # Without an order: slot by slot, whatever is in there; a card at the gate goes through the last slot.
    def take_all(self, now):
        self.face = None
        self.moving_out = not self.levels.get("gate")
        self.leaving = bool(self.levels.get("exit"))
        self._turn_to(0 if self.moving_out else _SLOTS - 1, now)

    def _next_out(self, now):
        if self.wanted == 0 or self.inside == 0:
            return self._fire("dealt", now)
        self.wanted -= 1
        try:
            slot = self._drawn_slot()
        except DeadSource as e:
            return self._raise("entropy_failed", e.args[0], now)
        self.moving_out = True
        self._turn_to(slot, now)

    def _drawn_slot(self):
        if self.record["settings"]["continuous"]:
            return self._nth(1, self.generator.below(self.inside))
        return self._nth(1, 0)

    def _at_eject(self, now, reading):
        if self.levels.get("exit"):
            self._wait("exit", now, _MOVE_MS)

    def _at_exit(self, now, reading):
        if self.levels.get("exit"):
            return
        self._motor("eject", 0)
        face, self.occupied[self.slot] = self.occupied[self.slot] - 1, 0
        self.inside = max(0, self.inside - 1)
        if self.state == "unloading":
            return self._next_slot(now)
        self.count.take(face)
        self.record["dealt"] += 1
        self.meters.add("cards_dealt", 1)
        self._commit()  # a cut forgets no card that is on the table
        self._next_out(now)

    def _slot_was_empty(self, now):
        self._motor("eject", 0)
        self._next_slot(now)

    def _next_slot(self, now):
        if not self.levels.get("loaded"):
            self.inside = 0
            self.unknown = False
            self.occupied = bytearray(_SLOTS)
            self._fire("unloaded", now)
        elif self.leaving:
            # that was the card that stood in the exit: this slot's own is still to come
            self.leaving = False
            self._turn_to(self.slot, now)
        elif self.slot + 1 < _SLOTS:
            self._turn_to(self.slot + 1, now)
        else:
            self._raise("jam_exit", "slots not empty", now)
