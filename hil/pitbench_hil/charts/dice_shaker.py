"""What a dice shaker may do, as a state chart of `transitions`.

Written from 13:69E-1.13A to W, 1.16, 1.16A and 1.28G(c), 1.28P: filled and shut before it shakes, at rest before it
reads, read before it shows, and one result a round; a fault ends operation until someone has seen to it.
"""

from __future__ import annotations

from pitbench_hil.chart import STARTS, Chart, Row

STATES = (
    "power up",
    "initialise",
    "no dice",
    "looking at a fill",
    "idle",
    "shaking",
    "coming to rest",
    "reading",
    "result shown",
    "error",
)
ANY = STATES[1:-1]

ROWS: tuple[Row, ...] = (
    ("passed", ("initialise",), ("no dice",), "a self-test before anything else, 1.28P(k); nobody filled it"),
    ("passed", ("initialise",), ("idle",), "the dice that somebody answers for are in"),
    ("passed", ("initialise",), ("result shown",), "back to the state before, 1.28P(j)"),
    ("fill", ("no dice",), ("looking at a fill",), "two persons, 1.16(f)"),
    ("counted", ("looking at a fill",), ("idle",), "as many dice as the game has, 1.13A to W"),
    ("shake", ("idle",), ("shaking",), "the button"),
    ("shaken", ("shaking",), ("coming to rest",), "the motor stands"),
    ("at rest", ("coming to rest",), ("reading",), "no dice are read while they move"),
    ("read", ("reading",), ("result shown",), "what both readers are sure of, 1.28G(c)1"),
    ("void", ("coming to rest", "reading"), ("shaking",), "a fault, within the bound, 1.28G(c)2"),
    ("next", ("result shown",), ("idle",), "the result is taken away"),
    ("fault", ANY, ("error",), "1.13A(d)1ii, 1.16(l), 1.16A(a), 1.28P(g), (h)"),
    ("clear", ("error",), ("initialise",), "by the key, with no cause there any more"),
)

CHART = Chart(
    STATES,
    ROWS,
    {
        "power_up": "power up",
        "initialize": "initialise",
        "unfilled": "no dice",
        "checking": "looking at a fill",
        "resting": "coming to rest",
        "shown": "result shown",
    },
    {"at_rest": "at rest"},
    unnamed=STARTS,
)
