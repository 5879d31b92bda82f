# The state table of the card shuffler, and the conditions that stop it (13:69E-1.28X(e), (j)); as device/table.py and
# device/conditions.py read them. "spoiled": cards are inside, and their order is nobody's shuffle.
_INSIDE = ("shuffling", "recycling", "ready", "dealing", "unloading", "spoiled")
_ANY = ("initialize", "idle") + _INSIDE

TABLE = (
    (("initialize",), "passed", "loaded", "spoiled", None),
    (("initialize",), "passed", None, "idle", None),
    (("idle",), "start", "fed", "shuffling", "begin_shuffle"),
    (("shuffling",), "shuffled", None, "ready", "complete"),
    (("ready",), "start", "recycles", "recycling", "begin_recycling"),
    (("recycling",), "shuffled", None, "ready", "stop"),
    (("ready",), "deal", None, "dealing", "deal_card"),
    (("ready",), "hand", None, "dealing", "deal_hand"),
    (("dealing",), "dealt", "empty", "idle", "end_game"),
    (("dealing",), "dealt", None, "ready", "stop"),
    (("ready", "spoiled"), "unload", None, "unloading", "begin_unloading"),
    (("unloading",), "unloaded", None, "idle", "stop"),
    (_ANY, "fault", None, "error", "abort"),
    (("error",), "clear", None, "initialize", "recover"),
)

# Each stays until an attendant with the key has cleared it; all stop every motor.
CONDITIONS = (
    ("memory_error", "error", 0, 0, 1, "Memory error: authorised memory clear needed"),
    ("entropy_failed", "error", 0, 1, 1, "Random number source failed: call a technician"),
    ("post_failed", "error", 0, 1, 1, "Self-test failed: call a technician"),
    ("service_door", "error", 0, 1, 1, "Service door open: close it, clear with the key"),
    ("shroud", "error", 0, 1, 1, "Shroud open: close it, clear with the key"),
    ("jam_feed", "error", 0, 1, 1, "Jam at the feeder: take the cards out, clear with the key"),
    ("jam_insert", "error", 0, 1, 1, "Jam at the rack: take the cards out, clear with the key"),
    ("jam_exit", "error", 0, 1, 1, "Jam at the exit: take the card out, clear with the key"),
    ("rack_stalled", "error", 0, 1, 1, "Rack does not move: call a technician"),
    ("camera_failed", "error", 0, 1, 1, "Camera failed: clean it, clear with the key"),
    ("card_damaged", "error", 0, 1, 1, "Damaged card: replace it, clear with the key"),
    ("cards_wrong", "error", 0, 1, 1, "Wrong cards"),
    ("count_wrong", "error", 0, 1, 1, "Wrong number of cards"),
    ("software_error", "error", 0, 1, 1, "Program error: call a technician"),
    ("power_interrupted", "error", 0, 1, 1, "Power failed during a game: clear with the key, unload"),
)
