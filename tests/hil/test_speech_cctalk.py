"""The speech of ccTalk against a validator of few words: events become statuses of ID-003, and nothing is made up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pitbench.protocols import cctalk
from pitbench.protocols.cctalk import HOST, VALIDATOR, Decoder, encode
from pitbench.protocols.id003 import Command, FailureCode, Frame, Reply, Status
from pitbench_hil.speech import Unsaid
from pitbench_hil.speech.cctalk import LONGEST_REQUEST, Speech

ACK = b""
FALSE, TRUE = b"\0", b"\1"
POLL, ROUTE, RESET, MASTER, CHECK, BARCODE = 159, 154, 1, 227, 232, 129


class Validator:
    """Bench and validator in one: headers -> data of the answer; None for silence, an int for a bare header."""

    def __init__(self) -> None:
        self.sent = b""
        self.heard: list[cctalk.Frame] = []
        self.says: dict[int, bytes | int | None] = {
            ROUTE: ACK,
            RESET: ACK,
            MASTER: TRUE,
            CHECK: FALSE,
            231: ACK,
            228: ACK,
        }
        self.counter, self.events = 0, [(0, 0)] * 5
        self.after_a_poll: tuple[int, int] | None = None
        self._line: list[cctalk.Frame] = []

    def happen(self, *event: int) -> None:
        """One event more."""
        self.counter = self.counter % 255 + 1
        self.events = [event[:2], *self.events[:4]]  # type: ignore[list-item]

    def start(self) -> None:
        """Counter 0."""
        self.counter, self.events = 0, [(0, 0)] * 5

    def send(self, data: bytes) -> None:
        self.sent = data
        asked = Decoder().feed(data)[0]
        self.heard.append(asked)
        self._line.append(asked)  # a single wire brings it back
        said = self._poll() if asked.header == POLL else self.says.get(asked.header)
        if said is not None:
            header, body = (said, b"") if isinstance(said, int) else (0, said)
            self._line += Decoder().feed(encode(header, body, to=HOST, source=VALIDATOR))

    def receive(self, seconds: float = 1.0) -> Any:
        return self._line.pop(0) if self._line else None

    @contextmanager
    def impatient(self, seconds: float) -> Iterator[None]:
        yield

    def _poll(self) -> bytes:
        told = bytes((self.counter, *(byte for event in self.events for byte in event)))
        if self.after_a_poll:
            self.happen(*self.after_a_poll)
            self.after_a_poll = None
        return told


@pytest.fixture
def validator() -> Validator:
    return Validator()


@pytest.fixture
def speech(validator: Validator) -> Speech:
    """Past the start, idle."""
    speech = Speech(validator)
    assert status(speech).cmd == Status.POWER_UP
    assert status(speech).cmd == Status.IDLE
    return speech


def status(speech: Speech) -> Frame:
    frame = speech.exchange(Command.STATUS_REQUEST)
    assert frame is not None
    return frame


def test_each_event_is_told_once_and_the_last_one_stands(validator: Validator, speech: Speech) -> None:
    validator.happen(5, 1)
    assert [status(speech) for _ in range(2)] == [Frame(Status.ESCROW, b"\x65")] * 2
    assert speech.exchange(Command.STACK_1) == Frame(Reply.ACK)
    assert status(speech).cmd in speech.words.any_of(Status.ESCROW)
    validator.happen(5, 0)
    assert status(speech).cmd == Status.VEND_VALID
    assert status(speech).cmd == Status.IDLE


def test_a_credit_that_comes_again_with_a_new_counter_is_told_again(validator: Validator, speech: Speech) -> None:
    for _ in range(2):
        validator.happen(5, 0)
        assert status(speech).cmd == Status.VEND_VALID
        speech.ack()
    assert status(speech).cmd == Status.IDLE


def test_a_credit_that_comes_with_the_settling_poll_is_kept(validator: Validator, speech: Speech) -> None:
    validator.happen(5, 0)
    assert status(speech).cmd == Status.VEND_VALID
    validator.happen(5, 0)
    speech.ack()
    assert status(speech).cmd == Status.VEND_VALID


def test_the_counter_goes_from_255_to_1(validator: Validator, speech: Speech) -> None:
    for _ in range(300):
        validator.happen(0, 1)
        assert status(speech).cmd == Status.RETURNING


def test_counter_0_is_a_start_and_a_credit_behind_it_a_power_up(validator: Validator, speech: Speech) -> None:
    validator.happen(5, 1)
    status(speech)
    validator.start()
    assert status(speech).cmd == Status.POWER_UP
    assert status(speech).cmd == Status.IDLE
    validator.start()
    speech.forget()
    validator.after_a_poll = (5, 0)
    assert status(speech).cmd == Status.POWER_UP_BILL_IN_STACKER


@pytest.mark.parametrize(
    ("master", "check", "told"),
    [(TRUE, 6, Status.INITIALISE), (FALSE, FALSE, Status.INITIALISE), (TRUE, FALSE, Status.IDLE)],
)
def test_after_a_reset(validator: Validator, speech: Speech, master: bytes, check: bytes | int, told: Status) -> None:
    validator.happen(0, 1)
    status(speech)
    speech.exchange(Command.RESET)
    validator.start()
    validator.says |= {MASTER: master, CHECK: check}
    assert status(speech).cmd == told


def test_disabled_is_told_by_its_event(validator: Validator, speech: Speech) -> None:
    speech.exchange(Command.RESET)
    validator.start()
    validator.says[MASTER] = FALSE
    assert status(speech).cmd == Status.INITIALISE
    validator.happen(0, 0)
    assert status(speech).cmd == Status.DISABLED


def test_a_fault_that_no_event_told_is_not_told(validator: Validator, speech: Speech) -> None:
    validator.says[CHECK] = b"\x2c"
    assert status(speech).cmd == Status.IDLE
    validator.happen(0, 11)
    assert status(speech).cmd == Status.STACKER_OPEN
    validator.says[CHECK] = FALSE
    assert status(speech).cmd == Status.IDLE


@pytest.mark.parametrize(
    ("event", "fault", "told"),
    [
        (13, 51, Frame(Status.FAILURE, bytes((FailureCode.HEAD_REMOVED,)))),
        (13, 30, Frame(Status.FAILURE, bytes((FailureCode.BOOT_ROM,)))),
        (14, 45, Frame(Status.STACKER_FULL)),
        (6, 39, Frame(Status.JAM_IN_ACCEPTOR)),
        (7, 39, Frame(Status.JAM_IN_STACKER)),
        (18, 255, Frame(Status.CHEATED)),
    ],
)
def test_what_stands(validator: Validator, speech: Speech, event: int, fault: int, told: Frame) -> None:
    validator.happen(0, event)
    validator.says[CHECK] = bytes((fault,))
    assert [status(speech) for _ in range(2)] == [told, told]


def test_a_code_that_the_wire_lacks_is_unsaid(validator: Validator, speech: Speech) -> None:
    validator.happen(0, 13)
    validator.says[CHECK] = b"\x24"
    failure = status(speech)
    assert failure.cmd == Status.FAILURE
    assert isinstance(failure.data, Unsaid)
    validator.happen(0, 2)
    assert isinstance(status(speech).data, Unsaid)


@pytest.mark.parametrize(("answer", "told"), [(b"\xfe", 0x4B), (b"\xff", 0x4B), (5, 0x4B), (ACK, 0x50)])
def test_a_route_is_obeyed_or_refused(validator: Validator, speech: Speech, answer: bytes | int, told: int) -> None:
    validator.says[ROUTE] = answer
    assert speech.exchange(Command.RETURN) == Frame(told)


def test_a_route_said_again_tells_nothing(validator: Validator, speech: Speech) -> None:
    validator.happen(5, 1)
    status(speech)
    speech.exchange(Command.STACK_1)
    again = speech.exchange(Command.STACK_1)
    assert again is not None
    assert isinstance(again.cmd, Unsaid)


def test_types_and_barcodes_share_one_mask(validator: Validator, speech: Speech) -> None:
    speech.exchange(Command.SET_ENABLE, b"\x10\0")
    assert validator.heard[-1] == cctalk.Frame(VALIDATOR, 231, b"\xef\x3f")
    speech.exchange(Command.SET_BARCODE_INHIBIT, b"\x01")
    assert validator.heard[-1] == cctalk.Frame(VALIDATOR, 231, b"\xef\xbf")


def test_a_barcode_has_its_digits(validator: Validator, speech: Speech) -> None:
    validator.says[BARCODE] = b"123456"
    validator.happen(0, 20)
    assert status(speech) == Frame(Status.ESCROW, b"\x6f123456")


def test_a_silent_device_tells_nothing(validator: Validator, speech: Speech) -> None:
    validator._poll = lambda: None  # type: ignore
    assert speech.exchange(Command.STATUS_REQUEST) is None


def test_no_misshapen_frame_is_a_good_one_for_the_validator(speech: Speech) -> None:
    for frame in speech.misshapen(speech.native(Command.STACK_1)):
        decoder = Decoder()
        found = [one for one in [*decoder.feed(frame), *decoder.gap()] if one.to == VALIDATOR]
        assert all(len(one.data) > LONGEST_REQUEST for one in found), frame.hex(" ")
