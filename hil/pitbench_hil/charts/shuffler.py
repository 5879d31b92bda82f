"""What a card shuffler may do, as a state chart of `transitions`.

Written from 13:69E-1.28X: (e) a door halts dealing, (f) and G(c) what is dealt was shuffled whole, (j) an error ends
operation until someone has seen to it; and from what people do at a table: load, start, deal, unload.
"""

from __future__ import annotations

from pitbench_hil.chart import Edge, Follower, Row, edges_in_words, edges_of

STATES = (
    "power up",
    "initialise",
    "idle",
    "shuffling",
    "ready",
    "dealing",
    "recycling",
    "unshuffled",
    "unloading",
    "error",
)
ANY = STATES[1:-1]

ROWS: tuple[Row, ...] = (
    ("passed", ("initialise",), ("idle",), "a self-test before anything else, 1.28X(h)"),
    ("passed", ("initialise",), ("unshuffled",), "cards inside after an error are nobody's shuffle, 1.28G(c)"),
    ("start", ("idle",), ("shuffling",), "cards are loaded"),
    ("shuffled", ("shuffling",), ("ready",), "all in, and the right cards, 1.18A(c)2ii"),
    ("deal", ("ready",), ("dealing",), "one card"),
    ("hand", ("ready",), ("dealing",), "the cards of a hand"),
    ("dealt", ("dealing",), ("ready",), "cards are left"),
    ("dealt", ("dealing",), ("idle",), "that was the last card"),
    ("start", ("ready",), ("recycling",), "a continuous shuffler takes dealt cards back"),
    ("shuffled", ("recycling",), ("ready",), "all back in, each at a random place, 1.28X(f)"),
    ("unload", ("ready", "unshuffled"), ("unloading",), "all cards out, in no order"),
    ("unloaded", ("unloading",), ("idle",), "empty, 1.28X(a)"),
    ("fault", ANY, ("error",), "1.28X(e), (j)"),
    ("clear", ("error",), ("initialise",), "by the key, with no cause there any more"),
)


def edges() -> set[Edge]:
    """Every (source, trigger, destination) that the chart allows."""
    return edges_of(ROWS)


class Chart(Follower):
    """Follows a shuffler from its status; a start begins at "power up"."""

    def __init__(self, state: str = "power up") -> None:
        start = {("power up", "start", "initialise"), ("power up", "start", "error")}
        super().__init__(STATES, edges() | start, state)


# The firmware's own names for states and events, in the chart's words. Used to compare, not to build the chart.
FIRMWARE_STATES = {"power_up": "power up", "initialize": "initialise", "spoiled": "unshuffled"}
FIRMWARE_EVENTS: dict[str, str] = {}


def firmware_edges(rows: list[list[str]]) -> set[Edge]:
    """The rows of the device's own table (state, event, guard, next) in the chart's words."""
    return edges_in_words(rows, FIRMWARE_STATES, FIRMWARE_EVENTS)
