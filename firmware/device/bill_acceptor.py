# A bill acceptor with stacker, as 13:69E-1.28N asks.
from device import base, bill_acceptor_meters, currency_usd
from device.bill_acceptor_path import PaperPath
from device.bill_acceptor_selftest import AcceptorTest
from device.bill_acceptor_table import CONDITIONS, TABLE
from device.conditions import CODE, STATE
from device.log import mask
from device.settings import Settings
from device.validator import REJECT_INHIBITED, Item, Validator
from micropython import const

_ACCEPT_MS = const(3000)
_ESCROW_MS = const(10000)
_QUIET_MS = const(3000)
_TRAVEL_MS = const(3000)
_PUSHER_MS = const(1000)
_LEAVE_MS = const(5000)
_REJECTS_ALARM = const(20)
_PATH = ("centre", "exit", "lever")
# Pulled up: a part that isn't there doesn't stop the others.
PULLED_UP = ("box", "lock", "home", "scanner", "battery")
# What a scan head didn't measure looks like no note at all.
UNMEASURED = {"length": 0, "thickness": 0, "optical": (0, 0, 0, 0), "magnetic": 0, "uv": 0}


def blank_record(currency):
    record = base.blank()
    record["meters"] = bill_acceptor_meters.blank(currency)
    record["flight"] = None
    return record


# new: nothing was ever stored; no record and not new: both copies are damaged. An acceptor draws nothing.
def create(record, verified, calendar, new=False, entropy=None, unique="", currency=currency_usd):
    if new and record is None:
        record = blank_record(currency)
    return BillAcceptor(record, currency, verified, calendar)


