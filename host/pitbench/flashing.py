"""Putting an image onto a board that has MicroPython: looked at, copied, proven by digest, started, greeted.

Nothing is written before the board is known to be the right one with a MicroPython that will do. From the first
change to the last file the board has no boot.py and no main.py: an interrupted flashing leaves a plain prompt, and
can be repeated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pitbench.board_facts import board_facts, board_names
from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.image import Image
from pitbench.link import RETRIES, LinkClient, LinkError
from pitbench.probing import FIRMWARE, PROMPT, what_answers
from pitbench.repl import BoardSays, Repl, open_repl
from pitbench.returning import reopened
from pitbench.transport import TransportGone, open_transport
from pitbench.usb_ports import PortFinder, finder

READY_S = 60.0
# For each reply of firmware that may be busy, or emulated.
REPLY_S = 10.0
# A lost answer is asked for twice more.
TRIES = 1 + RETRIES
# Written last, and taken away first: without them a board stays at its prompt.
STARTERS = ("/boot.py", "/main.py")
OURS = ("/boot/", "/image/")
DATA = "/data/"

Say = Callable[[str], None]


class FlashError(PitbenchError):
    """A board that can't be flashed, or whose files are not what was written."""


@dataclass(frozen=True)
class Plan:
    """What has to change on a board: paths; folders end in a slash.

    Args:
        copy: files to write, the starters last.
        remove: what is in our folders and not in the image, deepest first.
        folders: to make, outermost first.
        extra: what is no part of any image, deepest first.
        starters: those that are there, and whether they change or not go first.
        kept: how many files are there already.
    """

    copy: list[str]
    remove: list[str]
    folders: list[str]
    extra: list[str]
    starters: list[str]
    kept: int


def flash_board(
    port: str,
    image: Image,
    facts: Mapping[str, Any],
    *,
    fresh: bool = False,
    clean: bool = False,
    say: Say = lambda text: None,
    ready_s: float = READY_S,
) -> dict[str, Any]:
    """Put an image onto the board on `port`, start it, and see it answer with that image's digest.

    Args:
        port: path (a pty too) or pyserial URL; after the restart a USB board is found again by its serial number.
        image: built for this board.
        facts: of the board.
        fresh: remove /data too: meters, log and state of the device that was on it.
        clean: remove files that are no part of an image; otherwise they are an error.
        say: called with a line at each step.
        ready_s: seconds that the board may take from a restart to its first answer.

    Returns port, uid, machine, micropython, copied, removed, kept and identity. Raises PitbenchError of many kinds,
    each one sentence; whatever it was, flashing can be repeated.
    """
    find = finder(port)
    _leave_firmware(port, find, facts, say, ready_s)
    with open_repl(find() or port, way_back(facts)) as repl:
        says = repl.facts()
        check_board(says, facts, port)
        if remount := facts.get("remount"):
            repl.remount(remount)
        plan = make_plan(repl.digests(), image.files, fresh=fresh)
        check_extra(plan, port, clean)
        say(f"{says.machine}, MicroPython {says.version_text}: {len(plan.copy)} files to copy, {plan.kept} there")
        _carry_out(repl, plan, image.files, clean)
        _prove(repl, image.files, port)
        repl.reset()
    say("files proven by digest, restarting")
    identity, back = _greet(find, image, ready_s)
    removed = plan.remove + (plan.extra if clean else [])
    said = {"port": back, "uid": says.uid, "machine": says.machine, "micropython": says.version_text}
    return {**said, "copied": plan.copy, "removed": removed, "kept": plan.kept, "identity": identity}


def way_back(facts: Mapping[str, Any]) -> str:
    """What a person does with a board of this kind that doesn't come to its prompt by itself."""
    if pin := facts.get("strap"):
        return f"Hold {pin} to GND while you reset or plug in the board, then run this again."
    return f"Put MicroPython on it again ({facts.get('flash')}), then run this again."


def check_board(says: BoardSays, facts: Mapping[str, Any], port: str) -> None:
    """Raise FlashError unless MicroPython says that it is this board, and new enough."""
    if says.implementation != "micropython":
        raise FlashError(f"The board on {port} runs {says.implementation}, not MicroPython.", _get_micropython(facts))
    if facts.get("machine") not in (None, says.machine):
        raise FlashError(
            f"The board on {port} says that it is a {says.machine}, and {facts['name']} is a {facts['machine']}.",
            _right_board(says.machine),
        )
    least = tuple(int(number) for number in str(facts.get("micropython_min", "1.23")).split("."))
    if says.version[: len(least)] < least:
        raise FlashError(
            f"The board on {port} has MicroPython {says.version_text}, and {facts['micropython_min']} is the least.",
            _get_micropython(facts),
        )


