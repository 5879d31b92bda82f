"""Rules × rabbits: what caught what, as text, JSON and HTML, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pitbench_hil.catalogue import Rule
from pitbench_hil.durable import to_json, write_whole
from pitbench_hil.pages import pages
from pitbench_hil.rabbit_engine import Catch, Verdicts
from pitbench_hil.verdict import Verdict

PAGE = "matrix.html"
LEGEND = "● caught by a rule it violates   ○ violated, not caught   x caught by another rule   · passed   ? not tested"


@dataclass
class Matrix:
    """The good device's verdicts, and every rabbit's catch.

    `some`: only chosen rabbits were run, so that a rule which none of them violates says nothing.
    """

    rules: Mapping[str, Rule]
    good: Verdicts
    catches: Sequence[Catch]
    some: bool = False

    @property
    def problems(self) -> list[str]:
        """What fails the command, a sentence each."""
        failing = [name for name, verdict in self.good.items() if verdict == Verdict.FAIL]
        said = [f"{name} fails the good device." for name in failing]
        said += [] if self.good else ["The suite didn't run on the good device."]
        for catch in self.catches:
            if not catch.caught:
                others = f": {', '.join(catch.caught_by)}" if catch.caught_by else ""
                violated = ", ".join(catch.rabbit.violates)
                said.append(f"Rabbit {catch.rabbit.name} is not caught by {violated}: {catch.outcome}{others}.")
        return said

    @property
    def unproven(self) -> list[str]:
        """Testable rules that no rabbit violates: nothing shows that their tests could fail."""
        if self.some:
            return []
        violated = {name for catch in self.catches for name in catch.violated}
        return [rule.id for rule in self.rules.values() if not rule.instead and rule.id not in violated]

    @property
    def rows(self) -> list[str]:
        """Rules that a rabbit violates, or that caught one, or that fail the good device; in the catalogue's order."""
        shown = {name for catch in self.catches for name in (*catch.violated, *catch.caught_by)}
        shown |= {name for name, verdict in self.good.items() if verdict == Verdict.FAIL}
        return [name for name in self.rules if name in shown]

    def cell(self, rule: str, catch: Catch) -> str:
        """One character of the table."""
        verdict, violated = catch.verdicts.get(rule), rule in catch.violated
        if verdict == Verdict.FAIL:
            return "●" if violated else "x"
        if violated and verdict == Verdict.PASS:
            return "○"
        return {None: " ", str(Verdict.PASS): "·"}.get(verdict, "?")

    def text(self) -> str:
        """The compact table for a terminal: a row a rule, a column a rabbit, then the rabbits by number."""
        size = max((len(name) for name in self.rows), default=4)
        numbers = [f"{n:>2}" for n in range(1, len(self.catches) + 1)]
        tens = "".join(f"{number[0]:>2}" for number in numbers)
        ones = "".join(f"{number[1]:>2}" for number in numbers)
        lines = [f"{'':{size}}      {tens}".rstrip(), f"{'rule':{size}}  good{ones}"]
        lines += [self._text_row(rule, size) for rule in self.rows]
        return "\n".join([*lines, "", LEGEND, "", *(_catch_line(n, c) for n, c in enumerate(self.catches, 1))])

    def _text_row(self, rule: str, size: int) -> str:
        good = {str(Verdict.PASS): "·", str(Verdict.FAIL): "x", None: " "}.get(self.good.get(rule), "?")
        cells = "".join(f"{self.cell(rule, catch):>2}" for catch in self.catches)
        return f"{rule:{size}}  {good:>4}{cells}".rstrip()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        rabbits = [_catch_dict(catch) for catch in self.catches]
        return {"good": self.good, "rabbits": rabbits, "problems": self.problems, "unproven_rules": self.unproven}

    def write(self, folder: Path, title: str) -> None:
        """matrix.json and matrix.html. Raises EvidenceError."""
        write_whole(folder / "matrix.json", to_json(self.as_dict(), indent=1))
        page = pages().get_template("matrix.html.j2").render(matrix=self, title=title, legend=LEGEND)
        write_whole(folder / PAGE, page)


def _catch_line(number: int, catch: Catch) -> str:
    by = (
        f" by {catch.caught_by[0]}" + (f" and {len(catch.caught_by) - 1} more" if catch.caught_by[1:] else "")
        if catch.caught_by
        else ""
    )
    return f"{number:>3} {catch.rabbit.name}: {catch.outcome}{by} ({catch.cost})"


def _catch_dict(catch: Catch) -> dict[str, Any]:
    rabbit = catch.rabbit
    row = {"name": rabbit.name, "file": rabbit.file, "old": rabbit.old, "new": rabbit.new, "why": rabbit.why}
    found = {"violates": catch.violated, "verdicts": catch.verdicts, "caught_by": catch.caught_by}
    return {**row, **found, "outcome": catch.outcome, "needed": catch.needed, "seconds": round(catch.seconds, 2)}
