"""1.28X(i): what link, wire and console can't write."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from pitbench.addresses import EMULATED
from pitbench.errors import PitbenchError
from pitbench.link import DamagedLine, LinkError, decode_line
from pitbench.proof import asked
from pitbench.protocols import gat
from pitbench.protocols.gat import Command, encode
from pitbench_hil.access_rights import READS
from pitbench_hil.attended_bench import SECRETS, AttendedBench
from pitbench_hil.authority import refusal
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.gat_terminal import Terminal
from pitbench_hil.marks import images, rule

# Critical files, and ways out of a folder to them.
PATHS = ("/image/device/conditions.mpy", "/boot/verify.mpy", "/boot.py", "/data/../image/crc", "../image/crc")
# What an operation or a function that writes would be called.
VERBS = (
    "write",
    "put",
    "append",
    "remove",
    "delete",
    "rename",
    "truncate",
    "upload",
    "update",
    "flash",
    "store",
    "set",
)
NAMES = (*VERBS, *(f"{verb}_file" for verb in VERBS), "exec", "eval", "run", "repl", "import", "mkdir", "format", "fs")
# Those of the bench that touch what is stored.
STORE = ("store_fault", "store", "calendar", "damage", "entropy")
SILENT_S = 0.15
# What MicroPython's prompts say.
PROMPTS = (b">>>", b"raw REPL", b"MicroPython v", b"Traceback", b"===", b"soft reboot", b"R\x01")
WRITE = "open('/image/device/conditions.mpy','ab').write(b'x')"
REPL = {
    "each character": (b"\x03", b"\x02", b"\x04", b"\x01\x02", b"\x05\x03"),
    "typed": (b"\x03\x03\r\n", b"\x02\r\n" + WRITE.encode() + b"\r\n", b"\r" + WRITE.encode() + b"\r"),
    "within a line": (b'{"id":9,"do":"sta\x03\x03\r\n' + WRITE.encode() + b"\r\n\x04",),
    "soft reset": (b"\x03\x03\x04", b"\r\n\x04", WRITE.encode() + b"\n"),
}
RAW_REPL = {
    "raw": (b"\r\x03\x03\x01", WRITE.encode() + b"\x04", b"\x02"),
    "raw paste": (b"\r\x03\x03\x01", b"\x05A\x01", WRITE.encode() + b"\x04", b"\x02"),
    "paste": (b"\x05", WRITE.encode() + b"\r\n\x04"),
    "lines": (b"\x01\n", WRITE.encode() + b"\x04\n", b"\x01" + WRITE.encode() + b"\x04\n", b"\x02\n"),
}


# -- link


@rule("NJ-1.28X(i)/write-path/link")
@images("bench", "release")
@pytest.mark.parametrize("path", PATHS)
def test_link_without_a_role(
    fresh: AttendedBench, terminal: Terminal, device: Device[Any], check: Check, path: str
) -> None:
    check.stimulus("every operation, known and unknown, with a path and data", path=path)
    known = dict.fromkeys((*READS, *device.reads, *proven(device), *STORE))
    for name in (*known, *NAMES):
        for args in ({"path": path, "data": "00"}, {"path": path}, {"from": path, "to": "/image/x"}):
            obeyed = not refusal(fresh.do, name, **args)
            check.expect(f"{name} is done", obeyed and name not in known, False)
    check.measure("files_altered", terminal.altered())


@rule("NJ-1.28X(i)/write-path/link")
@images("bench", "release")
@pytest.mark.parametrize("role", SECRETS)
def test_link_with_a_role(
    fresh: AttendedBench, terminal: Terminal, device: Device[Any], check: Check, role: str
) -> None:
    fresh.commission()
    check.stimulus("every operation, known and unknown, with a proof", role=role)
    for name, path in itertools.product((*proven(device), *NAMES), PATHS):
        for args in ({"path": path, "data": "00"}, {"set": {path: "00"}}, {"set": {"game": path}}):
            with suppress(LinkError):
                fresh.prove(name, role, asked_for(device, name, path, args), **args)
    check.measure("files_altered", terminal.altered())


def proven(device: Device[Any]) -> list[str]:
    """Operations of the device's link that take a proof."""
    return list(dict.fromkeys(each.op for each in device.requests))


def asked_for(device: Device[Any], name: str, path: str, args: dict[str, object]) -> str:
    """What a proof is about: for `configure` each value, for others whatever stands to reason."""
    if name == "configure" and "set" in args:
        return asked(name, args)
    own = {each.op: each.asked for each in device.proven}
    return own.get(name, f"{name}|{path}")


# -- GAT


@rule("NJ-1.28X(i)/write-path/gat")
@images("bench", "release")
def test_gat_commands_and_levels(terminal: Terminal, check: Check) -> None:
    check.stimulus("every command and level with a path and data")
    words = b"\0Put File\t/boot.py\t00"
    for command in sorted(set(range(256)) - {Command.START}):
        terminal.send(encode(command, words))
        terminal.send(encode(command))
    terminal.heard()
    for level in sorted(set(range(256)) - {gat.REPORT_LEVEL, gat.SPECIAL_LEVEL}):
        terminal.ask(Command.START, bytes([level]) + words)
    check.measure("files_altered", terminal.altered())


