"""The rule catalogue: rules are data, one TOML file a group under `rules/`, clause texts under `clauses/`.

A rule's id names its clause, and what of it: `NJ-1.28N(i)2/escrow` is a part of clause `NJ-1.28N(i)2`.
A row of a TOML file has:

    id        stable and readable
    clause    id of the clause text; left out, it is the id up to the slash
    citation  left out, the clause's own; given where only one sentence of it is meant
    basis     TEXT (the clause says it), READING (our interpretation), HOUSE (good practice)
    reads     our interpretation, in a sentence
    method    what the bench does
    limits    decision rule: measurement name -> max, min, equals, unit; each must be measured
    needs     capabilities (rules/needs.toml)
    images    kinds of image on which it can be shown: bench, release
    devices   who is bound
    instead   INSPECT, DOCUMENT or NOT APPLICABLE, with `condition`, where there is no test
    wires     protocols on which alone it can be asked; on any other it is NOT APPLICABLE, by the `condition`
    parts     names of [part.NAME] tables: the row becomes one rule a part, each with its own id
    elsewhere other devices that the same is asked of by another clause: `devices`, `clause`, and where they differ
              `basis` (a HOUSE row stays one) and `id`, what stands in the clause's place at the head of the id

`[defaults]` of a file hold for each of its rows. Tests and rabbits name a row by its own id, whatever the device.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from pitbench.errors import PitbenchError
from pitbench.protocols import names as wire_names

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
BASES = ("TEXT", "READING", "HOUSE")
IMAGE_KINDS = ("bench", "release")
INSTEAD = ("INSPECT", "DOCUMENT", "NOT APPLICABLE")
_KEYS = {"id", "clause", "citation", "basis", "reads", "method", "limits", "needs", "images", "devices"} | {
    "instead",
    "condition",
    "wires",
    "parts",
    "elsewhere",
}
_ELSEWHERE_NEEDS, _ELSEWHERE_MAY = {"devices", "clause"}, {"basis", "id"}


class CatalogueError(PitbenchError):
    """A row that can't be used, or a name that no row has."""


@dataclass(frozen=True)
class Limit:
    """What a measurement may be, in `unit`. All of max, min and equals that are given must hold."""

    max: float | None = None
    min: float | None = None
    equals: Any = None
    unit: str = ""

    def __str__(self) -> str:
        parts = [f"≥ {self.min:g}"] if self.min is not None else []
        parts += [f"≤ {self.max:g}"] if self.max is not None else []
        parts += [f"= {self.equals}"] if self.equals is not None else []
        return " and ".join(parts) + (f" {self.unit}" if self.unit and parts else "")

    @property
    def decides(self) -> bool:
        """Whether there is anything to keep."""
        return (self.max, self.min, self.equals) != (None, None, None)


@dataclass(frozen=True)
class Clause:
    """One cited clause: its text as the source has it, and the SHA-256 of that text."""

    id: str
    source: str
    citation: str
    sha256: str
    text: str


@dataclass(frozen=True)
class Rule:
    """One testable assertion, or one row that a person answers (`instead`).

    `row` is the id of its row: another one than its own where it binds a device elsewhere than the row's own do.
    """

    id: str
    clause: Clause
    citation: str
    basis: str
    reads: str
    devices: tuple[str, ...]
    method: str = ""
    limits: dict[str, Limit] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    images: tuple[str, ...] = ("bench",)
    instead: str | None = None
    condition: str = ""
    wires: tuple[str, ...] = ()
    row: str = ""

    @property
    def jurisdiction(self) -> str:
        """NJ, NY or HOUSE: the profile under which it can fail a device."""
        return "HOUSE" if self.basis == "HOUSE" else self.clause.source

    @property
    def decision(self) -> str:
        """The decision rule in words."""
        kept = "; ".join(f"{name} {limit}" for name, limit in self.limits.items())
        return f"{kept}; every expectation is met" if kept else "every expectation is met"

    def on_wire(self, wire: str) -> Rule:
        """The rule where a device has this wire: NOT APPLICABLE, unless it can be asked there."""
        return replace(self, instead="NOT APPLICABLE") if self.wires and wire not in self.wires else self

    def as_dict(self) -> dict[str, Any]:
        """For JSON evidence."""
        told = {name: value for name, value in asdict(self).items() if name != "row"}
        return told | {"jurisdiction": self.jurisdiction, "decision": self.decision}


def normal_device(name: str) -> str:
    """`bill_acceptor` and `bill-acceptor` are one device."""
    return name.replace("_", "-")


@cache
def clauses() -> dict[str, Clause]:
    """Every cited clause by id."""
    index = _read(HERE / "clauses" / "index.toml")["clause"]
    return {key: Clause(id=key, text=_clause_text(key), **row) for key, row in index.items()}


