"""The pytest plugin of the rule suites: `pytest hil --target unix: --device bill-acceptor`.

A suite is a folder `suites/<device>/` with a `conftest.py` that defines the fixture `board`, and tests like this one.
Beside it `suites/common/` runs for every device: those of its tests that name a rule which binds the device.

    from pitbench_hil.marks import images, needs, rule

    @rule("NJ-1.28N(i)2/escrow")
    def test_stacker_door_opened_with_a_note_in_escrow(board, check):
        note_in_escrow(board)
        check.stimulus("stacker door opened", which="stacker")
        board.link.do("door", which="stacker", open=True)
        with check.duty("answers with the stacker open"):
            board.wait_for_status(Status.STACKER_OPEN)
        check.measure("accepted", items_stacked(board))                 # limit: the rule's, by name
        check.measure("credited_minus_stacked", difference(board))
        check.expect("tower light", board.link.do("status")["light"], "red")

A test records, and `verdict.py` decides; the test fails when the verdict of one of its rules is a FAIL that counts. A
plain `assert` in a test is a rule's assertion too; a device reset by its own program error fails the rules too, and so
does a virtual or emulated one that doesn't answer on its link.
Any other exception means a broken rig: the test's rules are NOT TESTED by that cause, and so are those of later tests,
at once on a board that lasts, after the third where each test has a new one.
Where silence is the device's fault, say so with `check.duty`.

The `board` fixture opens its ports with `trace=run.trace`, takes the kind of image from the fixture `image_kind`, and
calls `run.identify(hello, rung=…, caps=…, pc={"digest": …})` in every test before the test uses the board: this checks
that the right image is there, and skips the test by name when it needs what the target lacks. `run.once(key, make)`
keeps what is made once a process; `run.image_dirs.get(kind)` is a folder with a built image to use instead of a build.

This file holds options and fixtures; `running.py` records tests, `closing.py` closes the run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pitbench.errors import PitbenchError

from pitbench_hil import asked, provenance
from pitbench_hil.catalogue import Rule, normal_device, rules_for, selected
from pitbench_hil.check import Check
from pitbench_hil.closing import Closer, runs_root
from pitbench_hil.evidence import new_run, start_run
from pitbench_hil.lasting import LastingBoard
from pitbench_hil.marks import DESCRIPTIONS, marked
from pitbench_hil.run import Run
from pitbench_hil.run_lock import lock_run
from pitbench_hil.running import Runner
from pitbench_hil.selection import SUITES, both_suites, foreign_suite, suite_folder
from pitbench_hil.verdict import profiles_named

DEFAULT_TARGET = "virtual"
DEFAULT_PROFILE = "nj,ny"
RUN = pytest.StashKey[Run]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Our options; without --device the plugin stays out of the way."""
    group = parser.getgroup("pitbench", "rules of casino peripherals")
    add = group.addoption
    add("--device", help="device whose rules are tested: bill-acceptor, …")
    add("--target", default=DEFAULT_TARGET, help="virtual, unix:, wasm:, usb:SERIAL,wire=usb:ADAPTER … (virtual)")
    add("--wire", help="protocol on the device's wire: id003, ebds … (its usual one)")
    add(
        "--rules",
        default="",
        help="only these rules, comma apart: ids, clauses with all their parts, patterns (NJ-1.28B*)",
    )
    add(
        "--profile",
        default=DEFAULT_PROFILE,
        help=f"whose rules can fail the device, comma apart: nj, ny, house ({DEFAULT_PROFILE})",
    )
    add("--image-kind", choices=("bench", "release", "both"), default="both", help="kinds of image to test (both)")
    add(
        "--image",
        action="append",
        default=[],
        metavar="KIND=FOLDER",
        help="use this built image instead of building one",
    )
    add("--run-dir", help="folder of this run (runs/<utc>-<device>-<target>)")
    add("--rule-files", help="folder with rule files other than the catalogue's")
    add("--timing-uncertainty", type=float, default=5.0, metavar="MS", help="the rig's own uncertainty of times (5 ms)")
    add("--sample", type=int, metavar="N", help="at most N tests a rule and kind of image, 0 for all (0; emu: 1)")
    add("--erase-budget", type=int, metavar="N", help="store writes that a run on a real board may make (no limit)")
    add("--keep-going", action="store_true", help="go on after the rig broke (rabbits: the device may be the cause)")
    add("--stop-at-fail", action="store_true", help="end after the first rule that fails")
    add("--bare", action="store_true", help="record only: no report, no manifest")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """With --device, begin the run; a wrong word is one sentence, before pytest prints or collects anything."""
    if config.option.help or config.option.version or config.option.collectonly:
        return None
    try:
        if config.option.device:
            config.stash[RUN] = _begin(config)
        elif config.option.target != DEFAULT_TARGET or config.option.rules:
            raise PitbenchError("--target and --rules need a device.", "Add --device bill-acceptor.")
    except PitbenchError as error:
        print(f"pitbench: {error}", file=sys.stderr)
        return int(pytest.ExitCode.INTERRUPTED)
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Register marks; where a run has begun, what records and closes it."""
    for line in DESCRIPTIONS:
        config.addinivalue_line("markers", line)
    if RUN not in config.stash:
        return
    run = config.stash[RUN]
    config.pluginmanager.register(Runner(run, config), "pitbench-runner")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Closer(run, config.option.bare), "pitbench-closer")
        # One line a rule, and none a file.
        config.option.verbose = config.option.verbose or -1


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Suites of other devices aren't even imported; the common one is everybody's."""
    device = config.option.device
    return True if device and foreign_suite(collection_path, device) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test runs once on each kind of image that it names."""
    kinds = marked(metafunc.definition, "images")
    if kinds and "image_kind" in metafunc.fixturenames:
        metafunc.parametrize("image_kind", kinds, indirect=True)


@pytest.fixture
def image_kind(request: pytest.FixtureRequest) -> str:
    """Kind of image that this test runs on: "bench" or "release"."""
    return str(getattr(request, "param", (marked(request.node, "images") or ["bench"])[0]))


@pytest.fixture(scope="session")
def run(request: pytest.FixtureRequest) -> Run:
    """The run: folder, trace sink, identity. The `board` fixture needs it."""
    if RUN not in request.config.stash:
        pytest.fail("Name the device: pytest hil --target unix: --device bill-acceptor", pytrace=False)
    return request.config.stash[RUN]


@pytest.fixture
def check(run: Run) -> Check:
    """Records what the test does, sees and measures."""
    return Check(run)


def _begin(config: pytest.Config) -> Run:
    option = config.option
    device = normal_device(option.device)
    rule_files = Path(option.rule_files).resolve() if option.rule_files else None
    images = asked.image_dirs(option.image)
    wire = asked.wire(device, option.wire, images)
    every = rules_for(device, rule_files, wire)
    wanted = asked.words(option.rules, "--rules")
    rules = {rule.id: rule for rule in selected(every.values(), wanted)} if wanted else every
    profiles = profiles_named(option.profile)
    uncertainty = asked.uncertainty_ms(option.timing_uncertainty)
    is_worker = hasattr(config, "workerinput")
    lasting = None if is_worker else _looked_at(option, device, wire, images)
    folder = _folder(config, device, wire, rules, profiles, rule_files)
    return Run(
        folder=folder,
        device=device,
        target=option.target,
        wire=wire,
        rules=rules,
        catalogue=every,
        profiles=profiles,
        image_dirs=images,
        timing_uncertainty_ms=uncertainty,
        keep_going=option.keep_going,
        sample=asked.sample(option.sample, option.target),
        lasting=lasting,
        worker=getattr(config, "workerinput", {}).get("workerid", "main"),
        lock=None if is_worker else lock_run(folder),
    )


def _looked_at(option: Any, device: str, wire: str, images: dict[str, Path]) -> LastingBoard | None:
    processes = getattr(option, "numprocesses", None) or 0
    asked.jobs(str(processes))
    return asked.reachable(option.target, device, wire, images, processes, option.erase_budget)


def _folder(
    config: pytest.Config,
    device: str,
    wire: str,
    rules: dict[str, Rule],
    profiles: list[str],
    rule_files: Path | None,
) -> Path:
    """The run's folder: made here, or handed over by the process that started this worker."""
    if hasattr(config, "workerinput"):
        return Path(config.workerinput["pitbench_run"])
    option = config.option
    about: dict[str, Any] = {
        "wire": wire,
        "profiles": profiles,
        "rule_ids": list(rules) if option.rules else None,
        "rule_files": str(rule_files) if rule_files else None,
        "image_kind": option.image_kind,
        "timing_uncertainty_ms": option.timing_uncertainty,
        "tool": provenance.tool(),
        "suite": provenance.suite(_suites_of(config, device)),
    }
    if option.run_dir:
        return start_run(Path(option.run_dir).resolve(), device, option.target, **about)
    return new_run(runs_root(config), device, option.target, **about)


def _suites_of(config: pytest.Config, device: str) -> list[Path]:
    """The folders of the device's suites, from the command line's paths."""
    for arg in config.args:
        path = Path(arg.split("::")[0]).resolve()
        for folder in (path, *path.parents, *path.glob(f"{SUITES}/*"), *path.glob("*")):
            if suite_folder(folder, device) == folder:
                return both_suites(folder, device)
    return []
