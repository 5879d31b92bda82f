"""Mutated frames against both sides of every wire, written apart from each other: each is the other's judge.

What the device takes for a frame, the host's codec has to find in the same bytes; where it finds none, nothing but
noise was sent, and the device may neither answer nor be moved by it. A host that hears noise credits nothing.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pitbench.protocols import protocol_named
from pitbench.protocols.acceptor_host import StatusSeen, host_module, host_names
from pitbench.protocols.id003 import Status
from whole import Whole

WIRES = host_names()
# `make fuzz` asks for a million.
FRAMES = int(os.environ.get("PITBENCH_FUZZ_FRAMES", "3000"))
# Longer than a frame may pause, shorter than a silent host.
PAUSE_MS = 60
CREDITS = (Status.VEND_VALID, Status.STACKED, Status.POWER_UP_BILL_IN_STACKER)
# What the wire does with any good frame, whatever it says.
ANY_FRAME = ("heard", "told", "silence")
# What a protocol has its device answer to a damaged frame.
NAKS = {"ccnet": bytes.fromhex("020306ffba8d")}
VECTORS = Path(__file__).parents[1] / "vectors"
Mutation = Callable[[random.Random, bytes], bytes]


def frames(wire: str, *senders: str) -> list[bytes]:
    rows = json.loads((VECTORS / f"{wire}.json").read_text())["frames"]
    return [bytes.fromhex(row["hex"]) for row in rows if row["from"] in senders]


def _flip(rng: random.Random, frame: bytes) -> bytes:
    at = rng.randrange(len(frame))
    return frame[:at] + bytes((frame[at] ^ 1 << rng.randrange(8),)) + frame[at + 1 :]


def _byte(rng: random.Random, frame: bytes) -> bytes:
    at = rng.randrange(len(frame))
    return frame[:at] + rng.randbytes(1) + frame[at + 1 :]


def _lose(rng: random.Random, frame: bytes) -> bytes:
    at = rng.randrange(len(frame))
    return frame[:at] + frame[at + rng.randint(1, 3) :]


def _insert(rng: random.Random, frame: bytes) -> bytes:
    at = rng.randrange(len(frame) + 1)
    return frame[:at] + rng.randbytes(rng.randint(1, 4)) + frame[at:]


def _double(rng: random.Random, frame: bytes) -> bytes:
    at = rng.randrange(len(frame))
    return frame[: at + 1] + frame[at:]


def _join(rng: random.Random, frame: bytes) -> bytes:
    return frame[: rng.randint(1, len(frame))] + frame


def _noise(rng: random.Random, frame: bytes) -> bytes:
    return frame[:2] + rng.randbytes(rng.randrange(1, 12))


MUTATIONS: tuple[Mutation, ...] = (_flip, _byte, _lose, _insert, _double, _join, _noise)


def mutated(seed: int, good: list[bytes]) -> Iterator[bytes]:
    rng = random.Random(seed)
    for _ in range(FRAMES):
        frame = rng.choice(good)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            frame = rng.choice(MUTATIONS)(rng, frame) or b"\0"
        yield frame


def found(wire: str, data: bytes) -> int:
    """How many frames the host's codec finds."""
    decoder: Any = protocol_named(wire).Decoder()
    return len([*decoder.feed(data), *decoder.gap()])


@pytest.mark.parametrize("wire", WIRES)
def test_the_device_takes_nothing_that_the_hosts_codec_calls_noise(tmp_path: Path, wire: str) -> None:
    whole = Whole(wire, tmp_path / "journal")
    events: list[tuple[Any, ...]] = []
    whole.wire.step = events.append
    for data in mutated(11, frames(wire, "host", "either")):
        events.clear()
        before = whole.wire.frames
        whole.port.incoming = data
        for ms in (1, PAUSE_MS):
            whole.now += ms
            whole.wire.poll(whole.now)
        taken, answer = whole.wire.frames - before, whole.port.sent.replace(NAKS.get(wire, b"-"), b"")
        whole.port.sent = b""
        moved = [event for event in events if event[0] not in ANY_FRAME]
        if taken > found(wire, data) or (not taken and (answer or moved)):
            pytest.fail(f"{data.hex(' ')}: {taken} frames taken, answered {answer.hex(' ')}, {events}")


@pytest.mark.parametrize("wire", WIRES)
def test_a_host_that_hears_noise_credits_nothing(wire: str) -> None:
    module = host_module(wire)
    host, now = module.Host(module.Settings()), 0
    for data in mutated(13, frames(wire, "device", "either")):
        now += PAUSE_MS
        host.next_frame(now)
        for frame in [*host.decoder.feed(data), *host.decoder.gap()]:
            said = [event for event in host.received(frame, now) if isinstance(event, StatusSeen)]
            credited = [event for event in said if event.status in CREDITS]
            if credited and not found(wire, data):
                pytest.fail(f"{data.hex(' ')}: {credited}")
