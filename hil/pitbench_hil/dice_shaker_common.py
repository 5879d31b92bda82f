"""A dice shaker, as the suite of all attended devices needs to know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pitbench.proof import asked

from pitbench_hil.access_rights import ROLES, Request
from pitbench_hil.acts import Act, ask, crash, in_turn, nothing, restart
from pitbench_hil.attended_bench import TECHNICIAN
from pitbench_hil.board_bench import Unreached
from pitbench_hil.common_device import Device, Game, Settings
from pitbench_hil.dice_moves import OPENINGS, ROUND
from pitbench_hil.dice_shaker import ATTENDANT, BOSS, PEOPLE, DiceBench, words_of
from pitbench_hil.errors_raised import Error, Fault

# Void, void, and then a result: as long as a round can be.
LONG_ROUND = ("304", "304", "354")
ROUND_MS, MIDDLE_MS = 12_000, 5000
STEP_MS = 100
# -- what it does


def prepare(bench: DiceBench) -> None:
    """Filled and idle, whatever it was; an error stands as it is. Raises Unreached, LinkError."""
    state = bench.until("unfilled", "idle", "shown", "error", within=ROUND_MS)["state"]
    if state == "shown":
        bench.next()
    elif state == "unfilled":
        bench.staffed()
        bench.inspect()
        if not bench.truth()["dice"]:
            bench.place("fff")
        bench.fill()


def work(bench: DiceBench) -> None:
    """A round of three shakes, in its first."""
    prepare(bench)
    for faces in LONG_ROUND:
        bench.lie(faces)
    bench.press("shake")


def play(bench: DiceBench, meanwhile: Callable[[], object]) -> Game:
    """Two rounds, with something done at each step of time. Raises Unreached."""
    prepare(bench)
    outcome, lasted = [], {}
    for number in (1, 2):
        began = int(bench.do("press", button="shake")["now"])
        _let_pass(bench, meanwhile)
        told = bench.events()
        lasted[f"round {number}"] = max(row[1] for row in told if row[2] == "result") - began
        outcome.append(bench.status()["faces"])
        bench.next()
    return Game(outcome, [row[2] for row in bench.rounds()][-2:] == [" ".join(map(str, f)) for f in outcome], lasted)


def _let_pass(bench: DiceBench, meanwhile: Callable[[], object]) -> None:
    for _ in range(ROUND_MS // STEP_MS):
        if bench.status()["state"] == "shown":
            return
        meanwhile()
        bench.advance(STEP_MS)
    raise Unreached(f"no result after {ROUND_MS} ms: {bench.status()}")


# -- what its light has to show


def _round(*acts: Act) -> Act:
    """Prepared, spoilt, shaken."""
    return in_turn(prepare, *acts, ask("press", button="shake"), lambda bench: bench.until("error", within=40_000))


def lie(times: int = 1, **reading: Any) -> Act:
    """The dice will lie so after the next shake, or after so many."""
    return in_turn(*[lambda bench: bench.lie(**reading)] * times)


def _opened(op: str, **wrong: bool) -> Act:
    return in_turn(prepare, ask(op, **wrong), lambda bench: bench.advance(STEP_MS))


def _in_a_shake(op: str, **wrong: bool) -> Act:
    return in_turn(prepare, ask("press", button="shake"), lambda bench: bench.advance(500), ask(op, **wrong))


def _error(name: str, says: str) -> Error:
    op, wrong, right, condition = OPENINGS[name]
    ways = {"idle": _opened(op, **wrong), "shaking": _in_a_shake(op, **wrong)}
    return Error(name, condition, (says,), ways, ask(op, **right))


LID, LOCK, LATCH = _error("lid", "Lid was opened"), _error("lock", "Not locked"), _error("latch", "Not secured")
# Cleared without a mend, it is the self-test that finds it again.
MALFUNCTION = Error(
    "malfunction", "", ("Readers see nothing", "Self-test failed"),
    {"shaking": _round(ask("break", part="reader_above"))}, ask("mend", part="reader_above"),
)  # fmt: skip


def _day_that_nobody_knows(bench: DiceBench) -> None:
    prepare(bench)
    bench.do("calendar", set=None)
    bench.advance(20_000)
    restart(bench)


def _tampering(bench: DiceBench) -> None:
    prepare(bench)
    bench.inspect("shaved corner")


def _silent_host(bench: DiceBench) -> None:
    bench.commission()
    bench.configure(host=1)
    bench.advance(2000)


def _no_host(bench: DiceBench) -> None:
    bench.configure(host=0)


def _full_store(bench: DiceBench) -> None:
    bench.do("store_fault", at=1, how="full")
    bench.do("lid", open=True)
    bench.advance(STEP_MS)
    bench.do("lid", open=False)


FAULTS = (
    Fault("lid_open", LID.ways["idle"], LID.end),
    Fault("unlocked", LOCK.ways["idle"], LOCK.end),
    Fault("unsecured", LATCH.ways["idle"], LATCH.end),
    Fault("shaker_stalled", _round(ask("break", part="shaker")), ask("mend", part="shaker")),
    Fault("rest_unseen", _round(ask("break", part="still")), ask("mend", part="still")),
    Fault("reader_failed", _round(ask("break", part="look")), ask("mend", part="look")),
    Fault("die_impossible", _round(lie(above="354", below="424")), DiceBench.take),
    Fault("dice_wrong", _round(lie(above="35")), DiceBench.take),
    Fault("no_result", _round(lie(3, above="304"))),
    Fault("dice_expired", _day_that_nobody_knows, DiceBench.take),
    Fault("tampered", _tampering, DiceBench.take),
    Fault("host_lost", _silent_host, _no_host),
    Fault("post_failed", in_turn(ask("break", part="reader_below"), restart), ask("mend", part="reader_below")),
    Fault("software_error", crash),
    Fault("memory_error", _full_store, restart, by_clear=False),
)
SIGNALS = {
    "lid": (LID, "shaking", LATCH),
    "latch": (LATCH, "shaking", LOCK),
    "malfunction": (MALFUNCTION, "shaking", LATCH),
}

# -- what its identity declares


def _dice_work(bench: DiceBench) -> bool:
    """A round gives what its dice were told to lie like."""
    prepare(bench)
    return bench.shake("354")["faces"] == [3, 5, 4]


SETTINGS = Settings(
    most={"game": "supreme pai gow", "tries": 5, "table": "t" * 12, "host": 60},
    least={"game": "sic bo", "tries": 1, "table": "t", "host": 0},
    between={"game": "mini-dice", "tries": 2, "table": "md 7", "host": 30},
    beyond=(
        ("tries", 0),
        ("tries", 6),
        ("host", 61),
        ("game", "craps"),
        ("table", ""),
        ("table", "t" * 13),
        ("dice", 3),
    ),
)

# -- access


def _table_and_tries(bench: DiceBench) -> dict[str, Any]:
    now = bench.configure()
    return {name: now[name] for name in ("table", "tries")}


CONFIGURE = Request(
    "configure", "configure", "settings", 'configure|table="SB-7",tries=2', (TECHNICIAN,),
    {"set": {"table": "SB-7", "tries": 2}}, other={"set": {"table": "SB-8", "tries": 2}}, seen=_table_and_tries,
    expected={"table": "SB-7", "tries": 2},
)  # fmt: skip
INSPECTION = {**BOSS, "found": ""}
# Of people who fill and inspect it there are rules of its own.
INSPECT = Request("inspect", "inspect", "dice", asked("inspect", INSPECTION), ROLES, INSPECTION)
FILLING = {"people": words_of(PEOPLE)}
FILL = Request("fill", "fill", "dice", asked("fill", FILLING), ROLES, FILLING)
REPORT = Request("tamper_report", "tamper_report", "dice", "tamper_report", (ATTENDANT, "regulator"))
READS: dict[str, dict[str, Any]] = {"dice": {}, "rounds": {}}


DEVICE = Device[DiceBench](
    bench=DiceBench,
    buttons=("shake", "next", "recall"),
    work=work,
    busy=ROUND,
    rests=("shown",),
    work_ms=ROUND_MS,
    middle_ms=MIDDLE_MS,
    play=play,
    repeat=nothing,
    to_idle=lambda bench: bench.until(*bench.idle, within=ROUND_MS),
    openings=(LOCK, LATCH, LID),
    faults=FAULTS,
    signals=SIGNALS,
    settings=SETTINGS,
    configure=CONFIGURE,
    other_settings=({"tries": 2}, {"table": "SB-7", "tries": 2, "host": 9}, {"table": "SB-7", "game": "pai gow"}, {}),
    critical=("device/dice", "device/dice_shaker", "device/dice_shaker_table"),
    proven=(INSPECT, FILL, REPORT),
    reads=READS,
    late={"hal/entropy": ("challenge", {}), "link/dice": ("dice", {}), "link/rounds": ("rounds", {})},
    trials={"dice": _dice_work, "plant": _dice_work},
)