class BillAcceptor(PaperPath, base.Device):
    table = TABLE
    conditions = CONDITIONS
    capabilities = ["escrow", "stacker", "barcode", "lock"]
    # Sensor, its level when something is wrong, the condition that it raises.
    sensed = (
        ("acceptor_door", 1, "acceptor_door"),
        ("stacker_door", 1, "stacker_door"),
        ("box", 0, "stacker_removed"),
        ("lock", 0, "stacker_unlocked"),
        ("full", 1, "stacker_full"),
    )

    def __init__(self, record, currency, verified, calendar):
        self.currency = currency
        self.validator = Validator(currency)
        self.settings = Settings()
        super().__init__(record, verified, calendar, AcceptorTest())
        self.item = None
        self.reason = 0
        self.rejects = 0
        self.heard = 0
        self.stalled = None
        self.string = None
        self.transport = 0
        self._told = False
        self._credited = False
        self._parted = True  # the entry was clear since the last item
        self._out = False
        self._at_lever = False
        self._at_lever_report = True
        self._pushing = False
        self._left_home = False
        self.expects_item = False
        self.refused = False

    def blank(self):
        return blank_record(self.currency)

    # What the wire shows: (state, data byte or text).
    def shown(self):
        if self.state == "error":
            top = self.standing.top()
            code = self.post.failure_code() if top[0] == "post_failed" else top[CODE]
            return top[STATE], code
        if self.state == "escrow":
            return self.state, self.item.digits or self.item.code
        if self.state == "rejecting":
            return self.state, self.reason
        return self.state, 0

    def message(self):
        if self.rejects >= _REJECTS_ALARM and not self.standing.top() and self.levels.get("battery", 1):
            return "Many rejects in a row: call attendant"
        return super().message()

    # What `status` on the link says beside what every device says.
    def status(self):
        return {"enabled": self.settings.known() and not self.settings.inhibited(), "rejects": self.rejects}

    # Why memory can't be cleared now, else "".
    def under_way(self):
        return "an item is in flight: let it be stacked or returned first" if self.record["flight"] else ""

    # NY 5321.12(f): a signal that surveillance sees on door, malfunction, jam.
    def light(self):
        if self.standing.top() or not self.memory_ok or self.rejects >= _REJECTS_ALARM:
            return "red"
        return "green" if self.state in ("idle", "accepting", "escrow", "holding", "stacking") else "amber"

    # The earliest moment at which time alone changes something.
    def next(self):
        times = [t for t in (self.timer, self.post.until, self.stalled, self.string) if t is not None]
        if self.state in ("escrow", "holding"):
            times.append(self.heard + _QUIET_MS)
        return min(times) if times else None

    # -- events ----------------------------------------------------------

    # After every event: self-test, time, and what follows from them.
    def _progress(self, now):
        self._run_post(now)
        self._watch_time(now)
        if self.state == "error" and not self.standing.top():
            self._fire("clear", now)
        elif self.standing.top():
            self._fire("fault", now)
        if self.state == "initialize" and self.retest and not self.standing.top():
            self._recover(now)
        if self.state == "initialize" and self.post.ok and self.settings.known():
            self._fire("ready", now)
        if self.state in ("idle", "disabled"):
            self._watch_path(now)

    def _moved(self, before):
        self._told = self._told and self.state == before

    def _on_start(self, now, levels, cause):
        self.heard = now
        super()._on_start(now, levels, cause)

    def _on_sensors(self, now, levels, reading):
        before = self.levels
        self.levels = levels
        self._parted = self._parted or not levels.get("entry")
        self._read_conditions(now)
        self._read_motion(now)
        if not self.post.running():
            self._follow_path(now, before, reading)

    # Any good frame. Silence is the wire's to notice: T differs by protocol.
    def _on_heard(self, now):
        self.heard = now
        self._lower("comm_error", now)

    def _on_silence(self, now):
        self._raise("comm_error", "", now)

    def _on_told(self, now):
        self._told = True
        self._fire("told", now)
        self._leave(now)

    def _on_host(self, now, command, how=None):
        if command == "host_reset":
            self.refused = not self._host_reset(now)
            return
        self.refused = not self._fire(command, now)
        if self.refused:
            self._event("refused", command)
        elif command == "stack":
            self._at_lever_report = how == 1

    def _on_setting(self, now, name, value):
        self.settings.set(name, value)
        if name == "inhibit":
            self._fire("inhibited" if self.settings.inhibited() else "enabled", now)

    # -- guards ----------------------------------------------------------

    def told(self):
        return self._told

    # A stack or an ACK that comes before the host was told can't be about it.
    def untold(self):
        return not self._told

    def unsettled(self):
        return self.retest or not (self.post.ok and self.settings.known())

    def inhibited(self):
        return self.settings.inhibited()

    def residue(self):
        return any(self.levels.get(name) for name in _PATH)

    def held(self):
        return self.standing.holds()

    def credited(self):
        return self._credited

    def pushing(self):
        return self._pushing

    def reports_at_lever(self):
        return self._at_lever_report

    # -- actions ---------------------------------------------------------

    def _begin_initialize(self, now):
        self._stop(now)
        self.settings = Settings()
        self._begin_post("host_reset", now)

    def _settle_pending(self, now):
        self._end_flight(now)
        self._begin_initialize(now)

    def _recover(self, now):
        self._begin_post("recovery", now)

    def _draw_in(self, now):
        self.item = None
        self._credited = False
        self._parted = False
        self._motor("transport", 1)
        self.timer = now + _ACCEPT_MS

    def _reject(self, now):
        self.rejects += 1
        if self.rejects == _REJECTS_ALARM:
            self._note("reject_alarm", str(self.rejects), now)
        self._drive_out(now)
        self._event("rejected", "%02x" % self.reason)

    def _reject_late(self, now):
        self.reason = REJECT_INHIBITED
        self._reject(now)

    # No host, no decision: a customer's item doesn't wait for one.
    def _give_back(self, now):
        self._note("given_back", "host silent", now)
        self._drive_out(now)

    def _drive_out(self, now):
        self._out = False
        self._motor("transport", -1)
        self.timer = now + _LEAVE_MS

    def _enter_escrow(self, now):
        self._motor("transport", 0)
        self.timer = now + _ESCROW_MS
        self._event("escrowed", mask(self.item.digits) if self.item.digits else self.item.cents)

    def _hold_on(self, now):
        self.timer = now + _ESCROW_MS

    def _start_stacking(self, now):
        self._at_lever = False
        self.record["flight"] = {"stage": "stacking", "kind": self.item.kind, "cents": self.item.cents}
        self._commit()
        self._motor("transport", 1)
        self.timer = now + _TRAVEL_MS

    # Past the lever the item is irretrievable: durable first, then reported.
    def _credit(self, now):
        self._credited = True
        self.rejects = 0
        self.string = None
        self._motor("transport", 0)
        self.record["flight"]["stage"] = "stacked"
        bill_acceptor_meters.count(self.meters, self.item)
        self._note("stacked", self.item.kind + " %d" % self.item.cents, now)
        self._pushing = True
        self._left_home = False
        self._motor("stack", 1)
        self.timer = now + _PUSHER_MS

    def _acknowledge(self, now):
        self._end_flight(now)
        self.timer = now + _PUSHER_MS if self._pushing else None

    def _stop(self, now):
        self.string = None
        if self.post.running():
            self.post.abort()
            self.effects.append(("emitters", 1))
            self._motor("stack", 0)
        self._motor("transport", 0)

    # -- parts -----------------------------------------------------------

    # What a cut left behind. The chute sensor tells whether the item passed
    # the lever; absence from the path alone proves nothing.
    def _restore(self, now):
        flight = self.record["flight"]
        if flight and flight["stage"] == "stacking" and self.levels.get("chute"):
            self._note("stacked", flight["kind"] + " %d" % flight["cents"], now)
            bill_acceptor_meters.count(self.meters, Item(flight["kind"], 0, flight["cents"], 0, None))
            flight["stage"] = "stacked"
        if flight and flight["stage"] == "stacked":
            self.state = "power_up_stacker"
        elif self.residue():
            self.state = "power_up_acceptor"
        elif flight:
            self._note("item_missing", flight["kind"], now)
        if flight and flight["stage"] == "stacking":
            self.record["flight"] = None

    def _end_flight(self, now):
        if self.record["flight"]:
            self.record["flight"] = None
            self._commit()

    def _begin_post(self, why, now):
        self._pushing = False
        self.stalled = None
        self.retest = False
        self._parted = True
        self.expects_item = self.residue()
        self.post.begin(why, now)

    def _post_done(self, now):
        super()._post_done(now)
        if (
            self.post.ok
            and self.record["flight"]
            and self.record["flight"]["stage"] == "stacking"
            and not self.residue()
        ):
            self._end_flight(now)

    def _watch_time(self, now):
        if self.stalled is not None and now >= self.stalled:
            self._jam(now)
        elif self.string is not None and now >= self.string:
            self.string = None
            if not (self.levels.get("chute") and self._fire("past_lever", now)):
                self._raise("cheated", "string", now)
        elif self.state in ("escrow", "holding") and now >= self.heard + _QUIET_MS:
            self._fire("quiet", now)
        elif self.timer is not None and now >= self.timer:
            self.timer = None
            if not self._fire("timeout", now):
                self._jam(now)

    def _read_conditions(self, now):
        for sensor, wrong, name in self.sensed:
            if self.levels.get(sensor) == wrong:
                self._raise(name, "", now)
            elif name != "stacker_full" or self.levels.get("box"):
                # without its box, the sensor for full has nothing to look at
                self._lower(name, now)
        self._battery(now)
        self._jams_cleared(now)

    def _host_reset(self, now):
        self._release("host reset", now)
        # 13:69E-1.28N(h): upon each reset, also one that no state follows.
        self.verified = None
        self.effects.append(("verify",))
        self._note("host_reset", "", now)
        return self._fire("host_reset", now)

    def _halt(self):
        self._motor("transport", 0)

    def _motor(self, name, direction):
        if name == "transport":
            self.transport = direction
            self.stalled = None
        super()._motor(name, direction)
