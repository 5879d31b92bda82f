"""The order of effects: nothing that leaves the board stands before the commit that covers it."""

from __future__ import annotations

import json

import pytest
from acceptor_bench import ACCEPT, Desk, Hand, note, stored, ticket
from test_acceptor_table import PLACES, at_the_lever, escrow_told, pushed, through, vend_valid


def a_whole_note(how: int) -> Hand:
    hand = at_the_lever(how)
    through(hand)
    if how == 2:
        pushed(hand)
    hand.step("told")
    hand.host("ack")
    if how == 1:
        pushed(hand)
    hand.step("told")
    return hand


def every_step() -> list[list]:
    hands = [make() for make in PLACES.values()] + [a_whole_note(1), a_whole_note(2)]
    for hand in hands[: len(PLACES)]:
        hand.sensors(box=0)
        hand.sensors(box=1, lever=1)
        hand.wait(6000)
        hand.host("host_reset")
    return [step for hand in hands for step in hand.steps]


STEPS = every_step()


def test_a_step_commits_at_most_once():
    assert max(len([effect for effect in step if effect[0] == "commit"]) for step in STEPS) == 1


def test_log_lines_stand_before_the_commit_that_counts_them():
    logged = 0
    for names in ([effect[0] for effect in step] for step in STEPS):
        if "log" in names:
            logged += 1
            assert len(names) - names[::-1].index("log") <= names.index("commit")
    assert logged > 20


def test_before_a_commit_nothing_starts_and_nothing_is_seen():
    for step in STEPS:
        names = [effect[0] for effect in step]
        if "commit" not in names:
            continue
        for effect in step[: names.index("commit")]:
            quiet = effect[0] in ("log", "emitters", "verify") or effect[0] == "motor" and effect[2] == 0
            assert quiet, f"{effect} before the commit of {step}"


@pytest.mark.parametrize("how", [1, 2])
def test_a_note_is_three_commits(how):
    hand = a_whole_note(how)
    first = next(n for n, step in enumerate(hand.steps) if ("event", "accepting", "") in step)
    commits = [effect for step in hand.steps[first:] for effect in step if effect[0] == "commit"]
    assert len(commits) == 3
    assert hand.device.record["flight"] is None


@pytest.mark.parametrize("item", [note(), ticket()], ids=["note", "voucher"])
def test_on_the_plant_a_stacked_item_is_three_commits(item):
    desk = Desk().open_for_business()
    before = len(desk.commits)
    desk.plant.insert(item)
    desk.until("escrow")
    desk.step("host", "stack", 1)
    desk.until("vend_valid")
    desk.step("host", "ack", None)
    desk.until("idle")
    stages = [record["flight"] and record["flight"]["stage"] for record in desk.commits[before:]]
    assert stages == ["stacking", "stacked", None]


def test_at_the_lever_meters_flight_and_log_are_one_commit_and_the_pusher_waits_for_it():
    hand = at_the_lever(how=1)
    through(hand)
    names = [effect[0] for effect in hand.effects]
    assert hand.effects[-1] == ("motor", "stack", 1)
    assert ("motor", "stack", 1) not in hand.effects[: names.index("commit")]
    record = hand.device.record
    assert (record["flight"]["stage"], record["meters"]["bill_in_value"], record["meters"]["bill_20"]) == (
        "stacked",
        2000,
        1,
    )
    line = json.loads(next(effect[2] for effect in hand.effects if effect[0] == "log"))
    assert (line[0], line[4]) == (record["log"][0], "stacked")


def test_a_refused_command_changes_nothing_about_the_one_under_way():
    hand = at_the_lever(how=1)
    hand.host("stack", 2)
    assert hand.device.refused
    through(hand)
    assert hand.device.state == "vend_valid"


def test_a_stacked_item_ends_the_row_of_rejects():
    hand = at_the_lever(how=1)
    hand.device.rejects = 7
    through(hand)
    assert hand.device.rejects == 0


def test_the_transport_starts_to_stack_only_after_the_commit():
    hand = escrow_told()
    hand.host("stack", 1)
    kinds = [effect[:2] for effect in hand.effects if effect[0] in ("commit", "motor")]
    assert [kind[0] for kind in kinds] == ["commit", "motor"]


@pytest.mark.parametrize(
    ("stage", "levels", "state", "credited"),
    [
        ("stacking", {"chute": 1}, "power_up_stacker", 500),
        ("stacking", {"exit": 1}, "power_up_acceptor", 0),
        ("stacking", {}, "power_up", 0),
        ("stacked", {"chute": 1}, "power_up_stacker", 0),
        ("stacked", {}, "power_up_stacker", 0),
    ],
)
def test_what_a_cut_left_is_settled_at_the_next_start(stage, levels, state, credited):
    hand = Hand(stored({"stage": stage, "kind": "note", "cents": 500}), **levels)
    assert hand.device.state == state
    assert hand.device.record["meters"]["bill_in_value"] == credited
    assert (hand.device.record["flight"] is not None) == (state == "power_up_stacker")
    missing = ("event", "item_missing", "note") in hand.steps[0]
    assert missing == (stage == "stacking" and not levels)


def test_power_up_with_bill_in_stacker_stays_until_it_was_told():
    hand = Hand(stored({"stage": "stacked", "kind": "note", "cents": 500}))
    hand.host("host_reset")
    assert (hand.device.refused, hand.device.state) == (True, "power_up_stacker")
    hand.step("told")
    hand.host("host_reset")
    assert (hand.device.refused, hand.device.state, hand.device.record["flight"]) == (False, "initialize", None)


def test_a_failing_store_ends_acceptance_and_stops_the_transport():
    hand = vend_valid()
    hand.step("store_error", "OSError(28,)")
    assert hand.device.shown() == ("failure", 0xB2)
    assert hand.device.transport == 0
    hand.step("told")
    hand.host("ack")
    assert hand.device.refused


def test_lost_memory_stays_lost_through_a_power_cycle_and_ends_by_an_authorised_clear():
    hand = Hand(None, new=False)
    assert hand.device.standing.names()[0] == "memory_error"
    hand = Hand(stored_as(hand))
    assert hand.device.standing.names()[0] == "memory_error"
    hand.host("host_reset")
    hand.setting("inhibit", ACCEPT)
    assert hand.device.state != "idle"
    hand.step("clear_memory", "auditor")
    assert "memory_error" not in hand.device.standing.names()
    assert Hand(stored_as(hand)).device.memory_ok


def stored_as(hand: Hand) -> dict:
    return json.loads(json.dumps(hand.device.record))
