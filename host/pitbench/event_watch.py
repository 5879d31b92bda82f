"""News of a virtual board, for a person: its power, its crashes, its events."""

from __future__ import annotations

from typing import Any

from pitbench.errors import PitbenchError
from pitbench.link import LinkClient
from pitbench.transport import open_transport
from pitbench.virtual import VirtualBoard

REPLY_S = 0.5


class EventWatch:
    """Looks at a board now and then.

    Args:
        events: whether to look into it over its link too. It is held only for that moment, but each look opens a
            session of its own, which ends that of a program that keeps one.
    """

    def __init__(self, board: VirtualBoard, events: bool = True) -> None:
        self._board = board
        self._asks = events
        self._boots, self._crashes, self._alive = 1, 0, True
        self._inoperable: str | None = None
        self._place: tuple[int | None, int] = (None, 0)

    def news(self) -> list[str]:
        """Lines about what happened since the last call."""
        return [*self._power(), *(self._events() if self._asks and self._board.alive else [])]

    def _power(self) -> list[str]:
        lines = []
        board = self._board
        if board.crashes != self._crashes:
            said = "it stays off" if board.gave_up else "it was started again"
            lines.append(f"the interpreter died, and {said}: read {board.console}")
        if board.alive != self._alive:
            lines.append("power on" if board.alive else "power off: the ports stay, and are silent")
        elif board.boots != self._boots:
            lines.append("restarted")
        self._boots, self._crashes, self._alive = board.boots, board.crashes, board.alive
        return lines

    def _events(self) -> list[str]:
        try:
            with open_transport(self._board.link_path) as transport:
                return self._ask(LinkClient(transport, REPLY_S))
        except PitbenchError:
            # Somebody else uses the link, or the board restarts: next time.
            return []

    def _ask(self, link: LinkClient) -> list[str]:
        identity = link.hello()
        if identity.get("inoperable"):
            return self._refusal(identity["inoperable"])
        boot = identity.get("boot")
        after = self._place[1] if self._place[0] == boot else 0
        page = link.do("events", after=after)
        events = page["events"]
        self._place = (boot, events[-1][0] if events else after)
        gap = ["… some events were missed"] if page.get("gap") else []
        return gap + [event_line(event) for event in events]

    def _refusal(self, why: str) -> list[str]:
        before, self._inoperable = self._inoperable, why
        return [] if why == before else [f"inoperable: {why}"]


def event_line(event: list[Any]) -> str:
    """One event [number, milliseconds, what, detail] for a person."""
    _, t, what, detail = event
    return f"{t / 1000:10.3f} s  {what} {'' if detail is None else detail}".rstrip()
