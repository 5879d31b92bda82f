"""The supervisor of a virtual board: owns its ports, runs its interpreter, cuts its power."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from pathlib import Path

from pitbench.deadline import Deadline, DeadlinePassed
from pitbench.errors import PitbenchError
from pitbench.virtual.child import Child
from pitbench.virtual.flash import BoardFlash, FolderFlash
from pitbench.virtual.interpreter import Interpreter
from pitbench.virtual.ptys import open_port
from pitbench.virtual.starting import Starter
from pitbench.virtual.surroundings import NEW_WORLD, Surroundings, ToldAtStart, adc

CONSOLE = "console.log"
NOTE_MARK = "[supervisor]"
# Cause of a start after the interpreter was killed or died: a program error of the device resets it as "crash" instead.
DIED = "died"
# A board that crashes this often in this time, in seconds, is left off: it would do nothing else for ever.
CRASH_LIMIT, CRASH_WINDOW_S = 5, 10.0


class VirtualBoard(ToldAtStart):
    """A board whose flash is the folder `root`.

    Power and resets may be used from any thread. `link_path` and `wire_path` stay the same, and stay open to
    hosts, through every cut and reset, as a serial adapter's would.

    Args:
        root: the board's file system; alter it only while the board is off.
        interpreter: what runs it.
        cause: reset cause of the first start.
    """

    def __init__(self, root: Path, interpreter: Interpreter, *, cause: str = "power") -> None:
        self.root = root.resolve()
        self.console = self.root.parent / CONSOLE
        self.interpreter = interpreter
        self.boots = 0
        self.crashes = 0
        self._cause = cause
        self._around = Surroundings()
        self._recent_crashes: deque[float] = deque(maxlen=CRASH_LIMIT)
        self._child: Child | None = None
        self._changed = threading.Condition(threading.RLock())
        self._watcher = threading.Thread(target=self._watch, name="virtual-board", daemon=True)
        self._stopping = False
        self._link, self._wire = open_port(), open_port()
        self.link_path, self.wire_path = self._link.path, self._wire.path
        self._wake_in, self._wake_out = os.pipe()

    def start(self) -> None:
        """Switch the board on for the first time. Raises PitbenchError when the interpreter cannot be started."""
        self.power_on(self._cause)
        self._watcher.start()

    def stop(self) -> None:
        """Switch it off for good, and give the ports back."""
        with self._changed:
            if self._stopping:
                return
            self._end_child()
            self._stopping = True
        self._wake()
        if self._watcher.is_alive():
            self._watcher.join()
        for port in (self._link, self._wire):
            port.close()
        os.close(self._wake_in)
        os.close(self._wake_out)

    def cut(self) -> None:
        """Take the power away at once: nothing that was under way arrives, nothing is answered."""
        with self._changed:
            self._end_child()
            self._flush()
            self._changed.notify_all()
        self._wake()

    def power_on(self, cause: str = "power") -> None:
        """Give it power; does nothing to a board that has it."""
        with self._changed:
            if self._stopping:
                raise PitbenchError("The virtual board was stopped.", "Start a new one.")
            if self._child is None:
                self._flush()
                self._recent_crashes.clear()
                self._start_child(cause)
        self._wake()

    def new_world(self) -> None:
        """Forget paper, doors and parts: the next start finds the physical world as new. The board must be off."""
        self._around.world = NEW_WORLD

    def reset(self, cause: str) -> None:
        """Restart it with a cause; what hosts have sent stays with the ports. Does nothing while it is off."""
        with self._changed:
            if self._child:
                self._end_child()
                self._start_child(cause)
        self._wake()

    def freshen_ports(self) -> None:
        """Let any host set the lines of both ports, whatever the last one left; call it now and then."""
        with self._changed:
            if not self._stopping:
                self._link.freshen()
                self._wire.freshen()

    def pins(self, name: str, level: int) -> None:
        """Set the level of a sensor pin by its name; it stays so through power cuts, as a switch does."""
        with self._changed:
            self._tell(self._around.pin(name, level))

    def adc(self, name: str, *values: int) -> None:
        """Set what a measuring sensor reads: `adc("optical", 40, 200, 60, 90)`; `pins("ready", 1)` offers it."""
        with self._changed:
            self._tell(adc(name, *values))

    @property
    def around(self) -> Surroundings:
        """What stands around the board."""
        return self._around

    def wait_off(self, deadline: Deadline) -> None:
        """Wait until the power is off, by a cut that the board itself asked for. Raises DeadlinePassed."""
        with self._changed:
            if not self._changed.wait_for(lambda: not self.alive, deadline.remaining):
                raise DeadlinePassed("The power cut did not happen in time.", f"Read {self.console}.")

    @property
    def flash(self) -> BoardFlash:
        """The files on it, altered only while it is off."""
        return FolderFlash(self.root)

    def clock(self) -> float:
        """Seconds by which waits for this board are measured."""
        return time.monotonic()

    @property
    def alive(self) -> bool:
        """Whether it has power and runs."""
        return self._child is not None

    @property
    def pid(self) -> int | None:
        """Process of the interpreter, None while off."""
        child = self._child
        return child.pid if child else None

    @property
    def gave_up(self) -> bool:
        """Whether it is off because it crashed again and again; the console log says why."""
        return not self.alive and self._crashes_pile_up()

    def __enter__(self) -> VirtualBoard:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _start_child(self, cause: str) -> None:
        self.boots += 1
        self._note(f"start {self.boots}, cause {cause}")
        command = self.interpreter.command(self.root, cause)
        self._child = Child(command, self._link, self._wire, self.console, self._starter(cause))
        for line in self._at_start():
            self._child.tell(line)

    def _starter(self, cause: str) -> Starter:
        return self.interpreter.start

    def _at_start(self) -> list[str]:
        return [*self._around.told_at_start(), *self.responder.at_start()]

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child:
            child.end()
            for line in child.last_lines():
                # A question that nobody has answered yet is over with the run that asked it.
                if line.startswith("world "):
                    self._around.heard(line)

    def _tell(self, line: str) -> None:
        if self._child:
            self._child.tell(line)

    def _flush(self) -> None:
        self._link.flush()
        self._wire.flush()

    def _note(self, text: str) -> None:
        with self.console.open("a") as console:
            console.write(f"{NOTE_MARK} {text}\n")

    def _wake(self) -> None:
        os.write(self._wake_out, b"!")

    def _watch(self) -> None:
        while True:
            with self._changed:
                if self._stopping:
                    return
                child = self._child
                poll = _poll_of([self._wake_in, *self._watched(child)])
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._wake_in in ready:
                os.read(self._wake_in, 4096)
            with self._changed:
                self._attend(child)

    def _watched(self, child: Child | None) -> list[int]:
        return [child.control.fileno()] if child else [self._link.master, self._wire.master]

    def _attend(self, child: Child | None) -> None:
        # Between the poll and the lock somebody else may have cut, reset or stopped it.
        if child is not self._child or self._stopping:
            return
        if child is None:
            self._link.drain()
            self._wire.drain()
            return
        lines, hung_up = child.lines()
        for line in lines:
            self._obey(line)
        if hung_up and child is self._child:
            self._crashed()

    def _obey(self, line: str) -> None:
        word, _, cause = line.partition(" ")
        if word == "reset":
            self.reset(cause)
        elif word == "cut":
            self.cut()
        elif (answers := self._around.heard(line)) is None:
            self._note(f"unknown control line {line!r}")
        else:
            for answer in self._reactions(line, answers):
                self._tell(answer)

    def _reactions(self, line: str, answers: list[str]) -> list[str]:
        return answers

    def _crashed(self) -> None:
        status = self._child.end() if self._child else None
        self._child = None
        self.crashes += 1
        self._recent_crashes.append(time.monotonic())
        self._note(f"crash {self.crashes}: the interpreter ended by itself, status {status}")
        if self._crashes_pile_up():
            self._note("left off: it crashes again and again")
            self._changed.notify_all()
        else:
            self._start_child(DIED)

    def _crashes_pile_up(self) -> bool:
        recent = self._recent_crashes
        return len(recent) == CRASH_LIMIT and recent[-1] - recent[0] < CRASH_WINDOW_S


def _poll_of(descriptors: list[int]) -> select.poll:
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return poll
