"""Draw each board's wiring from its file into docs/boards/, and the table of boards in docs/boards.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from pitbench.board_facts import board_facts
from pitbench.wiring import wired_boards
from pitbench.wiring_picture import picture
from pitbench.wiring_table import with_table

DOCS = Path(__file__).parents[3] / "docs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")


def run(args: argparse.Namespace) -> int:
    """Exit code 0; with --check, 1 when docs/ isn't what would be drawn."""
    wanted = drawings(DOCS)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    orphans = [path for path in sorted((DOCS / "boards").glob("*.svg")) if path not in wanted]
    if args.check:
        for path in stale + orphans:
            print(f"{path} is out of date: run `pitbench wiring`")
        return 1 if stale + orphans else 0
    for path in orphans:
        path.unlink()
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
        print(path)
    return 0


def drawings(docs: Path) -> dict[Path, str]:
    """Return every file that the boards' files give, with its text. Raises PitbenchError."""
    pictures = {docs / "boards" / f"{name}.svg": picture(board_facts(name)) for name in wired_boards()}
    page = docs / "boards.md"
    return {**pictures, page: with_table(page.read_text(encoding="utf-8"))}
