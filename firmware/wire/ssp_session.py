# What an SSP host sets, what it was offered, and what it has still to acknowledge.
from micropython import const
from wire import ssp_facts

VERSIONS = (4, 5, 6, 7, 8)
_VERSION = const(6)

HELD = ("escrow", "holding")
# Where the next answer may be about money.
MONEY = HELD + ("vend_valid", "power_up_stacker")

# Why an offered item wasn't stacked, as last reject code.
_BY_HOST = const(0x08)
_TIME_OUT = const(0x13)
UNABLE = const(0x1D)

NO_TICKET = const(0)
IN_ESCROW = const(1)
STACKED = const(2)
RETURNED = const(3)


class Session:
    def __init__(self, device, step):
        self.device = device
        self.step = step
        self.reject_code = 0
        self.ticket = b""
        self.ticket_status = NO_TICKET
        self._leaving = False
        self._left_why = 0
        self._removed = False
        self._fraud_known = False
        self._forget()
        self.new_session()

    # What a host sets is lost at a reset.
    def _forget(self):
        self.version = _VERSION
        self.enabled = False
        self.accepted = 0  # bit set: that channel
        self.notes = True
        self.tickets = False
        self.readers = 1
        self.characters = 18
        self._inhibited = True
        self._fresh = True  # a reset is to be told

    # Another host may speak now: what the last one wasn't shown to have is told again.
    def new_session(self):
        self._offered = False
        self._owed = None
        self._news_end = 1
        self.repeated = b""
        self.standing = b""

    # -- settings --------------------------------------------------------

    def apply(self):
        known = (1 << ssp_facts.channels(self.device)) - 1
        accepted = self.accepted & known if self.notes else 0
        tickets = self.tickets and self.readers
        self.step(("setting", "enable", (~accepted & 0xFFFF).to_bytes(2, "little")))
        self.step(("setting", "barcode", bytes((1, self.characters))))
        self.step(("setting", "barcode_inhibit", b"\0" if tickets else b"\3"))
        self._inhibited = not (accepted or tickets)
        self.step(("setting", "inhibit", b"\1" if self._inhibited or not self.enabled else b"\0"))

    def reset(self):
        self.step(("host", "host_reset", None))
        self._forget()
        self.new_session()
        self.apply()

    # -- escrow ----------------------------------------------------------

    def hold(self):
        return self._offered and self._do("hold")

    # Any command but a poll lets the time of an escrow begin anew.
    def keep(self):
        if self._offered and self.device.state in HELD:
            self.step(("host", "hold", None))

    def reject(self):
        if not self._do("return"):
            return False
        self._offered = False
        self._left_why = _BY_HOST
        return True

    def _do(self, command):
        self.step(("host", command, None))
        return not self.device.refused

    # A poll after an offer takes what is offered, if it is still there.
    def _take_offered(self):
        if self.device.state in HELD:
            self.step(("host", "stack", 1))
        else:
            self._left_why = UNABLE if self.device.faulty() else _TIME_OUT
        self._offered = False

    # -- acknowledgement -------------------------------------------------

    # A new command shows that the last answer arrived.
    def answer_arrived(self):
        if not self.repeated:
            self._settle()

    # False: nothing waits for it.
    def acknowledge(self):
        waits = bool(self.repeated)
        self._settle()
        return waits

    def _settle(self):
        owed, self._owed = self._owed, None
        self.repeated = b""
        if owed == "credit":
            self.step(("host", "ack"))
        elif owed == "fraud":
            self._fraud_known = True
        elif owed:
            self._fresh = False
            if owed == "power_up":
                self.step(("host", "host_reset", None))
                self.apply()
