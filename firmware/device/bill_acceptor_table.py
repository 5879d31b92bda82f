# The state table of the bill acceptor. A row: states, event, guard, next
# state, action. The first row whose state, event and guard fit is taken.
# "error" is shown on the wire as the state of the most severe condition.
_ESCROWED = ("escrow", "holding")
_CARRYING = ("accepting", "escrow", "holding", "stacking")
_LEAVING = ("rejecting", "returning")
_RESTING = ("initialize", "disabled", "idle", "storing", "stacked")
_INTERRUPTIBLE = _RESTING + _CARRYING + _LEAVING


# Where a device goes when nothing is under way any more.
def _rest(states, event, action=None):
    return (
        (states, event, "faulty", "error", action),
        (states, event, "unsettled", "initialize", action),
        (states, event, "inhibited", "disabled", action),
        (states, event, None, "idle", action),
    )


TABLE = (
    (
        (("power_up", "power_up_acceptor"), "host_reset", None, "initialize", "begin_initialize"),
        (("power_up_stacker",), "host_reset", "told", "initialize", "settle_pending"),
        (("initialize",), "ready", "residue", "returning", "drive_out"),
        (("disabled",), "enabled", None, "idle", None),
        (("idle",), "inhibited", None, "disabled", None),
        (("idle",), "item", None, "accepting", "draw_in"),
        (("accepting",), "invalid", None, "rejecting", "reject"),
        (("accepting",), "arrived", None, "escrow", "enter_escrow"),
        (("escrow",), "stack", "untold", "escrow", None),
        (_ESCROWED, "stack", None, "stacking", "start_stacking"),
        (_ESCROWED, "return", None, "returning", "drive_out"),
        (_ESCROWED, "hold", None, "holding", "hold_on"),
        (_ESCROWED, "quiet", None, "returning", "give_back"),
        (_ESCROWED, "timeout", None, "rejecting", "reject_late"),
        (("stacking",), "past_lever", "reports_at_lever", "vend_valid", "credit"),
        (("stacking",), "past_lever", None, "stacking", "credit"),
        (("stacking",), "stored", None, "vend_valid", None),
        (("vend_valid",), "ack", "untold", "vend_valid", None),
        (("vend_valid",), "ack", "faulty", "error", "acknowledge"),
        (("vend_valid",), "ack", "pushing", "storing", "acknowledge"),
        (("vend_valid",), "ack", None, "stacked", "acknowledge"),
        (("storing",), "stored", None, "stacked", None),
        (("stacking",), "fault", "credited", "vend_valid", None),
        (_CARRYING + _LEAVING, "fault", "held", "error", "stop"),
        (_CARRYING, "fault", None, "returning", "drive_out"),
        (_RESTING, "fault", None, "error", "stop"),
        (("stacking",), "host_reset", "credited", "power_up_stacker", "stop"),
        (("vend_valid",), "host_reset", None, "power_up_stacker", "stop"),
        (_INTERRUPTIBLE, "host_reset", None, "initialize", "begin_initialize"),
        (("error",), "host_reset", "faulty", "error", "stop"),
        (("error",), "host_reset", None, "initialize", "begin_initialize"),
        (("error",), "clear", None, "initialize", "recover"),
    )
    + _rest(("initialize",), "ready")
    + _rest(("accepting",), "gone", "stop")
    + _rest(("stacked",), "told")
    + _rest(_LEAVING, "left", "stop")
)

# The errors and security events that stop acceptance, 13:69E-1.28N(i), as device/conditions.py reads them; the state
# is ID-003's.
CONDITIONS = (
    ("memory_error", "failure", 0xB2, 0, 1, "Memory error: authorised memory clear needed"),
    ("post_failed", "failure", 0, 1, 1, "Self-test failed: repair and reset"),
    ("acceptor_door", "failure", 0xAF, 0, 1, "Acceptor door open: close it"),
    ("stacker_removed", "stacker_open", 0, 0, 0, "Stacker removed: insert it"),
    ("stacker_door", "stacker_open", 0, 0, 0, "Stacker door open: close it"),
    ("stacker_unlocked", "stacker_open", 0, 0, 0, "Stacker not locked: lock it"),
    ("jam_stacker", "jam_stacker", 0, 1, 1, "Jam in stacker, out of reach: clear and reset"),
    ("jam_acceptor", "jam_acceptor", 0, 1, 1, "Jam in acceptor, in reach: clear and reset"),
    ("cheated", "cheated", 0, 1, 0, "Cheating attempt: call attendant"),
    ("stacker_full", "stacker_full", 0, 1, 0, "Stacker full: empty and reset"),
    ("comm_error", "communication_error", 0, 0, 0, "Communication error: check the cable"),
)
