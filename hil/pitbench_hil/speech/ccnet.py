"""CCNET says most of ID-003's words; types and inhibits share one command, and no item is reported at the lever."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pitbench.protocols import ccnet
from pitbench.protocols.ccnet import (
    BARCODE_TYPE,
    HEADER,
    IDENTIFICATION_SIZE,
    MASK_SIZE,
    STATUS_SIZE,
    TABLE_SIZE,
    Decoder,
    Reply,
    State,
    barcode_digits,
    encode,
    mask,
    parse_bill_table,
    parse_identification,
    parse_status,
)
from pitbench.protocols.ccnet_host import FAILURES, REASONS, STATUSES, escrow_code
from pitbench.protocols.id003 import Command, Denomination, EscrowCode, Frame, Status
from pitbench.protocols.id003 import Reply as Said

from pitbench_hil import speech
from pitbench_hil.board_bench import Unreached
from pitbench_hil.crc_errors import half_right, with_crc
from pitbench_hil.speech import UnsaidData, Words

# What was sent before the last answer of the link is here by then.
LATE_S = 0.001
# A checksum is answered when it is computed; a host that waited long enough asks again.
SIGNATURE_REQUESTS = 5
CRC32_SIZE = 4
# A busy device has nothing else to say: it is asked again, so many times.
BUSY = 100
# Types that ID-003's bits can name, and the device's others.
BITS = 16
USD = 1

ENABLING = (Command.SET_ENABLE, Command.SET_BARCODE_INHIBIT, Command.SET_INHIBIT)
# A device that starts, and one that is reset, takes nothing.
SHUT = {Command.SET_ENABLE: b"\0\0", Command.SET_BARCODE_INHIBIT: b"\0", Command.SET_INHIBIT: b"\x01"}
# Vouchers and coupons are one type: both are taken, or neither.
BARCODES = {b"\0": frozenset({BARCODE_TYPE}), b"\x03": frozenset[int]()}

NATIVE = {
    Command.STATUS_REQUEST: ccnet.Command.POLL,
    Command.RESET: ccnet.Command.RESET,
    Command.STACK_1: ccnet.Command.STACK,
    Command.STACK_2: ccnet.Command.STACK,
    Command.RETURN: ccnet.Command.RETURN,
    Command.HOLD: ccnet.Command.HOLD,
    Command.ACK: ccnet.Command.ACK,
    Command.VERSION: ccnet.Command.IDENTIFICATION,
    Command.CURRENCY_TABLE: ccnet.Command.GET_BILL_TABLE,
    Command.GET_ENABLE: ccnet.Command.GET_STATUS,
    Command.GET_SECURITY: ccnet.Command.GET_STATUS,
}
DEEDS = (Command.RESET, Command.STACK_1, Command.STACK_2, Command.RETURN, Command.HOLD)
ANSWER_SIZES = {
    Command.VERSION: IDENTIFICATION_SIZE,
    Command.CURRENCY_TABLE: TABLE_SIZE,
    Command.GET_ENABLE: STATUS_SIZE,
    Command.GET_SECURITY: STATUS_SIZE,
}
ACK, NAK, ILLEGAL = (bytes((reply,)) for reply in (Reply.ACK, Reply.NAK, Reply.ILLEGAL_COMMAND))
STACKED = bytes((State.BILL_STACKED,))
NEVER_ANSWERED = (ccnet.Command.ACK, ccnet.Command.NAK)
# Data that go with each command: none, a barcode's parameters, types under security, types that are enabled.
DATA = (b"", b"\x01\x12", b"\0\0\0", b"\xff" * STATUS_SIZE)
# No command of CCNET.
UNKNOWN = 0x4F
# Other devices on a shared bus, by their addresses.
OTHERS = (0x00, 0x01, 0x02, 0x04, 0x0F)
Fits = Callable[[ccnet.Frame], bool]


class Speech(speech.Speech):
    """Acknowledges every answer but a stacked bill's, which is `ack`'s.

    The acknowledgement goes out in front of what is said next: on its own, it could reach the device after the bench's
    time went on, and make a silent host one that speaks.
    """

    wire = "ccnet"
    # What follows a stacked bill's acknowledgement is the next state. 46 is a pause, and what else makes it wait.
    words = Words(alike=(frozenset({Status.PAUSE, Status.COMMUNICATION_ERROR}),), untold=frozenset({Status.STACKED}))
    # 35 is a stack too, but one that is reported once the item is stored.
    unsaid = frozenset(
        {Command.STACK_1, Command.WAIT, Command.SET_COMMUNICATION_MODE, Command.SET_DIRECTION, Command.SET_OPTIONS}
    )
    # An item that is found in the path goes back first.
    unset = (Status.INITIALISE, Status.DISABLED)
    overdue = Status.RETURNING
    papers_apart = False
    signature_bits = 32
    host_restores = True
    unknown = (0x10, 0x46, 0x4F, 0x8F, 0xC8, 0xFE)
    reads = (
        *((command, b"", (command,)) for command in ANSWER_SIZES),
        (UNKNOWN, b"", (Said.INVALID_COMMAND,)),
    )

    def __init__(self, bench: object) -> None:
        super().__init__(bench)
        self.forget()

    def forget(self) -> None:
        """It takes nothing, and has told nothing."""
        self._settings = dict(SHUT)
        self._state: int | None = None
        self._acknowledgeable = False
        self._owed = b""

    # -- what is said

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Say it, and acknowledge the answer."""
        if command == Command.STATUS_REQUEST:
            return self._status()
        if command in ANSWER_SIZES:
            return self._read(command)
        if command in DEEDS:
            return self._do(command)
        if command in self.unknown:
            return _obeyed_or_not(self._ask(encode(command, data), _is_reply))
        return self._set(command, data)

    def native(self, command: int, data: bytes = b"") -> bytes:
        """One frame."""
        if command in ENABLING:
            return encode(ccnet.Command.ENABLE_BILL_TYPES, 2 * self._types({**self._settings, Command(command): data}))
        if command == Command.SET_SECURITY:
            return encode(ccnet.Command.SET_SECURITY, data[::-1].rjust(MASK_SIZE, b"\0"))
        if command == Command.SET_BARCODE:
            return encode(ccnet.Command.SET_BARCODE_PARAMETERS, data)
        if command in NATIVE:
            return encode(NATIVE[Command(command)])
        return super().native(command, data)

    def say(self, command: int, data: bytes = b"") -> None:
        """And take a setting for set."""
        self._send(self.native(command, data))
        self._keep(command, data)

    def ack(self) -> None:
        """Of a stacked bill that was told; the device is asked for it again where it told something else since."""
        if self._state == State.BILL_STACKED and not self._acknowledgeable:
            self._status()
        self._owed = b""
        self._send(encode(ccnet.Command.ACK))

    def overhear(self, data: bytes) -> None:
        """An acknowledgement is of the last answer: of an older one, none is given any more."""
        self._owed = b""
        self._acknowledgeable = False

    def misshapen(self, frame: bytes) -> list[bytes]:
        """Lengths that it hasn't got, the CRC right for the bytes that are there; CRCs half right; over-long ones; what
        is meant for other devices."""
        short = [with_crc(frame[:2] + bytes((length,)) + frame[3:-2]) for length in (0, 1, 5, 255)]
        long = [with_crc(HEADER + bytes((length, frame[3])) + b"\x01" * (length - 6)) for length in (129, 200, 250)]
        others = [with_crc(bytes((frame[0], address)) + frame[2:-2]) for address in OTHERS]
        return [*short, *half_right(frame), *long, *others]

    def begun(self) -> bytes:
        """A length of 128."""
        return HEADER + b"\x80"

    def no_acknowledgements(self) -> list[list[bytes]]:
        """NAK asks for the answer again; an ACK is of the answer before it."""
        nak, ack, who = (ccnet.encode(ccnet.Command[name]) for name in ("NAK", "ACK", "IDENTIFICATION"))
        return [[nak], [who, ack]]

    def every(self) -> Iterator[bytes]:
        """All 256 but polls, ACK, and NAK, which asks for the last answer."""
        for command in range(256):
            if command not in (ccnet.Command.POLL, *NEVER_ANSWERED):
                yield from (encode(command, data) for data in DATA)

    # -- what is heard

    def obeyed(self, answer: ccnet.Frame | None) -> bool:
        """An ACK."""
        return answer is not None and answer.payload == ACK

    def complains(self, frame: ccnet.Frame) -> bool:
        """A NAK."""
        return frame.payload == NAK

    def version(self) -> str:
        """The part number."""
        frame = self.exchange(Command.VERSION)
        return frame.data.decode("ascii", "replace") if frame and frame.cmd == Command.VERSION else ""

    def signature(self) -> int | None:
        """The CRC-32 of the code, computed anew for each question; None where it never is."""
        for _ in range(SIGNATURE_REQUESTS):
            answer = self._ask(encode(ccnet.Command.GET_CRC32_OF_THE_CODE), _is_answer(CRC32_SIZE))
            if answer is not None:
                return int.from_bytes(answer.payload, "big") if len(answer.payload) == CRC32_SIZE else None
        return None

    def table(self) -> dict[int, Denomination]:
        """Command 41."""
        frame = self.exchange(Command.CURRENCY_TABLE)
        if frame is None or frame.cmd != Command.CURRENCY_TABLE:
            raise Unreached("the bill table was not told")
        rows = {escrow_code(number): row for number, row in parse_bill_table(frame.data).items()}
        return {code: Denomination(code, USD, row.digit, row.zeros) for code, row in rows.items()}

    def owed(self, frame: bytes) -> bool:
        """Nothing answers an ACK; what a damaged frame is answered with is no answer."""
        frames = Decoder().feed(frame)
        return len(frames) == 1 and frames[0].code not in NEVER_ANSWERED

    def answers(self, frame: bytes) -> bool:
        """A NAK is about a damaged one."""
        return not any(self.complains(one) for one in Decoder().feed(frame))

    # -- one exchange

    def _ask(self, request: bytes, fits: Fits) -> ccnet.Frame | None:
        """Send a request and return the first answer that fits it; late ones of others go before it."""
        while self.bench.receive(LATE_S) is not None:
            pass
        self.line_bytes = self._send(request)
        answer: ccnet.Frame | None = self.bench.receive()
        while answer is not None and not fits(answer):
            answer = self.bench.receive()
        if answer is None:
            return None
        self.line_bytes += len(encode(answer.code, answer.data))
        if not _is_reply(answer) and answer.payload[:1] != STACKED:
            self._owed = encode(ccnet.Command.ACK)
        return answer

    def _send(self, data: bytes) -> int:
        """With the acknowledgement that is owed; how many bytes went out."""
        data = self._owed + data
        self.bench.send(data)
        return len(data)

    def _status(self) -> Frame | None:
        for _ in range(BUSY):
            answer = self._ask(encode(ccnet.Command.POLL), _is_state)
            if answer is None or answer.code != State.DEVICE_BUSY:
                break
        if answer is None or answer.code not in STATUSES:
            return None
        self._state = answer.code
        self._acknowledgeable = self._state == State.BILL_STACKED
        return Frame(STATUSES[answer.code], self._status_data(answer))

    def _status_data(self, answer: ccnet.Frame) -> bytes:
        if answer.code in (State.ESCROW_POSITION, State.BILL_STACKED):
            return self._item(answer)
        if answer.code == State.REJECTING:
            return _coded(answer.data, REASONS, "reason of a rejection")
        if answer.code == State.FAILURE:
            return _coded(answer.data, FAILURES, "failure")
        return b""

    def _item(self, answer: ccnet.Frame) -> bytes:
        if answer.data != bytes((BARCODE_TYPE,)):
            return bytes(escrow_code(number) for number in answer.data)
        digits = self._digits() if answer.code == State.ESCROW_POSITION else ""
        return bytes((EscrowCode.BARCODE,)) + digits.encode("ascii")

    def _digits(self) -> str:
        request = encode(ccnet.Command.EXTRACT_BARCODE_DATA)
        answer = self._ask(request, lambda frame: frame.payload == ILLEGAL or barcode_digits(frame.payload) is not None)
        return (barcode_digits(answer.payload) or "") if answer else ""

    def _do(self, command: int) -> Frame | None:
        frame = _obeyed_or_not(self._ask(self.native(command), _is_reply))
        if command == Command.RESET and frame and frame.cmd == Said.ACK:
            self._settings = dict(SHUT)
        return frame

    def _set(self, command: int, data: bytes) -> Frame | None:
        if command not in (*ENABLING, Command.SET_SECURITY, Command.SET_BARCODE):
            return self.usual(command, data)
        frame = _obeyed_or_not(self._ask(self.native(command, data), _is_reply))
        if frame is None or frame.cmd != Said.ACK:
            return frame
        self._keep(command, data)
        return Frame(command, data)

    def _keep(self, command: int, data: bytes) -> None:
        if command in ENABLING:
            self._settings[Command(command)] = data

    def _types(self, settings: dict[Command, bytes]) -> bytes:
        """The mask of the types that these settings let in."""
        barcodes = BARCODES.get(settings[Command.SET_BARCODE_INHIBIT])
        if barcodes is None:
            self.unsayable("vouchers and coupons apart")
        if settings[Command.SET_INHIBIT] != b"\0":
            return mask(frozenset())
        off = int.from_bytes(settings[Command.SET_ENABLE], "little")
        return mask(barcodes | {number for number in range(BITS) if not off >> number & 1})

    def _read(self, command: int) -> Frame | None:
        answer = self._ask(self.native(command), _is_answer(ANSWER_SIZES[Command(command)]))
        if answer is None or answer.payload == ILLEGAL:
            return None if answer is None else Frame(Said.INVALID_COMMAND)
        return Frame(command, _READ_AS[Command(command)](answer.payload))


