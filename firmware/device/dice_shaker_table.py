# The state table of the dice shaker, and the conditions that stop it; as device/table.py and device/conditions.py read
# them. "unfilled": no dice are in that two persons answered for.
_ROUND = ("shaking", "resting", "reading")
_ANY = ("initialize", "unfilled", "checking", "idle") + _ROUND + ("shown",)

TABLE = (
    (("initialize",), "passed", "has_result", "shown", None),
    (("initialize",), "passed", "filled", "idle", None),
    (("initialize",), "passed", None, "unfilled", None),
    (("unfilled",), "fill", None, "checking", "look"),
    (("checking",), "counted", None, "idle", "accept_fill"),
    (("idle",), "shake", None, "shaking", "begin_round"),
    (("shaking",), "shaken", None, "resting", "wait_for_rest"),
    (("resting",), "at_rest", None, "reading", "look"),
    (("reading",), "read", None, "shown", "show"),
    (("resting", "reading"), "void", None, "shaking", "shake_again"),
    (("shown",), "next", None, "idle", "take_away"),
    (_ANY, "fault", None, "error", "abort"),
    (("error",), "clear", None, "initialize", "recover"),
)

# Each stays until an attendant with the key has cleared it. What is about the dice stands as long as they are in.
CONDITIONS = (
    ("memory_error", "error", 0, 0, 1, "Memory error: authorised memory clear needed"),
    ("post_failed", "error", 0, 1, 1, "Self-test failed: call a technician"),
    ("tampered", "error", 0, 1, 1, "Tampering found: take the dice out, keep them for the Division"),
    ("lid_open", "error", 0, 1, 1, "Lid was opened: close it, clear with the key, inspect, fill again"),
    ("unlocked", "error", 0, 1, 1, "Not locked: lock it, clear with the key"),
    ("unsecured", "error", 0, 1, 1, "Not secured to the table: secure it, clear with the key"),
    ("die_impossible", "error", 0, 1, 1, "A die whose opposite sides don't make 7: take the dice out"),
    ("dice_wrong", "error", 0, 1, 1, "Wrong number of dice: take them out"),
    ("dice_expired", "error", 0, 1, 1, "Dice in for 24 hours, or nobody knows how long: take them out"),
    ("shaker_stalled", "error", 0, 1, 1, "Shaker does not turn: call a technician"),
    ("rest_unseen", "error", 0, 1, 1, "Sensor of rest doesn't see the dice move: call a technician"),
    ("reader_failed", "error", 0, 1, 1, "Readers see nothing: clean them, clear with the key"),
    ("no_result", "error", 0, 1, 1, "No result: look at the dice, clear with the key"),
    ("host_lost", "error", 0, 1, 1, "Host is silent: look at its cable, clear with the key"),
    ("software_error", "error", 0, 1, 1, "Program error: call a technician"),
)
