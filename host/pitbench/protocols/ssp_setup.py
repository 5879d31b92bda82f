"""What an SSP host reads from a note validator and sets in it, and how far it has come with that."""

from __future__ import annotations

from pitbench.protocols.acceptor_host import HostEvent, Refused, TableRead, VersionRead
from pitbench.protocols.id003 import Denomination, Status
from pitbench.protocols.ssp import Channel, Command, Reply, Setup, code_name, parse_setup
from pitbench.protocols.ssp_status import escrow_code

# What is refused this often is given up until the device starts anew.
REFUSALS = 3
# A device that doesn't know a version of the protocol is offered the one below, down to this one.
LOWEST_PROTOCOL = 4
# DISABLED standing this long after the device was enabled: it has forgotten, or was busy.
SETTLE_MS = 1000
# Bits of the barcode inhibit that are always 1.
_UNUSED_INHIBITS = 0xFC
_TICKETS_OFF = 0x02

# A device may well be without these.
NAMES = (Command.FIRMWARE_VERSION, Command.DATASET_VERSION, Command.SERIAL_NUMBER)
READS = (Command.HOST_PROTOCOL, Command.SETUP_REQUEST, *NAMES)
# Acceptance comes last: it opens the device for business. It is known by ENABLE, and may be sent as DISABLE.
SETTINGS = (
    Command.SET_BARCODE_CONFIGURATION,
    Command.SET_BARCODE_INHIBIT,
    Command.SET_INHIBITS,
    Command.ENABLE,
)
# Where settings are sent: with no item under way, so that a running transaction is never disturbed.
AT_REST = frozenset({Status.IDLE, Status.DISABLED, Status.INITIALISE})