@cache
def sources() -> dict[str, dict[str, str]]:
    """Title and state of the copies that the clause texts were taken from."""
    return _read(HERE / "clauses" / "index.toml")["source"]


@cache
def known_needs() -> dict[str, str]:
    """Capability name -> what it means."""
    return _read(HERE / "rules" / "needs.toml")["needs"]


@cache
def every_rule(folder: Path = HERE / "rules") -> tuple[Rule, ...]:
    """All rules of all devices in the TOML files under `folder`, in the order of files and rows."""
    rules = [rule for path in _rule_files(folder) for rule in rules_of_file(path)]
    _refuse_duplicates(rules)
    return tuple(rules)


def rules_for(device: str, folder: Path | None = None, wire: str | None = None) -> dict[str, Rule]:
    """Rules that bind a device, by id; `folder` holds rule files other than the catalogue's own.

    With `wire`, those that can't be asked on it are NOT APPLICABLE.

    Raises CatalogueError for a device that no rule names.
    """
    every = every_rule(folder) if folder else every_rule()
    found = {rule.id: rule for rule in every if normal_device(device) in rule.devices}
    if not found:
        known = sorted({name for rule in every for name in rule.devices})
        raise CatalogueError(f"No rule binds a device '{device}'.", f"Devices: {', '.join(known)}.")
    return {name: rule.on_wire(wire) if wire else rule for name, rule in found.items()}


def selected(rules: Iterable[Rule], patterns: Iterable[str]) -> list[Rule]:
    """Rules that a pattern names: an id, a clause with all its parts, or a shell pattern (`NJ-1.28B*`).

    Raises CatalogueError for a pattern that names none.
    """
    rules, chosen = list(rules), set[str]()
    for pattern in patterns:
        hits = {rule.id for rule in rules if is_named(pattern, rule)}
        if not hits:
            raise CatalogueError(f"No rule is named '{pattern}'.", "`pitbench rules` lists them.")
        chosen |= hits
    return [rule for rule in rules if rule.id in chosen]


def names(pattern: str, rule_id: str) -> bool:
    """Whether `pattern` names the rule: itself, its clause, the clause above, or by shell pattern."""
    above = rule_id.startswith(pattern) and rule_id[len(pattern) : len(pattern) + 1] in ("/", "(")
    numbered = pattern.endswith(")") and rule_id.startswith(pattern) and rule_id[len(pattern) :][:1].isdigit()
    return pattern == rule_id or above or numbered or ("*" in pattern and fnmatchcase(rule_id, pattern))


def is_named(pattern: str, rule: Rule) -> bool:
    """Whether `pattern` names the rule, by its own id or its row's."""
    return names(pattern, rule.id) or names(pattern, rule.row)


def ids_of(name: str, rules: Mapping[str, Rule]) -> list[str]:
    """Ids of the device's rules that a test means by a row's name; none where the row binds other devices alone."""
    return [name] if name in rules else [rule.id for rule in rules.values() if rule.row == name]


def is_known(name: str, rules: Iterable[Rule]) -> bool:
    """Whether a rule of any device, or its row, has that name."""
    return any(name in (rule.id, rule.row) for rule in rules)