@rule("NJ-1.28X(i)/write-path/gat")
@images("bench", "release")
@pytest.mark.parametrize("path", PATHS)
def test_gat_functions(terminal: Terminal, check: Check, path: str) -> None:
    check.stimulus("special functions that would write", path=path)
    names = [name.replace("_", " ").title() for name in NAMES]
    for name in (*names, *(f"{name} File" for name in names), "Get File", "Component", "Set Component"):
        for words in ((path, "00"), (path,)):
            if started(terminal, name, *words):
                terminal.rest()
    check.measure("files_altered", terminal.altered())


def started(terminal: Terminal, *words: str) -> bool:
    """Whether the device begins with this special function."""
    frame = terminal.ask(Command.START, bytes([gat.SPECIAL_LEVEL]) + gat.special_parameter(*words))
    return frame is not None and bool(frame.data[0] & gat.STARTED)


# -- prompts on the link's port


@rule("NJ-1.28X(i)/write-path/repl")
@images("bench", "release")
@pytest.mark.parametrize("how", REPL)
def test_no_prompt(fresh: AttendedBench, terminal: Terminal, check: Check, how: str) -> None:
    reaches_no_prompt(fresh, check, REPL[how], how)
    check.measure("files_altered", terminal.altered())


@rule("NJ-1.28X(i)/write-path/raw-repl")
@images("bench", "release")
@pytest.mark.parametrize("how", RAW_REPL)
def test_no_raw_prompt(fresh: AttendedBench, terminal: Terminal, check: Check, how: str) -> None:
    reaches_no_prompt(fresh, check, RAW_REPL[how], how)
    check.measure("files_altered", terminal.altered())


@rule("NJ-1.28X(i)/write-path/repl", "NJ-1.28X(i)/write-path/raw-repl")
def test_no_prompt_while_it_works(bench: AttendedBench, terminal: Terminal, device: Device[Any], check: Check) -> None:
    device.work(bench)
    for how, pieces in {**REPL, **RAW_REPL}.items():
        reaches_no_prompt(bench, check, pieces, how)
        bench.advance()
    with check.duty("ends its work", Unreached):
        bench.until(*device.rests, within=device.work_ms)
    check.measure("files_altered", terminal.altered())


@rule("NJ-1.28X(i)/write-path/starting")
@images("bench", "release")
@pytest.mark.parametrize("how", [*REPL, *RAW_REPL])
def test_no_prompt_while_it_starts(fresh: AttendedBench, terminal: Terminal, check: Check, how: str) -> None:
    pieces = {**REPL, **RAW_REPL}[how]
    check.stimulus("power given, and control characters from then on", how=how)
    fresh.cut()
    fresh.board.rig.power_on()
    said = heard(fresh, lambda: type_in(fresh, pieces * 4))
    with check.duty("starts all the same"):
        fresh.board.reconnect()
    check.expect("prompts seen", [word.decode("latin-1") for word in PROMPTS if word in said], [])
    check.measure("files_altered", terminal.altered())


def reaches_no_prompt(bench: AttendedBench, check: Check, pieces: tuple[bytes, ...], how: str) -> None:
    """Type these, and record what came back: nothing but lines of the link, and no restart."""
    if bench.board.virtual and bench.board.rung != EMULATED:
        check.note("limit of the rig: a virtual board has no prompt of its own while it runs a script")
    check.stimulus("control characters on the link's port", how=how, bytes=[piece.hex() for piece in pieces])
    before = bench.board.identity["boot"]
    said = heard(bench, lambda: type_in(bench, pieces))
    check.expect("prompts seen", [word.decode("latin-1") for word in PROMPTS if word in said], [])
    check.expect("what is no line of the link", [line for line in said.split(b"\n") if not is_answer(line)], [])
    with check.duty("answers on its link"):
        check.expect("starts since", bench.board.reconnect()["boot"] - before, 0)


def type_in(bench: AttendedBench, pieces: tuple[bytes, ...]) -> None:
    """One after another, as a person or a tool types; the line is ended at last."""
    for piece in (*pieces, b"\n"):
        # A port that goes away with its board is back later.
        with suppress(PitbenchError):
            bench.link.transport.write(piece)


def heard(bench: AttendedBench, do: Callable[[], None]) -> bytes:
    """What comes back on the link's port until it is silent."""
    bench.link.transport.flush_input()
    do()
    said = b""
    with suppress(PitbenchError):
        while data := bench.link.transport.read(SILENT_S):
            said += data
    return said


def is_answer(line: bytes) -> bool:
    """Whether a line is one of the link's, or the empty rest behind the last."""
    try:
        return not line or bool(decode_line(line))
    except DamagedLine:
        return False
