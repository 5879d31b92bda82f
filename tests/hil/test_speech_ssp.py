"""What the suite says on SSP, and what it makes of several events in one answer."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench.protocols.id003 import Command as Said
from pitbench.protocols.id003 import Reply, Status
from pitbench.protocols.ssp import Command, Decoder, Frame, encode
from pitbench_hil.speech import Unsaid
from pitbench_hil.speech.ssp import Speech

OK = b"\xf0"
CANT = b"\xf5"


class Bench:
    """A device that gives these answers to new commands, and the last one again to one that it had."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.asked: list[bytes] = []
        self.sent = b""
        self._last = self._answer = b""
        self._frames: list[Frame] = []

    def send(self, data: bytes) -> None:
        self.sent = data
        for frame in Decoder().feed(data):
            if frame.data[0] == Command.SYNC:
                self._last, self._answer = b"\x80", OK
            elif bytes((frame.seq,)) != self._last:
                self.asked.append(frame.data)
                self._last, self._answer = bytes((frame.seq,)), self.answers.pop(0) if self.answers else OK
            self._frames.append(Frame(self._answer, frame.seq))

    def receive(self, seconds: float = 0) -> Any:
        return self._frames.pop(0) if self._frames else None


def speech(*answers: bytes) -> tuple[Speech, Bench]:
    bench = Bench(*answers)
    return Speech(bench), bench


def told(*answers: bytes, times: int = 1) -> list[int]:
    talk, _ = speech(*answers)
    return [talk.exchange(Said.STATUS_REQUEST).cmd for _ in range(times)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ("", Status.IDLE),
        ("e8", Status.DISABLED),
        ("b6e8", Status.INITIALISE),
        ("f1", Status.POWER_UP),
        ("f1e103", Status.POWER_UP_BILL_IN_ACCEPTOR),
        ("f1e203", Status.POWER_UP_BILL_IN_STACKER),
        ("f1e3e8", Status.STACKER_OPEN),
        ("ee05e7e8", Status.VEND_VALID),
        ("e4e9e8", Status.JAM_IN_ACCEPTOR),
        ("cc", Status.STACKING),
        ("a5", 0xA5),
    ],
)
def test_the_first_thing_of_several_is_told(events: str, status: int) -> None:
    assert told(OK + bytes.fromhex(events)) == [status]


def test_what_is_offered_is_looked_at_by_hold_until_that_is_refused() -> None:
    talk, bench = speech(OK + b"\xef\x05", OK, CANT, OK + b"\xcc")
    frames = [talk.exchange(Said.STATUS_REQUEST) for _ in range(3)]
    assert [(frame.cmd, frame.data) for frame in frames[:2] if frame] == [(Status.ESCROW, b"\x65")] * 2
    assert frames[2]
    assert frames[2].cmd == Status.STACKING
    assert bench.asked == [b"\x56", b"\x18", b"\x18", b"\x56"]


@pytest.mark.parametrize(("answer", "reply"), [(b"\xcc", Reply.ACK), (b"\xed", Reply.INVALID_COMMAND)])
def test_a_poll_after_an_offer_is_the_stack(answer: bytes, reply: int) -> None:
    talk, bench = speech(OK + b"\xef\x05", OK + answer)
    talk.exchange(Said.STATUS_REQUEST)
    frame = talk.exchange(Said.STACK_1)
    assert frame
    assert frame.cmd == reply
    assert bench.asked == [b"\x56", b"\x56"]


def test_a_stack_of_nothing_is_neither_obeyed_nor_refused_and_loses_no_news() -> None:
    talk, _ = speech(OK + b"\xeb", OK)
    frame = talk.exchange(Said.STACK_1)
    assert frame
    assert isinstance(frame.cmd, Unsaid)
    assert talk.exchange(Said.STATUS_REQUEST).cmd == Status.STACKED  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("code", "status"), [(0x08, Status.RETURNING), (0x13, Status.RETURNING), (0x01, Status.REJECTING)]
)
def test_an_item_on_its_way_out_is_told_by_its_reason_and_once(code: int, status: int) -> None:
    reason = OK + bytes((code,))
    assert told(OK + b"\xed", reason, OK + b"\xed", OK + b"\xec", times=3) == [status, status, Status.IDLE]
    assert told(OK + b"\xec", reason, OK, times=2) == [status, Status.IDLE]


def test_a_fraud_is_polled_plainly_so_that_the_rest_is_told_too() -> None:
    talk, bench = speech(OK + b"\xe6\0\xe8", OK + b"\xe8", OK)
    for _ in range(3):
        talk.exchange(Said.STATUS_REQUEST)
    assert bench.asked == [b"\x56", b"\x07", b"\x56"]


def test_what_a_test_sends_by_itself_is_new_to_the_device_and_so_is_what_follows() -> None:
    talk, bench = speech()
    for _ in range(3):
        talk.exchange(Said.STATUS_REQUEST)
        before = len(bench.asked)
        bench.send(talk.native(Said.RESET))
        assert bench.asked[before:] == [b"\x01"]
        talk.exchange(Said.STATUS_REQUEST)
    damaged = talk.native(Said.RESET)
    for _ in range(3):
        talk.exchange(Said.STATUS_REQUEST)
        before = len(bench.asked)
        bench.send(damaged)
        assert bench.asked[before:] == [b"\x01"]


def test_nothing_misshapen_is_a_frame() -> None:
    talk, _ = speech()
    for data in (b"\x56", b"\x09", b"\x7f"):
        good = encode(data, True)
        for frame in talk.misshapen(good):
            decoder = Decoder()
            found = [*decoder.feed(frame), *decoder.gap()]
            assert all(one.address != 0 for one in found), frame.hex()
