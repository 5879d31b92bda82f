"""What a selector may do, as a state chart of `transitions`.

Written from 13:69E-1.13B(f): a press, a number; not where the wagers of 13:69F-11.17 are offered; 1.28G(c): no second
selection, and nothing that misleads; 1.28P(g), (j): a malfunction ends operation until someone has seen to it, and then
the round is as it was.
"""

from __future__ import annotations

from pitbench_hil.chart import Edge, Follower, Row, edges_in_words, edges_of

STATES = ("power up", "initialise", "idle", "selecting", "shown", "locked out", "error")
ANY = STATES[1:-1]

ROWS: tuple[Row, ...] = (
    ("passed", ("initialise",), ("idle",), "a self-test before anything else, 1.28P(k)"),
    ("passed", ("initialise",), ("shown",), "the round that was open, with its number, 1.28P(j)"),
    ("passed", ("initialise",), ("locked out",), "a table where it may not be used, 1.13B(f)"),
    ("select", ("idle", "shown"), ("selecting",), "by itself, from a press on, 1.13B(f)"),
    ("drawn", ("selecting",), ("shown",), "the number that was drawn, 1.28G(c)1"),
    ("done", ("shown",), ("idle",), "no number of a hand that is over, 1.28G(c)3"),
    ("configured", ("idle",), ("locked out",), "the table offers the wagers of 13:69F-11.17, 1.13B(f)"),
    ("configured", ("locked out",), ("idle",), "it doesn't, or plays another game"),
    ("fault", ANY, ("error",), "1.28P(g)"),
    ("clear", ("error",), ("initialise",), "by the key, with no cause there any more"),
)


def edges() -> set[Edge]:
    """Every (source, trigger, destination) that the chart allows."""
    return edges_of(ROWS)


class Chart(Follower):
    """Follows a selector from its status; a start begins at "power up"."""

    def __init__(self, state: str = "power up") -> None:
        start = {("power up", "start", "initialise"), ("power up", "start", "error")}
        super().__init__(STATES, edges() | start, state)


# The firmware's own names for states and events, in the chart's words. Used to compare, not to build the chart.
FIRMWARE_STATES = {"power_up": "power up", "initialize": "initialise", "locked": "locked out"}
FIRMWARE_EVENTS: dict[str, str] = {}


def firmware_edges(rows: list[list[str]]) -> set[Edge]:
    """The rows of the device's own table (state, event, guard, next) in the chart's words."""
    return edges_in_words(rows, FIRMWARE_STATES, FIRMWARE_EVENTS)
