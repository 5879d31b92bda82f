"""The command line: finds the command by its row, runs it, and says errors in one sentence.

A command is a module with `add_arguments(parser)` and `run(args) -> exit code`; the first line of its docstring is
its help. Ours are rows below; other packages add theirs through the entry point group `pitbench.commands`.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from pitbench.errors import EXIT_ERROR, EXIT_INTERRUPTED, PitbenchError, UnknownName

GROUP = "pitbench.commands"
# One row a command: name, module.
COMMANDS = {
    "sim": "pitbench.commands.sim",
    "do": "pitbench.commands.do",
    "image": "pitbench.commands.image",
    "kiosk": "pitbench.commands.kiosk",
    "gat": "pitbench.commands.gat",
    "boards": "pitbench.commands.boards",
    "flash": "pitbench.commands.flash",
    "monitor": "pitbench.commands.monitor",
    "sniff": "pitbench.commands.sniff",
    "bridge": "pitbench.commands.bridge",
    "power": "pitbench.commands.power",
    "wiring": "pitbench.commands.wiring",
}


def all_commands() -> dict[str, str]:
    """Module of each command by name, those of other packages included."""
    added = {entry.name: entry.value for entry in importlib.metadata.entry_points(group=GROUP)}
    return {**COMMANDS, **added}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code, 2 after an error."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except PitbenchError as error:
        print(f"pitbench: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        # A file that the person named, or a full disk; anything else is a program error and shows where.
        if error.errno == errno.ENOSPC and error.filename is None:
            print("pitbench: what was to be written finds no room on its disk. Make some.", file=sys.stderr)
            return _reader_left()
        if error.filename is None:
            raise
        print(f"pitbench: {error.filename} can't be used: {error.strerror}. Name another place.", file=sys.stderr)
        return EXIT_ERROR


def _reader_left() -> int:
    """The reader of our output left (`| head`): nothing more to say, not even when Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_ERROR


def _run(words: list[str]) -> int:
    commands = all_commands()
    if not words or words[0] in ("-h", "--help"):
        print(_overview(commands))
        return 0
    name, *rest = words
    if name not in commands:
        raise UnknownName("command", name, sorted(commands))
    module = _load(name, commands[name])
    parser = argparse.ArgumentParser(prog=f"pitbench {name}", description=_first_line(module))
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(rest)))


def _overview(commands: dict[str, str]) -> str:
    rows = [f"  {name:10} {_summary(name, where)}" for name, where in commands.items()]
    return "\n".join(["usage: pitbench COMMAND …   (pitbench COMMAND --help explains one)", "", *rows])


def _summary(name: str, where: str) -> str:
    try:
        return _first_line(_load(name, where))
    except PitbenchError as error:
        return error.sentence


def _load(name: str, where: str) -> ModuleType:
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if not where.startswith(error.name or "?"):
            raise
        raise PitbenchError(f"The command '{name}' is not installed ({where}).", "Run `make` again.") from error


def _first_line(module: ModuleType) -> str:
    return (module.__doc__ or "").partition("\n")[0]
