"""The GAT host (master): asks a device for its state, starts calculations, fetches their results.

One request is under way at a time, and a device speaks only when it is asked. A reply that is lost or damaged is asked
for again, a few times; a start too, for the same level and parameter give the same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from pitbench.deadline import Deadline
from pitbench.protocols import gat
from pitbench.protocols.gat import Command, Crc, Decoder, Frame, GatError, GatStatus, LastCalculation, Piece, State
from pitbench.protocols.gat_report import (
    Component,
    GarbageInResult,
    SpecialFunction,
    parse_component,
    parse_file,
    parse_functions,
    parse_report,
    reason_of,
)
from pitbench.transport import Transport

# Whole seconds on the device's side, and clocks that don't run alike.
AGE_SLACK_S = 2.0
FUNCTIONS, GET_FILE, COMPONENT = "Get Special Functions", "Get File", "Component"
# The file that is made when it is asked for: every component, as XML.
XML_REPORT = "AuthenticationResponse.xml"

Reply = TypeVar("Reply")


class SilentDevice(GatError):
    """Not one byte came back."""


class DamagedReplies(GatError):
    """Bytes came back, and no reply to what was asked."""


class StrangeReply(GatError):
    """A reply is sound, and not laid out as it should be."""


class WrongVersion(GatError):
    """The device speaks another version of GAT."""


class LevelRefused(GatError):
    """The device has no such level."""


class NotStarted(GatError):
    """The device didn't take up the calculation."""


class CalculationFailed(GatError):
    """The device began, and reports an error."""


class NotInTime(GatError):
    """The deadline passed."""


class ResultRefused(GatError):
    """The device doesn't hand out a frame of its result."""


class StaleResult(GatError):
    """The result is of an earlier calculation."""


@dataclass(frozen=True)
class GatSettings:
    """How the host talks.

    Args:
        crc: the frames' CRC; a setting, as it isn't public.
        version: the version that this host speaks, as in a status reply.
        reply_s: seconds allowed for each reply; the longest takes 0.27 s on the line.
        tries: how often a request is sent before the device counts as silent.
        poll_s: seconds between two looks at the status of a calculation.
        patience_s: seconds for a calculation and its result, where no deadline is handed in.
        age_checked: whether a result that ended before it was asked for is refused.
    """

    crc: Crc = gat.KERMIT
    version: bytes = b"\x03\x50"
    reply_s: float = 1.0
    tries: int = 4
    poll_s: float = 0.25
    patience_s: float = 120.0
    age_checked: bool = True


@dataclass(frozen=True)
class Result:
    """A result as it came: format (1 text, 2 XML) and bytes."""

    format: int
    data: bytes


