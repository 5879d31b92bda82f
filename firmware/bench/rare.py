# What the bench does to the board, loaded with the first request: calendar, store, ends of a run.
from bench.rig import faulty
from hal.power import restart
from link.args import Operations
from link.frame import Refused
from link.late import load

_KEPT = ("a", "b", "log0", "log1")


class Ops(Operations):
    ARGS = """
calendar: set=:int|:NoneType
store_fault: at=:int how=:str
store:
restart: how=power|watchdog|soft
start_over:
repl:
damage: copy=a|b
crash:
entropy: how=fixed|led|stuck|biased|slow|board seed?=:str
"""

    def _calendar(self, request):
        self.machine.clock.set_calendar(request["set"])
        return {}

    def _store_fault(self, request):
        machine = self.machine
        plain = getattr(machine.files, "files", machine.files)
        machine.files = faulty(plain, machine.boot, request["at"], request["how"])
        machine.store.files = machine.log.files = machine.files
        return {}

    # `ever` outlives restarts: two writes a commit, one a log entry, since the store was new.
    def _store(self, request):
        machine = self.machine
        ever = 2 * machine.store.sequence + machine.device.record["log"][0]
        return {"writes": machine.files.writes, "commits": machine.store.commits, "ever": ever}

    def _restart(self, request):
        self.machine.after_reply = lambda: restart(self.machine.boot, request["how"])
        return {}

    # A board that lasts becomes a new one in a new world, as each virtual board is.
    def _start_over(self, request):
        self.machine.after_reply = self._forget
        return {}

    def _forget(self):
        for name in _KEPT:
            self.machine.files.remove(name)
        self.machine.boot.control.write("world null")
        restart(self.machine.boot, "start_over")

    # A watchdog can't be stopped, so the way to the REPL leads through a reset.
    def _repl(self, request):
        if self.machine.boot.board.STRAP is None:
            raise Refused("refused", "this board has no REPL")
        return self._restart({"how": "repl"})

    def _damage(self, request):
        load("bench.faults").damage(self.machine.files, request["copy"])
        return {}

    # What the source gives from now on.
    def _entropy(self, request):
        load("bench.chance").fed(self.machine.entropy(), request["how"], request.get("seed", ""))
        return {}

    # A program error, in the middle of whatever is under way.
    def _crash(self, request):
        self.machine.after_reply = _raise_program_error
        return {}


def _raise_program_error():
    raise RuntimeError("program error asked for by the bench")
