"""Red rabbits: known-bad firmware, a row each, and the clause that each violates.

Rows are in `rabbits/<device>/*.toml`, a file a topic:

    [[rabbit]]
    name = "accepts_while_stacker_open"
    file = "device/bill_acceptor.py"          # below firmware/
    old = "if STACKER_OPEN in standing:"       # must stand there exactly once
    new = "if False:"
    violates = ["NJ-1.28N(i)2"]                # rule ids; a clause stands for all its parts
    why = "The stacker's door doesn't stop acceptance."
    wire = "ebds"                              # left out: the device's usual one

Rows in `rabbits/common/` are hunted on every device that one of their rules binds, and that has the file. A device's
own row takes the place of a common one of its name.

Nothing in the firmware knows about rabbits: a row is applied to a copy of the sources at build.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pitbench.errors import PitbenchError
from pitbench.sources import FIRMWARE, Tree

from pitbench_hil.catalogue import Rule, every_rule, is_named, normal_device, rules_for, selected

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent / "rabbits"
COMMON = HERE / "common"


class RabbitError(PitbenchError):
    """A rabbit's row can't be used."""


@dataclass(frozen=True)
class Rabbit:
    """One row."""

    name: str
    file: str
    old: str
    new: str
    violates: tuple[str, ...]
    why: str
    wire: str = ""

    def patch(self, firmware: Path = FIRMWARE) -> dict[str, str]:
        """The patched text by path below `firmware`. Raises RabbitError unless `old` stands there exactly once."""
        try:
            text = (firmware / self.file).read_text(encoding="utf-8")
        except OSError as error:
            raise RabbitError(f"Rabbit {self.name} patches {self.file}, which isn't there.", "Mend its row.") from error
        found = text.count(self.old)
        if found != 1:
            raise RabbitError(
                f"Rabbit {self.name} matches {self.file} {found} times.", "Its old text must stand there once."
            )
        return {self.file: text.replace(self.old, self.new)}

    def violated(self, rules: Iterable[Rule]) -> list[str]:
        """Ids of the testable rules that it violates. Raises RabbitError when there is none."""
        testable = [rule for rule in rules if not rule.instead]
        try:
            return [rule.id for rule in selected(testable, self.violates)]
        except PitbenchError as error:
            raise RabbitError(
                f"Rabbit {self.name} violates a rule that can't be tested: {error}", "Mend its row."
            ) from error


def rabbits_for(device: str, path: Path | None = None) -> list[Rabbit]:
    """Every rabbit of a device, its own and the common ones, or those of one file `path`. Raises RabbitError."""
    folder = HERE / normal_device(device).replace("-", "_")
    own = _rabbits_in([path] if path else sorted(folder.glob("*.toml")))
    taken = {rabbit.name for rabbit in own}
    common = [] if path else [rabbit for rabbit in _common(device)[0] if rabbit.name not in taken]
    if not own and not common:
        raise RabbitError(f"There is no rabbit in {path or folder}.", "Write a row for each known-bad firmware.")
    return common + own


def left_out(device: str) -> list[str]:
    """Names of the common rabbits that the device's rules are about, and whose file it hasn't. Raises RabbitError."""
    return [rabbit.name for rabbit in _common(device)[1]]


def _common(device: str) -> tuple[list[Rabbit], list[Rabbit]]:
    """The common rabbits that violate a rule of the device, by whether it has the file; each with its rules alone."""
    mine, every = rules_for(device).values(), every_rule()
    files = Tree().files(normal_device(device), "bench")
    there, not_there = list[Rabbit](), list[Rabbit]()
    for rabbit in _rabbits_in(sorted(COMMON.glob("*.toml"))):
        rabbit.violated(every)
        if binding := tuple(name for name in rabbit.violates if _is_of(name, mine)):
            (there if rabbit.file in files else not_there).append(replace(rabbit, violates=binding))
    return there, not_there


def _is_of(pattern: str, rules: Iterable[Rule]) -> bool:
    return any(is_named(pattern, rule) for rule in rules if not rule.instead)


def _rabbits_in(files: Iterable[Path]) -> list[Rabbit]:
    rabbits = [rabbit for file in files for rabbit in _rabbits_of(file)]
    twice = [name for name, number in Counter(rabbit.name for rabbit in rabbits).items() if number > 1]
    if twice:
        raise RabbitError(f"Two rabbits are named {twice[0]}.", "Give each known-bad firmware a name of its own.")
    return rabbits


def _rabbits_of(path: Path) -> list[Rabbit]:
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("rabbit", [])
    return [_rabbit(row, path) for row in rows]


def _rabbit(row: dict[str, object], path: Path) -> Rabbit:
    row = {"wire": "", **row}
    keys = set(Rabbit.__dataclass_fields__)
    if row.keys() != keys or not row["violates"] or row["old"] == row["new"]:
        missing = sorted(keys ^ row.keys()) or ["violates or a change"]
        raise RabbitError(
            f"{path.name}: rabbit {row.get('name', '?')} has a wrong or missing {', '.join(missing)}.", "Mend it."
        )
    texts = {key: str(value) for key, value in row.items() if key != "violates"}
    return Rabbit(violates=tuple(row["violates"]), **texts)  # type: ignore[arg-type]