class GatHost:
    """Master of one GAT device.

    Counters: `asked_again` requests.

    Args:
        transport: the device's port, opened with gat.FRAMING.
        clock: seconds, never going backwards; a board that runs slower than the wall hands in its own.
    """

    def __init__(
        self,
        transport: Transport,
        settings: GatSettings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.transport = transport
        self.settings = settings or GatSettings()
        self.asked_again = 0
        self._clock = clock

    def deadline(self) -> Deadline:
        """A deadline of the set patience from now."""
        return Deadline(self.settings.patience_s, self._clock)

    # Single exchanges

    def status(self, deadline: Deadline | None = None) -> GatStatus:
        """Ask for version, status and format (01). Raises SilentDevice, DamagedReplies, StrangeReply, NotInTime."""
        return self._ask(Command.STATUS, b"", gat.parse_status, deadline)

    def prove_version(self, deadline: Deadline | None = None) -> GatStatus:
        """Ask for the status. Raises WrongVersion unless the device speaks the set one, and as `status` does."""
        status, known = self.status(deadline), self.settings.version
        if status.version != known:
            ours = GatStatus(known, 0, 0).version_text
            raise WrongVersion(
                f"The device on {self.transport.url} speaks GAT {status.version_text}, and this host speaks {ours}.",
                f"Test a device that speaks {ours}; the status (01) alone can be asked of another.",
            )
        return status

    def last(self, deadline: Deadline | None = None) -> LastCalculation:
        """Ask for level and age of the last calculation (02). Raises as `status` does."""
        return self._ask(Command.LAST, b"", gat.parse_last, deadline)

    def start(self, level: int, parameter: bytes = b"", deadline: Deadline | None = None) -> None:
        """Start a calculation (04).

        Args:
            level: 0 to 255.
            parameter: at most 250 bytes.

        Raises LevelRefused, NotStarted, GatError (a parameter that doesn't fit), and as `status` does.
        """
        if len(parameter) > gat.LONGEST_PARAMETER:
            raise GatError(
                f"A parameter of {len(parameter)} bytes doesn't fit into a frame, which holds {gat.LONGEST_PARAMETER}.",
                "Take a shorter seed.",
            )
        before = self.asked_again
        bits = self._ask(Command.START, bytes([level]) + parameter, gat.parse_started, deadline)
        if bits & gat.LEVEL_ERROR:
            raise LevelRefused(
                f"The device refuses level {level:02x} (it answers {bits:02x}).",
                "Ask for level 01, or for ba and a function that `pitbench gat functions` lists.",
            )
        # Where the answer to the first try was lost, the second meets a device at work, and is acknowledged only.
        at_work = bits & gat.ACKNOWLEDGED and self.asked_again > before
        if not bits & gat.STARTED and not at_work:
            raise NotStarted(
                f"The device did not take up level {level:02x} (it answers {bits:02x}).",
                "Look with `pitbench gat status` whether it is busy, and with `pitbench gat functions` what it offers.",
            )

    def wait_done(self, level: int, deadline: Deadline) -> GatStatus:
        """Wait until the calculation is done. Raises CalculationFailed, NotInTime, and as `status` does."""
        while True:
            status = self.status(deadline)
            if status.state == State.DONE:
                return status
            if status.state == State.ERROR:
                raise CalculationFailed(
                    f"The device reports an error for level {level:02x} (status 0c){self._reason(status, deadline)}.",
                    "Look at the name, component or seed that it was asked with.",
                )
            if deadline.remaining <= self.settings.poll_s:
                raise NotInTime(
                    f"Level {level:02x} was not done in time: the device is still {gat.state_text(status.state)}.",
                    "Allow more time with --timeout, or restart the device.",
                )
            # Nobody speaks without being asked: this waits, and whatever comes belongs to no request.
            self.transport.read(self.settings.poll_s)

    def reason(self, deadline: Deadline | None = None) -> str:
        """Return why the device's status is error, "" where it isn't or nothing is said. Raises as `results` does."""
        until = deadline or self.deadline()
        status = self.status(until)
        if status.state != State.ERROR:
            return ""
        return reason_of(self.results(status.format, until), status.format)

    def _reason(self, status: GatStatus, deadline: Deadline) -> str:
        try:
            why = reason_of(self.results(status.format, deadline), status.format)
        except GatError:
            return ""
        return f": {why}" if why else ""

    def results(self, form: int, deadline: Deadline) -> bytes:
        """Fetch the last result, frame by frame (03).

        Args:
            form: 1 text, 2 XML; a status reply says which one there is.

        Raises ResultRefused, GarbageInResult (no end to it), and as `status` does.
        """
        result = bytearray()
        for number in range(1, gat.LAST_NUMBER + 1):
            piece = self._piece(form, number, deadline)
            result += piece.data
            if piece.last:
                return bytes(result)
            if not piece.data:
                raise GarbageInResult(f"frame {number} is empty and not the last")
        raise GarbageInResult(f"{gat.LAST_NUMBER} frames and none is the last")

    # Whole calculations

    def calculate(self, level: int, parameter: bytes = b"", deadline: Deadline | None = None) -> Result:
        """Start a calculation, wait for it and fetch its result.

        Raises WrongVersion, StaleResult, and as `start`, `wait_done` and `results` do.
        """
        until = deadline or self.deadline()
        self.prove_version(until)
        asked_at = self._clock()
        self.start(level, parameter, until)
        status = self.wait_done(level, until)
        self._prove_fresh(level, asked_at, until)
        return Result(status.format, self.results(status.format, until))

    def special(self, *words: str, deadline: Deadline | None = None) -> Result:
        """Call a special function (level BA) by name and arguments. Raises GatError, and as `calculate` does."""
        return self.calculate(gat.SPECIAL_LEVEL, gat.special_parameter(*words), deadline)

    def report(self, seed: bytes | None = None, deadline: Deadline | None = None) -> dict[str, Component]:
        """Return the digests of all components by id (level 01, the seed as its parameter).

        Raises GarbageInResult, and as `calculate` does.
        """
        result = self.calculate(gat.REPORT_LEVEL, seed or b"", deadline)
        return parse_report(result.data, result.format)

    def xml_result(self, seed: bytes | None = None, deadline: Deadline | None = None) -> Result:
        """Return the report of all components as XML, as it came. Raises as `special` does."""
        return self.special(GET_FILE, XML_REPORT, *_seed_words(seed), deadline=deadline)

    def functions(self, deadline: Deadline | None = None) -> list[SpecialFunction]:
        """Return the special functions that the device offers. Raises as `report` does."""
        result = self.functions_result(deadline)
        return parse_functions(result.data, result.format)

    def functions_result(self, deadline: Deadline | None = None) -> Result:
        """Return what the device answers about its special functions, as it came. Raises as `special` does."""
        return self.special(FUNCTIONS, deadline=deadline)

    def file(self, name: str, deadline: Deadline | None = None) -> bytes:
        """Return the content of one of the device's files. Raises as `report` does."""
        result = self.special(GET_FILE, name, deadline=deadline)
        return parse_file(result.data, result.format, name)

    def component(self, name: str, seed: bytes | None = None, deadline: Deadline | None = None) -> Component:
        """Return the digest of one component: SHA-1, with a seed HMAC-SHA1 keyed by it. Raises as `report` does."""
        result = self.component_result(name, seed, deadline)
        return parse_component(result.data, result.format, name)

    def component_result(self, name: str, seed: bytes | None = None, deadline: Deadline | None = None) -> Result:
        """Return what the device answers about one component, as it came. Raises as `special` does."""
        return self.special(COMPONENT, name, *_seed_words(seed), deadline=deadline)

    def _prove_fresh(self, level: int, asked_at: float, deadline: Deadline) -> None:
        """A result survives a power cut: after one that went unnoticed, the last result isn't the one asked for."""
        last, since = self.last(deadline), self._clock() - asked_at
        young = last.age_s is not None and last.age_s <= since + AGE_SLACK_S
        if last.level != level or (self.settings.age_checked and not young):
            raise StaleResult(
                f"The device's last result is of level {last.level:02x} and was made {last.when}; "
                f"level {level:02x} was asked for {since:.0f} s ago.",
                "Start it again; if the device counts these seconds in another way, use --any-age.",
            )

    # Exchange

    def _piece(self, form: int, number: int, deadline: Deadline) -> Piece:
        request = gat.results_data(form, number)
        piece = self._ask(Command.RESULTS, request, gat.parse_piece, deadline, lambda piece: piece.number == number)
        if piece.refused:
            raise ResultRefused(
                f"The device does not hand out frame {number} of its result as {gat.format_text(form)} "
                f"(it answers {piece.status:02x}).",
                "Look with `pitbench gat status` whether there is a result, and start a calculation if not.",
            )
        return piece

    def _ask(
        self,
        command: Command,
        data: bytes,
        parse: Callable[[bytes], Reply],
        deadline: Deadline | None,
        answers: Callable[[Reply], bool] = lambda reply: True,
    ) -> Reply:
        request, decoder = gat.encode(command, data, self.settings.crc), Decoder(crc=self.settings.crc)
        until = deadline or self.deadline()
        for attempt in range(self.settings.tries):
            if until.passed:
                raise NotInTime(
                    f"The time was up before the device on {self.transport.url} answered {_what(command)}.",
                    "Allow more time with --timeout.",
                )
            self.asked_again += attempt > 0
            self.transport.flush_input()
            self.transport.write(request)
            for frame in self._frames(decoder, until.within(self.settings.reply_s)):
                reply = _reply(command, frame, parse)
                if reply is not None and answers(reply):
                    return reply
        raise self._no_answer(command, decoder)

    def _frames(self, decoder: Decoder, deadline: Deadline) -> Iterator[Frame]:
        """Frames as they come, until the deadline; at last those that noise had swallowed."""
        while not deadline.passed:
            yield from decoder.feed(self.transport.read(deadline.remaining))
        yield from decoder.gap()

    def _no_answer(self, command: Command, decoder: Decoder) -> GatError:
        tries = f"{self.settings.tries} tries of {self.settings.reply_s:g} s"
        if not decoder.received:
            return SilentDevice(
                f"Nothing answers {_what(command)} on {self.transport.url}: {tries}, and not one byte.",
                "Look at power, cable and port; the line is 9600 8N1.",
            )
        return DamagedReplies(
            f"No sound answer to {_what(command)} came on {self.transport.url}: {tries}, {decoder.received} bytes, "
            f"{decoder.good} good frames.",
            "Look whether the device's CRC is another one (--crc), then at the line's speed and noise.",
        )


def _seed_words(seed: bytes | None) -> list[str]:
    """How a special function is told its seed."""
    return [seed.hex()] if seed else []


def _reply(command: Command, frame: Frame, parse: Callable[[bytes], Reply]) -> Reply | None:
    """What a frame says, None if it answers another command. Raises StrangeReply."""
    if frame.cmd != command | gat.REPLY_BIT:
        return None
    try:
        return parse(frame.data)
    except ValueError as error:
        shown = frame.data.hex(" ") or "none"
        raise StrangeReply(
            f"The device's answer to {_what(command)} is laid out otherwise: {error} ({shown}).",
            "Compare it with the frames in docs/gat.md.",
        ) from error


def _what(command: Command) -> str:
    words = {
        Command.STATUS: "the status query",
        Command.LAST: "the question for the last calculation",
        Command.RESULTS: "the question for the result",
        Command.START: "the start of a calculation",
    }
    return f"{words[command]} ({command:02x})"
