# The state table of the selector, and the conditions that stop it (13:69E-1.28P(g)); as device/table.py and
# device/conditions.py read them. "locked": it is configured for a table where it may not be used.
_ANY = ("initialize", "idle", "selecting", "shown", "locked")

TABLE = (
    (("initialize",), "passed", "barred", "locked", None),
    (("initialize",), "passed", "has_result", "shown", "show"),
    (("initialize",), "passed", None, "idle", None),
    (("idle", "shown"), "select", None, "selecting", "begin_round"),
    (("selecting",), "drawn", None, "shown", "show"),
    (("shown",), "done", None, "idle", "take_away"),
    (("idle",), "configured", "barred", "locked", None),
    (("locked",), "configured", "allowed", "idle", None),
    (_ANY, "fault", None, "error", "abort"),
    (("error",), "clear", None, "initialize", "recover"),
)

# Each stays until an attendant with the key has cleared it; all take the number off the display.
CONDITIONS = (
    ("memory_error", "error", 0, 0, 1, "Memory error: authorised memory clear needed"),
    ("entropy_failed", "error", 0, 1, 1, "Random number source failed: call a technician"),
    ("post_failed", "error", 0, 1, 1, "Self-test failed: call a technician"),
    ("service_door", "error", 0, 1, 1, "Service door open: close it, clear with the key"),
    ("housing", "error", 0, 1, 1, "Housing open: close it, clear with the key"),
    ("display_failed", "error", 0, 1, 1, "Display failed: use shaker and dice, call a technician"),
    ("software_error", "error", 0, 1, 1, "Program error: call a technician"),
)
