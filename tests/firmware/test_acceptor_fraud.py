"""What is pulled, strung or held back is never credited; after each trouble a self-test comes before acceptance."""

from __future__ import annotations

import pytest
from acceptor_bench import ACCEPT, COUPON, Desk, Hand, note, stored, ticket
from test_acceptor_table import at_the_lever, escrow, idle, pushed, through, vend_valid


def in_escrow(item: dict) -> Desk:
    desk = Desk().open_for_business()
    desk.plant.insert(item)
    desk.until("escrow")
    return desk


def credited(desk: Desk) -> int:
    return sum(desk.device.record["meters"][name] for name in ("bill_in_value", "coupon_value"))


def poll_for(desk: Desk, ms: int) -> list[str]:
    seen = []
    for _ in range(ms // 100):
        seen.append(desk.poll())
        desk.run(100)
    return seen


def test_a_note_pulled_from_escrow_is_a_cheat():
    desk = in_escrow(note())
    desk.plant.item["string"] = 1
    desk.plant.pull()
    desk.run(50)
    assert "cheated" in poll_for(desk, 500)
    assert credited(desk) == 0


@pytest.mark.parametrize("ms", [100, 300, 400, 700])
def test_a_note_pulled_on_its_way_to_the_lever_is_not_credited(ms):
    desk = in_escrow(note(string=1))
    desk.step("host", "stack", 1)
    desk.run(ms)
    desk.plant.pull()
    seen = poll_for(desk, 1000)
    assert "cheated" in seen
    assert "vend_valid" not in seen
    assert credited(desk) == 0


def test_a_note_on_a_string_is_a_cheat_while_the_lever_is_held():
    desk = in_escrow(note(string=1))
    desk.step("host", "stack", 1)
    seen = poll_for(desk, 2500)
    assert "cheated" in seen
    assert "vend_valid" not in seen
    assert credited(desk) == 0


def test_a_lever_that_rises_before_the_item_is_in_the_chute_credits_nothing():
    hand = at_the_lever(how=1)
    hand.sensors(lever=0)
    assert hand.device.standing.names() == ["cheated"]
    assert hand.device.record["meters"]["stacked_count"] == 0


@pytest.mark.parametrize(("item", "cents"), [(note(5), 5000), (ticket(COUPON), 250)])
def test_a_vend_valid_that_was_not_acknowledged_is_repeated_and_credited_once(item, cents):
    desk = in_escrow(item)
    desk.step("host", "stack", 1)
    desk.until("vend_valid")
    assert poll_for(desk, 6000)[-1] == "vend_valid"
    assert credited(desk) == cents
    desk.step("host", "ack", None)
    desk.until("idle")
    assert credited(desk) == cents


def test_a_reset_in_vend_valid_keeps_the_credit_to_be_told():
    hand = vend_valid()
    hand.host("host_reset")
    assert hand.device.state == "power_up_stacker"
    assert hand.device.record["flight"]["stage"] == "stacked"
    hand.step("told")
    hand.host("host_reset")
    assert (hand.device.state, hand.device.record["flight"]) == ("initialize", None)


@pytest.mark.parametrize("held", [False, True])
def test_a_host_that_decides_nothing_gets_the_note_rejected_and_not_stacked(held):
    desk = in_escrow(note())
    if held:
        desk.step("host", "hold", None)
    seen = poll_for(desk, 12_000)
    assert "rejecting" in seen
    assert desk.plant.truth()["returned"] == 1
    assert credited(desk) == 0


def test_a_host_that_falls_silent_gets_the_note_given_back():
    desk = in_escrow(note())
    desk.run(3100)
    assert desk.device.state == "returning"


@pytest.mark.parametrize(
    "barcode", ["000000000250345678", "123456000000345678"], ids=["leading zeros", "a coupon of nothing"]
)
def test_a_number_is_told_whole(barcode):
    desk = in_escrow(ticket(COUPON, barcode))
    assert desk.device.shown() == ("escrow", barcode)


def test_a_lever_that_sticks_behind_an_item_in_the_chute_costs_no_credit():
    hand = at_the_lever(how=1)
    hand.sensors(chute=1)
    hand.wait(800)
    assert hand.device.state == "vend_valid"
    assert hand.device.record["meters"]["stacked_count"] == 1


# -- (g): a self-test after each trouble, and at each start


@pytest.mark.parametrize("cause", ["power", "watchdog", "soft", "crash"])
def test_every_start_begins_with_a_self_test(cause):
    hand = Hand(stored(boot=5))
    hand.step("start", dict(hand.levels), cause)
    assert (hand.device.post.running(), hand.device.post.why, hand.device.post.ok) == (True, "power_up", None)


@pytest.mark.parametrize("trouble", [{}, {"acceptor_door": 1}])
def test_every_host_reset_has_the_signature_computed_anew(trouble):
    hand = idle()
    hand.sensors(**trouble)
    hand.host("host_reset")
    assert ("verify",) in [effect for step in hand.steps[-2:] for effect in step]


TROUBLES = {
    "acceptor_door": (lambda hand: hand.sensors(acceptor_door=1), lambda hand: hand.sensors(acceptor_door=0)),
    "stacker_door": (lambda hand: hand.sensors(stacker_door=1), lambda hand: hand.sensors(stacker_door=0)),
    "stacker_removed": (lambda hand: hand.sensors(box=0), lambda hand: hand.sensors(box=1)),
    "stacker_unlocked": (lambda hand: hand.sensors(lock=0), lambda hand: hand.sensors(lock=1)),
    "comm_error": (lambda hand: hand.step("silence"), lambda hand: hand.step("heard")),
}
LATCHED = {
    "stacker_full": (lambda hand: hand.sensors(full=1), lambda hand: hand.sensors(full=0)),
    "jam_acceptor": (lambda hand: (hand.sensors(exit=1), hand.wait(1000)), lambda hand: hand.sensors(exit=0)),
    "jam_stacker": (lambda hand: (hand.sensors(lever=1), hand.wait(1000)), lambda hand: hand.sensors(lever=0)),
}


def in_trouble(name: str, begins) -> tuple[Hand, int]:
    hand = idle()
    runs = hand.device.post.run
    begins(hand)
    assert hand.device.standing.names() == [name]
    assert hand.device.post.run == runs
    return hand, runs


@pytest.mark.parametrize("name", TROUBLES)
def test_when_the_trouble_is_over_a_self_test_comes_first(name):
    begins, ends = TROUBLES[name]
    hand, runs = in_trouble(name, begins)
    ends(hand)
    assert (hand.device.state, hand.device.post.run, hand.device.post.why) == ("initialize", runs + 1, "recovery")
    hand.sensors(entry=1)
    assert hand.device.state == "initialize"
    hand.sensors(entry=0)
    assert hand.device.post.running()


@pytest.mark.parametrize("name", LATCHED)
def test_what_is_latched_waits_for_a_reset_and_then_for_a_self_test(name):
    begins, ends = LATCHED[name]
    hand, runs = in_trouble(name, begins)
    ends(hand)
    assert hand.device.standing.names() == [name]
    hand.host("host_reset")
    assert (hand.device.state, hand.device.post.run, hand.device.post.why) == ("initialize", runs + 1, "host_reset")
    hand.setting("inhibit", ACCEPT)
    assert hand.device.state == "initialize"
    hand.pass_post()
    assert hand.device.state == "idle"


def test_the_pusher_that_does_not_come_home_is_a_jam_out_of_reach():
    hand = at_the_lever(how=1)
    through(hand)
    hand.sensors(home=0)
    hand.wait(1000)
    assert hand.device.standing.names() == ["jam_stacker"]


def test_a_jam_before_the_lever_is_in_reach_and_holds_the_item():
    hand = escrow()
    hand.step("told")
    hand.host("stack", 1)
    hand.levels["moving"] = 0
    hand.sensors()
    effects = hand.wait(100)
    assert hand.device.standing.names() == ["jam_acceptor"]
    assert [effect for effect in effects if effect[0] == "motor" and effect[2] != 0] == []


def test_a_credited_note_whose_pusher_is_done_is_stored_once():
    hand = vend_valid()
    pushed(hand)
    hand.step("told")
    hand.host("ack")
    assert hand.device.state == "stacked"
    assert hand.device.record["meters"]["stacked_count"] == 1
