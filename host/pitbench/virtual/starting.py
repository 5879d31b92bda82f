"""How a process is started with its descriptors under given numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

# Called with argv (an absolute program first) and {number in the child: descriptor here}; returns the process id of
# a child of this process, which leads a process group of its own. Raises OSError.
Starter = Callable[[list[str], Mapping[int, int]], int]


def spawn(command: list[str], descriptors: Mapping[int, int]) -> int:
    """Start a program: a Starter."""
    # Not subprocess: it can hand on descriptors, but not under other numbers.
    actions = [(os.POSIX_SPAWN_DUP2, source, number) for number, source in descriptors.items()]
    # Its own process group: Ctrl-C is for the bench, which then ends the board.
    return os.posix_spawn(command[0], command, _environment(), file_actions=actions, setpgroup=0)


def _environment() -> dict[str, str]:
    # MICROPYPATH and its kind would let the PC's folders into the board.
    return {name: value for name, value in os.environ.items() if not name.startswith("MICROPY")}
