"""Client of the link: one JSON line a request, one a reply, each with its CRC.

`JSON <tab> CRC-16/KERMIT as four hex digits <newline>`. A session is opened by hello with a random
number; ids count up within it, and a repeated id is answered again without being executed again.
That makes a lost reply safe to ask for once more, until the board reboots: then the session is gone,
and the client says so instead of asking.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from typing import Any

import crcmod.predefined  # type: ignore[import-untyped]

from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.transport import Transport, TransportGone

REQUEST_LIMIT = 240
REPLY_LIMIT = 1024
RETRIES = 2
HELLO_EVERY_S = 0.5
# The request wasn't looked at: ids don't follow, or the session is another one's.
OUT_OF_STEP = ("bad_id", "no_session")
# The request reached the board damaged: it was not acted on, and may be sent again.
DAMAGED_ON_THE_WAY = ("bad_crc", "too_long", "bad_json")

_crc16 = crcmod.predefined.mkCrcFun("kermit")


class LinkError(PitbenchError):
    """The board answered with an error: `code` for programs, `why` for people."""

    def __init__(self, op: str, code: str, why: str) -> None:
        super().__init__(f"The board refused '{op}': {why} ({code}).")
        self.op = op
        self.code = code
        self.why = why


class LinkOutOfStep(PitbenchError):
    """The board didn't look at the request: it is in another session, or at another place in this one.

    It has refused nothing, and so this is no LinkError. A new session is open already.
    """

    def __init__(self, op: str, why: str) -> None:
        super().__init__(
            f"The board has lost step with this link, and didn't look at '{op}': {why}.",
            "See that no other program is open on its port, and ask again.",
        )


class LinkTimeout(PitbenchError):
    """No sound reply came; whether the request was executed is unknown."""


class BoardRebooted(PitbenchError):
    """The board started anew since it was last asked; the request in hand was perhaps not executed.

    The new session is open already: ask for the state, then go on.
    """

    def __init__(self, op: str, before: int | None, identity: dict[str, Any]) -> None:
        super().__init__(
            f"The board rebooted ({identity.get('reset')}) before '{op}' was answered: "
            f"boot {before} became {identity.get('boot')}.",
            "Ask it for its state before you go on.",
        )
        self.before = before
        self.boot = identity.get("boot")
        self.reset = identity.get("reset")

    @property
    def by_program_error(self) -> bool:
        """Whether its own firmware failed: it marked that before it reset itself."""
        return self.reset == "crash"


class DamagedLine(ValueError):
    """A line whose CRC or form is wrong."""


def encode_line(message: dict[str, Any]) -> bytes:
    """One line of the link for a message."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return b"%s\t%04x\n" % (body, _crc16(body))


def decode_line(line: bytes) -> dict[str, Any]:
    """The message of one line (without its newline). Raises DamagedLine."""
    body, tab, crc = line.rpartition(b"\t")
    if not tab or crc != b"%04x" % _crc16(body):
        raise DamagedLine("wrong CRC")
    try:
        message = json.loads(body)
    except ValueError as error:
        raise DamagedLine("not JSON") from error
    if not isinstance(message, dict):
        raise DamagedLine("not a JSON object")
    return message


class LineSplitter:
    """Cuts a stream of bytes into lines; an over-long one comes out cut short, to fail its CRC."""

    def __init__(self, limit: int = REPLY_LIMIT) -> None:
        self._limit = limit
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Whole lines, without their newlines, that `data` completes."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[: self._limit]
        return [line[: self._limit] for line in lines]


