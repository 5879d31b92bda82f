"""Runs the suite against the good device and against each rabbit, a few boards at a time.

First the good device, whole suite. Then each rabbit: the rules that it violates, until one catches it. Only a rabbit
that they let go is run against the whole suite, to tell whether anything at all catches it. `full` runs everything for
all. A rabbit's run is a process of its own, forked where the system can, so that imports are paid once.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from pitbench.image import KINDS, build_image
from pitbench.sources import FIRMWARE
from pitbench.targets import board_of

from pitbench_hil.catalogue import Rule
from pitbench_hil.evidence import collection, judge_run
from pitbench_hil.rabbit_signing import HERE, measures_otherwise, sign_as_its_own
from pitbench_hil.rabbits import Rabbit
from pitbench_hil.records import NEEDED, read_records
from pitbench_hil.suites import pytest_words, run_pytest
from pitbench_hil.verdict import Verdict

# Everything counts against a rabbit.
PROFILE = "house"
GOOD = "good"
TIMEOUT_S = 300.0
# Failing is what a rabbit is for: its flash is of no interest.
_KEEP_NOTHING = ("-o", "tmp_path_retention_policy=none")

Verdicts = dict[str, str]


@dataclass(frozen=True)
class Hunt:
    """What is run: suites, device, target, rules, where the evidence goes, and how."""

    suites: tuple[Path, ...]
    device: str
    target: str
    rules: Mapping[str, Rule]
    folder: Path
    wire: str
    jobs: int = 2
    full: bool = False
    timeout: float = TIMEOUT_S
    more: tuple[str, ...] = ()
    firmware: Path = FIRMWARE
    build: Callable[..., Any] = build_image


@dataclass
class Catch:
    """One rabbit after its runs: verdict of each rule that was run on it, and what went wrong, if something did."""

    rabbit: Rabbit
    violated: list[str]
    verdicts: Verdicts = field(default_factory=dict)
    seconds: float = 0.0
    trouble: str = ""
    needed: str = ""

    @property
    def cost(self) -> str:
        """Samples that it took, where a statistic tells, and seconds."""
        return (f"{self.needed}, " if self.needed else "") + f"{self.seconds:.1f} s"

    @property
    def caught_by(self) -> list[str]:
        """Rules that fail it."""
        return [name for name, verdict in self.verdicts.items() if verdict == Verdict.FAIL]

    @property
    def caught(self) -> bool:
        """Whether a rule that it violates fails it."""
        return any(name in self.violated for name in self.caught_by)

    @property
    def outcome(self) -> str:
        """`caught`, `caught only by other rules`, `caught by nobody`, or the trouble."""
        if self.caught:
            return "caught"
        if self.caught_by:
            return "caught only by rules that it doesn't violate"
        return self.trouble or "caught by nobody"


def run_good(hunt: Hunt, rules: Iterable[str] = ()) -> Verdicts:
    """The suite (or those rules) on the unaltered device, with all jobs; evidence in `good/`, report included."""
    words = ["--run-dir", str(hunt.folder / GOOD), "--profile", PROFILE, *_workers(hunt.jobs), *hunt.more]
    job = _Job(_words(hunt, words, rules), hunt.folder / "good.log", {}, hunt)
    try:
        job.finish(hunt.timeout * 4)
    finally:
        job.kill()
    return _verdicts(hunt.folder / GOOD, hunt.rules.values())


def _workers(jobs: int) -> list[str]:
    return ["-n", str(jobs)] if jobs > 1 else []


def run_rabbits(hunt: Hunt, rabbits: Iterable[Rabbit], tell: Callable[[Catch], None]) -> list[Catch]:
    """Each rabbit's catch, in their order; `tell` hears of each as it comes in."""
    catches = [Catch(rabbit, rabbit.violated(hunt.rules.values())) for rabbit in rabbits]
    first = None if hunt.full else lambda catch: catch.violated
    _stage(hunt, catches, first, tell if hunt.full else _only_caught(tell))
    if not hunt.full:
        _stage(hunt, [catch for catch in catches if not catch.caught], None, tell)
    return catches


def _only_caught(tell: Callable[[Catch], None]) -> Callable[[Catch], None]:
    """Those that got away so far are told of after the second stage."""
    return lambda catch: tell(catch) if catch.caught else None


def _stage(hunt: Hunt, catches: list[Catch], rules_of: Any, tell: Callable[[Catch], None]) -> None:
    """Run each catch's rules (None: all), `jobs` at a time."""
    waiting, running = list(catches), dict[Any, tuple[Catch, _Job]]()
    try:
        while waiting or running:
            while waiting and len(running) < hunt.jobs:
                job = _start(hunt, waiting[0], rules_of(waiting[0]) if rules_of else [])
                running[job.process.sentinel] = (waiting.pop(0), job)
            for sentinel in _ended(running):
                catch, job = running.pop(sentinel)
                _take_in(hunt, catch, job)
                tell(catch)
    finally:
        for _, job in running.values():
            job.kill()


