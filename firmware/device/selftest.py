# Power-on self-test: 13:69E-1.28N(g). Each step is named and its result kept. A device's own test adds its steps, each
# a method that is polled until it answers: None while it runs, else (ok, detail).


class SelfTest:
    names = ""  # of its steps, in order

    def __init__(self):
        self.run = 0
        self.ok = None
        self.why = ""
        self.steps = []
        self.phase = 0
        self.until = None
        self.pending = []

    def begin(self, why, now):
        self.run += 1
        self.ok = None
        self.why = why
        self.steps = []
        self.phase = 0
        self.until = now
        self.pending = self.names.split()

    # Something went wrong meanwhile: no result, and so no acceptance.
    def abort(self):
        if self.running():
            self.pending = []
            self.until = None

    def running(self):
        return self.ok is None and bool(self.pending)

    def failed_step(self):
        for name, ok, detail in self.steps:
            if not ok:
                return name
        return None

    def _next_phase(self, now, delay):
        self.phase += 1
        self.until = now + delay

    # One call runs as many steps as need no waiting. -> effects
    def step(self, device, now):
        effects = []
        while self.pending:
            name = self.pending[0]
            answer = getattr(self, "_" + name)(device, now, effects)
            if answer is None:
                return effects
            self._record(name, answer)
        return effects

    def _record(self, name, answer):
        self.steps.append((name, answer[0], answer[1]))
        self.phase = 0
        self.pending = self.pending[1:] if answer[0] else []
        if not self.pending:
            self.ok = answer[0]
            self.until = None

    def _memory(self, device, now, effects):
        return (device.memory_ok, "" if device.memory_ok else "both copies of the record are damaged")

    # What the boot block measured: (ok, why), or None while it runs again.
    def _signature(self, device, now, effects):
        self.until = None
        return device.verified
