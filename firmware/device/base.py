# What every device is: a state table stepped by hand, a record that survives a power cut, conditions that stop it, a
# self-test. step(event, now) returns effects in order; none that stands behind a commit may leave the board before the
# commit is durable.
from device.conditions import MESSAGE, Standing
from device.log import Log
from device.meters import Meters
from device.table import find
from micropython import const


# What every device keeps through a power cut, all in one record.
def blank():
    return {
        "boot": 0,
        "meters": {},
        "log": [0, ""],
        "latched": [],
        "secrets": {},
        "refused": {},
        "meters_read": False,
        "lost": False,
    }


_TRIES = const(5)
_LOCKED_MS = const(900000)


# A device has a `table`, `conditions`, `sensed` (sensor, its level when something is wrong, the condition that it
# raises), `capabilities`, and blank(): the record of a new one.
class Device:
    # What takes more than a secret of one's own: operation -> the roles that may.
    rights = {}

    # record: as restored, or None when both copies were damaged.
    # verified: (ok, why) of the signature that the boot block computed.
    def __init__(self, record, verified, calendar, post):
        # Lost stays lost through a power cycle: an authorised clear alone ends it.
        self.memory_ok = record is not None and not record.get("lost")
        self.retest = False  # a self-test is due before anything else happens
        self.record = record or self.blank()
        self.record["lost"] = not self.memory_ok
        for name, value in self.blank().items():
            # What an older image didn't keep.
            self.record.setdefault(name, value)
        self.verified = verified
        self.calendar = calendar
        self.meters = Meters(self.record)
        self.log = Log(self.record["log"])
        self.standing = Standing(self.conditions, self.record["latched"])
        self.post = post
        self.levels = {}
        self.state = "power_up"
        self.timer = None
        self._low = False
        self._locked = {}
        self.effects = []
        self.lines = []

    def message(self):
        top = self.standing.top()
        if top:
            return top[MESSAGE]
        if not self.levels.get("battery", 1):
            return "Battery low: replace it"
        return self.state.replace("_", " ")

    # -- events ----------------------------------------------------------

    def step(self, event, now):
        self.effects = []
        self.lines = []
        getattr(self, "_on_" + event[0])(now, *event[1:])
        self._progress(now)
        return self._ordered()

    # One commit a step: before it the log entries that its head counts, and
    # motors that stop; behind it all that others see.
    def _ordered(self):
        commit = ("commit", self.record)
        if commit not in self.effects:
            return self.effects
        at = self.effects.index(commit)
        seen = [effect for effect in self.effects[:at] if effect[0] == "event"]
        unseen = [effect for effect in self.effects[:at] if effect[0] != "event"]
        return unseen + self.lines + [commit] + seen + self.effects[at + 1 :]

    def _fire(self, name, now):
        row = find(self.table, self, name)
        if row is None or (row[3] == self.state and row[4] is None):
            return False
        before = self.state
        self.state = row[3]
        if self.state != before or row[4]:
            self._moved(before)
            self.timer = None
            self._event(self.state)
        if row[4]:
            getattr(self, "_" + row[4])(now)
        return True

    def _moved(self, before):
        pass

    def _on_start(self, now, levels, cause):
        self.levels = levels
        self.record["boot"] += 1
        for role, refused in self.record["refused"].items():
            if refused >= _TRIES:
                self._locked[role] = now + _LOCKED_MS
        self._note("power_on", cause, now)
        self._restore(now)
        self._read_conditions(now)
        if not self.memory_ok:
            self._raise("memory_error", "", now)
        self._commit()
        self._begin_post("power_up", now)

    def _on_tick(self, now):
        pass

    def _on_verified(self, now, ok, why):
        self.verified = (ok, why)
        if not ok:
            self._note("signature_mismatch", why, now)
            self.effects.append(("restart", "signature"))

    def _on_store_error(self, now, why):
        self.memory_ok = False
        self.state = "error"
        self.standing.sense("memory_error", True)
        self._halt()
        self._event("memory_error", why)

    # A sound frame on the wire, for a device that must not go on without its host.
    def host_spoke(self, now):
        pass

    # Authorised request on the link, already proven.
    def _on_service(self, now, what, who):
        self._note(what, who, now)

    # So many wrong proofs in a row lock a role out, for as long again after a restart.
    def _on_access_refused(self, now, role):
        if role in self.record["secrets"]:
            refused = self.record["refused"].get(role, 0) + 1
            self.record["refused"][role] = refused
            if refused >= _TRIES:
                self._locked[role] = now + _LOCKED_MS
        self._note("access_refused", role, now)
        if self.locked(role, now):
            self._note("locked_out", role, now)

    def _on_access_granted(self, now, role):
        if self.record["refused"].pop(role, 0):
            self._commit()

    # How long a role is still locked out, in ms.
    def locked(self, role, now):
        return max(0, self._locked.get(role, 0) - now)

    def _on_meters_read(self, now):
        if not self.record["meters_read"]:
            self.record["meters_read"] = True
            self._commit()

    # NY 5321.11: after the meters were read as they stand, or the attempt was recorded.
    def _on_clear_memory(self, now, who):
        fresh = self.blank()
        fresh["boot"] = self.record["boot"]
        fresh["secrets"] = self.record["secrets"]
        self.record.update(fresh)
        self.memory_ok = True
        self._note("memory_cleared", who, now)
        self._lower("memory_error", now)

    def _on_commission(self, now, role, secret):
        self.record["secrets"][role] = secret
        self._note("commissioned", role, now)

    def faulty(self):
        return self.standing.top() is not None

    # -- parts -----------------------------------------------------------

    def _run_post(self, now):
        if not self.post.running():
            return
        for effect in self.post.step(self, now):
            if effect[0] == "motor":
                self._motor(effect[1], effect[2])
            else:
                self.effects.append(effect)
        if self.post.ok is not None:
            self._post_done(now)

    def _post_done(self, now):
        self._event("post", "passed" if self.post.ok else self.post.failed_step())
        if not self.post.ok:
            self._raise("post_failed", self.post.failed_step(), now)

    def _battery(self, now):
        low = not self.levels.get("battery", 1)
        if low and not self._low:
            self._note("low_battery", "", now)
        self._low = low

    # A latch opens only by a positive act, and only when its cause is gone.
    def _release(self, by, now):
        self.standing.sense("post_failed", False)
        for name in self.standing.release():
            self._note(name + "_cleared", by, now)
        self.record["latched"] = list(self.standing.latched)

    def _raise(self, name, detail, now):
        if self.standing.sense(name, True):
            self.retest = True
            self.record["latched"] = list(self.standing.latched)
            self._note(name, detail, now)

    def _lower(self, name, now):
        stood = name in self.standing.names()
        self.standing.sense(name, False)
        if stood and name not in self.standing.names():
            self._note(name + "_cleared", "", now)

    def _motor(self, name, direction):
        self.effects.append(("motor", name, direction))

    def _event(self, what, detail=""):
        self.effects.append(("event", what, detail))

    def _note(self, what, detail, now):
        line = self.log.entry(self.record["boot"], now, self.calendar(), what, detail)
        self.record["log"] = self.log.head
        self.lines.append(("log", self.log.head[0], line))
        self._event(what, detail)
        self._commit()

    def _commit(self):
        if ("commit", self.record) not in self.effects:
            self.effects.append(("commit", self.record))
