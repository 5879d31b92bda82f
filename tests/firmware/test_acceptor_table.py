"""Every row of the acceptor's state table, reached by events alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from acceptor_bench import ACCEPT, INHIBIT, Hand, note, stored
from device import base
from device.bill_acceptor_table import TABLE
from device.table import expand, find

ROWS = [tuple(row) for row in expand(TABLE)]
Do = Callable[[Hand], object]


def power_up() -> Hand:
    return Hand()


def reset(hand: Hand) -> Hand:
    hand.host("host_reset")
    return hand


def initialize() -> Hand:
    return reset(Hand())


def disabled() -> Hand:
    hand = initialize()
    hand.pass_post()
    hand.setting("inhibit", INHIBIT)
    return hand


def idle() -> Hand:
    hand = initialize()
    hand.pass_post()
    hand.setting("inhibit", ACCEPT)
    return hand


def accepting() -> Hand:
    hand = idle()
    hand.sensors(entry=1)
    return hand


def escrow() -> Hand:
    hand = accepting()
    hand.sensors(centre=1)
    hand.sensors(entry=0, exit=1)
    hand.sensors(note(), centre=0)
    return hand


def escrow_told() -> Hand:
    hand = escrow()
    hand.step("told")
    return hand


def holding() -> Hand:
    hand = escrow()
    hand.host("hold")
    return hand


def at_the_lever(how: int) -> Hand:
    hand = escrow_told()
    hand.host("stack", how)
    hand.sensors(lever=1)
    hand.sensors(exit=0)
    return hand


def through(hand: Hand) -> None:
    hand.sensors(lever=0, chute=1)


def stacking() -> Hand:
    return at_the_lever(how=2)


def credited() -> Hand:
    hand = stacking()
    through(hand)
    return hand


def vend_valid() -> Hand:
    hand = at_the_lever(how=1)
    through(hand)
    return hand


def pushed(hand: Hand) -> None:
    hand.sensors(home=0)
    hand.sensors(home=1, chute=0)


def storing() -> Hand:
    hand = vend_valid()
    hand.step("told")
    hand.host("ack")
    return hand


def stacked() -> Hand:
    hand = storing()
    pushed(hand)
    return hand


def rejecting() -> Hand:
    hand = accepting()
    hand.sensors(centre=1)
    hand.sensors(note(uv=200), entry=0, exit=1)
    return hand


def returning() -> Hand:
    hand = escrow()
    hand.host("return")
    return hand


def error() -> Hand:
    hand = idle()
    hand.sensors(acceptor_door=1)
    return hand


def power_up_acceptor() -> Hand:
    return Hand(exit=1)


def power_up_stacker() -> Hand:
    return Hand(stored({"stage": "stacked", "kind": "note", "cents": 2000}))


PLACES: dict[str, Callable[[], Hand]] = {
    state.__name__: state
    for state in (
        power_up, power_up_acceptor, power_up_stacker, initialize, disabled, idle, accepting, escrow, holding,
        stacking, vend_valid, storing, stacked, rejecting, returning, error,
    )
}  # fmt: skip


def ready(guard: str | None) -> Do:
    def do(hand: Hand) -> None:
        hand.setting("inhibit", INHIBIT if guard == "inhibited" else ACCEPT)
        hand.pass_post()

    return do


def enters(level: str) -> Do:
    return lambda hand: hand.sensors(**{level: 1})


# The item leaves, the host knows of it, and something else is the matter in the same instant.
def leaves(guard: str | None) -> Do:
    def do(hand: Hand) -> None:
        hand.step("told")
        matter(hand, guard)
        hand.sensors(**{**dict.fromkeys(("entry", "centre", "exit"), 0), **fault(guard)})

    return do


def matter(hand: Hand, guard: str | None) -> None:
    if guard == "inhibited":
        hand.setting("inhibit", INHIBIT)
    if guard == "unsettled":
        hand.device.retest = True  # as a sensor that was blind once leaves it


def fault(guard: str | None) -> dict[str, int]:
    return {"box": 0} if guard == "faulty" else {}


def told(guard: str | None) -> Do:
    def do(hand: Hand) -> None:
        matter(hand, guard)
        hand.step("told")

    return do


def acknowledged(guard: str | None) -> Do:
    def do(hand: Hand) -> None:
        if guard is None:
            pushed(hand)
        hand.sensors(**fault(guard))
        if guard != "untold":
            hand.step("told")
        hand.host("ack")

    return do


def past_lever(hand: Hand) -> None:
    through(hand)


EVENTS: dict[str, Callable[[str | None], Do]] = {
    "host_reset": lambda guard: lambda hand: (guard == "told" and hand.step("told"), hand.host("host_reset")),
    "ready": ready,
    "enabled": lambda _: lambda hand: hand.setting("inhibit", ACCEPT),
    "inhibited": lambda _: lambda hand: hand.setting("inhibit", INHIBIT),
    "item": lambda _: enters("entry"),
    "invalid": lambda _: lambda hand: hand.sensors(note(magnetic=0)),
    "arrived": lambda _: lambda hand: hand.sensors(note(), exit=1),
    "gone": leaves,
    "left": leaves,
    "told": told,
    "stack": lambda _: lambda hand: hand.host("stack", 1),
    "return": lambda _: lambda hand: hand.host("return"),
    "hold": lambda _: lambda hand: hand.host("hold"),
    "quiet": lambda _: lambda hand: hand.wait(3000),
    "timeout": lambda _: lambda hand: (hand.wait(2900), hand.step("heard"), hand.wait(2900), hand.step("heard"),
                                       hand.wait(2900), hand.step("heard"), hand.wait(2900)),
    "past_lever": lambda _: past_lever,
    "stored": lambda _: pushed,
    "ack": acknowledged,
    "fault": lambda guard: lambda hand: hand.sensors(**({"acceptor_door": 1} if guard == "held" else {"box": 0})),
    "clear": lambda _: lambda hand: hand.sensors(acceptor_door=0),
}  # fmt: skip

# Rows that want another way into their state, or a little more than the event.
SPECIAL: dict[tuple[str, str, str | None], tuple[Callable[[], Hand], Do | None]] = {
    ("initialize", "ready", "residue"): (lambda: reset(power_up_acceptor()), None),
    ("escrow", "stack", None): (escrow_told, None),
    ("stacking", "past_lever", "reports_at_lever"): (lambda: at_the_lever(how=1), None),
    ("stacking", "stored", None): (credited, None),
    ("stacking", "fault", "credited"): (credited, None),
    ("stacking", "host_reset", "credited"): (credited, None),
    ("error", "host_reset", None): (
        lambda: jammed(),
        lambda hand: (hand.sensors(entry=0, centre=0, exit=0), hand.host("host_reset")),
    ),
}

# A fault in _RESTING acts before these guards are asked; `ready` waits for what would make it unsettled. They
# stand in the table because all ways to rest are one pattern.
NEVER = {
    ("initialize", "ready", "faulty"),
    ("initialize", "ready", "unsettled"),
    ("stacked", "told", "faulty"),
}


def jammed() -> Hand:
    hand = escrow()
    hand.host("return")
    hand.levels["moving"] = 0
    hand.sensors()
    hand.wait(100)
    assert hand.device.standing.top()[0] == "jam_acceptor"
    return hand


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str | None, str]]:
    """The rows that the device takes from here on."""
    rows: list[tuple[str, str, str | None, str]] = []

    def noted(table, device, event):
        row = find(table, device, event)
        if row is not None:
            rows.append((device.state, row[1], row[2], row[3]))
        return row

    monkeypatch.setattr(base, "find", noted)
    return rows


def test_every_state_is_reached_by_events():
    assert {state: make().device.state for state, make in PLACES.items()} == {state: state for state in PLACES}
    assert set(PLACES) == {row[0] for row in ROWS}


@pytest.mark.parametrize("row", [r for r in ROWS if r[:3] not in NEVER], ids=lambda r: f"{r[0]}-{r[1]}-{r[2]}")
def test_each_row_is_taken_and_leads_where_it_says(row, taken):
    make, do = SPECIAL.get(row[:3], (PLACES[row[0]], None))
    hand = make()
    taken.clear()
    (do or EVENTS[row[1]](row[2]))(hand)
    assert row in taken


@pytest.mark.parametrize("row", sorted(NEVER, key=str))
def test_what_is_called_unreachable_stands_in_the_table(row):
    assert row in {r[:3] for r in ROWS}


HOST_COMMANDS = ("stack", "return", "hold", "ack")


@pytest.mark.parametrize("state", PLACES)
@pytest.mark.parametrize("command", HOST_COMMANDS)
def test_a_command_without_a_row_is_refused_and_moves_nothing(state, command):
    if any(row[0] == state and row[1] == command for row in ROWS):
        return
    hand = PLACES[state]()
    effects = hand.host(command)
    assert hand.device.refused
    assert hand.device.state == state
    assert not [effect for effect in effects if effect[0] in ("motor", "commit")]
