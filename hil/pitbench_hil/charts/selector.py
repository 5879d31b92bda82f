"""What a selector may do, as a state chart of `transitions`.

Written from 13:69E-1.13B(f): a press, a number; not where the wagers of 13:69F-11.17 are offered; 1.28G(c): no second
selection, and nothing that misleads; 1.28P(g), (j): a malfunction ends operation until someone has seen to it, and then
the round is as it was.
"""

from __future__ import annotations

from pitbench_hil.chart import STARTS, Chart, Row

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

CHART = Chart(
    STATES, ROWS, {"power_up": "power up", "initialize": "initialise", "locked": "locked out"}, unnamed=STARTS
)
