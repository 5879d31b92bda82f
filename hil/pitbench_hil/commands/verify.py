"""Hold devices to their rules, and write the evidence: a front for `pytest hil --target … --device …`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest
from pitbench.addresses import parse_target
from pitbench.errors import EXIT_INTERRUPTED, PitbenchError
from pitbench.protocols.acceptor_host import host_names
from pitbench.sources import wires_of

from pitbench_hil import asked
from pitbench_hil.catalogue import CatalogueError, names, rules_for
from pitbench_hil.durable import read_json
from pitbench_hil.plugin import DEFAULT_PROFILE, DEFAULT_TARGET
from pitbench_hil.several import Ended, counts, devices_meant, run_each
from pitbench_hil.suites import pytest_words, run_pytest, suites_of

# pytest's other codes (usage, an error of its own, no test at all) are trouble too.
EVERY_WIRE = "all"
_CODES = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, EXIT_INTERRUPTED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "device", nargs="*", default=[], help="bill-acceptor, shuffler … (all; of a real board, what it is)"
    )
    parser.add_argument("--target", default=DEFAULT_TARGET, help=f"what to test ({DEFAULT_TARGET})")
    parser.add_argument("--wire", metavar="NAME", help="protocol on the wire, or all that a device has (its usual one)")
    parser.add_argument("--rules", default="", help="only these: ids, clauses, patterns, comma apart")
    parser.add_argument("--profile", default=DEFAULT_PROFILE, help=f"nj, ny, house, comma apart ({DEFAULT_PROFILE})")
    parser.add_argument(
        "--image-kind", choices=("bench", "release", "both"), default="both", help="images to test (both)"
    )
    parser.add_argument("--image", action="append", default=[], metavar="KIND=FOLDER", help="a built image to use")
    parser.add_argument(
        "--run-dir",
        type=Path,
        help="folder of this run (runs/<utc>-<device>-<target>); of several devices one in it each",
    )
    parser.add_argument("--timing-uncertainty", type=float, default=5.0, metavar="MS", help="the rig's own (5 ms)")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N tests a rule and image, 0: all (0; emu: 1)")
    parser.add_argument("--erase-budget", type=int, metavar="N", help="store writes that a real board may take")
    parser.add_argument(
        "-n", "--jobs", type=asked.jobs, default="2", help="boards at a time (2; a real one: 0, one process)"
    )
    parser.add_argument("--pytest", action="append", default=[], metavar="WORD", help="a word for pytest (--pytest=-x)")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 without FAIL, 1 with one, 2 when a word, the rig or the suite was in trouble, 130 after Ctrl-C.

    Of several devices the worst counts.
    """
    devices = devices_meant(args.device, args.target)
    patterns = asked.words(args.rules, "--rules")
    shares = {devices[0]: list(patterns)} if len(devices) == 1 else patterns_of(devices, patterns)
    runs = [(device, wire) for device in shares for wire in _wires(device, args.wire)]
    if len(runs) == 1:
        ((device, wire),) = runs
        return _verify(device, wire, shares[device], args)
    return _verify_each(shares, runs, args)


def _wires(device: str, named: str | None) -> list[str]:
    """The wires that are meant; of those of an acceptor all that carry money."""
    if named != EVERY_WIRE:
        return [named or ""]
    every = wires_of(device)
    return [wire for wire in every if wire in host_names()] or every


def _verify(device: str, wire: str, patterns: Sequence[str], args: argparse.Namespace) -> int:
    jobs = args.jobs if parse_target(args.target).virtual else "0"
    options = [*_options(args), *_wire_words(wire), "-n", jobs]
    options += ["--run-dir", str(args.run_dir)] if args.run_dir else []
    words = pytest_words(suites_of(device), device, args.target, *options, *args.pytest, rules=patterns)
    code = run_pytest(words)
    return code if code in _CODES else int(pytest.ExitCode.INTERRUPTED)


def _wire_words(wire: str) -> list[str]:
    return ["--wire", wire] if wire else []


def _options(args: argparse.Namespace) -> list[str]:
    """Options that pytest and this command call the same."""
    options = ["--profile", args.profile, "--image-kind", args.image_kind]
    options += [word for image in args.image for word in ("--image", image)]
    options += [f"--timing-uncertainty={args.timing_uncertainty}"]
    options += [] if args.sample is None else [f"--sample={args.sample}"]
    options += [] if args.erase_budget is None else [f"--erase-budget={args.erase_budget}"]
    return options


def patterns_of(devices: Sequence[str], patterns: Sequence[str]) -> dict[str, list[str]]:
    """Which of the patterns name a rule of which device; one that has no such rule is left out.

    Raises CatalogueError for a pattern that names no rule of any.
    """
    if not patterns:
        return {device: [] for device in devices}
    shares: dict[str, list[str]] = {}
    for device in devices:
        mine = [pattern for pattern in patterns if any(names(pattern, rule) for rule in rules_for(device))]
        if mine:
            shares[device] = mine
        else:
            print(f"{device} is left out: it has no such rule.")
    for pattern in patterns:
        if not any(pattern in mine for mine in shares.values()):
            raise CatalogueError(f"No rule is named '{pattern}'.", "`pitbench rules` lists them.")
    return shares


def _verify_each(shares: dict[str, list[str]], runs: Sequence[tuple[str, str]], args: argparse.Namespace) -> int:
    if args.image:
        raise PitbenchError("A built image is one device's, with one wire.", f"Name its device: {' or '.join(shares)}.")
    words = {"-".join(filter(None, run)): [run[0], *_wire_words(run[1]), *_words(shares[run[0]], args)] for run in runs}
    return run_each("verify", words, args.target, args.run_dir, _verdicts)


def _words(patterns: Sequence[str], args: argparse.Namespace) -> list[str]:
    words = ["--target", args.target, *_options(args), "--jobs", args.jobs]
    words += ["--rules", ",".join(patterns)] if patterns else []
    return [*words, *(f"--pytest={word}" for word in args.pytest)]


def _verdicts(ended: Ended) -> dict[str, str]:
    head = ended.part.folder / "run.json"
    return counts(read_json(head).get("summary", {})) if head.exists() else {}
