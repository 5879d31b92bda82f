"""What a run prints: a line a rule while it runs, the table and the summary at its end."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pitbench_hil.evidence import Outcome, summary

_WIDE = 180
_MARKUP = {
    "PASS": {"green": True},
    "FAIL": {"red": True, "bold": True},
    "INCONCLUSIVE": {"yellow": True},
    "NOT TESTED": {"yellow": True},
}


def markup(verdict: str) -> dict[str, bool]:
    """Colours of a verdict, as pytest's terminal writer takes them."""
    return _MARKUP.get(verdict, {"blue": True})


def width() -> int:
    """Columns of the terminal; wide where there is none."""
    return max(shutil.get_terminal_size((_WIDE, 24)).columns, 80)


def fit(text: str, columns: int) -> str:
    """One line of text in exactly so many columns."""
    return text.ljust(columns) if len(text) <= columns else text[: columns - 1] + "…"


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def progress_line(number: int, row: dict[str, Any]) -> str:
    """One line for one rule as soon as its test has ended."""
    detail = row["observed"] if row["verdict"] in ("PASS", "INCONCLUSIVE") else row["why"]
    return fit(f"{number:4} {row['verdict']:13} {row['rule']}  {one_line(detail)}", width()).rstrip()


def table(outcomes: Iterable[Outcome]) -> list[tuple[str, str]]:
    """Lines of the final table, each with the verdict that colours it."""
    rows = [_columns(outcome) for outcome in outcomes]
    sizes = [min(max((len(row[n]) for row in rows), default=0), most) for n, most in enumerate((44, 42, 7, 27))]
    sizes.append(max(width() - sum(sizes) - 2 * len(sizes), 30))
    head = ("rule", "citation", "basis", "verdict", "observed, against limit")
    return [(_line(head, sizes), ""), *((_line(row, sizes), row[3]) for row in rows)]


def _columns(outcome: Outcome) -> tuple[str, str, str, str, str]:
    judgement, rule = outcome.judgement, outcome.rule
    limit = f", against {judgement.limit}" if judgement.limit else ""
    against = f"{judgement.observed}{limit}" if judgement.observed else judgement.why
    return rule.id, rule.citation, rule.basis, outcome.label, against


def _line(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return "  ".join(fit(one_line(cell), size) for cell, size in zip(cells, sizes, strict=True)).rstrip()


def summary_lines(folder: Path, outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
    """What a person reads last: counts, failures, and where the evidence lies."""
    count = summary(outcomes)
    uncounted = count["FAIL"] - count["failing"]
    counted = ", ".join(f"{number} {name}" for name, number in count.items() if number and name.isupper())
    apart = f"; {uncounted} of the FAILs under no profile of this run" if uncounted else ""
    bench = f" ({count['on a bench image']} of the passes on a bench image only)" if count["on a bench image"] else ""
    failing = [(f"FAIL {o.rule.id} ({o.rule.citation}): {o.judgement.why}", "FAIL") for o in outcomes if o.fails]
    return [
        (counted + bench + apart, ""),
        *failing,
        (f"evidence: {folder}", ""),
        (f"report:   {folder / 'report.html'}", ""),
    ]
