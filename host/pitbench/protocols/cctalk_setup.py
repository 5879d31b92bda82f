"""What the host of a ccTalk bill validator reads from its device and sets in it."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from pitbench.protocols import cctalk
from pitbench.protocols.cctalk import BillId, denomination, parse_bill_id, parse_scaling
from pitbench.protocols.host_patience import GIVE_UP
from pitbench.protocols.id003 import Denomination, EscrowCode

# An empty place of the bill table may be answered by silence; asking it twelve times would take a minute.
NO_BILL = 4
# Codes 61 to 6E are bill types 1 to 14; 6F is a barcode, and 60 is in no table.
CODE_OF_TYPE_0 = 0x60
LAST_TYPE = EscrowCode.BARCODE - CODE_OF_TYPE_0 - 1


class Ask(NamedTuple):
    """A command with its data."""

    command: int
    data: bytes = b""


NEVER_GIVEN_UP = frozenset({cctalk.Command.READ_EVENTS, cctalk.Command.ROUTE_BILL, cctalk.Command.RESET_DEVICE})
IDENTITY = tuple(
    Ask(command)
    for command in (
        cctalk.Command.REQUEST_MANUFACTURER,
        cctalk.Command.REQUEST_PRODUCT_CODE,
        cctalk.Command.REQUEST_SOFTWARE_REVISION,
    )
)
BILLS = tuple(Ask(cctalk.Command.REQUEST_BILL_ID, bytes([number])) for number in range(1, LAST_TYPE + 1))


class SetUp:
    """What was read from the device and set in it, and what failed how often."""

    def __init__(self) -> None:
        self._answers: dict[Ask, bytes] = {}
        self._failures: Counter[Ask] = Counter()
        self._confirmed: dict[Ask, int] = {}
        self._identity_told = self._table_told = False

    def is_read(self, ask: Ask) -> bool:
        """Whether this reads something, and sets nothing."""
        return ask in IDENTITY or ask in BILLS or ask.command == cctalk.Command.REQUEST_SCALING

    def reads(self) -> list[Ask]:
        """Reads that are due, in order."""
        return [ask for ask in (*IDENTITY, *BILLS, *self._scalings()) if ask not in self._answers]

    def settings(self, wanted: list[Ask], stale_ms: int) -> list[Ask]:
        """Settings that are due, in order: not confirmed, or not since `stale_ms`."""
        return [ask for ask in wanted if self._confirmed.get(ask, stale_ms) <= stale_ms and not self._over(ask)]

    def open(self, wanted: list[Ask]) -> bool:
        """Whether anything is neither done nor given up."""
        return bool(self.reads()) or any(ask not in self._confirmed and not self._over(ask) for ask in wanted)

    def holds(self, ask: Ask) -> bool:
        """Whether the device confirmed this setting last."""
        return ask in self._confirmed

    def failed(self, ask: Ask, weight: int) -> bool:
        """Count a failure; true if that was one too many just now. What must be sent is never given up."""
        if ask.command in NEVER_GIVEN_UP:
            return False
        before = self._over(ask)
        self._failures[ask] += weight
        given_up = self._over(ask) and not before
        if given_up and self.is_read(ask):
            self._answers[ask] = b""
        return given_up

    def answered(self, ask: Ask, data: bytes) -> None:
        """Keep the answer to a read. Raises ValueError if it isn't one."""
        if ask.command == cctalk.Command.REQUEST_SCALING:
            parse_scaling(data)
        self._answers[ask] = data

    def confirmed(self, ask: Ask, data: bytes, now_ms: int) -> None:
        """Keep that a setting was acknowledged. Raises ValueError if it wasn't."""
        acked(data)
        self._confirmed = {kept: at for kept, at in self._confirmed.items() if kept.command != ask.command}
        self._confirmed[ask] = now_ms
        self._failures.pop(ask, None)

    def try_again(self, command: int) -> None:
        """Forget how often a command failed."""
        for ask in [ask for ask in self._failures if ask.command == command]:
            del self._failures[ask]

    def forget_settings(self) -> None:
        """The device may hold other settings now."""
        self._confirmed.clear()

    def identity(self) -> str | None:
        """Manufacturer, product and revision, once, as soon as they are read."""
        if self._identity_told or any(ask not in self._answers for ask in IDENTITY):
            return None
        self._identity_told = True
        texts = [self._answers[ask].decode("ascii", "replace").strip() for ask in IDENTITY]
        return " ".join(text for text in texts if text) or "unnamed"

    def table(self) -> tuple[dict[int, Denomination], list[str]] | None:
        """The bill table and why types were left out, once, as soon as it is read."""
        if self._table_told or any(ask not in self._answers for ask in (*BILLS, *self._scalings())):
            return None
        bills = self._bills()
        if len(set(bills.values())) < len(bills):
            self._read_bills_again()
            return None
        self._table_told = True
        return self._worth(bills)

    def _worth(self, bills: dict[int, BillId]) -> tuple[dict[int, Denomination], list[str]]:
        found: dict[int, Denomination] = {}
        left_out = []
        for number, bill in bills.items():
            code = CODE_OF_TYPE_0 + number
            try:
                scaling = parse_scaling(self._answers[_scaling_of(bill)])
                found[code] = denomination(code, bill, scaling)
            except ValueError as error:
                left_out.append(f"type {number}: {error}")
        return found, left_out

    def _bills(self) -> dict[int, BillId]:
        parsed = {ask.data[0]: parse_bill_id(self._answers.get(ask, b"")) for ask in BILLS}
        return {number: bill for number, bill in parsed.items() if bill}

    def _read_bills_again(self) -> None:
        # No two types are one bill: an answer was taken for another's.
        for ask in BILLS:
            self._answers.pop(ask, None)

    def _scalings(self) -> list[Ask]:
        if any(ask not in self._answers for ask in BILLS):
            return []
        return sorted({_scaling_of(bill) for bill in self._bills().values()})

    def _over(self, ask: Ask) -> bool:
        return self._failures[ask] >= (NO_BILL if ask in BILLS else GIVE_UP)


def _scaling_of(bill: BillId) -> Ask:
    return Ask(cctalk.Command.REQUEST_SCALING, bill.country.encode("ascii"))


def acked(data: bytes) -> None:
    """Raises ValueError where the data of a setting's answer aren't those of an ACK."""
    if data:
        raise ValueError(f"the device answers {cctalk.data_text(data)}")
