"""The boards as a table of docs/boards.md, between two comments; the text around them is a person's."""

from __future__ import annotations

from pitbench.board_facts import board_facts, board_names
from pitbench.errors import PitbenchError
from pitbench.wiring import wired_boards

START, END = "<!-- Written by `pitbench wiring`. -->", "<!-- End of what is written. -->"
_HEAD = "| board | `BOARD=` | port | MicroPython by | store | cut-safe | last run on |\n|---|---|---|---|---|---|---|"


def with_table(page: str) -> str:
    """Return the page with its table made anew. Raises PitbenchError when it has no place for one."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise PitbenchError("docs/boards.md has no place for the table.", f"Put back {START} and {END}.")
    return f"{before}{START}\n{board_table()}\n{END}{after}"


def board_table() -> str:
    """Return a row a board, those with a wiring picture linked to it."""
    wired = wired_boards()
    return "\n".join([_HEAD, *(_row(name, name in wired) for name in board_names())])


def _row(name: str, has_picture: bool) -> str:
    facts = board_facts(name)
    title = f"[{facts['title']}](boards/{name}.svg)" if has_picture else facts["title"]
    cut_safe = "yes" if facts["cut_safe"] else "no"
    cells = (title, f"`{name}`", facts["port"], facts["flash"], facts["store"], cut_safe, facts["last_run_on"])
    return f"| {' | '.join(cells)} |"
