"""What a bill acceptor on ID-003 may do, as a state chart of `transitions`.

Its states are the statuses that the wire can tell apart; "error" stands for 43 to 4A. Its triggers are what a host
sends, what paper does and what time does. Sources: the ID-003 acceptance sequence (11, 12, 13, stack/ACK, 14, 15 held
until the host's ACK, 16, 11), its start-up (40/41/42, reset, 1B until the settings are sent, 1A or 11), and
13:69E-1.28N(f), (g) and (i).
"""

from __future__ import annotations

from pitbench_hil.chart import Chart, Row

STATES = (
    "power up",
    "power up, bill in acceptor",
    "power up, bill in stacker",
    "initialise",
    "disabled",
    "idle",
    "accepting",
    "escrow",
    "holding",
    "stacking",
    "vend valid",
    "stacked",
    "rejecting",
    "returning",
    "error",
)
ESCROWED = ("escrow", "holding")
LEAVING = ("rejecting", "returning")
# 1.28N(i)7: until the settings are there, a reset lasts. 1.28N(g): nor without a passed self-test.
REST = ("idle", "disabled", "initialise", "error")

ROWS: tuple[Row, ...] = (
    ("reset", ("power up", "power up, bill in acceptor"), ("initialise",), "ID-003 start-up"),
    ("reset", ("power up, bill in stacker",), ("initialise",), "only once it was polled: money first, 1.28N(f)"),
    ("ready", ("initialise",), ("idle", "disabled"), "settings there and self-test passed, 1.28N(g)"),
    ("ready", ("initialise",), ("returning",), "a bill found in the path goes back, uncredited"),
    ("ready", ("initialise",), ("initialise", "error"), "not all of it is there yet"),
    ("enable", ("disabled",), ("idle",), "C3 00"),
    ("inhibit", ("idle",), ("disabled",), "C3 01"),
    ("insert", ("idle",), ("accepting",), "11 to 12"),
    ("validated", ("accepting",), ("escrow",), "12 to 13"),
    ("not valid", ("accepting",), ("rejecting",), "1.28N(b)2"),
    ("withdrawn", ("accepting",), REST, "pulled out before it was drawn in"),
    ("stack", ESCROWED, ("stacking",), "41, 42"),
    ("stack", ("escrow",), ("escrow",), "a stack before 13 was polled is about another item: invalid"),
    ("return", ESCROWED, ("returning",), "43"),
    ("hold", ESCROWED, ("holding",), "44"),
    ("host silent", ESCROWED, ("returning",), "no poll for 3 s"),
    ("too late", ESCROWED, ("rejecting",), "10 s in escrow: 17 79"),
    ("past lever", ("stacking",), ("vend valid",), "stack-1 reports at the lever"),
    ("past lever", ("stacking",), ("stacking",), "stack-2 reports once stored"),
    ("stored", ("stacking",), ("vend valid",), "stack-2"),
    ("ack", ("vend valid",), ("stacked", "stacking", "error"), "15 held until the ACK; 14 while the pusher moves"),
    ("ack", ("vend valid",), ("vend valid",), "an ACK before 15 was polled releases nothing: it is unsolicited"),
    ("stored", ("stacking",), ("stacked",), "after the ACK of stack-1"),
    ("told", ("stacked",), REST, "16, then rest"),
    ("left", LEAVING, REST, "the item is out, and the host was told"),
    ("fault", ("stacking",), ("vend valid",), "past the lever it is credited all the same, 1.28N(f)"),
    ("fault", ("accepting", *ESCROWED, "stacking", *LEAVING), ("error",), "the item is held, 1.28N(i)"),
    ("fault", ("accepting", *ESCROWED, "stacking"), ("returning",), "the item goes back, 1.28N(i)"),
    ("fault", ("initialise", "disabled", "idle", "stacking", "stacked"), ("error",), "1.28N(i)"),
    ("reset", ("stacking", "vend valid"), ("power up, bill in stacker",), "a credit not yet acknowledged is kept"),
    (
        "reset",
        ("initialise", "disabled", "idle", "accepting", *ESCROWED, "stacking", "stacked", *LEAVING, "error"),
        ("initialise",),
        "40",
    ),
    ("reset", ("error",), ("error",), "the cause stands"),
    ("cleared", ("error",), ("initialise",), "a self-test after every recovery, 1.28N(g)"),
)

CHART = Chart(
    STATES,
    ROWS,
    {
        "power_up": "power up",
        "power_up_acceptor": "power up, bill in acceptor",
        "power_up_stacker": "power up, bill in stacker",
        "initialize": "initialise",
        "vend_valid": "vend valid",
        "storing": "stacking",
    },
    {
        "host_reset": "reset",
        "enabled": "enable",
        "inhibited": "inhibit",
        "item": "insert",
        "arrived": "validated",
        "invalid": "not valid",
        "gone": "withdrawn",
        "quiet": "host silent",
        "timeout": "too late",
        "past_lever": "past lever",
        "clear": "cleared",
    },
)