def _is_state(frame: ccnet.Frame) -> bool:
    return frame.is_state


def _is_reply(frame: ccnet.Frame) -> bool:
    return frame.payload in (ACK, ILLEGAL)


def _is_answer(size: int) -> Fits:
    return lambda frame: frame.payload == ILLEGAL or len(frame.payload) == size


def _obeyed_or_not(answer: ccnet.Frame | None) -> Frame | None:
    if answer is None:
        return None
    return Frame(Said.ACK if answer.payload == ACK else Said.INVALID_COMMAND)


def _bits(types: Iterable[int]) -> bytes:
    """Types as ID-003's bits."""
    return sum(1 << number for number in types if number < BITS).to_bytes(BITS // 8, "little")


# What a board's own serial number has no part in.
_READ_AS: dict[Command, Callable[[bytes], bytes]] = {
    Command.VERSION: lambda payload: parse_identification(payload).part.encode("ascii", "replace"),
    Command.CURRENCY_TABLE: bytes,
    Command.GET_ENABLE: lambda payload: _bits(set(range(BITS)) - parse_status(payload).enabled),
    Command.GET_SECURITY: lambda payload: _bits(parse_status(payload).high_security),
}


def _coded(data: bytes, codes: dict[int, int], what: str) -> bytes:
    code = codes.get(data[0]) if data else None
    return UnsaidData(f"CCNET has no word for this {what}") if code is None else bytes((code,))
