"""News of a virtual board, for a person: its power, its crashes, its events."""

from __future__ import annotations

from pitbench.errors import PitbenchError
from pitbench.link import LinkClient
from pitbench.transport import open_transport
from pitbench.virtual import VirtualBoard

REPLY_S = 0.5


class EventWatch:
    """Looks into a board now and then; holds its link only for that moment, so that others can use it."""

    def __init__(self, board: VirtualBoard) -> None:
        self._board = board
        self._boots, self._crashes, self._alive = 1, 0, True
        self._inoperable: str | None = None
        self._place: tuple[int | None, int] = (None, 0)

    def news(self) -> list[str]:
        """Lines about what happened since the last call."""
        return [*self._power(), *(self._events() if self._board.alive else [])]

    def _power(self) -> list[str]:
        lines = []
        board = self._board
        if board.crashes != self._crashes:
            lines.append(f"crash: read {board.console}")
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
        return gap + [f"{t / 1000:10.3f} s  {what} {_shown(detail)}".rstrip() for _, t, what, detail in events]

    def _refusal(self, why: str) -> list[str]:
        before, self._inoperable = self._inoperable, why
        return [] if why == before else [f"inoperable: {why}"]


def _shown(detail: object) -> str:
    return "" if detail is None else str(detail)
