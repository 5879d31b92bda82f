"""The SSP host (master), sans-IO: what to send next, and what a reply means in ID-003's words.

A poll tells the device to take what is in escrow, so while its user decides the host holds (18) instead of polling, and
a host that has just started holds before its first poll. What tells of money is told again and again, by the same
request with the same SEQ, until the user has it for good: until `acknowledge` for a credit, and until the journal takes
entries again for an outcome at power-up. Then an event ack (57) lets the device forget it, or the next SEQ where it
knows no poll with ack (56). A lost, late, doubled or damaged frame costs time and nothing else.

What a device told by plain poll to a host that died before it could read it, is lost to the next host: SSP says such
things once. Its kiosk finds a note without an outcome, and leaves it to an attendant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pitbench.errors import UnknownName
from pitbench.protocols import id003
from pitbench.protocols.acceptor_host import HostEvent, Refused, StatusSeen, VersionRead
from pitbench.protocols.host_patience import Listener
from pitbench.protocols.id003 import ERRORS, Denomination, EscrowCode, Status
from pitbench.protocols.ssp import (
    ADDRESS,
    Command,
    Decoder,
    Frame,
    Reply,
    TicketState,
    parse_events,
    parse_ticket,
)
from pitbench.protocols.ssp_crypto import FIXED_KEY, KeyExchange, SspCryptoError, number_bytes
from pitbench.protocols.ssp_exchange import Exchange
from pitbench.protocols.ssp_setup import AT_REST, REFUSALS, SetUp, reply_text
from pitbench.protocols.ssp_status import Reading, StatusReader, rejection

Handler = Callable[[bytes, int], list[HostEvent]]

MODES = ("auto", "always", "never")
ACCEPTS = frozenset({id003.Command.STACK_1, id003.Command.STACK_2})


@dataclass(frozen=True)
class SspSettings:
    """How the host talks, and what it sets.

    Args:
        poll_ms, reply_ms, silent_ms: poll period, wait for a reply before the request is sent again, time without any
            frame after which the device counts as silent; milliseconds.
        outcome_ms: how long an accepted item may be without any event before the device counts as at rest, ms.
        address: of the slave.
        protocol: version of the protocol that is asked for first.
        encrypt: `auto` (where the device exchanges keys), `always` or `never`.
        acknowledge: poll with ack; `auto` (where the device knows it), `always` or `never`.
        fixed_key: the key's half that both machines hold, 64 bits.
        barcodes: data of the barcode configuration, readers, format and digits (03 01 12: both, interleaved 2 of 5, 18
            digits); None takes no tickets.

    Raises UnknownName for a mode that there isn't.
    """

    poll_ms: int = 200
    reply_ms: int = 500
    silent_ms: int = 2000
    outcome_ms: int = 3000
    address: int = ADDRESS
    protocol: int = 6
    encrypt: str = "auto"
    acknowledge: str = "auto"
    fixed_key: int = FIXED_KEY
    barcodes: bytes | None = b"\x03\x01\x12"

    def __post_init__(self) -> None:
        for kind in ("encrypt", "acknowledge"):
            if getattr(self, kind) not in MODES:
                raise UnknownName(f"way to {kind}", getattr(self, kind), list(MODES))


class SspHost(Listener):
    """Master of one SSP note validator. `polls_only` holds back everything but polls and holds.

    Counters: `refused` (replies other than OK), `strange` (polls with an unknown event), `timeouts`, `stray` (frames
    that answer nothing).
    """

    def __init__(self, settings: SspSettings | None = None, *, inhibited: bool = False) -> None:
        self.settings = settings or SspSettings()
        super().__init__(self.settings.silent_ms)
        self.decoder = Decoder()
        self.status: int | None = None
        self.table: dict[int, Denomination] | None = None
        self.polls_only = False
        self.refused = self.strange = 0
        self._exchange = Exchange(self.settings.address, self.settings.reply_ms)
        self._reader = StatusReader(self.settings.outcome_ms)
        self._with_ack = self.settings.acknowledge != "never"
        self._can_hold = True
        self._handler: Handler = lambda reply, now_ms: []
        self._opening: deque[tuple[bytes, Handler]] = deque()
        self._keys_refused = 0
        self._plain = self.settings.encrypt == "never"
        self._due = 0
        self._queued: id003.Command | None = None
        self._holding = False
        self._reset_wanted = False
        # True while `status` is newer than the last refusal: nothing is tried twice on one status.
        self._fresh = False
        # Whether the last reply told a status: had again by the same request, it tells it again.
        self._told = False
        # ID-003's data of what is in escrow, empty where that is unknown; None without anything.
        self._escrow: bytes | None = None
        self._ticket_wanted = self._reason_wanted = False
        self._unsettled: Reading | None = None
        self._settle = False
        self._set_up = SetUp(self.settings.protocol, self.settings.barcodes, inhibited)
        self._begin()

    # What its user wants

    def command(self, command: id003.Command) -> None:
        """Stack (1 and 2 are one here), return or hold what is in escrow; the next status withdraws it."""
        self._queued = command

    def acknowledge(self) -> None:
        """The credit that stands is durable: the device may forget it."""
        self._settle = self._unsettled is not None

    def reset(self) -> None:
        """Reset the device once it reports an error, or rests; kept until it is done."""
        self._reset_wanted = True

    def inhibit(self, inhibited: bool) -> None:
        """Want acceptance off or on (09, 0A)."""
        self._set_up.inhibited = inhibited
        self._set_up.retry(Command.ENABLE)

    def take(self, codes: frozenset[int]) -> None:
        """Want exactly the notes of these escrow codes to be taken (02)."""
        self._set_up.taken = codes
        self._set_up.retry(Command.SET_INHIBITS)

    @property
    def ready(self) -> bool:
        """True once the table is known and all settings are confirmed or given up."""
        return not self._opening and self._set_up.complete

    @property
    def encrypted(self) -> bool:
        """Whether requests are sealed now."""
        return self._exchange.session is not None

    @property
    def timeouts(self) -> int:
        return self._exchange.timeouts

    @property
    def stray(self) -> int:
        return self._exchange.stray

    # What it sends

    def next_frame(self, now_ms: int) -> bytes | None:
        """Return the frame to send now, None if there is nothing to send. `now_ms` never goes backwards."""
        if self._exchange.key_lost or self._exchange.crashed(now_ms):
            self._begin()
        if self._exchange.waiting:
            return self._exchange.overdue(now_ms)
        if self._opening:
            return self._open(now_ms)
        if self._unsettled is not None:
            return self._settle_with_ack(now_ms) if self._settle and not self.polls_only else self._again(now_ms)
        if self.polls_only and self._told and self._escrow is None:
            return self._again(now_ms)
        return self._next_request(now_ms)

    def _next_request(self, now_ms: int) -> bytes | None:
        if self._reason_wanted:
            return self._ask(Command.LAST_REJECT, self._reason_told, now_ms)
        if self._ticket_wanted:
            return self._ask(Command.BARCODE_DATA, self._ticket_told, now_ms)
        if self._escrow is not None:
            return self._about_escrow(now_ms)
        return self._errand(now_ms) or (self._poll(now_ms) if now_ms >= self._due else None)

    def _ask(self, command: Command, handler: Handler, now_ms: int) -> bytes:
        self._handler = handler
        return self._exchange.ask(bytes((command,)), now_ms)

    def _poll(self, now_ms: int) -> bytes:
        self._due = now_ms + self.settings.poll_ms
        return self._ask(Command.POLL_WITH_ACK if self._with_ack else Command.POLL, self._polled, now_ms)

    def _about_escrow(self, now_ms: int) -> bytes | None:
        """Take, give back or hold what is in escrow: any poll takes it."""
        wanted, self._queued = (None, self._queued) if self.polls_only else (self._queued, None)
        if wanted in ACCEPTS:
            self._reader.accepted(now_ms)
            return self._poll(now_ms)
        self._holding |= wanted in (id003.Command.HOLD, id003.Command.WAIT)
        if wanted == id003.Command.RETURN or not self._can_hold:
            return self._ask(Command.REJECT, self._rejected, now_ms)
        if now_ms < self._due:
            return None
        self._due = now_ms + self.settings.poll_ms
        return self._ask(Command.HOLD, self._held, now_ms)

    def _again(self, now_ms: int) -> bytes | None:
        """Have the last reply again, for a user who could not make it durable."""
        if now_ms < self._due:
            return None
        self._due = now_ms + self.settings.poll_ms
        return self._exchange.again(now_ms)

    def _settle_with_ack(self, now_ms: int) -> bytes | None:
        """Let the device forget what its user now has for good."""
        if self._with_ack:
            return self._ask(Command.EVENT_ACK, self._settled, now_ms)
        # With plain polls, it is the next SEQ that says so.
        self._unsettled = None
        self._due = now_ms
        return self._next_request(now_ms)

    def _errand(self, now_ms: int) -> bytes | None:
        """The reset that is wanted, or the next thing to read or set."""
        if self.polls_only or not self._fresh:
            return None
        if self._reset_wanted and self.status in AT_REST | ERRORS:
            return self._ask(Command.RESET, self._reset_told, now_ms)
        lacking = self._set_up.lacking(self.status)
        return self._ask_to_set_up(lacking[0], now_ms) if lacking else None

    def _ask_to_set_up(self, command: Command, now_ms: int) -> bytes:
        asked = self._set_up.wanted(command)

        def done(reply: bytes, at_ms: int) -> list[HostEvent]:
            told = self._set_up.done(command, asked, reply, at_ms)
            # Nothing is tried twice on one status.
            self._fresh = self._set_up.confirmed(command)
            self.table = self._set_up.table
            return [self._with_encryption(event) for event in told]

        self._handler = done
        return self._exchange.ask(self._set_up.request(command), now_ms)

    def _with_encryption(self, event: HostEvent) -> HostEvent:
        if not isinstance(event, VersionRead):
            return event
        return VersionRead(f"{event.text}, {'encrypted' if self.encrypted else 'not encrypted'}")

    # Opening: sync, keys, and whether something is in escrow already

    def _begin(self) -> None:
        """Begin anew with a sync. What the device hasn't been told is durable it tells again, if it knows how."""
        self._opening = deque([(bytes((Command.SYNC,)), self._synced)])
        self._exchange.waiting = False
        self._exchange.key_lost = False
        self._unsettled = None
        self._ticket_wanted = self._reason_wanted = False
        self._fresh = False

    def _open(self, now_ms: int) -> bytes | None:
        if now_ms < self._due:
            return None
        data, self._handler = self._opening[0]
        if data[0] == Command.SYNC:
            return self._exchange.start(now_ms)
        return self._exchange.ask(data, now_ms)

    def _synced(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        self._opening.clear()
        if not self._plain:
            keys = KeyExchange()
            for command, number, handler in (
                (Command.SET_GENERATOR, keys.generator, self._key_number_taken),
                (Command.SET_MODULUS, keys.modulus, self._key_number_taken),
                (Command.KEY_EXCHANGE, keys.host_number, partial(self._key_agreed, keys)),
            ):
                self._opening.append((bytes((command,)) + number_bytes(number), handler))
        self._opening.append((bytes((Command.HOLD,)), self._looked))
        # Another device may answer now, or the same one with a key.
        self._can_hold, self._with_ack = True, self.settings.acknowledge != "never"
        self._set_up.retry(Command.POLL_WITH_ACK)
        return []

    def _key_number_taken(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        if reply[0] != Reply.OK:
            return self._no_key(reply, now_ms)
        self._opening.popleft()
        return []

    def _key_agreed(self, keys: KeyExchange, reply: bytes, now_ms: int) -> list[HostEvent]:
        if reply[0] != Reply.OK or len(reply) != 9:
            return self._no_key(reply, now_ms)
        try:
            session = keys.session(int.from_bytes(reply[1:], "little"), self.settings.fixed_key)
        except SspCryptoError:
            return self._no_key(reply, now_ms)
        self._exchange.agree(session)
        self._keys_refused = 0
        self._opening.popleft()
        return []

    def _no_key(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        """The device exchanges no keys, or not now: try again, go on without, or say that nothing goes on."""
        self._keys_refused += 1
        for_good = reply[0] == Reply.UNKNOWN_COMMAND or self._keys_refused >= REFUSALS
        if for_good and self.settings.encrypt == "auto":
            self._plain = True
        self._begin()
        self._due = now_ms + self.settings.poll_ms
        if for_good and self.settings.encrypt == "always" and self._keys_refused == REFUSALS:
            return [Refused("The exchange of keys", reply_text(reply))]
        return []

    def _looked(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        """The first hold, which tells whether a poll would take something."""
        self._opening.clear()
        self._due = now_ms
        if reply[0] != Reply.OK:
            self._escrow = None
            return []
        if self._escrow is None:
            self._escrow = b""
            self._ticket_wanted = self.settings.barcodes is not None
        return [] if self._ticket_wanted else self._tell_escrow()

    def _key_demanded(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        """The device doesn't take this without a key: exchange one, unless that is not wanted."""
        if self.settings.encrypt != "never":
            self._plain = False
            self._begin()
            self._due = now_ms + self.settings.poll_ms
            return []
        self._keys_refused += 1
        why = "the device takes no such request that isn't encrypted"
        told: list[HostEvent] = [Refused("Talking without encryption", why)] if self._keys_refused == 1 else []
        return told + self._handler(reply, now_ms)

    # What it hears

    def received(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        """Take one frame of the device; return what it means."""
        self._heard_at = now_ms
        reply = self._exchange.answered(frame)
        if reply is None:
            return []
        self._told = False
        self.refused += reply[0] != Reply.OK
        if reply[0] == Reply.KEY_NOT_SET and self._handler != self._synced:
            return self._key_demanded(reply, now_ms)
        return self._handler(reply, now_ms)

    def _tell(self, *statuses: StatusSeen) -> list[HostEvent]:
        for seen in statuses:
            self.status = seen.status
        self._queued = None
        self._fresh = True
        self._told = bool(statuses)
        return list(statuses)

    def _polled(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        if reply[0] != Reply.OK:
            return self._poll_refused(reply)
        events, unknown = parse_events(reply[1:])
        self.strange += bool(unknown)
        reading = self._reader.read(events, unknown, now_ms)
        if reading.reset:
            self._set_up.forget()
        self._set_up.retry(Command.POLL_WITH_ACK)
        self._escrow, self._holding = reading.escrow, False
        self._ticket_wanted, self._reason_wanted = reading.ticket, reading.rejected
        self._unsettled = reading if reading.credit or reading.settled else None
        self._settle = reading.settled and not reading.credit
        told = self._tell(*reading.statuses)
        self._set_up.enable_anew(self.status, now_ms)
        return told

    def _poll_refused(self, reply: bytes) -> list[HostEvent]:
        if not self._with_ack:
            return []
        told = self._set_up.refusal(Command.POLL_WITH_ACK, reply)
        if self.settings.acknowledge == "always":
            return told
        self._with_ack = not self._set_up.given_up(Command.POLL_WITH_ACK)
        return []

    def _settled(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        self._unsettled = None
        self._due = now_ms
        return []

    def _tell_escrow(self) -> list[HostEvent]:
        if self._holding or not self._escrow:
            return self._tell(StatusSeen(Status.HOLDING))
        return self._tell(StatusSeen(Status.ESCROW, self._escrow))

    def _held(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        if reply[0] == Reply.OK:
            return self._tell_escrow()
        if reply[0] == Reply.CANNOT_BE_PROCESSED:
            self._escrow = None
            self._due = now_ms
        else:
            self._can_hold = False
        return []

    def _rejected(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        # Gone or not there: the next poll tells.
        self._reader.returning = reply[0] == Reply.OK
        self._escrow = None
        self._due = now_ms
        return []

    def _reason_told(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        self._reason_wanted = False
        self._reader.reject_told()
        known = reply[0] == Reply.OK and len(reply) == 2
        return self._tell(rejection(reply[1] if known else None))

    def _ticket_told(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        self._ticket_wanted = False
        number = _ticket_in_escrow(reply)
        if number:
            self._escrow = bytes((EscrowCode.BARCODE,)) + number
        elif self._escrow is None:
            # A ticket whose number can't be had is nothing to decide about.
            self._escrow, self._queued = b"", id003.Command.RETURN
            return []
        return self._tell_escrow()

    def _reset_told(self, reply: bytes, now_ms: int) -> list[HostEvent]:
        self._reset_wanted = False
        if reply[0] != Reply.OK:
            return [Refused("The reset", reply_text(reply))]
        self._begin()
        return []


def _ticket_in_escrow(reply: bytes) -> bytes:
    """The digits of the ticket that a reply says is in escrow; empty without one."""
    try:
        ticket = parse_ticket(reply[1:]) if reply[0] == Reply.OK else None
    except ValueError:
        ticket = None
    return ticket.number.encode("ascii", "replace") if ticket and ticket.state == TicketState.IN_ESCROW else b""


Host, Settings = SspHost, SspSettings
