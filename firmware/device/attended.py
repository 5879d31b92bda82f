# A device with an attendant: what went wrong stays until the key's holder has cleared it, its settings are a role's to
# change, each door that opens and closes is on the log.
from device import base


# It stands on receipts, in logs.
def is_name(text, longest=24):
    return 0 < len(text) <= longest and text == text.strip() and all(" " <= letter <= "~" for letter in text)


# A device has `sensed`, its doors: (sensor, what it reads when open, condition); `unseen`: conditions whose end no
# sensor sees, it is the key's holder who says so and the self-test looks again; `buttons`; `defaults` of its settings
# and their `ranges`; `calm`, the states in which its light is green.
class Attended(base.Device):
    sensed = ()  # type: tuple[tuple[str, int, str], ...]
    # What takes more than a secret of its own: operation, roles that may.
    rights = {
        "configure": ("technician",),
        "clear_memory": ("technician",),
        "commission": ("technician",),
    }  # type: dict[str, tuple[str, ...]]

    def __init__(self, record, verified, calendar, post):
        super().__init__(record, verified, calendar, post)
        self.opened = {}  # condition of a door: whether it is open

    def shown(self):
        return self.state, 0

    # Red for what stops it, green at rest, amber at work and for a battery that is low.
    def light(self):
        if self.standing.top() or not self.memory_ok:
            return "red"
        good = self.state in self.calm and self.levels.get("battery", 1)
        return "green" if good else "amber"

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

    def _on_sensors(self, now, levels, reading):
        before = self.levels
        self.levels = levels
        self._read_conditions(now)
        if not (self.post.running() or self.standing.top()):
            self.follow(now, levels, reading, before)
        for button in self.buttons:
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
            for name in self.unseen:
                self.standing.sense(name, False)
            self._release("key", now)

    def _read_conditions(self, now):
        for sensor, wrong, name in self.sensed:
            self._read_door(name, self.levels.get(sensor) == wrong, now)
        self._battery(now)

    # Each opening and each closing is on the log, whatever stands already; what it stops is said by `stops`.
    def _read_door(self, name, is_open, now, stops=True):
        was_open, self.opened[name] = self.opened.get(name), is_open
        if is_open and not was_open:
            stood = name in self.standing.names()
            if stops:
                self._raise(name, self.state, now)
            if stood or not stops:
                self._note(name, self.state, now)
        elif not is_open:
            self.standing.sense(name, False)
            if was_open:
                self._note(name + "_closed", self.state, now)

    # -- settings ----------------------------------------------------------

    # What a setting may be, in words; "" where all of them may.
    def wrong_setting(self, settings):
        for name, value in settings.items():
            if name not in self.defaults or type(value) is not type(self.defaults[name]):
                return "%s is no setting, or of another type" % name
            if name in self.ranges and not self.ranges[name][0] <= value <= self.ranges[name][1]:
                return "%s is %d to %d" % ((name,) + self.ranges[name])
        return ""

    def _on_configure(self, now, settings, who):
        self.record["settings"].update(settings)
        self._note("configured", who, now)

    # What ended the run before is told until someone has cleared it, as everything that stops it.
    def _on_service(self, now, what, who):
        if what == "software_error":
            self._raise(what, who, now)
        else:
            super()._on_service(now, what, who)

    # -- parts --------------------------------------------------------------

    def _begin_post(self, why, now):
        self.retest = False
        self.post.begin(why, now)

    def _recover(self, now):
        self._begin_post("recovery", now)

    def _watch_time(self, now):
        if self.timer is not None and now >= self.timer:
            self.timer = None
            self.overdue(now)
