"""The ID-003 host (master), sans-IO: what to send next, and what a reply means.

It asks with `next_frame`, is told with `received`, and never sleeps. What to do with an item in escrow is decided by
its user: `command(...)`, `acknowledge()`. It decides by the device's last status and not by counting replies, so a
lost, late, doubled or damaged frame costs time and nothing else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pitbench.protocols.acceptor_host import HostEvent, Refused, StatusSeen, TableRead, VersionRead
from pitbench.protocols.host_patience import GIVE_UP, NO_ANSWER, REFUSAL, Listener
from pitbench.protocols.id003 import (
    ACTIONS,
    ERRORS,
    POWER_UPS,
    Command,
    Decoder,
    Denomination,
    EscrowCode,
    Frame,
    Reply,
    Status,
    command_text,
    encode,
    parse_currency_table,
)

# INITIALISE standing this long after the last setting was echoed: the device has forgotten them.
SETTLE_MS = 1000

# C3 comes last: it is what opens the device for business.
SETTINGS = (
    Command.SET_ENABLE,
    Command.SET_SECURITY,
    Command.SET_COMMUNICATION_MODE,
    Command.SET_DIRECTION,
    Command.SET_OPTIONS,
    Command.SET_BARCODE,
    Command.SET_BARCODE_INHIBIT,
    Command.SET_INHIBIT,
)
READS = (Command.VERSION, Command.CURRENCY_TABLE)
# Where settings are sent: with no item under way, so that a running transaction is never disturbed.
AT_REST = frozenset({Status.IDLE, Status.DISABLED, Status.INITIALISE})
IN_SERVICE = frozenset(Status(code) for code in range(Status.IDLE, Status.INITIALISE + 1))


@dataclass(frozen=True)
class HostSettings:
    """How the host talks, and what it sets.

    Args:
        interrupt: communication mode C2 01; the host then polls on ENQ, and every `keepalive_ms` for safety.
        poll_ms, reply_ms, keepalive_ms, silent_ms: poll period, wait for a reply, period of polls without ENQ in
            interrupt mode, time without any frame after which the device counts as silent; milliseconds.
        enable, security, direction, options, barcode, barcode_inhibit: data of C0, C1, C4 to C7; in C0 and C4 a bit
            of 0 means accepted. C7 00 accepts barcodes; C6 01 12 is interleaved 2 of 5 with 18 digits, 01 FF lets the
            length vary (both from one source).
    """

    interrupt: bool = False
    poll_ms: int = 150
    reply_ms: int = 300
    keepalive_ms: int = 1000
    silent_ms: int = 2000
    enable: bytes = b"\x00\x00"
    security: bytes = b"\x00\x00"
    direction: bytes = b"\x00"
    options: bytes = b"\x00\x00"
    barcode: bytes = b"\x01\x12"
    barcode_inhibit: bytes = b"\x00"

    def wanted(self, inhibited: bool) -> dict[Command, bytes]:
        """Data of each setting, in the order of sending."""
        data = (
            self.enable,
            self.security,
            bytes([self.interrupt]),
            self.direction,
            self.options,
            self.barcode,
            self.barcode_inhibit,
            bytes([inhibited]),
        )
        return dict(zip(SETTINGS, data, strict=True))


class Id003Host(Listener):
    """Master of one ID-003 device.

    Counters: `timeouts`, `unsolicited` (ACKs nobody asked for), `invalid` (4B), `strange` (unknown bytes).
    `polls_only` holds back everything but polls, for a user that can't make its decisions durable just now.
    """

    def __init__(self, settings: HostSettings | None = None, *, inhibited: bool = False) -> None:
        self.settings = settings or HostSettings()
        super().__init__(self.settings.silent_ms)
        self.decoder = Decoder()
        self.wanted = self.settings.wanted(inhibited)
        self.status: int | None = None
        self.table: dict[int, Denomination] | None = None
        self.version: str | None = None
        self.polls_only = False
        self.timeouts = self.unsolicited = self.invalid = self.strange = 0
        self._confirmed: dict[Command, bytes] = {}
        self._read: set[Command] = set()
        self._failures: Counter[Command] = Counter()
        self._unanswered: Command | None = None
        self._waiting: Command | None = None
        self._deadline = 0
        self._poll_due = 0
        # True while `status` is newer than the last action: an action is never repeated on an old status.
        self._fresh = False
        self._queued: Command | None = None
        self._reset_wanted = False
        self._ack = False
        self._set_up_at = 0

    # What its user wants

    def command(self, command: Command) -> None:
        """Send a stack, return, hold or wait next; the next status of the device withdraws it."""
        self._queued = command

    def reset(self) -> None:
        """Reset the device once it reports an error, or rests; kept until it is done."""
        self._reset_wanted = True

    def acknowledge(self) -> None:
        """Send ACK next: the vend valid that stands is done with."""
        self._ack = True

    def set(self, setting: Command, data: bytes) -> None:
        """Want other data for a setting; it is sent when no item is under way."""
        self.wanted[setting] = data
        self._failures.pop(setting, None)

    def inhibit(self, inhibited: bool) -> None:
        """Want acceptance off or on (C3)."""
        self.set(Command.SET_INHIBIT, bytes([inhibited]))

    def take(self, codes: frozenset[int]) -> None:
        """Want exactly the notes of these escrow codes (C0): bit 0 is slot 61, a set bit disables."""
        slots = range(EscrowCode.SLOT_1, EscrowCode.SLOT_8 + 1)
        self.set(Command.SET_ENABLE, bytes([sum((code not in codes) << at for at, code in enumerate(slots)), 0]))

    @property
    def ready(self) -> bool:
        """True once the table is known and all settings are confirmed or given up."""
        return self.table is not None and not self._to_set_up()

    # What it sends

    def next_frame(self, now_ms: int) -> bytes | None:
        """Return the frame to send now, None if there is nothing to send. `now_ms` never goes backwards."""
        if self._waiting is not None:
            if now_ms < self._deadline:
                return None
            self._timed_out()
        if self._ack and not self.polls_only:
            return self._send_ack(now_ms)
        command = self._action() or (Command.STATUS_REQUEST if now_ms >= self._poll_due else None)
        return None if command is None else self._send(command, now_ms)

    def _timed_out(self) -> None:
        # A poll follows before anything is repeated: the device may have done it, and only its answer was lost.
        self.timeouts += 1
        self._unanswered, self._waiting = self._waiting, None
        self._failed(self._unanswered, NO_ANSWER)
        self._poll_due = 0

    def _action(self) -> Command | None:
        if self.polls_only or not self._fresh:
            return None
        if self._queued is not None:
            return self._queued
        if self.status in POWER_UPS or (self._reset_wanted and self.status in AT_REST | ERRORS):
            return Command.RESET
        # One that is never answered must not keep the others waiting.
        return min(self._to_set_up(), key=lambda command: command == self._unanswered, default=None)

    def _to_set_up(self) -> list[Command]:
        """Reads and settings that are due in the present status, in order."""
        reads = [c for c in READS if c not in self._read] if self.status in IN_SERVICE else []
        settings = [c for c in SETTINGS if self._confirmed.get(c) != self.wanted[c]] if self.status in AT_REST else []
        return [c for c in reads + settings if self._failures[c] < GIVE_UP]

    def _failed(self, command: Command | None, weight: int) -> None:
        self._fresh = False
        if command in READS or command in SETTINGS:
            self._failures[Command(command)] += weight

    def _send(self, command: Command, now_ms: int) -> bytes:
        if command in ACTIONS:
            self._queued = None
            self._fresh = False
        self._waiting = command
        self._deadline = now_ms + self.settings.reply_ms
        self._poll_due = now_ms + self._poll_period()
        return encode(command, self.wanted.get(command, b""))

    def _send_ack(self, now_ms: int) -> bytes:
        # Nothing answers an ACK; the next poll shows what came of it.
        self._ack = False
        self._fresh = False
        self._poll_due = now_ms + self.settings.poll_ms
        return encode(Command.ACK)

    def _poll_period(self) -> int:
        relaxed = self.settings.interrupt and self.status in (Status.IDLE, Status.DISABLED)
        return self.settings.keepalive_ms if relaxed else self.settings.poll_ms

    # What it hears

    def received(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        """Take one frame of the device; return what it means."""
        self._heard_at = now_ms
        cmd = frame.cmd
        if cmd == Reply.ENQ:
            self._poll_due = now_ms
            return []
        if cmd == Reply.ACK:
            return self._acked()
        if cmd == Reply.INVALID_COMMAND:
            return self._invalid()
        if cmd in READS:
            return self._answered(Command(cmd), frame.data)
        if cmd in SETTINGS:
            return self._echoed(Command(cmd), frame.data, now_ms)
        return self._status_seen(frame, now_ms)

    def _acked(self) -> list[HostEvent]:
        if self._waiting in ACTIONS:
            self._reset_wanted &= self._waiting != Command.RESET
            self._waiting = None
            self._queued = None
        else:
            self.unsolicited += 1
        return []

    def _invalid(self) -> list[HostEvent]:
        self.invalid += 1
        command, self._waiting = self._waiting, None
        if command in READS or command in SETTINGS:
            return self._refused(Command(command), "the device calls it an invalid command")
        return []

    def _refused(self, command: Command, why: str) -> list[HostEvent]:
        self._failed(command, REFUSAL)
        return [Refused(f"Command {command:02x} ({command_text(command)})", why)]

    def _finished_waiting_for(self, command: Command) -> None:
        if self._waiting == command:
            self._waiting = None

    def _answered(self, command: Command, data: bytes) -> list[HostEvent]:
        self._finished_waiting_for(command)
        if command == Command.VERSION:
            self.version = data.decode("ascii", "replace").strip()
            self._read.add(command)
            return [VersionRead(self.version)]
        try:
            self.table = parse_currency_table(data)
        except ValueError as error:
            return self._refused(command, str(error))
        self._read.add(command)
        return [TableRead(self.table)]

    def _echoed(self, setting: Command, data: bytes, now_ms: int) -> list[HostEvent]:
        # Whatever it echoes is what it holds, even if the echo comes late: another value is simply set again.
        self._confirmed[setting] = data
        self._set_up_at = now_ms
        awaited = self._waiting == setting
        self._finished_waiting_for(setting)
        if data != self.wanted[setting]:
            return self._refused(setting, f"the device echoes {data.hex(' ') or 'nothing'}") if awaited else []
        self._failures.pop(setting, None)
        return []

    def _status_seen(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        if frame.cmd not in Status._value2member_map_:
            self.strange += 1
        self._finished_waiting_for(Command.STATUS_REQUEST)
        self._ack = False
        self._queued = None
        self._fresh = True
        self._reset_wanted &= frame.cmd != Status.INITIALISE
        self._forget_settings(frame.cmd, now_ms)
        self.status = frame.cmd
        return [StatusSeen(frame.cmd, frame.data)]

    def _forget_settings(self, status: int, now_ms: int) -> None:
        entered = status == Status.INITIALISE and self.status != status
        stuck = status == Status.INITIALISE and now_ms - self._set_up_at > SETTLE_MS and not self._to_set_up()
        if status in POWER_UPS or entered or stuck:
            self._confirmed.clear()
            self._read.clear()
            self._failures.clear()


Host, Settings = Id003Host, HostSettings
