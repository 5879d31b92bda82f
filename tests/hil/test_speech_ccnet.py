"""What the suite says on CCNET, and when it acknowledges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pitbench.protocols.ccnet import Command, Decoder, State, encode
from pitbench.protocols.id003 import Command as Said
from pitbench.protocols.id003 import Reply, Status
from pitbench_hil.speech import Unsaid
from pitbench_hil.speech.ccnet import Speech

POLL, ACK = encode(Command.POLL), encode(Command.ACK)
NAK, ILLEGAL = encode(0xFF), encode(0x30)
STACKED = encode(State.BILL_STACKED, b"\x04")
IDLE = encode(State.IDLING)


class Bench:
    """A device that gives these answers, one group a send."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.written: list[bytes] = []
        self.speech: Any = None
        self._frames: list[Any] = []

    def send(self, data: bytes) -> None:
        self.speech.overhear(data)
        self.written.append(data)
        self._frames += Decoder().feed(self.answers.pop(0) if self.answers else b"")

    def receive(self, seconds: float = 0) -> Any:
        return self._frames.pop(0) if self._frames else None


def speech(*answers: bytes) -> tuple[Speech, Bench]:
    bench = Bench(*answers)
    bench.speech = Speech(bench)
    return bench.speech, bench


def said(frame: Any) -> tuple[int, bytes]:
    return frame.cmd, frame.data


def test_an_answer_is_acknowledged_in_front_of_what_is_said_next() -> None:
    talk, bench = speech(IDLE, IDLE)
    talk.exchange(Said.STATUS_REQUEST)
    talk.exchange(Said.STATUS_REQUEST)
    assert bench.written == [POLL, ACK + POLL]
    assert talk.line_bytes == len(ACK + POLL + IDLE)


def test_a_stacked_bill_is_acknowledged_by_ack_alone() -> None:
    talk, bench = speech(STACKED, STACKED)
    assert said(talk.exchange(Said.STATUS_REQUEST)) == (Status.VEND_VALID, b"\x65")
    talk.exchange(Said.STATUS_REQUEST)
    talk.ack()
    assert bench.written == [POLL, POLL, ACK]


def test_a_stacked_bill_is_asked_for_again_where_something_else_was_answered_since() -> None:
    talk, bench = speech(STACKED, ILLEGAL, STACKED)
    talk.exchange(Said.STATUS_REQUEST)
    talk.exchange(Said.RETURN)
    talk.ack()
    assert bench.written[2:] == [POLL, ACK]


def test_what_others_were_told_is_not_acknowledged() -> None:
    talk, bench = speech(IDLE, STACKED, STACKED)
    talk.exchange(Said.STATUS_REQUEST)
    bench.send(POLL)
    talk.exchange(Said.STATUS_REQUEST)
    assert bench.written[2] == POLL


def test_a_complaint_about_a_damaged_frame_is_no_answer() -> None:
    talk, _ = speech(NAK + IDLE, NAK)
    assert said(talk.exchange(Said.STATUS_REQUEST)) == (Status.IDLE, b"")
    assert talk.exchange(Said.STATUS_REQUEST) is None
    assert not talk.answers(NAK)
    assert talk.complains(Decoder().feed(NAK)[0])


def test_a_decision_is_obeyed_or_refused() -> None:
    talk, _ = speech(encode(0), ILLEGAL)
    assert [talk.exchange(Said.STACK_2).cmd for _ in range(2)] == [Reply.ACK, Reply.INVALID_COMMAND]


def test_a_barcode_is_told_with_its_digits() -> None:
    talk, _ = speech(encode(State.ESCROW_POSITION, b"\x17"), encode(ord("1"), b"23456"))
    assert said(talk.exchange(Said.STATUS_REQUEST)) == (Status.ESCROW, b"\x6f123456")


@pytest.mark.parametrize(("code", "told"), [(0x6C, b"\x7d"), (0x92, None), (0x69, None)])
def test_a_reason_is_told_where_it_has_a_word(code: int, told: bytes | None) -> None:
    talk, _ = speech(encode(State.REJECTING, bytes((code,))))
    data = talk.exchange(Said.STATUS_REQUEST).data
    assert isinstance(data, Unsaid) if told is None else data == told


SETTINGS: dict[str, tuple[Callable[[Speech], Any], str]] = {
    "opened": (lambda talk: talk.exchange(Said.SET_INHIBIT, b"\0"), "80ffff80ffff"),
    "slot 5 refused": (lambda talk: talk.exchange(Said.SET_ENABLE, b"\x10\0"), "80ffef80ffef"),
    "barcodes refused": (lambda talk: talk.exchange(Said.SET_BARCODE_INHIBIT, b"\x03"), "00ffef00ffef"),
    "shut": (lambda talk: talk.say(Said.SET_INHIBIT, b"\x01"), "000000000000"),
}


def test_settings_are_one_mask() -> None:
    talk, bench = speech(*[encode(0)] * len(SETTINGS))
    for name, (say, mask) in SETTINGS.items():
        say(talk)
        assert bench.written[-1] == encode(Command.ENABLE_BILL_TYPES, bytes.fromhex(mask)), name


def test_a_reset_shuts_it() -> None:
    talk, bench = speech(*[encode(0)] * 3)
    talk.exchange(Said.SET_INHIBIT, b"\0")
    talk.exchange(Said.RESET)
    talk.exchange(Said.SET_ENABLE, b"\0\0")
    assert bench.written[-1] == encode(Command.ENABLE_BILL_TYPES, bytes(6))


@pytest.mark.parametrize(("command", "data"), [(Said.STACK_2, b""), (Said.SET_INHIBIT, b"\x01")])
def test_no_misshapen_frame_says_what_it_was_made_of(command: Said, data: bytes) -> None:
    talk, _ = speech()
    frame = talk.native(command, data)
    wrong = [Decoder().feed(one) for one in talk.misshapen(frame)]
    assert [found for found in wrong if found and found[0].payload == frame[3:-2]] == []
    assert len(talk.misshapen(frame)) > 10


def test_answer_owed() -> None:
    talk, _ = speech()
    frames = (POLL, ACK, encode(Command.STACK), b"\x02\x03\x06")
    assert [talk.owed(frame) for frame in frames] == [True, False, True, False]
