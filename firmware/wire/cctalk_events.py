# What a ccTalk bill validator tells when it is polled: a counter and its last five events (A, B), newest first. The
# counter is 0 after a reset only, and goes from 255 to 1.
from micropython import const

_PAIRS = const(10)  # bytes of five events
_WAITING_MAX = const(8)

_RETURNED = const(1)
_INVALID = const(2)
_TRANSPORT = const(3)
_INHIBITED = const(4)
_PULLED_BACK = const(8)
_STRING = const(18)
_BARCODE = const(20)
_UNKNOWN_STACKED = const(21)

_MASTER_INHIBIT = (0, 0)
# Reject codes of device/validator.py that ccTalk has an event of its own for; any other is an invalid bill.
_REJECTS = {0x71: _TRANSPORT, 0x7B: _TRANSPORT, 0x98: _TRANSPORT, 0x79: _INHIBITED}

# Condition -> event when it begins. 13 is the only fatal error that isn't a jam: the self-check tells which.
FAULTS = {
    "memory_error": 13,
    "post_failed": 13,
    "acceptor_door": 13,
    "stacker_removed": 11,
    "stacker_door": 11,
    "stacker_unlocked": 11,
    "jam_stacker": 7,
    "jam_acceptor": 6,
    "cheated": _PULLED_BACK,
    "stacker_full": 14,
}
# What ends without a reset is told too: stacker inserted, stacker OK.
_ENDS = {11: 12, 13: 10}

_ESCROWED = ("escrow", "holding")
_STACKED = ("vend_valid", "power_up_stacker")


class Events:
    def __init__(self, device):
        self.device = device
        self.start_over()

    # As after a reset: the host hears of it by counter 0 before it hears anything else.
    def start_over(self):
        self.counter = 0
        self.pairs = bytes(_PAIRS)
        self.items = []  # what became of items, not told yet
        self.faults = []  # conditions that began or ended, not told yet
        self.codes = []
        self.state = None
        self.reset_untold = True
        self.credit_told = False  # an answer held the credit; the next good poll settles it
        self.barcode = ""

    # After every step of the device.
    def watch(self):
        state = self.device.state
        if state != self.state:
            before, self.state = self.state, state
            event = self._event(before, state)
            if event:
                self.items.append(event)
        # Of a flapping contact no more is kept than fits: later its present state is compared with the one told last.
        if len(self.faults) < _WAITING_MAX:
            self._compare()

    def _event(self, before, state):
        if state == "escrow":
            return self._escrowed()
        if state in _STACKED:
            return self._credit()
        if state == "returning" or state == "rejecting" and before in _ESCROWED:
            return 0, _RETURNED
        if state == "rejecting":
            return 0, _REJECTS.get(self.device.reason, _INVALID)
        return _MASTER_INHIBIT if state == "disabled" else None

    def _escrowed(self):
        item = self.device.item
        if item.digits:
            self.barcode = item.digits
            return 0, _BARCODE
        return self._type(item.cents), 1

    # Of the record, so that a power cut doesn't lose it. What has no bill type of its own is a voucher or a coupon.
    def _credit(self):
        flight = self.device.record["flight"]
        number = self._type(flight["cents"]) if flight["kind"] == "note" else 0
        return (number, 0) if number else (0, _UNKNOWN_STACKED)

    # Bill types count from 1, in the order of the currency table; 0 for a value that isn't in it.
    def _type(self, cents):
        currency = self.device.currency
        values = [currency.cents(index) for index in range(len(currency.DENOMINATIONS))]
        return values.index(cents) + 1 if cents in values else 0

    def _compare(self):
        codes = []
        for name in self.device.standing.names():
            code = FAULTS.get(name)
            if code and code not in codes:
                codes.append(code)
        self.faults += [(0, _ENDS[code]) for code in self.codes if code not in codes and code in _ENDS]
        self.faults += [(0, self._begun(code)) for code in codes if code not in self.codes]
        self.codes = codes

    # A string still lies on the lever.
    def _begun(self, code):
        return _STRING if code == _PULLED_BACK and self.device.levels.get("lever") else code

    # The answer to a poll. One new event at a time: an answer that is lost pushes nothing out of the five.
    def take(self):
        if self.reset_untold:
            self.reset_untold = False
        elif self.items:
            self._put(self.items.pop(0))
        elif self.faults:
            self._put(self.faults.pop(0))
        return self.standing()

    # The same again.
    def standing(self):
        return bytes((self.counter,)) + self.pairs

    def _put(self, event):
        self.counter = self.counter % 255 + 1
        self.pairs = bytes(event) + self.pairs[:-2]
        if event[0] and event[1] == 0 or event[1] == _UNKNOWN_STACKED:
            self.credit_told = True
