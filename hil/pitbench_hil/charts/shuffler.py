"""What a card shuffler may do, as a state chart of `transitions`.

Written from 13:69E-1.28X: (e) a door halts dealing, (f) and G(c) what is dealt was shuffled whole, (j) an error ends
operation until someone has seen to it; and from what people do at a table: load, start, deal, unload.
"""

from __future__ import annotations

from pitbench_hil.chart import STARTS, Chart, Row

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

CHART = Chart(
    STATES, ROWS, {"power_up": "power up", "initialize": "initialise", "spoiled": "unshuffled"}, unnamed=STARTS
)
