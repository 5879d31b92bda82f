# What a poll of SSP tells: events of the acceptor's states and conditions.
from micropython import const
from wire.ssp_facts import OK, channel, channel_in_flight
from wire.ssp_session import HELD, IN_ESCROW, RETURNED, STACKED, UNABLE, Session

_SOFTWARE_ERROR = const(b"\xf6")
_RESET = const(0xF1)
_READ = const(0xEF)
_CREDIT = const(0xEE)
_REJECTED = const(0xEC)
_DISABLED = const(0xE8)
_FRAUD = const(0xE6)
_TICKET_READ = const(0xE5)
_REPLACED = const(0xE4)
_REMOVED = const(0xE3)
_CLEARED_INTO_CASHBOX = const(0xE2)
_CLEARED_FROM_FRONT = const(0xE1)
_TICKET_STACKED = const(0xD1)
_INITIALISING = const(0xB6)
_ALL_INHIBITED = const(0xB5)
# Versions from which on a host knows an event.
_KNOWS_ALL_INHIBITED = const(7)
_KNOWS_CLEARED = const(5)

# What a state says by itself.
SAID = {
    "initialize": _DISABLED,
    "disabled": _DISABLED,
    "accepting": _READ,
    "stacking": 0xCC,
    "storing": 0xCC,
    "stacked": 0xEB,
    "rejecting": 0xED,
    "returning": 0xED,
}
# And a condition that stands. A failure of the unit itself has no event: such a poll is answered otherwise.
_NOTHING = const(0)
_FAILURE = const(1)
CONDITIONS = {
    "acceptor_door": 0xE0,
    "stacker_removed": _REMOVED,
    "stacker_door": _REMOVED,
    "stacker_unlocked": _REMOVED,
    "jam_stacker": 0xEA,
    "jam_acceptor": 0xE9,
    "cheated": _FRAUD,
    "stacker_full": 0xE7,
    "comm_error": _NOTHING,
    "memory_error": _FAILURE,
    "post_failed": _FAILURE,
}
# Behind these two stands a channel: that of no known note.
_WITH_CHANNEL = (_READ, _FRAUD)
_LEAVING = ("rejecting", "returning")
# Said again by a wire that can't ask the device.
_STANDING = ("initialize", "disabled", "idle", "accepting", "stacking", "storing")

# Last reject codes, by ID-003's.
_OF_ID003 = b"\x71\x72\x76\x79\x7b\x7d\x7f\x92\x98\x9b"
_REJECTS = b"\x1c\x05\x02\x0c\x0a\x01\x03\x14\x1c\x14"


class Events(Session):
    # with_ack: what is about money is said again until it is acknowledged; what ended before it isn't.
    def poll(self, with_ack):
        if with_ack and self.repeated:
            return self.repeated
        self.repeated = b""
        if self._offered:
            self._take_offered()
        answer = self._answer(self.device.state, with_ack)
        if with_ack and (self._owed in ("credit", "fraud") or self.device.state == "power_up_stacker"):
            self.repeated = OK + answer[self._news_end :]
        self.step(("told",))
        return answer

    def _answer(self, state, with_ack):
        said, self._owed = bytearray(OK), None
        conditions = [CONDITIONS[name] for name in self.device.standing.names()]
        self._say_news(said, state, _REMOVED in conditions)
        self._news_end = len(said)
        self._fraud_known = self._fraud_known and _FRAUD in conditions
        if state == "error" and _FAILURE in conditions:
            return _SOFTWARE_ERROR
        if self._fresh:
            self._say_reset(said, state)
        elif state in HELD:
            self._offer(said)
        elif state == "vend_valid":
            self._credit(said)
        else:
            self._say_state(said, state, with_ack)
        if state == "error":
            self._say_conditions(said, conditions, with_ack)
        self.standing = bytes(said) if state in _STANDING and not self._owed else b""
        return bytes(said)

    # What has ended since the last poll.
    def _say_news(self, said, state, removed):
        if self._leaving and state not in _LEAVING:
            self._leaving = False
            # A jam isn't out.
            if state != "error" or not (self.device.residue() or self.device.levels.get("entry")):
                said.append(_REJECTED)
        if state in _LEAVING and not self._leaving:
            self._leave(state)
        if self._removed and not removed:
            said.append(_REPLACED)
        self._removed = removed and (self._removed or state == "error")

    def _leave(self, state):
        self._leaving = True
        at = _OF_ID003.find(bytes((self.device.reason,))) if state == "rejecting" else -1
        self.reject_code = self._left_why or (_REJECTS[at] if at >= 0 else UNABLE)
        self._left_why = 0
        if self.ticket_status == IN_ESCROW:
            self.ticket_status = RETURNED

    # With what a power cut left; a host too old for that event knows the credit only.
    def _say_reset(self, said, state):
        said.append(_RESET)
        self._owed = "power_up" if state.startswith("power_up") else "reset"
        knows = self.version >= _KNOWS_CLEARED
        if state == "power_up_acceptor" and knows:
            said.extend(bytes((_CLEARED_FROM_FRONT, 0)))
        elif state == "power_up_stacker":
            said.extend(bytes((_CLEARED_INTO_CASHBOX if knows else _CREDIT, channel_in_flight(self.device))))

    # Those of one event stand side by side in the device's table.
    def _say_conditions(self, said, conditions, with_ack):
        last = _NOTHING
        for event in conditions:
            if event == _FRAUD and with_ack:
                if self._fraud_known:
                    continue
                self._owed = "fraud"
            if event not in (_NOTHING, last):
                self._say(said, event)
            last = event
        said.append(_DISABLED)

    def _say_state(self, said, state, with_ack):
        if state == "initialize" and with_ack:
            said.append(_INITIALISING)
        elif state == "disabled" and self.enabled and self._inhibited and self.version >= _KNOWS_ALL_INHIBITED:
            said.append(_ALL_INHIBITED)
        if state in SAID:
            self._say(said, SAID[state])

    def _say(self, said, event):
        said.append(event)
        if event in _WITH_CHANNEL:
            said.append(0)

    def _offer(self, said):
        self._offered = True
        self._left_why = 0
        self._say_item(said, _READ, _TICKET_READ, IN_ESCROW)

    def _credit(self, said):
        self._owed = "credit"
        self.reject_code = 0
        self._say_item(said, _CREDIT, _TICKET_STACKED, STACKED)

    def _say_item(self, said, note, ticket, status):
        item = self.device.item
        if item.digits:
            self.ticket, self.ticket_status = item.digits.encode(), status
            said.append(ticket)
        else:
            said.extend(bytes((note, channel(self.device, item.code))))