def digest(rules: Iterable[Rule]) -> str:
    """SHA-256 over the rules as data: two runs with the same digest were judged by the same rules."""
    text = json.dumps([rule.as_dict() for rule in rules], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def rules_of_file(path: Path) -> list[Rule]:
    """Rules of one TOML file, parts expanded."""
    data = _read(path)
    defaults, parts = data.get("defaults", {}), data.get("part", {})
    rows = [row for raw in data.get("rule", []) for row in _expanded(_over(defaults, raw), parts, path)]
    return [rule for row in rows for rule in _wherever(row, path)]


def _over(defaults: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """The row over the defaults; limits are joined by name (`{}` takes a default limit away)."""
    return defaults | row | {"limits": defaults.get("limits", {}) | row.get("limits", {})}


def _expanded(row: dict[str, Any], parts: dict[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    """One row a part; a part adds its sentence, and narrows what its row says."""
    if "parts" not in row:
        yield row
        return
    for name in row["parts"]:
        if name not in parts:
            raise CatalogueError(f"{path.name}: {row['id']} names part {name!r}, and there is no [part.{name}].")
        yield _part_of(row, name, parts[name])


def _part_of(row: dict[str, Any], name: str, part: dict[str, Any]) -> dict[str, Any]:
    images = [kind for kind in row.get("images", ["bench"]) if kind in part.get("images", IMAGE_KINDS)]
    needs = list(dict.fromkeys([*row.get("needs", []), *part.get("needs", [])]))
    own = {"id": f"{row['id']}/{name}", "clause": _clause_of(row), "images": images, "needs": needs}
    return row | part | own | {"reads": f"{row['reads']} {part['reads']}"}


def _clause_of(row: dict[str, Any]) -> str:
    """Its clause, which its id begins with unless it says another."""
    return str(row.get("clause", row["id"].split("/")[0]))


def _wherever(row: dict[str, Any], path: Path) -> Iterator[Rule]:
    """The rule as it binds the row's own devices, and as it binds those elsewhere."""
    yield _rule(row, path)
    if "elsewhere" in row:
        yield _rule(_elsewhere(row, path), path, row["id"])


def _elsewhere(row: dict[str, Any], path: Path) -> dict[str, Any]:
    other, clause = row["elsewhere"], _clause_of(row)
    if wrong := sorted((other.keys() ^ _ELSEWHERE_NEEDS) - _ELSEWHERE_MAY):
        raise CatalogueError(f"{path.name}: {row['id']}: 'elsewhere' has a wrong or missing {', '.join(wrong)}.")
    head = other.get("id", other["clause"])
    own_id = head + row["id"].removeprefix(clause) if row["id"].startswith(clause) else row["id"]
    basis = row["basis"] if row["basis"] == "HOUSE" else other.get("basis", row["basis"])
    kept = {key: value for key, value in row.items() if key != "citation"}
    return kept | {"id": own_id, "clause": other["clause"], "basis": basis, "devices": other["devices"]}


def _rule(row: dict[str, Any], path: Path, of_row: str = "") -> Rule:
    _refuse_bad_row(row, path)
    clause = clauses()[_clause_of(row)]
    return Rule(
        id=row["id"],
        clause=clause,
        citation=row.get("citation", clause.citation),
        basis=row["basis"],
        reads=row["reads"],
        devices=tuple(row["devices"]),
        method=row.get("method", ""),
        limits={name: Limit(**limit) for name, limit in row.get("limits", {}).items() if limit},
        needs=tuple(row.get("needs", ())) if "instead" not in row else (),
        images=tuple(row.get("images", ("bench",))),
        instead=row.get("instead"),
        condition=row.get("condition", ""),
        wires=tuple(row.get("wires", ())),
        row=of_row or row["id"],
    )


def _refuse_bad_row(row: dict[str, Any], path: Path) -> None:
    problems = [f"unknown key {key!r}" for key in sorted(row.keys() - _KEYS)]
    problems += [f"no {key!r}" for key in ("basis", "reads", "devices") if not row.get(key)]
    problems += [] if _clause_of(row) in clauses() else [f"unknown clause {_clause_of(row)!r}"]
    problems += [f"basis {row['basis']!r} is none of {BASES}"] if row.get("basis") not in (*BASES, None) else []
    problems += [f"unknown need {need!r}" for need in row.get("needs", []) if need not in known_needs()]
    problems += [f"unknown image kind {kind!r}" for kind in row.get("images", []) if kind not in IMAGE_KINDS]
    problems += _instead_problems(row) + _wire_problems(row)
    if problems:
        raise CatalogueError(f"{path.name}: {row['id']}: {'; '.join(problems)}.")


def _instead_problems(row: dict[str, Any]) -> list[str]:
    if "instead" not in row:
        return [] if row.get("method") else ["no 'method', and no 'instead'"]
    known = row["instead"] in INSTEAD
    problems = [] if known else [f"instead {row['instead']!r} is none of {INSTEAD}"]
    return problems + ([] if row.get("condition") else ["'instead' without a 'condition'"])


def _wire_problems(row: dict[str, Any]) -> list[str]:
    if "wires" not in row:
        return []
    problems = [f"unknown wire {wire!r}" for wire in row["wires"] if wire not in wire_names()]
    return problems + ([] if row.get("condition") else ["'wires' without a 'condition'"])


def _refuse_duplicates(rules: Iterable[Rule]) -> None:
    seen = set[tuple[str, str]]()
    for rule in rules:
        mine = {(rule.id, device) for device in rule.devices}
        if mine & seen:
            raise CatalogueError(f"Two rules are named {rule.id}.", "Give one another part name.")
        seen |= mine


def _rule_files(folder: Path) -> list[Path]:
    """Files by the number that their name begins with, whatever their folder."""
    if not folder.is_dir():
        raise CatalogueError(f"{folder} is no folder.", "Name a folder with rule files.")
    files = (path for path in folder.rglob("*.toml") if path.name != "needs.toml")
    return sorted(files, key=lambda path: (path.name, str(path)))


def clause_file(clause_id: str) -> Path:
    """The file that holds a clause's text."""
    name = clause_id.replace("(", ".").replace(")", ".").rstrip(".")
    return HERE / "clauses" / f"{name}.txt"


def _clause_text(clause_id: str) -> str:
    return clause_file(clause_id).read_text(encoding="utf-8").removesuffix("\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogueError(f"{path} can't be read as TOML ({error}).", "Mend that file.") from error
