"""Run the suite against known-bad firmware, and show which rule catches which rabbit."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pitbench.addresses import LOOKS_LIKE_A_PORT, parse_target
from pitbench.devices import BUILT
from pitbench.sources import wire_of
from pitbench.targets import prove_startable

from pitbench_hil.catalogue import Rule, normal_device, rules_for
from pitbench_hil.durable import read_json
from pitbench_hil.evidence import free_folder, start_run
from pitbench_hil.manifest import write_manifest
from pitbench_hil.plugin import DEFAULT_TARGET
from pitbench_hil.rabbit_engine import PROFILE, Catch, Hunt, run_good, run_rabbits
from pitbench_hil.rabbit_matrix import Matrix
from pitbench_hil.rabbits import Rabbit, RabbitError, left_out, rabbits_for
from pitbench_hil.run_lock import lock_run
from pitbench_hil.several import Ended, run_each
from pitbench_hil.suites import suites_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "name", nargs="*", default=[], help=f"devices ({', '.join(BUILT)}: all); of one, only these rabbits"
    )
    parser.add_argument("--target", default=DEFAULT_TARGET, help=f"virtual board to run them on ({DEFAULT_TARGET})")
    parser.add_argument("--wire", metavar="NAME", help="only those that are hunted on this wire (all, each on its own)")
    parser.add_argument("--full", action="store_true", help="every rule on every rabbit, not only until it is caught")
    parser.add_argument("-n", "--jobs", type=_jobs, default=2, help="boards at a time (2)")
    parser.add_argument("--list", action="store_true", help="list the rabbits, and run nothing")
    parser.add_argument("--run-dir", type=Path, help="folder of this hunt; of several devices one in it each")


def run(args: argparse.Namespace) -> int:
    """Exit code 1 when a rabbit got away, was caught by the wrong rules only, or a rule fails the good device.

    Of several devices the worst counts.
    """
    if not args.list:
        _refuse_real(args.target)
    devices, names = _devices_and_names(args.name)
    hunted = {device: _on_wire(device, _chosen(rabbits_for(device), names), args.wire) for device in devices}
    for device in hunted if not names else ():
        _say_left_out(device)
    # Every row is proven to fit before anything is built.
    for device, rabbits in hunted.items():
        _prove_rows(rabbits, rules_for(device))
    if args.list:
        return _list(hunted)
    runs = [(device, wire) for device, rabbits in hunted.items() for wire in _wires(rabbits)]
    if len(runs) == 1:
        ((device, wire),) = runs
        return _hunt(device, wire, hunted[device], bool(names), args)
    words = [*names, "--target", args.target, "--jobs", str(args.jobs), *(["--full"] if args.full else [])]
    shares = {"-".join(filter(None, run)): [run[0], "--wire", wire_of(run[0], run[1] or None), *words] for run in runs}
    return run_each("rabbits", shares, _named(args.target), args.run_dir, _catches)


def _on_wire(device: str, rabbits: list[Rabbit], wire: str | None) -> list[Rabbit]:
    """Those that are hunted on a wire; all for None. Raises RabbitError, UnknownName."""
    if wire is None:
        return rabbits
    asked = "" if wire_of(device, wire) == wire_of(device) else wire
    if not (found := [rabbit for rabbit in rabbits if rabbit.wire == asked]):
        raise RabbitError(
            f"No rabbit of the {device} is hunted on {wire}.", "`pitbench rabbits DEVICE --list` names them."
        )
    return found


def _wires(rabbits: list[Rabbit]) -> list[str]:
    return list(dict.fromkeys(rabbit.wire for rabbit in rabbits))


def _devices_and_names(words: list[str]) -> tuple[list[str], list[str]]:
    """Names of devices, all that there are where none is named, and names of rabbits behind them."""
    normal = [normal_device(word) for word in words]
    devices = [name for name in normal if name in BUILT]
    names = [word for word, name in zip(words, normal, strict=True) if name not in devices]
    if names and len(devices) != 1:
        raise RabbitError(f"'{names[0]}' is a rabbit of which device?", f"Name one of: {', '.join(BUILT)}.")
    return list(dict.fromkeys(devices)) or list(BUILT), names


def _say_left_out(device: str) -> None:
    if without := left_out(device):
        print(f"{device} hasn't the files of {len(without)} common rabbits, which are left out: {', '.join(without)}")


def _prove_rows(rabbits: list[Rabbit], rules: dict[str, Rule]) -> None:
    for rabbit in rabbits:
        rabbit.patch()
        rabbit.violated(rules.values())


def _list(hunted: dict[str, list[Rabbit]]) -> int:
    for device, rabbits in hunted.items():
        if len(hunted) > 1:
            print(f"{device}:")
        print("\n".join(f"{rabbit.name:40} {', '.join(rabbit.violates)}: {rabbit.why}" for rabbit in rabbits))
    return 0


def _named(target: str) -> str:
    """How the folder of a hunt names its target."""
    return f"rabbits-{target}"


def _hunt(device: str, wire: str, rabbits: list[Rabbit], some: bool, args: argparse.Namespace) -> int:
    target, some = _named(args.target), some or bool(wire)
    folder = args.run_dir.resolve() if args.run_dir else free_folder(Path("runs").resolve(), device, target)
    start_run(folder, device, target, profiles=[PROFILE], hunt=True)
    wire = wire_of(device, wire or None)
    suites, rules = tuple(suites_of(device)), rules_for(device, wire=wire)
    hunt = Hunt(suites, device, args.target, rules, folder, wire, jobs=args.jobs, full=args.full)
    lock = lock_run(folder)
    try:
        return hunt_all(hunt, rabbits, _violated(rabbits, hunt) if some else [])
    finally:
        lock.release()


def _catches(ended: Ended) -> dict[str, str]:
    """Of a hunt that came to its matrix."""
    path = ended.part.folder / "matrix.json"
    if not path.exists():
        return {}
    matrix = read_json(path)
    caught = sum(rabbit["outcome"] == "caught" for rabbit in matrix["rabbits"])
    told = {"caught": f"{caught} of {len(matrix['rabbits'])}", "rules unproven": str(len(matrix["unproven_rules"]))}
    return told | ({"problems": str(len(matrix["problems"]))} if matrix["problems"] else {})


def hunt_all(hunt: Hunt, rabbits: list[Rabbit], good_rules: list[str]) -> int:
    """Run the good device (on those rules, or all) and the rabbits; print and keep the matrix. Gives the exit code."""
    began = time.monotonic()
    some = f"{len(rabbits)} rabbit{'s' if len(rabbits) != 1 else ''}"
    print(f"good device first, then {some} on {hunt.target}; evidence: {hunt.folder}", flush=True)
    good = run_good(hunt, good_rules)
    print(f"good device: {len(good)} rules run ({time.monotonic() - began:.0f} s)", flush=True)
    catches = run_rabbits(hunt, rabbits, _teller(len(rabbits)))
    matrix = Matrix(hunt.rules, good, catches, some=bool(good_rules))
    matrix.write(hunt.folder, f"{hunt.device}: rules × rabbits on {hunt.target}")
    write_manifest(hunt.folder)
    print(f"\n{matrix.text()}\n")
    if matrix.unproven:
        print(f"{len(matrix.unproven)} rules are violated by no rabbit (listed in matrix.html).")
    for problem in matrix.problems:
        print(problem, file=sys.stderr)
    caught = sum(catch.caught for catch in matrix.catches)
    print(f"{caught} of {len(rabbits)} caught in {time.monotonic() - began:.0f} s: {hunt.folder / 'matrix.html'}")
    return 1 if matrix.problems else 0


def _jobs(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise RabbitError(f"{text} is no number of boards.", "Write --jobs 1, or more.")


def _refuse_real(target: str) -> None:
    where = None if LOOKS_LIKE_A_PORT.match(target) else parse_target(target)
    if where is None or not where.virtual:
        raise RabbitError(
            f"{target} is a real board, and a rabbit is a firmware that cheats: it is built into virtual boards only.",
            "Leave --target out, or write unix: or wasm:.",
        )
    prove_startable(where)


def _violated(rabbits: list[Rabbit], hunt: Hunt) -> list[str]:
    """Where a few rabbits are asked for, the good device is held to the rules that they violate."""
    return sorted({name for rabbit in rabbits for name in rabbit.violated(hunt.rules.values())})


def _teller(total: int) -> Callable[[Catch], None]:
    told = 0

    def tell(catch: Catch) -> None:
        nonlocal told
        told += 1
        by = f" by {catch.caught_by[0]}" if catch.caught_by else ""
        print(f"{told:3}/{total} {catch.rabbit.name}: {catch.outcome}{by} ({catch.cost})", flush=True)

    return tell


def _chosen(rabbits: list[Rabbit], names: list[str]) -> list[Rabbit]:
    unknown = sorted(set(names) - {rabbit.name for rabbit in rabbits})
    if unknown:
        raise RabbitError(f"There is no rabbit '{unknown[0]}'.", "`pitbench rabbits DEVICE --list` names them.")
    return [rabbit for rabbit in rabbits if not names or rabbit.name in names]