def _ended(running: Mapping[Any, tuple[Catch, _Job]]) -> list[Any]:
    """Those that ended, or ran out of time, as soon as there is one."""
    left = min(job.deadline for _, job in running.values()) - time.monotonic()
    ended = connection.wait(list(running), timeout=max(0.0, left))
    return list(ended) or [s for s, (_, job) in running.items() if job.deadline <= time.monotonic()]


def _start(hunt: Hunt, catch: Catch, rules: list[str]) -> _Job:
    stage = "violated" if rules else "all"
    folder = hunt.folder / "rabbits" / catch.rabbit.name / stage
    words = ["--run-dir", str(folder / "run"), "--profile", PROFILE, "--bare", "--keep-going"]
    words += [*_KEEP_NOTHING, *hunt.more]
    # Whichever of a rule's tests shows the rabbit, on a slow board too.
    words += ["--stop-at-fail", "--sample=0"] if rules else []
    kinds = _kinds(hunt, rules)
    words += ["--image-kind", kinds[0]] if len(kinds) == 1 else []
    images = {kind: folder / kind for kind in kinds}
    words += [word for kind in kinds for word in ("--image", f"{kind}={images[kind]}")]
    build = {"patch": catch.rabbit.patch(hunt.firmware), "images": images}
    return _Job(_words(hunt, words, rules), folder / "pytest.log", build, hunt)


def _kinds(hunt: Hunt, rules: list[str]) -> list[str]:
    """One kind of image is enough where every rule can be shown on it; bench rather than release."""
    for kind in KINDS:
        if rules and all(kind in hunt.rules[name].images for name in rules):
            return [kind]
    return list(KINDS)


def _take_in(hunt: Hunt, catch: Catch, job: _Job) -> None:
    catch.seconds += job.finish(0.0)
    run = job.log.parent / "run"
    if not (run / "run.json").exists():
        catch.trouble = f"its suite didn't run, see {job.log}"
        return
    catch.verdicts |= _verdicts(run, hunt.rules.values())
    catch.needed = catch.needed or _fewest(run)
    catch.trouble = f"its suite didn't end within {hunt.timeout:g} s" if job.killed else ""


def _fewest(run: Path) -> str:
    """The statistic that did with the fewest samples, "7 decks by valleys"; "" where none tells."""
    rows = [row for record in read_records(run) for row in record if row["kind"] == "measure"]
    told = [(row["value"], row["unit"], row["name"]) for row in rows if row["name"].startswith(NEEDED)]
    if not told:
        return ""
    number, unit, name = min(told)
    return f"{number:,} {unit} by {name.removeprefix(NEEDED)}"


def _verdicts(folder: Path, rules: Iterable[Rule]) -> Verdicts:
    """Verdict of every rule that the run recorded something for."""
    outcomes = judge_run(folder, [rule for rule in rules if not rule.instead], [PROFILE])
    return {outcome.rule.id: str(outcome.judgement.verdict) for outcome in outcomes if outcome.records}


def _words(hunt: Hunt, more: list[str], rules: Iterable[str] = ()) -> list[str]:
    return pytest_words(_places(hunt, rules), hunt.device, hunt.target, "--wire", hunt.wire, *more, rules=rules)


def _places(hunt: Hunt, rules: Iterable[str]) -> list[Path]:
    """The files that test these rules, as the good device's run found them: importing the others takes a second."""
    collected, wanted = collection(hunt.folder / GOOD), set(rules)
    tests = [test for test, named in collected["tests"].items() if wanted & set(named)]
    return sorted({Path(collected["files"][test]) for test in tests}) or list(hunt.suites)


class _Job:
    """A pytest process of its own, its output in a file."""

    def __init__(self, words: list[str], log: Path, build: Mapping[str, Any], hunt: Hunt) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log, self.killed = log, False
        self._began = time.monotonic()
        self.deadline = self._began + hunt.timeout
        context: Any = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
        self.process: BaseProcess = context.Process(target=_work, args=(words, log, build, hunt))
        self.process.start()

    def finish(self, wait: float) -> float:
        """Wait so long, then end it if it still runs. Returns the seconds that it took."""
        self.process.join(wait or 0.5)
        if self.process.is_alive():
            self.killed = True
            self.kill()
        return time.monotonic() - self._began

    def kill(self) -> None:
        """End it, and the boards that it started."""
        if self.process.is_alive() and self.process.pid and hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()


def _work(words: list[str], log: Path, build: Mapping[str, Any], hunt: Hunt) -> None:
    """In the process of its own: output to the log, images built, suite run."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # a group of its own: its boards end with it
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    board = board_of(hunt.target)
    for kind, out in build.get("images", {}).items():
        hunt.build(hunt.device, kind, out, patches=build["patch"], board=board, wire=hunt.wire)
        if measures_otherwise(build["patch"]):
            here = out
            if board != HERE:
                here = out.with_name(f"{kind}-here")
                hunt.build(hunt.device, kind, here, patches=build["patch"], board=HERE, wire=hunt.wire)
            sign_as_its_own(out, here)
    raise SystemExit(run_pytest(words))