class SetUp:
    """What is wanted, what is confirmed, and what was given up.

    Attributes: `table` (escrow code → denomination), `taken` (escrow codes, None for all), `inhibited`.

    Args:
        protocol: version that is asked for first.
        barcodes: data of the barcode configuration; None takes no tickets.
        inhibited: acceptance is off.
    """

    def __init__(self, protocol: int, barcodes: bytes | None, inhibited: bool) -> None:
        self.table: dict[int, Denomination] | None = None
        self.taken: frozenset[int] | None = None
        self.inhibited = inhibited
        self._first_protocol = self._protocol = protocol
        self._barcodes = barcodes
        self._setup: Setup | None = None
        self._names: dict[Command, str] = {}
        self._confirmed: dict[Command, bytes] = {}
        self._failures: dict[Command, int] = {}
        self._enabled_at = 0

    def forget(self) -> None:
        """The device has started anew: all is read and set again."""
        self._confirmed.clear()
        self._failures.clear()
        self._protocol = self._first_protocol

    def retry(self, command: Command) -> None:
        """What was refused may be tried again."""
        self._failures.pop(command, None)

    def given_up(self, command: Command) -> bool:
        """Whether it was refused too often."""
        return self._failures.get(command, 0) >= REFUSALS

    def confirmed(self, command: Command) -> bool:
        """Whether the device took it, or told it."""
        return command in self._confirmed

    @property
    def complete(self) -> bool:
        """Whether all is read, and all settings are confirmed or given up."""
        return self.table is not None and not self.lacking(Status.IDLE)

    def lacking(self, status: int | None) -> list[Command]:
        """What may be read or set in this status, and isn't yet; in order."""
        commands = READS + SETTINGS if status in AT_REST else READS
        open_ones = [c for c in commands if not (self.given_up(c) or self._without(c))]
        return [c for c in open_ones if self._confirmed.get(c) != self.wanted(c)]

    def _without(self, command: Command) -> bool:
        """Whether there is nothing to set: no tickets are wanted, or the channels aren't known."""
        no_tickets = command == Command.SET_BARCODE_CONFIGURATION and self._barcodes is None
        return no_tickets or (self._setup is None and command in SETTINGS)

    def wanted(self, command: Command) -> bytes:
        """The data of a command; of ENABLE a byte that is 1 where acceptance is off."""
        if command == Command.HOST_PROTOCOL:
            return bytes((self._protocol,))
        if command == Command.SET_BARCODE_CONFIGURATION:
            return self._barcodes or b""
        if command == Command.SET_BARCODE_INHIBIT:
            return bytes((_UNUSED_INHIBITS | _TICKETS_OFF * (self._barcodes is None),))
        if command == Command.SET_INHIBITS:
            return self._inhibits()
        return bytes((self.inhibited,)) if command == Command.ENABLE else b""

    def _inhibits(self) -> bytes:
        """Data of 02: bit 0 of the first byte is channel 1, a set bit takes its notes."""
        channels = [channel.number for channel in self._setup.channels] if self._setup else []
        taken = [c for c in channels if self.taken is None or escrow_code(c) in self.taken]
        return sum(1 << (channel - 1) for channel in taken if channel <= 16).to_bytes(2, "little")

    def request(self, command: Command) -> bytes:
        """Return the request, command byte first."""
        if command == Command.ENABLE:
            return bytes((Command.DISABLE if self.inhibited else command,))
        return bytes((command,)) + self.wanted(command)

    def done(self, command: Command, asked: bytes, reply: bytes, now_ms: int) -> list[HostEvent]:
        """Take a reply to a command that was sent while `asked` was wanted."""
        if reply[0] != Reply.OK and command not in NAMES:
            return self._refused(command, reply)
        told: list[HostEvent] = []
        if command == Command.SETUP_REQUEST:
            try:
                told = self._described(parse_setup(reply[1:]))
            except ValueError as error:
                return self.refusal(command, reply, str(error))
        elif command == Command.ENABLE:
            self._enabled_at = now_ms
        elif command in NAMES:
            told = self._named(command, reply[1:] if reply[0] == Reply.OK else b"")
        self._confirmed[command] = asked
        self.retry(command)
        return told

    def _refused(self, command: Command, reply: bytes) -> list[HostEvent]:
        if command == Command.HOST_PROTOCOL and reply[0] == Reply.FAIL and self._protocol > LOWEST_PROTOCOL:
            self._protocol -= 1
            return []
        return self.refusal(command, reply)

    def refusal(self, command: Command, reply: bytes, why: str = "") -> list[HostEvent]:
        """Count a refusal; a command that the device doesn't know is given up at once. Tells when one is given up."""
        before = self._failures.get(command, 0)
        self._failures[command] = before + (REFUSALS if reply[0] == Reply.UNKNOWN_COMMAND else 1)
        if not before < REFUSALS <= self._failures[command]:
            return []
        return [Refused(f"Command {command:02x} ({code_name(command, Command)})", why or reply_text(reply))]

    def _described(self, setup: Setup) -> list[HostEvent]:
        self.table = _table(setup)
        self._setup = setup
        return [TableRead(self.table)]

    def _named(self, command: Command, data: bytes) -> list[HostEvent]:
        """Keep a part of what the device is called; the last one completes it."""
        serial = command == Command.SERIAL_NUMBER
        self._names[command] = str(int.from_bytes(data, "big")) if serial else data.decode("ascii", "replace")
        if not serial:
            return []
        firmware, dataset, number = (self._names.get(part, "").strip("\0 ") for part in NAMES)
        return [VersionRead(f"{firmware} {dataset}, serial number {number}, SSP version {self._protocol}")]

    def enable_anew(self, status: int | None, now_ms: int) -> None:
        """A device that says it is disabled, a while after it was enabled, is told again."""
        if status == Status.DISABLED and now_ms - self._enabled_at > SETTLE_MS:
            self._confirmed.pop(Command.ENABLE, None)


def reply_text(reply: bytes) -> str:
    """Words for a reply that isn't OK."""
    return f"the device answers {code_name(reply[0], Reply)}"


def _table(setup: Setup) -> dict[int, Denomination]:
    """Escrow code → denomination. Raises ValueError if a note isn't worth whole units of its currency."""
    odd = [channel.number for channel in setup.channels if channel.cents % 100]
    if odd:
        raise ValueError(f"channel {odd[0]} isn't worth whole units of a currency")
    return {code: _denomination(code, channel) for channel in setup.channels for code in [escrow_code(channel.number)]}


def _denomination(code: int, channel: Channel) -> Denomination:
    return Denomination(code, int(channel.country == "USD"), channel.cents // 100, 0)
