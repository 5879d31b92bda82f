"""What goes wrong is told on the wire, shown to people, and logged when it starts and when it ends."""

from __future__ import annotations

import json

import pytest
from acceptor_bench import INHIBIT, Hand, note, stored
from device.bill_acceptor_table import CONDITIONS
from test_acceptor_parts import expected_chain
from test_acceptor_table import accepting, escrow, idle, jammed

# Sensor and its level; the condition; its ID-003 state; a word of what a person reads.
SENSED = [
    ("acceptor_door", 1, "acceptor_door", "failure", "door open"),
    ("stacker_door", 1, "stacker_door", "stacker_open", "Stacker door"),
    ("box", 0, "stacker_removed", "stacker_open", "removed"),
    ("lock", 0, "stacker_unlocked", "stacker_open", "not locked"),
    ("full", 1, "stacker_full", "stacker_full", "full"),
]


def logged(hand: Hand) -> list[tuple[str, str]]:
    """(what, detail) of every log entry so far."""
    lines = [json.loads(effect[2]) for step in hand.steps for effect in step if effect[0] == "log"]
    return [(line[4], line[5]) for line in lines]


@pytest.mark.parametrize(("sensor", "level", "name", "state", "words"), SENSED)
def test_a_sensed_condition_is_told_shown_and_logged_once(sensor, level, name, state, words):
    hand = idle()
    for _ in range(3):
        hand.sensors(**{sensor: level})
    assert (hand.device.shown()[0], hand.device.light()) == (state, "red")
    assert words in hand.device.message()
    assert logged(hand).count((name, "")) == 1
    hand.sensors(**{sensor: 1 - level})
    hand.host("host_reset")
    assert (name + "_cleared", "host reset" if name == "stacker_full" else "") in logged(hand)
    assert hand.device.state == "initialize"


@pytest.mark.parametrize(("sensor", "level", "name", "state", "words"), SENSED)
def test_what_stands_already_at_power_up_is_told_after_it(sensor, level, name, state, words):
    hand = Hand(**{sensor: level})
    assert hand.device.standing.names() == [name]
    assert (name, "") in logged(hand)
    hand.host("host_reset")
    assert hand.device.shown()[0] == state


def test_every_condition_has_words_of_its_own():
    assert len({condition[5] for condition in CONDITIONS}) == len(CONDITIONS)


def test_a_jam_is_logged_and_latched_until_it_is_cleared_and_reset():
    hand = jammed()
    assert ("jam_acceptor", "returning") in logged(hand)
    hand.host("host_reset")
    assert (hand.device.shown()[0], hand.device.refused) == ("jam_acceptor", False)
    hand.sensors(entry=0, centre=0, exit=0)
    assert hand.device.shown()[0] == "jam_acceptor"
    assert hand.device.record["latched"] == ["jam_acceptor"]
    hand.host("host_reset")
    assert (hand.device.state, hand.device.record["latched"]) == ("initialize", [])
    assert ("jam_acceptor_cleared", "host reset") in logged(hand)


def test_a_latched_jam_outlives_a_power_cycle():
    hand = Hand(stored(latched=["jam_acceptor"]), exit=1)
    hand.host("host_reset")
    assert hand.device.standing.names() == ["jam_acceptor"]


def test_a_low_battery_is_shown_and_logged_once_and_stops_nothing():
    hand = idle()
    for level in (0, 0, 0):
        hand.sensors(battery=level)
    assert "Battery low" in hand.device.message()
    assert logged(hand).count(("low_battery", "")) == 1
    assert hand.device.state == "idle"
    hand.sensors(battery=1)
    assert hand.device.message() == "idle"


def test_each_start_counts_a_boot_and_logs_its_cause():
    hand = Hand(stored(boot=41))
    assert hand.device.record["boot"] == 42
    assert logged(hand)[0] == ("power_on", "power")


def test_a_failed_self_test_is_logged_with_its_part():
    hand = Hand(scanner=0)
    for level in (1, 0):
        hand.sensors(**dict.fromkeys(("entry", "centre", "exit", "lever", "chute"), level))
    hand.sensors()
    assert ("post_failed", "scanner") in logged(hand)


def test_silence_is_a_communication_error_until_a_frame_is_heard():
    hand = idle()
    hand.step("silence")
    assert (hand.device.shown()[0], hand.device.light()) == ("communication_error", "red")
    hand.step("heard")
    assert hand.device.state == "initialize"
    assert [what for what, _ in logged(hand)][-2:] == ["comm_error", "comm_error_cleared"]


def test_a_signature_that_does_not_fit_any_more_restarts_the_board():
    hand = idle()
    effects = hand.step("verified", False, "CRC is 0001, embedded is beef")
    assert effects[-1] == ("restart", "signature")
    assert ("signature_mismatch", "CRC is 0001, embedded is beef") in logged(hand)


def test_many_rejects_in_a_row_call_an_attendant_once():
    hand = idle()
    for _ in range(21):
        hand.sensors(entry=1)
        hand.sensors({"length": 1, "optical": [0] * 4}, centre=1)
        hand.step("told")
        hand.sensors(entry=0, centre=0)
        assert hand.device.state == "idle"
    assert logged(hand).count(("reject_alarm", "20")) == 1
    assert (hand.device.light(), "attendant" in hand.device.message()) == ("red", True)


def test_a_host_reset_is_logged_keeps_the_meters_and_forgets_the_settings():
    hand = idle()
    hand.device.meters.add("bill_in_value", 2000)
    hand.setting("enable", b"\x7f\0")
    hand.host("host_reset")
    assert logged(hand)[-1] == ("host_reset", "")
    assert hand.device.record["meters"]["bill_in_value"] == 2000
    assert (hand.device.settings.values, hand.device.settings.known()) == ({}, False)


def test_the_log_goes_on_where_the_record_says():
    before = [7, "0123456789abcdef"]
    entry = json.loads(next(effect[2] for effect in Hand(stored(log=before)).steps[0] if effect[0] == "log"))
    assert (entry[0], entry[-1]) == (8, expected_chain(before[1], entry[:-1]))


def test_an_inhibit_while_accepting_rejects_what_comes():
    hand = accepting()
    hand.setting("inhibit", INHIBIT)
    hand.sensors(note(), centre=1, entry=0, exit=1)
    assert hand.device.shown() == ("rejecting", 0x79)


def test_a_hold_moves_nothing_and_starts_the_ten_seconds_again():
    hand = escrow()
    hand.now += 2000
    effects = hand.host("hold")
    assert not [effect for effect in effects if effect[0] == "motor"]
    assert hand.device.timer == 12_000


def test_rejects_are_counted_until_something_is_stacked():
    hand = idle()
    hand.device.rejects = 3
    hand.sensors(entry=1)
    hand.sensors(note(), centre=1, entry=0, exit=1)
    hand.step("told")
    hand.host("return")
    assert hand.device.rejects == 3
