"""What a ccTalk validator's event counter says: which events are news, which were lost, when the device started anew.

Nothing is acknowledged on this wire. The device counts its events and repeats the last five in every answer; whoever
remembers the counter knows what is news. `mark` is that memory as text: kept with what followed from an event, it lets
the next life of a host go on where this one ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from pitbench.protocols.cctalk import KEPT_EVENTS, LAST_COUNT, Code, Event, Events, counted

AT_START = Events(0, (Event(0, 0),) * KEPT_EVENTS)
# More events than this between two polls are not believed: the counter started anew.
BELIEVABLE = 100
# After one of these no bill is held any more; one with a bill type ends it too.
ENDS = frozenset(
    Event(0, code)
    for code in (
        Code.BILL_RETURNED,
        Code.INVALID_BILL,
        Code.INVALID_BILL_TRANSPORT,
        Code.BILL_INHIBITED,
        Code.BILL_INHIBITED_BY_SWITCH,
        Code.BILL_PULLED_BACK,
        Code.UNKNOWN_BILL_STACKED,
    )
)


@dataclass(frozen=True)
class Happening:
    """One step of the counter: an event; or `restarted`, the device began at 0; or `lost`, so many events unseen."""

    event: Event | None = None
    restarted: bool = False
    lost: int = 0


def held(events: Sequence[Event]) -> Event | None:
    """Return the event by which a bill or barcode is in escrow after these (newest first), None if none is."""
    for event in events:
        if event.escrow:
            return event
        if event.a > 0 or event in ENDS:
            return None
    return None


class EventTrail:
    """Happenings of a device, each given out once.

    Attributes: `waiting` (happenings that nobody was told of yet, oldest first).
    """

    def __init__(self) -> None:
        self.waiting: deque[Happening] = deque()
        self._heard: Events | None = None
        self._told: Events | None = None
        self._restart_expected = False

    @property
    def mark(self) -> str | None:
        """Counter and events up to the last one told, in hex; None before anything is known."""
        return None if self._told is None else self._told.data.hex()

    @property
    def told(self) -> tuple[Event, ...]:
        """Events that were told or are history, newest first, at most five."""
        return () if self._told is None else self._told.events

    def resume(self, mark: str) -> None:
        """Go on where another life ended; before anything is heard. Raises ValueError if that isn't a mark."""
        data = bytes.fromhex(mark)
        if len(data) % 2 == 0:
            raise ValueError(f"'{mark}' isn't a counter with events")
        self._told = self._heard = Events(data[0], tuple(Event(*data[at : at + 2]) for at in range(1, len(data), 2)))

    def expect_restart(self) -> None:
        """A reset was carried out: a counter of 0 is news even after a 0."""
        self._restart_expected = True

    def hear(self, now: Events) -> None:
        """Take the device's answer, and find what is news in it.

        The first one without a mark is history, except that a counter of 0 is a start.
        """
        before, self._heard = self._heard, now
        if before is None and now.counter:
            self._told = now
        elif now.counter == 0:
            if before is None or before.counter or self._restart_expected:
                self.waiting.append(Happening(restarted=True))
            self._restart_expected = False
        elif before is not None:
            self._compare(before, now)

    def tell(self) -> Happening:
        """Give out the oldest one; `mark` is past it from now on."""
        first = self.waiting.popleft()
        before = self._told or AT_START
        if first.event:
            self._told = Events(_later(before.counter, 1), (first.event, *before.events)[:KEPT_EVENTS])
        else:
            self._told = AT_START if first.restarted else Events(_later(before.counter, first.lost), ())
        return first

    def _compare(self, before: Events, now: Events) -> None:
        count = counted(before.counter, now.counter)
        if count > BELIEVABLE or not _continues(before, now, count):
            # The counter went through 0 unseen.
            self.waiting.append(Happening(restarted=True))
            count = now.counter
        if count > KEPT_EVENTS:
            self.waiting.append(Happening(lost=count - KEPT_EVENTS))
        self.waiting.extend(Happening(event) for event in reversed(now.events[:count]))


def _later(counter: int, count: int) -> int:
    return counter if count == 0 else (counter + count - 1) % LAST_COUNT + 1


def _continues(before: Events, now: Events, count: int) -> bool:
    """Whether what was heard before still stands behind the new events, as far as both reach."""
    return all(old == kept for old, kept in zip(before.events, now.events[count:], strict=False))