def make_plan(there: Mapping[str, str], files: Mapping[str, bytes], *, fresh: bool) -> Plan:
    """Compare a board's digests (folders end in a slash) with an image's files."""
    wanted = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    folders = {path[: at + 1] for path in files for at in range(1, len(path)) if path[at] == "/"}
    copy = [path for path, digest in wanted.items() if there.get(path) != digest]
    strange = [path for path in there if path not in wanted and path not in folders and path != DATA]
    ours = [path for path in strange if path.startswith(OURS)]
    data = [path for path in strange if path.startswith(DATA)]
    extra = [path for path in strange if not path.startswith((*OURS, DATA))]
    remove = ours + (data if fresh else [])
    missing = sorted(folders - there.keys())
    starters = [path for path in STARTERS if path in there]
    kept = len(wanted) - len(copy)
    return Plan(sorted(copy, key=_late), _deepest_first(remove), missing, _deepest_first(extra), starters, kept)


def check_extra(plan: Plan, port: str, clean: bool) -> None:
    """Raise FlashError, naming them, for files that are no part of an image, unless they may be removed."""
    if not plan.extra or clean:
        return
    names = ", ".join(f"{path}{_shadowed(path)}" for path in sorted(plan.extra))
    raise FlashError(
        f"The board on {port} holds files that are no part of an image, and would refuse to run: {names}.",
        "Save what you need of them, then flash with --clean, which removes them.",
    )


def _shadowed(path: str) -> str:
    name, dot, kind = path.rpartition("/")[2].partition(".")
    known = ("hashlib", "os", "json", "struct", "time", "machine", "random", "binascii", "io", "re", "select", "errno")
    hides = dot and kind in ("py", "mpy") and name in known
    return f" (it hides MicroPython's own {name})" if hides else ""


def _leave_firmware(port: str, find: PortFinder, facts: Mapping[str, Any], say: Say, ready_s: float) -> None:
    with open_transport(port) as transport:
        found = what_answers(transport)
        if found.kind != FIRMWARE:
            return
        identity = found.identity
        say(f"runs pitbench {identity.get('version')} ({identity.get('device')}): asked for its prompt")
        try:
            LinkClient(transport, max(REPLY_S, ready_s / TRIES)).do("repl")
        except TransportGone:
            pass
        except LinkError as error:
            raise FlashError(f"{error.sentence} This image has no way back over the link.", way_back(facts)) from error
    reopened(find, Deadline(ready_s), lambda again: True if what_answers(again).kind == PROMPT else None)


def _carry_out(repl: Repl, plan: Plan, files: Mapping[str, bytes], clean: bool) -> None:
    remove = plan.remove + (plan.extra if clean else [])
    if not (plan.copy or remove):
        return
    for path in plan.starters + remove:
        repl.remove(path)
    for path in plan.folders:
        repl.make_folder(path.rstrip("/"))
    for path in [path for path in plan.copy if path not in STARTERS] + list(STARTERS):
        repl.write(path, files[path])


def _prove(repl: Repl, files: Mapping[str, bytes], port: str) -> None:
    left = make_plan(repl.digests(), files, fresh=False)
    if wrong := left.copy + left.remove + left.extra:
        raise FlashError(
            f"{wrong[0]} on the board on {port} is not what was written.",
            "Flash it again; if it stays, its flash is bad.",
        )


def _greet(find: PortFinder, image: Image, ready_s: float) -> tuple[dict[str, Any], str]:
    identity, port = reopened(find, Deadline(ready_s), lambda transport: what_answers(transport).identity or None)
    if identity.get("inoperable"):
        raise FlashError(f"The board started and refuses to run: {identity['inoperable']}.", "Flash it again.")
    if identity.get("digest") != image.digest:
        raise FlashError(
            f"The board on {port} reports the digest {str(identity.get('digest'))[:12]}… and the image has "
            f"{image.digest[:12]}….",
            "Flash it again.",
        )
    return identity, port


def _late(path: str) -> tuple[bool, str]:
    return path in STARTERS, path


def _deepest_first(paths: list[str]) -> list[str]:
    return sorted(paths, reverse=True)


def _get_micropython(facts: Mapping[str, Any]) -> str:
    return f"Get MicroPython from micropython.org/download/{facts.get('micropython')}/."


def _right_board(machine: str) -> str:
    names = [name for name in board_names() if board_facts(name).get("machine") == machine]
    names.sort(key=lambda name: not board_facts(name)["usb"])  # an emulated board says what the real one says
    return f"Flash it with --board {names[0]}." if names else "There is no board file for it: look at the port."
