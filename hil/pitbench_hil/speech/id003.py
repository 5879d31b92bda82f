"""ID-003 says everything that the suites have words for."""

from __future__ import annotations

from collections.abc import Iterator

from pitbench.protocols.id003 import (
    SYNC,
    Command,
    Decoder,
    Denomination,
    Frame,
    Reply,
    encode,
    parse_currency_table,
)

from pitbench_hil import speech
from pitbench_hil.board_bench import Unreached
from pitbench_hil.crc_errors import half_right, with_crc

# What was sent before the link's last reply is here by then.
NEWS_S = 0.01
READS = (
    Command.VERSION, Command.BOOT_VERSION, Command.CURRENCY_TABLE, Command.GET_ENABLE, Command.GET_INHIBIT,
    Command.GET_DIRECTION, Command.GET_COMMUNICATION_MODE,
)  # fmt: skip
# No command of ID-003.
UNKNOWN = 0x4F
SIGNATURE_REQUESTS = 200
# Data that go with each command: none, a setting's bytes, an enabling zero.
DATA = (b"", b"\0", b"\0\0", b"\xff\xff")


class Speech(speech.Speech):
    """As it is."""

    wire = "id003"
    announces = True
    reads = (
        *((command, b"", (command,)) for command in READS),
        (Command.PROGRAM_SIGNATURE, b"", (Reply.SIGNATURE_BUSY, Reply.SIGNATURE_END)),
        (Command.SET_OPTIONS, b"\0\0", (Command.SET_OPTIONS,)),
        (UNKNOWN, b"", (Reply.INVALID_COMMAND,)),
    )

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Send a command and return the reply, None if there was none. ENQs that come first are counted apart."""
        request = encode(command, data)
        self.bench.send(request)
        frame: Frame | None = self.bench.receive()
        while frame and frame.cmd == Reply.ENQ:
            self.bench.enqs += 1
            frame = self.bench.receive()
        self.line_bytes = len(request) + (len(encode(frame.cmd, frame.data)) if frame else 0)
        return frame

    def native(self, command: int, data: bytes = b"") -> bytes:
        """One frame."""
        return encode(command, data)

    def ack(self) -> None:
        """No reply follows."""
        self.bench.send(encode(Command.ACK))

    def announced(self) -> bool:
        """Whether an ENQ came. Raises Unreached when anything else did."""
        heard = False
        while (frame := self.bench.receive(NEWS_S)) is not None:
            if frame.cmd != Reply.ENQ:
                raise Unreached(f"frame {frame.cmd:02x} came without a request")
            heard = True
        return heard

    def quiet(self) -> bool:
        """Nothing else answers with a version."""
        self.bench.send(encode(Command.VERSION))
        while (frame := self.bench.receive()) is not None:
            if frame.cmd == Command.VERSION:
                return True
        return False

    def misshapen(self, frame: bytes) -> list[bytes]:
        """Lengths that it hasn't got, the CRC right for the bytes that are there; CRCs half right; over-long ones."""
        short = [with_crc(bytes([frame[0], length]) + frame[2:-2]) for length in (0, 1, 4, 255)]
        long = [with_crc(bytes([SYNC, length, frame[2]]) + b"\x01" * (length - 5)) for length in (129, 200, 255)]
        return [*short, *half_right(frame), *long]

    def begun(self) -> bytes:
        """A length of 128."""
        return bytes((SYNC, 0x80))

    def every(self) -> Iterator[bytes]:
        """All 256 but polls and ACK, which nothing answers."""
        for command in range(256):
            if command not in (Command.STATUS_REQUEST, Command.ACK):
                yield from (encode(command, data) for data in DATA)

    def obeyed(self, answer: Frame | None) -> bool:
        """Anything but an invalid command, and what is only read."""
        return answer is not None and answer.cmd not in (Reply.INVALID_COMMAND, Command.VERSION)

    def version(self) -> str:
        """Version text."""
        frame = self.exchange(Command.VERSION)
        return frame.data.decode("ascii", "replace") if frame and frame.cmd == Command.VERSION else ""

    def signature(self) -> int | None:
        """What command DC calculates anew, a piece a request, asked for until it is ready; None where it never is."""
        for _ in range(SIGNATURE_REQUESTS):
            frame = self.exchange(Command.PROGRAM_SIGNATURE)
            if frame is None or frame.cmd != Reply.SIGNATURE_BUSY:
                return int.from_bytes(frame.data[:2], "little") if frame and frame.cmd == Reply.SIGNATURE_END else None
        return None

    def table(self) -> dict[int, Denomination]:
        """Command 8A."""
        frame = self.exchange(Command.CURRENCY_TABLE)
        if frame is None or frame.cmd != Command.CURRENCY_TABLE:
            raise Unreached("the currency table was not told")
        return parse_currency_table(frame.data)

    def owed(self, frame: bytes) -> bool:
        """Nothing answers an ACK, nor a damaged frame."""
        return self._cmd(frame) not in (Reply.ACK, None)

    def answers(self, frame: bytes) -> bool:
        """An ENQ is news."""
        return self._cmd(frame) != Reply.ENQ

    def _cmd(self, frame: bytes) -> int | None:
        frames = Decoder().feed(frame)
        return frames[0].cmd if len(frames) == 1 else None
