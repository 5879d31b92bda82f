"""The run as a test session sees it: one folder, the board in hand, the record of the test that runs now."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pitbench.errors import PitbenchError
from pitbench.folder_lock import FolderLock

from pitbench_hil.catalogue import Rule
from pitbench_hil.evidence import break_rig, broken_rig
from pitbench_hil.lasting import LastingBoard, refuse_other_image
from pitbench_hil.lateness import Metronome
from pitbench_hil.records import Record

Thing = TypeVar("Thing")
# Of a series of like things, so many are enough to show that nothing about them depends on the target.
FEW = 3
# Where each test has a new board, one that breaks takes none with it; after so many it is the rig.
BREAKS_MAX = 3
# What a rig can do without any board: build images and compare them.
BENCH_ALONE = frozenset({"build"})


@dataclass
class Run:
    """One pytest process of a run (each xdist worker has its own; they share the folder).

    `folder`, `device`, `target`, `wire`, `rules`, `profiles` say what is judged; `catalogue` has the device's other
    rules too, where --rules chose some. `image_dirs` maps an image kind to a folder with a built image, where `--image`
    named one; without it the board fixture builds. `sample` is the most tests that a rule gets on each kind of image, 0
    for all, and `tests_there` how many there are. `lasting` is the one board of a run on a real board, None where each
    test gets a new one.
    """

    folder: Path
    device: str
    target: str
    wire: str
    rules: Mapping[str, Rule]
    catalogue: Mapping[str, Rule]
    profiles: Sequence[str]
    image_dirs: Mapping[str, Path] = field(default_factory=dict)
    timing_uncertainty_ms: float = 5.0
    keep_going: bool = False
    sample: int = 0
    tests_there: int = 0
    lasting: LastingBoard | None = None
    worker: str = "main"
    lock: FolderLock | None = None
    cache: dict[str, Any] = field(default_factory=dict)
    record: Record | None = None
    _needs: frozenset[str] = frozenset()
    _numbers: Any = field(default_factory=itertools.count)
    _metronome: Metronome | None = None
    _breaks: int = 0

    def few(self, things: Sequence[Thing]) -> list[Thing]:
        """All of them; where tests are sampled, the first, the last, and one between: their number is in the record."""
        if not self.sample or len(things) <= FEW:
            return list(things)
        kept = [things[number * (len(things) - 1) // (FEW - 1)] for number in range(FEW)]
        if self.record is not None:
            self.record.add("note", text="sampled for a slow target", data={"kept": len(kept), "of": len(things)})
        return kept

    def trace(self, time: float, port: str, direction: str, data: bytes) -> None:
        """The sink for `open_transport(trace=run.trace)`: goes to the trace of the test that runs now."""
        if self.record is not None:
            self.record.trace(time, port, direction, data)

    def identify(
        self,
        identity: Mapping[str, Any],
        *,
        rung: str,
        caps: Iterable[str] = (),
        pc: Mapping[str, str] | None = None,
        cut: str = "",
    ) -> None:
        """Say which board is under test. The `board` fixture calls this in every test, before the board is used.

        Args:
            identity: what the board says of itself (hello of the link).
            rung: `unix`, `wasm`, `emu`, `board`.
            caps: what the rig can do with it, besides the capabilities that the board reports in `caps`.
            pc: digests calculated on the PC over the image that was to be there, by the identity's own keys
                (`digest`, `crc`).
            cut: which kind of power cut the rig makes, "" for none.

        Raises WrongBoard when a digest differs; skips the test when a capability that it needs is missing.
        """
        record = self._current()
        record.add("identity", identity=dict(identity), rung=rung, pc=dict(pc or {}), cut=cut)
        refuse_other_image(identity, {**({"wire": self.wire} if "wire" in identity else {}), **(pc or {})})
        self.require({*identity.get("caps", []), *caps, *BENCH_ALONE})

    def require(self, caps: Iterable[str]) -> None:
        """Skip the running test, with the names, when it needs more than `caps`."""
        missing = sorted(self._needs - set(caps))
        if missing:
            why = f"needs {', '.join(missing)}: the target doesn't have it"
            self._current().add("skipped", why=why)
            pytest.skip(why)

    def open_record(self, test: str, rules: Sequence[str], image: str, needs: Iterable[str]) -> Record:
        """Begin the record of a test. Raises EvidenceError."""
        self._needs = frozenset(needs)
        stem = f"{self.worker}-{next(self._numbers):04d}"
        start = {
            "test": test,
            "rules": list(rules),
            "image": image,
            "worker": self.worker,
            "needs": sorted(self._needs),
        }
        self.record = Record(self.folder, stem, start)
        return self.record

    def close_record(self, **values: Any) -> None:
        """End the record of a test. Raises EvidenceError."""
        if self.record is not None:
            record, self.record = self.record, None
            record.close(**values)

    def break_rig(self, cause: str, test: str) -> None:
        """Keep the first cause, unless --keep-going was given; see `broken` for what becomes of later tests."""
        if self.record is not None:
            self.record.add("broken", why=cause)
        self._breaks += 1
        if not self.keep_going:
            break_rig(self.folder, cause, test)

    @property
    def broken(self) -> str | None:
        """Why no later test can be run, or None: a board that lasts broke once, or new ones broke again and again."""
        if not self.lasting and self._breaks < BREAKS_MAX:
            return None
        found = broken_rig(self.folder)
        return found["cause"] if found else None

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """What `make` returned the first time this process asked for `key` (a built image, say)."""
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    def uncertainty_ms(self, start: float) -> float:
        """Uncertainty in ms of a time that began at a monotonic second: the rig's own, and how late this PC was."""
        if self._metronome is None:
            self._metronome = Metronome()
        return round(self.timing_uncertainty_ms + self._metronome.worst_since(start) * 1000, 3)

    def watch_lateness(self) -> float:
        """Start watching how late the PC is; returns the monotonic second, for `uncertainty_ms`."""
        if self._metronome is None:
            self._metronome = Metronome()
        return time.monotonic()

    def close(self) -> None:
        """End what the run started, and give its folder free."""
        if self.lock is not None:
            self.lock.release()
        if self._metronome is not None:
            self._metronome.stop()
            self._metronome = None

    def _current(self) -> Record:
        if self.record is None:
            raise PitbenchError("No rule's test is running.", "Mark the test with @rule(…).")
        return self.record