class LinkClient:
    """Asks a board, one request at a time.

    Args:
        transport: the link port.
        timeout: seconds allowed for each reply; a lost one is asked for `RETRIES` times more.
        clock: what these seconds are measured by; a board that runs slower than the wall hands in its own.
    """

    def __init__(self, transport: Transport, timeout: float = 2.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.transport = transport
        self._clock = clock
        self.timeout = timeout
        self.identity: dict[str, Any] = {}
        self.damaged_lines = 0
        self.retries = 0
        # Asked when the port went away under a request: whether it is there again, open.
        self.come_back: Callable[[], bool] = lambda: False
        self._splitter = LineSplitter()
        self._lines: list[bytes] = []
        self._last_id = 0
        self._session_open = False

    @property
    def boot(self) -> int | None:
        """The boot count that the board last reported."""
        return self.identity.get("boot")

    def hello(self) -> dict[str, Any]:
        """Open a new session; returns the identity that the board reports. Raises LinkTimeout, LinkError."""
        return self._hello(self.timeout, RETRIES)

    def reconnect(self, deadline: Deadline, hopeless: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """Open a new session as soon as the board answers, after a restart or a power cut.

        Raises LinkTimeout, at the deadline or once the board is `hopeless`.
        """
        while True:
            try:
                return self._hello(min(HELLO_EVERY_S, max(deadline.remaining, 0.001)), 0)
            except LinkTimeout:
                if deadline.passed or hopeless():
                    raise

    def do(self, op: str, **args: Any) -> dict[str, Any]:
        """Ask for `op` and return what the board answers.

        Raises: LinkError (refused), LinkTimeout, LinkOutOfStep, BoardRebooted, TransportGone.
        """
        return self.do_within(self.timeout, op, **args)

    def do_within(self, seconds: float, op: str, **args: Any) -> dict[str, Any]:
        """The same, with its own time for each reply, in seconds."""
        if not self._session_open:
            self._open_session(op)
        number = self._last_id + 1
        line = _request_line(op, {"id": number, "do": op, **args})
        self._last_id = number
        try:
            reply = self._exchange(op, line, number, seconds, RETRIES)
        except TransportGone:
            self._look_for_a_restart(op)
            raise
        return self._result(op, reply)

    def close(self) -> None:
        self.transport.close()

    def _hello(self, seconds: float, retries: int) -> dict[str, Any]:
        self._forget_input()
        session = secrets.randbits(32)
        line = _request_line("hello", {"id": 0, "do": "hello", "session": session})
        reply = self._exchange("hello", line, 0, seconds, retries, session)
        identity: dict[str, Any] = _unwrap("hello", reply)
        self.identity = identity
        self._last_id = 0
        self._session_open = True
        return identity

    def _forget_input(self) -> None:
        self.transport.flush_input()
        self._splitter = LineSplitter()
        self._lines.clear()

    def _look_for_a_restart(self, op: str) -> None:
        """A USB port goes away with each restart of its board. Raises BoardRebooted when that was it."""
        self._session_open = False
        if self.come_back():
            self._open_session(op)

    def _open_session(self, op: str) -> None:
        before = self.boot
        first = not self.identity
        self.hello()
        if not first and self.boot != before:
            raise BoardRebooted(op, before, self.identity)

    def _result(self, op: str, reply: dict[str, Any]) -> dict[str, Any]:
        error = reply.get("err", {})
        if error.get("code") in OUT_OF_STEP:
            self._session_open = False
            self._open_session(op)
            raise LinkOutOfStep(op, str(error.get("why")))
        return _unwrap(op, reply)

    def _exchange(
        self, op: str, line: bytes, number: int, seconds: float, retries: int, session: int | None = None
    ) -> dict[str, Any]:
        for attempt in range(1 + retries):
            self.retries += attempt > 0
            self.transport.write(line)
            reply = self._await_reply(number, Deadline(seconds, self._clock), session)
            if reply is not None:
                return reply
        self._session_open = False
        raise LinkTimeout(
            f"The board gave no sound answer to '{op}' on {self.transport.url} "
            f"({1 + retries} tries of {seconds:g} s, {self.damaged_lines} damaged lines so far).",
            "Look whether it has power and runs a pitbench image.",
        )

    def _await_reply(self, number: int, deadline: Deadline, session: int | None) -> dict[str, Any] | None:
        while (line := self._next_line(deadline)) is not None:
            try:
                reply = decode_line(line)
            except DamagedLine:
                self.damaged_lines += 1
                return None
            if _asks_for_another_try(reply):
                return None
            if _answers(reply, number, session):
                return reply
        return None

    def _next_line(self, deadline: Deadline) -> bytes | None:
        while not self._lines:
            data = self.transport.read(deadline.remaining)
            self._lines += self._splitter.feed(data)
            if not data and deadline.passed:
                return None
        return self._lines.pop(0)


def _request_line(op: str, message: dict[str, Any]) -> bytes:
    line = encode_line(message)
    if len(line) > REQUEST_LIMIT:
        raise LinkError(op, "too_long", f"the request has {len(line)} bytes and the link carries {REQUEST_LIMIT}")
    return line


def _asks_for_another_try(reply: dict[str, Any]) -> bool:
    return reply.get("id") is None and reply.get("err", {}).get("code") in DAMAGED_ON_THE_WAY


def _answers(reply: dict[str, Any], number: int, session: int | None) -> bool:
    # Late answers to an earlier id, and to an earlier hello, are passed over.
    if reply.get("id") != number:
        return False
    return session is None or "err" in reply or reply["ok"].get("session", session) == session


def _unwrap(op: str, reply: dict[str, Any]) -> dict[str, Any]:
    if "err" in reply:
        error = reply["err"]
        raise LinkError(op, str(error.get("code")), str(error.get("why")))
    result: dict[str, Any] = reply.get("ok", {})
    return result


def whole_table(link: LinkClient) -> list[list[Any]]:
    """Every row [state, event, next] of the board's state table."""
    return _all_pages(link, "table", "rows")


def whole_files(link: LinkClient) -> list[list[Any]]:
    """Every file [path, size in bytes] on the board."""
    return _all_pages(link, "files", "files")


def _all_pages(link: LinkClient, op: str, key: str) -> list[list[Any]]:
    rows: list[list[Any]] = []
    while True:
        page = link.do(op, **{"from": len(rows)})
        rows += page[key]
        if not page[key] or len(rows) >= page["total"]:
            return rows


def whole_log(link: LinkClient, first: int = 0) -> list[list[Any]]:
    """Every log entry [n, boot, t, calendar, what, detail, chain] from number `first` on."""
    entries: list[list[Any]] = []
    while True:
        page = link.do("log", **{"from": first})
        entries += page["entries"]
        if not page["entries"] or entries[-1][0] >= page["last"]:
            return entries
        first = entries[-1][0] + 1
