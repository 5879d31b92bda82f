"""EBDS on the device: what is told, understood and asked, as public vectors have it, and each note credited once."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from acceptor_bench import ACCEPT, COUPON, Desk, Hand, note, stored, ticket
from ebds_bench import (
    ALL,
    BARCODES,
    COUPONS,
    ESCROW,
    EXTENDED_NOTES,
    FOUR_WAYS,
    FRAMES,
    HOST,
    POLICY_B,
    RETURN,
    SOFT_RESET,
    STACK,
    UNIQUE,
    Line,
    frame,
    settled,
    told,
)
from fake_port import Port
from hypothesis import given, settings
from hypothesis import strategies as st
from kermit import crc16
from test_acceptor_table import PLACES, credited, escrow, escrow_told, idle, jammed, pushed, through, vend_valid
from wire.ebds import Wire
from wire.ebds_frame import frame_of
from wire.ebds_told import CONDITIONS, STATES
from wire.ebds_told import note as specification

POLL = FRAMES["host", "poll"]
IDLE, POWER_UP = bytes.fromhex("01100000"), bytes.fromhex("01100100")
RETURNED = bytes.fromhex("41100000")


@pytest.fixture(name="line")
def idle_line() -> Line:
    return settled(idle())


def value(place: int) -> int:
    return place << 3


def test_the_port_is_set_to_9600_7e1():
    assert Line().port.how == (9600, 7, "E", 1)


@pytest.mark.parametrize("name", [name for sender, name in FRAMES if sender == "device"])
def test_a_frame_of_the_device_is_built_as_the_vectors_have_it(name):
    good = FRAMES["device", name]
    assert frame_of(good[2], good[3:-2]) == good


# -- what is told


def test_idle_is_told_as_the_vectors_have_it(line):
    line.send(frame(0x11, b"\x7f\x10\0"))
    assert line.send(POLL) == FRAMES["device", "idle, cassette present"]


def test_a_removed_cassette_is_told_as_the_vectors_have_it(line):
    line.hand.sensors(box=0)
    line.send(frame(0x11, b"\x7f\x10\0"))
    assert line.send(POLL) == FRAMES["device", "cassette removed"]


def test_a_power_up_is_told_as_the_vectors_have_it():
    assert Line(Hand()).send(POLL) == FRAMES["device", "power up"]


def test_escrow_is_told_as_the_vectors_have_it():
    hand = PLACES["accepting"]()
    hand.sensors(note(3), entry=0, exit=1)
    assert Line(hand).send(POLL) == FRAMES["device", "escrow, value 4"]


def test_a_note_is_specified_as_the_vectors_have_it():
    good = FRAMES["device", "extended escrow, USD 20"]
    assert specification(idle().device.currency, 5, 1) == good[10:-2]


SHOWN = {
    "power_up": "01100100",
    "power_up_acceptor": "20100100",
    "power_up_stacker": "10100100",
    "initialize": "00100000",
    "disabled": "01100020",
    "idle": "01100000",
    "accepting": "02100000",
    "escrow": "04102800",
    "holding": "04102800",
    "stacking": "08100000",
    "vend_valid": "10102800",
    "storing": "08100000",
    "stacked": "01100000",
    "rejecting": "20120000",
    "returning": "20100000",
}


@pytest.mark.parametrize("state", SHOWN)
def test_each_state_is_told(state):
    notes = 0 if state == "disabled" else ALL
    line = Line(PLACES[state]())
    assert line.poll(notes=notes) == bytes.fromhex(SHOWN[state])


def test_every_state_is_in_that_list():
    assert set(SHOWN) == set(PLACES) - {"error"}
    assert set(STATES) == set(SHOWN) - {"initialize"}


CONDITION = {
    "acceptor door": ({"acceptor_door": 1}, "00104000"),
    "stacker door": ({"stacker_door": 1}, "01000000"),
    "stacker removed": ({"box": 0}, "01000000"),
    "stacker unlocked": ({"lock": 0}, "01000000"),
    "stacker full": ({"full": 1}, "00180000"),
    "removed and open": ({"box": 0, "acceptor_door": 1}, "00004000"),
}


@pytest.mark.parametrize("name", CONDITION)
def test_each_condition_is_told_and_its_end(name, line):
    levels, expected = CONDITION[name]
    line.hand.sensors(**levels)
    assert line.poll() == line.poll() == bytes.fromhex(expected)


def test_a_jam_is_told_until_it_is_reset():
    line = settled(jammed())
    assert line.poll() == bytes.fromhex("00140000")
    line.hand.sensors(entry=0, centre=0, exit=0)
    assert line.poll() == bytes.fromhex("00140000")
    line.send(SOFT_RESET)
    assert line.poll() == bytes.fromhex("00100100")
    assert line.poll() == bytes.fromhex("00100000")
    line.hand.pass_post()
    assert line.poll() == IDLE


def test_a_failed_self_test_is_a_failure():
    hand = PLACES["initialize"]()
    hand.wait(400)
    hand.wait(400)
    assert hand.device.standing.names() == ["post_failed"]
    assert settled(hand).poll() == bytes.fromhex("00100400")


def test_damaged_memory_is_a_failure():
    line = Line(Hand(new=False))
    assert line.poll() == bytes.fromhex("01100500")
    assert line.poll()[2] & 4


def test_cheating_is_told_with_whatever_else_stands():
    line = settled(escrow())
    line.hand.sensors(exit=0)
    assert line.poll()[1] & 1
    line.hand.sensors()
    line.send(SOFT_RESET)
    line.poll()
    line.hand.pass_post()
    line.poll()
    assert line.poll() == IDLE


def test_every_condition_is_told_or_known_not_to_be():
    untold = {"comm_error", "stacker_removed", "stacker_door", "stacker_unlocked"}
    assert {row[0] for row in idle().device.conditions} == set(CONDITIONS) | untold


# -- what is understood


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("stack", ("host", "stack", 2)),
        ("return", ("host", "return", None)),
        ("soft reset", ("host", "host_reset", None)),
    ],
)
def test_a_hosts_frame_is_understood_as_the_vectors_have_it(name, event):
    line = settled(escrow_told())
    line.bit = 1
    line.poll()  # bit 0
    line.poll()  # bit 1: the vectors' bit moves on
    line.asked_of_the_device()
    line.send(FRAMES["host", name])
    assert line.asked_of_the_device() == [event]


@pytest.mark.parametrize("decision", [STACK, RETURN, STACK | RETURN])
@pytest.mark.parametrize("state", ["idle", "disabled", "accepting"])
def test_a_decision_about_nothing_is_invalid_and_moves_nothing(decision, state):
    line = settled(PLACES[state]())
    before = line.hand.device.state
    assert line.poll(FOUR_WAYS | ESCROW | decision)[2] & 2
    assert line.asked_of_the_device() == []
    assert line.hand.device.state in (before, "idle")
    assert not line.poll()[2] & 2


def test_both_decisions_at_once_are_invalid():
    line = settled(escrow_told())
    assert line.decide(STACK | RETURN) == bytes.fromhex("04102a00")
    assert line.asked_of_the_device() == []


def test_a_note_is_not_stacked_before_it_was_told():
    line = settled(idle())
    line.hand.sensors(entry=1)
    line.poll()
    line.hand.sensors(note(), entry=0, exit=1)
    assert line.decide(STACK) == bytes.fromhex("04102800")
    assert line.decide(STACK) == bytes.fromhex("08100000")


def test_a_decision_that_is_left_standing_is_no_mistake():
    line = settled(escrow_told())
    assert [line.decide(STACK)[2] & 2 for _ in range(5)] == [0] * 5
    assert line.asked_of_the_device() == [("host", "stack", 2)]


@pytest.mark.parametrize(("decision", "end"), [(RETURN, RETURNED), (STACK, bytes.fromhex("10102800"))])
def test_nor_is_one_that_is_left_until_its_end(decision, end):
    line = stacked_line() if decision == STACK else settled(escrow_told())
    line.decide(decision)
    if decision == RETURN:
        line.hand.sensors(exit=0)
        assert line.decide(decision) == end
    assert line.decide(decision) == IDLE
    assert line.poll() == IDLE
    assert line.decide(decision)[2] & 2


def test_a_reset_comes_when_its_host_was_told_of_a_power_up():
    line = Line(Hand())
    assert line.poll() == line.again() == POWER_UP
    assert line.asked_of_the_device() == []
    assert line.poll() == bytes.fromhex("00100000")
    assert line.asked_of_the_device() == [("host", "host_reset", None)]
    line.hand.pass_post()
    assert line.poll() == IDLE


def test_a_power_up_is_settled_once_and_shows_no_other_bit():
    line = Line(Hand())
    assert line.poll(notes=0) == POWER_UP
    for _ in range(3):
        line.auxiliary(5)
    assert line.asked_of_the_device() == [("host", "host_reset", None)]


def test_who_asks_first_for_a_serial_number_is_told_of_the_power_up_after_it():
    line = Line(Hand())
    line.auxiliary(5)
    line.auxiliary(5)
    assert line.poll() == POWER_UP
    line.auxiliary(5)
    assert line.asked_of_the_device() == [("host", "host_reset", None)]


def test_an_item_in_the_path_at_a_power_up_is_returned():
    line = Line(PLACES["power_up_acceptor"]())
    assert line.poll() == bytes.fromhex("20100100")
    assert line.poll() == bytes.fromhex("00100000")
    line.hand.pass_post()
    assert line.poll() == bytes.fromhex("20100000")
    line.hand.sensors(exit=0)
    assert line.poll() == RETURNED
    assert line.poll() == IDLE


ORIENTATIONS = {0x00: {0}, 0x04: {0, 1}, 0x08: {0, 1, 2, 3}, 0x0C: {0, 1, 2, 3}}


@pytest.mark.parametrize(("modes", "orientation"), list(itertools.product(ORIENTATIONS, range(4))))
def test_orientations_are_set_by_every_poll(modes, orientation):
    line = Line(idle())
    line.poll(ESCROW | modes)
    line.hand.sensors(entry=1)
    line.hand.sensors(note(4, orientation), entry=0, exit=1)
    assert (line.hand.device.state == "escrow") == (orientation in ORIENTATIONS[modes])


@pytest.mark.parametrize("index", range(7))
def test_each_note_is_switched_by_its_bit_and_told_by_its_place(index):
    for notes in (1 << index, ALL ^ 1 << index):
        line = Line(idle())
        line.poll(notes=notes)
        line.hand.sensors(entry=1)
        line.hand.sensors(note(index), entry=0, exit=1)
        told = line.poll(notes=notes)
        assert told == (bytes((4, 0x10, value(index + 1), 0)) if notes == 1 << index else bytes.fromhex("20120000"))


def test_no_note_and_no_barcode_is_inhibited():
    line = Line(idle())
    assert line.poll(notes=0) == bytes.fromhex("01100020")
    assert line.hand.device.state == "disabled"
    assert line.poll(notes=0, options=COUPONS)[3] == 0x20
    assert line.poll(notes=0, options=BARCODES) == IDLE
    assert line.poll() == IDLE


def test_a_note_in_escrow_is_settled_though_its_kind_is_switched_off():
    line = settled(escrow_told())
    assert line.poll(notes=0) == bytes.fromhex("04102800")
    assert line.poll(FOUR_WAYS | ESCROW | STACK, notes=0) == bytes.fromhex("08100000")


PAPERS = list(itertools.product((0, BARCODES, COUPONS, BARCODES | COUPONS), range(2)))


@pytest.mark.parametrize(("options", "paper"), PAPERS)
def test_vouchers_and_coupons_have_a_bit_each(options, paper):
    line = Line(idle())
    line.poll(options=options)
    line.hand.sensors(entry=1)
    line.hand.sensors(ticket(COUPON) if paper else ticket(), entry=0, exit=1)
    assert (line.hand.device.state == "escrow") == bool(options & (COUPONS if paper else BARCODES))


def test_a_setting_is_given_once_however_often_it_is_polled():
    line = Line(idle())
    line.poll()
    line.events.clear()
    line.poll()
    assert line.events == [("heard",), ("told",)]


@pytest.mark.parametrize("notes", [0x7F, 0x10, 0x6F, 0])
def test_notes_of_the_extended_kind_are_switched_by_both_masks(notes):
    line = Line(idle())
    line.poll(options=EXTENDED_NOTES)
    assert told(line.ask(0x70, bytes((3, 0, 0, 0, notes)) + bytes(7))) == IDLE
    line.poll(options=EXTENDED_NOTES)
    assert line.hand.device.settings.values["enable"][0] == ~notes & 0x7F
    assert line.hand.device.settings.inhibited() == (notes == 0)
    line.poll()
    assert line.hand.device.settings.values["enable"][0] == 0


# -- a note, from insertion to credit


def stacked_line() -> Line:
    line = settled(escrow_told())
    assert line.decide(STACK) == bytes.fromhex("08100000")
    line.hand.sensors(lever=1)
    line.hand.sensors(exit=0)
    through(line.hand)
    assert line.poll() == bytes.fromhex("08100000")
    pushed(line.hand)
    return line


def test_a_note_is_told_as_stacked_once_it_is_stored_and_held_until_the_bit_moves_on():
    line = stacked_line()
    assert line.poll() == line.again() == line.again() == bytes.fromhex("10102800")
    assert ("host", "ack", None) not in line.asked_of_the_device()
    assert line.hand.device.state == "vend_valid"
    assert line.poll() == IDLE
    assert line.asked_of_the_device() == [("host", "ack")]
    assert line.hand.device.record["flight"] is None


def test_another_request_whose_bit_moved_on_acknowledges_too():
    line = stacked_line()
    line.poll()
    line.auxiliary(5)
    assert line.asked_of_the_device()[-1] == ("host", "ack")
    assert line.poll() == IDLE


def test_what_was_not_told_as_stacked_is_not_acknowledged():
    line = stacked_line()
    line.auxiliary(5)
    line.auxiliary(5)
    assert line.hand.device.state == "vend_valid"
    assert line.poll() == bytes.fromhex("10102800")


def test_a_repeated_request_is_answered_again_and_not_executed_again():
    line = settled(escrow_told())
    line.decide(STACK)
    line.asked_of_the_device()
    assert line.again() == bytes.fromhex("08100000")
    assert line.asked_of_the_device() == []


def test_a_request_whose_bit_stays_is_not_executed_whatever_it_asks():
    line = settled(escrow_told())
    line.poll()
    line.asked_of_the_device()
    asked = frame(0x10 | line.bit, bytes((ALL, ESCROW | STACK, 0)))
    assert told(line.body(line.send(asked))) == bytes.fromhex("04102800")
    assert line.asked_of_the_device() == []
    assert line.hand.device.state == "escrow"


def test_a_return_is_told_until_the_bit_moves_on():
    line = settled(escrow_told())
    assert line.decide(RETURN) == bytes.fromhex("20100000")
    line.hand.sensors(exit=0)
    assert line.poll() == line.again() == RETURNED
    assert line.poll() == IDLE


def test_a_note_that_comes_right_after_a_return_hides_nothing():
    line = settled(escrow_told())
    line.decide(RETURN)
    line.hand.sensors(exit=0)
    line.hand.sensors(entry=1)
    assert line.poll() == bytes.fromhex("42100000")


def test_a_return_that_is_stopped_by_a_door_is_no_return_yet():
    line = settled(escrow_told())
    line.decide(RETURN)
    line.hand.sensors(acceptor_door=1)
    assert line.poll() == bytes.fromhex("00104000")


def test_a_rejection_is_told_at_least_once():
    line = settled(PLACES["rejecting"]())
    assert line.poll() == bytes.fromhex("20120000")
    line.hand.sensors(centre=0, exit=0)
    assert line.poll() == IDLE


def test_a_jam_behind_the_lever_keeps_the_credit():
    line = settled(credited())
    line.hand.wait(1000)
    assert line.poll() == bytes.fromhex("10142800")
    assert line.poll() == bytes.fromhex("00140000")
    assert line.asked_of_the_device() == [("host", "ack")]


def test_a_cassette_taken_while_stacking_costs_no_stacked_note_its_credit():
    line = settled(credited())
    line.hand.sensors(box=0)
    assert line.poll() == bytes.fromhex("10002800")
    assert line.poll() == bytes.fromhex("01000000")


def test_a_note_that_waits_too_long_is_rejected_and_a_late_decision_moves_nothing():
    line = settled(escrow_told())
    seen = []
    for _ in range(5):
        line.now += 2500
        line.hand.now = line.now
        seen.append(line.poll())
        line.hand.step("tick")
    assert seen == [bytes.fromhex("04102800")] * 3 + [bytes.fromhex("20120000")] * 2
    assert line.decide(STACK) == bytes.fromhex("20120000")
    line.hand.sensors(exit=0)
    assert line.poll() == IDLE
    assert line.decide(STACK) == bytes.fromhex("01100200")
    assert line.asked_of_the_device() == []


# -- power-ups with a note in the stacker


def stored_note(**changes) -> Line:
    return Line(Hand(stored({"stage": "stacked", "kind": "note", "cents": 2000, **changes})))


def test_a_stacked_note_is_told_at_the_power_up_until_the_bit_moves_on():
    line = stored_note()
    assert line.poll() == line.again() == bytes.fromhex("10100100")
    assert line.asked_of_the_device() == []
    assert line.hand.device.record["flight"]
    assert line.poll() == bytes.fromhex("00100000")
    assert line.hand.device.record["flight"] is None


@pytest.mark.parametrize("policy", range(4))
def test_its_value_is_told_by_policy_b_alone(policy):
    line = stored_note()
    assert line.poll(options=policy << 2)[2] == (value(5) | 1 if policy == 1 else 1)


def test_by_policy_b_an_extended_host_has_the_whole_note():
    reply = stored_note().poll(options=POLICY_B | EXTENDED_NOTES)
    assert reply == b"\x70\x02\x10\x10\x01\x00\x54\x01\x00USD020+00" + bytes(8)


@pytest.mark.parametrize("kind", ["voucher", "coupon"])
def test_a_stacked_number_is_told_without_one(kind):
    line = stored_note(kind=kind)
    assert line.poll(options=POLICY_B | EXTENDED_NOTES) == bytes.fromhex("10100100")


# -- soft reset


def test_a_soft_reset_is_answered_and_its_power_up_told_by_the_first_poll_whatever_its_bit():
    for bit in (0, 1):
        line = settled(idle())
        line.poll()
        assert line.send(frame(0x60 | bit, b"\x7f\x7f\x7f"))[3:7] == bytes.fromhex("00100100")
        assert line.asked_of_the_device() == [("host", "host_reset", None)]
        line.bit = bit
        assert line.poll() == line.again() == bytes.fromhex("00100100")
        assert line.poll() == bytes.fromhex("00100000")


@pytest.mark.parametrize("bit", [0, 1])
def test_a_soft_reset_loses_no_stacked_note(bit):
    line = settled(vend_valid())
    line.send(frame(0x60 | bit, b"\x7f\x7f\x7f"))
    assert line.hand.device.state == "power_up_stacker"
    line.send(frame(0x60 | bit, b"\x7f\x7f\x7f"))
    assert line.hand.device.state == "power_up_stacker"
    assert line.hand.device.record["flight"]
    assert line.poll() == bytes.fromhex("10100100")
    line.poll()
    assert line.hand.device.record["flight"] is None


@pytest.mark.parametrize("moved", [0, 1])
def test_a_soft_reset_settles_a_stacked_note_that_was_told_if_its_bit_moved_on(moved):
    line = stored_note()
    line.poll()
    line.send(frame(0x60 | line.bit ^ moved, b"\x7f\x7f\x7f"))
    assert (line.hand.device.record["flight"] is None) == bool(moved)


# -- without escrow


def test_without_escrow_a_note_is_stacked_at_once():
    line = settled(idle())
    line.poll(FOUR_WAYS)
    line.hand.sensors(entry=1)
    assert line.poll(FOUR_WAYS) == bytes.fromhex("02100000")
    line.hand.sensors(note(), entry=0, exit=1)
    line.wait(10)
    assert line.asked_of_the_device() == [("host", "stack", 2)]
    assert line.poll(FOUR_WAYS) == bytes.fromhex("08100000")


def test_without_escrow_a_poll_never_finds_a_note_in_escrow():
    line = settled(idle())
    line.poll(FOUR_WAYS)
    line.hand.sensors(entry=1)
    line.hand.sensors(note(), entry=0, exit=1)
    assert line.poll(FOUR_WAYS) == bytes.fromhex("08100000")


def test_a_number_waits_for_its_host_though_there_is_no_escrow():
    line = settled(idle())
    line.poll(FOUR_WAYS, BARCODES)
    line.hand.sensors(entry=1)
    line.hand.sensors(ticket(), entry=0, exit=1)
    line.wait(100)
    assert line.poll(FOUR_WAYS, BARCODES)[1:3] == b"\x01\x04"
    assert line.asked_of_the_device() == []
    assert line.poll(FOUR_WAYS | STACK, BARCODES) == bytes.fromhex("08100000")


def test_a_host_that_switches_off_stacks_nothing_by_it():
    line = settled(escrow_told())
    assert line.poll(0, 0, 0) == bytes.fromhex("04102800")
    line.wait(100)
    assert line.asked_of_the_device() == []


def test_nothing_is_stacked_before_a_host_was_heard():
    line = Line(escrow())
    line.wait(100)
    assert line.asked_of_the_device() == []


# -- extended replies


@pytest.mark.parametrize("orientation", range(4))
def test_an_extended_host_is_told_the_whole_note(orientation):
    line = Line(idle())
    line.poll(options=EXTENDED_NOTES)
    line.hand.sensors(entry=1)
    line.hand.sensors(note(6, orientation), entry=0, exit=1)
    turned = {0: 0, 1: 2, 2: 1, 3: 3}[orientation]
    expected = b"\x70\x02\x04\x10\0\0\x54\x01" + b"\0USD100+00" + bytes((turned,)) + bytes(7)
    assert line.poll(options=EXTENDED_NOTES) == expected
    assert line.again() == expected


def test_a_voucher_is_told_by_its_digits_in_escrow_and_when_stacked():
    line = settled(PLACES["accepting"]())
    line.poll(options=BARCODES)
    line.hand.sensors(ticket(), entry=0, exit=1)
    digits = b"123456000250345678" + b"(" * 10
    assert line.poll(options=BARCODES) == b"\x70\x01\x04\x10\0\0\x54\x01" + digits
    line.poll(FOUR_WAYS | ESCROW | STACK, BARCODES)
    line.hand.sensors(lever=1)
    line.hand.sensors(exit=0)
    through(line.hand)
    pushed(line.hand)
    assert line.poll(options=BARCODES) == b"\x70\x01\x10\x10\0\0\x54\x01" + digits


def test_a_note_is_specified_when_it_is_asked_for(line):
    for index, worth in enumerate((b"001", b"002", b"005", b"010", b"020", b"050", b"100"), 1):
        reply = line.ask(0x70, bytes((2, 0, 0, 0, index)))
        assert reply == b"\x70\x02" + IDLE + b"\x54\x01" + bytes((index,)) + b"USD" + worth + b"+00" + bytes(8)
    for index in (0, 8, 0x7F):
        assert line.ask(0x70, bytes((2, 0, 0, 0, index)))[8:] == bytes((index,)) + bytes(17)


def test_the_value_table_has_ten_bytes_a_note(line):
    reply = line.ask(0x70, b"\x06\0\0\0")
    assert reply[:8] == b"\x70\x06" + IDLE + b"\x54\x01"
    assert reply[8:18] == b"\x01USD001+00"
    assert reply[-10:] == b"\x07USD100+00"
    assert len(reply) == 78


@pytest.mark.parametrize("query", [b"\2\0\0\0\1", b"\6\0\0\0", b"\3\0\0\0" + bytes(8)])
@pytest.mark.parametrize("place", [escrow_told, vend_valid])
def test_a_query_is_put_off_while_a_document_is_told(query, place):
    line = Line(place())
    plain = line.poll()
    reply = told(line.ask(0x70, query))
    if place is escrow_told:
        assert reply == bytes((plain[0], plain[1], plain[2] | 2, 0))
    else:
        assert reply[0] != 0x70
    assert line.wire.enabled == ALL


def test_a_query_is_put_off_until_a_return_was_told():
    line = settled(escrow_told())
    line.decide(RETURN)
    line.hand.sensors(exit=0)
    assert told(line.ask(0x70, b"\2\0\0\0\1")) == bytes.fromhex("41100200")
    assert line.ask(0x70, b"\2\0\0\0\1")[0] == 0x70


def test_a_bodys_omnibus_bytes_set_nothing(line):
    line.ask(0x70, b"\2\0\x20\0\1")
    assert line.hand.device.state == "idle"


# -- auxiliary


def test_the_software_crc_has_four_nibbles(line):
    assert line.auxiliary(0) == bytes.fromhex("0b0e0e050000")


@pytest.mark.parametrize("command", [4, 6, 7, 8, 9])
def test_the_device_says_what_it_is(command, line):
    texts = {4: (b"PITBENCH ACCEPTOR", 20), 8: (b"USD", 32)}
    text, size = texts.get(command, (b"289999010", 9))
    assert line.auxiliary(command) == text + bytes(size - len(text))


def test_the_serial_number_is_the_boards(line):
    assert line.auxiliary(5) == UNIQUE.encode() + bytes(4)


def test_a_part_number_is_one_that_public_hosts_take(line):
    # 286000 to 289999, and three digits of version
    assert 286000 <= int(line.auxiliary(7)[:6]) <= 289999


UNKNOWN = [(0x60, bytes((0, 0, n))) for n in set(range(128)) - {0, 4, 5, 6, 7, 8, 9}]
UNKNOWN += [(0x60, b"\1\0\0"), (0x60, b"\0\1\5"), (0x30, b"\x7f\x1c\0"), (0x40, bytes(3)), (0x50, bytes(3))]
UNKNOWN += [(0x70, bytes((n, 0x7F, 0x3C, 0, 1))) for n in set(range(128)) - {2, 3}]


def test_anything_else_is_invalid_and_moves_nothing(line):
    for control, data in UNKNOWN:
        assert told(line.ask(control, data)) == bytes.fromhex("01100200"), (control, data)
    assert {event[0] for event in line.events} == {"heard", "told"}
    assert line.poll() == IDLE


# -- the wire as a stream and in time


@pytest.mark.parametrize("cut", range(1, len(POLL)))
def test_a_frame_may_come_in_two_pieces(cut):
    line = Line()
    assert line.send(POLL[:cut]) == b""
    assert line.wire.receiving(line.now)
    assert line.send(POLL[cut:])[2] == 0x20
    assert not line.wire.receiving(line.now)


def test_joined_frames_are_answered_in_turn():
    assert Line().send(POLL + frame(0x11, b"\x7f\x1c\0")).count(b"\x02\x0b") == 2


def test_a_frame_that_stops_for_50_ms_is_noise():
    line = Line()
    line.send(POLL[:4])
    assert line.send(POLL[4:], after_ms=51) == b""
    assert line.send(POLL)
    assert line.wire.frames == 1


NOISE = [
    bytes.fromhex(noise) for noise in ("03", "00", "02", "0202", "0208", "020810", "fffe", "02ff10", "020810030303")
]


@pytest.mark.parametrize("noise", NOISE)
def test_a_frame_is_found_behind_noise(noise):
    line = Line()
    line.send(noise)
    assert line.send(POLL, after_ms=60)


@pytest.mark.parametrize("noise", NOISE)
def test_a_frame_is_found_right_behind_noise(noise):
    line = Line()
    line.send(noise + POLL)
    line.send(POLL)
    assert line.wire.frames == 2


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
def test_no_damage_by_one_bit_or_one_byte_is_acted_on(good):
    damaged = [good[:n] + bytes((good[n] ^ 1 << bit,)) + good[n + 1 :] for n in range(len(good)) for bit in range(8)]
    damaged += [good[:n] + b"\x03" + good[n + 1 :] for n in range(len(good)) if good[n] != 3]
    damaged += [good[:n] + good[n + 1 :] for n in range(len(good))]
    damaged += [good[:n] + b"\x03" + good[n:] for n in range(1, len(good))]
    for data in damaged:
        line = Line(escrow())
        assert line.send(data) == b""
        assert (line.events, line.wire.frames) == ([], 0)


@pytest.mark.parametrize("length", [0, 1, 7, 33, 127, 255])
def test_an_impossible_length_holds_nothing_up(length):
    line = Line()
    line.send(bytes((2, length, 0x10)))
    assert line.send(POLL)


def test_0x03_is_a_byte_like_any_other():
    line = Line()
    assert told(line.ask(0x10, b"\x03\x13\x03")) == IDLE
    assert line.hand.device.settings.values["enable"] == b"\x7c\0"
    line.bit ^= 1
    assert line.send(b"\x03" * 300 + frame(0x10 | line.bit, b"\x7f\x1c\0"))


def test_a_byte_of_more_than_seven_bits_is_damage():
    line = Line(escrow_told())
    assert line.send(frame(0x10, b"\xff\x3c\0")) == line.send(frame(0x90, b"\x7f\x3c\0")) == b""
    assert (line.events, line.wire.frames) == ([], 0)


@pytest.mark.parametrize("control", [0x12, 0x14, 0x1E, 0x00, 0x20, 0x21, 0x6E])
def test_another_devices_frame_and_a_reply_are_not_heard(control):
    line = Line()
    assert line.send(frame(control, b"\x7f\x3c\0")) == b""
    assert (line.events, line.wire.frames) == ([], 0)


@pytest.mark.parametrize("name", [name for sender, name in FRAMES if sender == "device"])
def test_an_echo_of_the_devices_own_is_not_heard(name):
    line = Line()
    assert line.send(FRAMES["device", name]) == b""
    assert line.events == []


@pytest.mark.parametrize("control", [0x10, 0x60])
@pytest.mark.parametrize("size", [4, 5, 20])
def test_a_sound_frame_of_another_shape_is_not_heard(control, size):
    line = Line(escrow_told())
    assert line.send(frame(control, b"\x7f\x3c\0" + bytes(size - 3))) == b""
    assert (line.events, line.wire.frames) == ([], 0)


FOREIGN = ["fc05402b15", "fc0541a204", "0203063041b3", "7f80010702d7"]


@pytest.mark.parametrize("foreign", FOREIGN)
def test_other_protocols_frames_are_noise(foreign):
    line = Line(escrow_told())
    assert line.send(bytes.fromhex(foreign)) == b""
    assert line.events == []


def test_noise_that_never_ends_does_not_hold_the_device_up():
    line = Line()
    line.send(b"\x02\x20")
    receiving = []
    for _ in range(25):
        line.send(b"\x03", after_ms=40)
        receiving.append(line.wire.receiving(line.now))
    assert receiving == [True] + [False] * 24


GOOD = st.sampled_from(HOST)
PIECES = st.lists(st.one_of(st.binary(max_size=20), GOOD, st.builds(lambda f, n: f[:n], GOOD, st.integers(1, 7))))


def whole_frames(stream: bytes) -> int:
    """How many well-formed frames could be found in a stream at most, wherever they start."""
    found = 0
    for at in range(len(stream) - 7):
        piece = stream[at : at + stream[at + 1]]
        found += piece == frame(piece[2], piece[3:-2]) if len(piece) >= 8 else 0
    return found


@settings(max_examples=150, deadline=None)
@given(PIECES, st.lists(st.integers(1, 40), min_size=1))
def test_no_stream_raises_or_is_acted_on_but_for_its_whole_frames(pieces, cuts):
    stream, line, at, n = b"".join(pieces), Line(escrow()), 0, 0
    while at < len(stream):
        size = cuts[n % len(cuts)]
        line.send(stream[at : at + size])
        at, n = at + size, n + 1
    assert line.wire.frames <= whole_frames(stream)
    assert [event for event in line.events if event == ("heard",)] == [("heard",)] * line.wire.frames
    assert line.send(POLL, after_ms=60)


@pytest.mark.parametrize("room", [1, 2, 4])
def test_a_short_write_is_finished_later(room):
    line = Line()
    line.port.room = room
    line.send(POLL)
    line.port.sent, sent = b"", line.port.sent
    for _ in range(12):
        line.wire.poll(line.now)
    assert sent + line.port.sent == FRAMES["device", "idle, cassette present"]


def test_a_line_without_a_reader_keeps_no_more_than_one_burst():
    line = Line()
    line.port.room = 0
    for _ in range(300):
        line.send(POLL)
    assert len(line.wire.out) <= 512


def test_five_seconds_of_silence_are_a_communication_error_and_a_frame_ends_it():
    line = Line()
    line.wait(4990)
    assert line.events == []
    line.wait(20)
    assert line.events == [("silence",)]
    assert line.hand.device.shown()[0] == "communication_error"
    assert line.poll() == bytes.fromhex("00100000")
    assert line.hand.device.standing.names() == []


def test_a_repeated_request_is_no_silence():
    line = settled(idle())
    line.poll()
    for _ in range(3):
        line.wait(3000)
        line.again()
    assert ("silence",) not in line.events


def test_nothing_is_said_unasked():
    line = settled(idle())
    line.hand.sensors(entry=1)
    assert line.wait(1000) == b""


class TestWhileTheDeviceStores:
    """A write of the store may take as long as a host waits; the device can't be stepped in it."""

    def stand(self, line: Line, data: bytes) -> bytes:
        line.port.sent, line.port.incoming = b"", data
        line.wire.stand(line.now)
        return line.port.sent

    def next_poll(self, line: Line, modes: int = FOUR_WAYS | ESCROW) -> bytes:
        return frame(0x10 | line.bit ^ 1, bytes((ALL, modes, 0)))

    def test_the_next_poll_is_answered_with_what_stood(self):
        line = settled(PLACES["accepting"]())
        line.poll()
        line.events.clear()
        for frames in (3, 4, 5):
            asked = self.next_poll(line)
            line.bit ^= 1
            assert told(line.body(self.stand(line, asked))) == bytes.fromhex("02100000")
            assert told(line.body(self.stand(line, asked))) == bytes.fromhex("02100000")
            assert line.wire.frames == frames + (frames - 3) + 1
        assert line.events == []
        assert line.poll() == bytes.fromhex("02100000")

    def test_a_repeated_request_gets_its_reply_again(self):
        line = settled(vend_valid())
        line.poll()
        assert told(line.body(self.stand(line, line.asked))) == line.again()

    def test_nothing_stands_before_the_first_poll(self):
        line = Line()
        assert self.stand(line, POLL) == b""
        assert line.wire.patience(line.now) == 0
        line.wire.poll(line.now)
        assert line.port.sent == FRAMES["device", "idle, cassette present"]

    @pytest.mark.parametrize("modes", [FOUR_WAYS | ESCROW | STACK, FOUR_WAYS | ESCROW | RETURN, FOUR_WAYS])
    def test_what_asks_for_anything_new_waits_for_its_turn(self, modes):
        line = settled(escrow_told())
        line.poll()
        asked = self.next_poll(line, modes)
        assert self.stand(line, asked) == b""
        line.wire.poll(line.now)
        assert line.port.sent[2] & 1 == line.bit ^ 1

    @pytest.mark.parametrize("place", ["vend_valid", "power_up", "power_up_stacker"])
    def test_what_may_be_said_but_once_waits_for_its_turn(self, place):
        line = Line(PLACES[place]())
        line.poll()
        assert self.stand(line, self.next_poll(line)) == b""

    def test_an_invalid_command_is_not_said_twice(self):
        line = settled(idle())
        assert line.decide(STACK)[2] & 2
        assert self.stand(line, self.next_poll(line)) == b""

    def test_a_soft_reset_is_told_by_a_poll_that_was_stepped(self):
        line = settled(idle())
        line.send(SOFT_RESET)
        assert line.poll() == bytes.fromhex("00100100")
        assert self.stand(line, self.next_poll(line)) == b""

    def test_behind_a_decision_a_plain_poll_is_answered(self):
        line = settled(escrow_told())
        line.decide(STACK)
        asked = self.next_poll(line)
        line.bit ^= 1
        assert told(line.body(self.stand(line, asked))) == bytes.fromhex("08100000")

    def test_a_return_is_not_said_twice(self):
        line = settled(escrow_told())
        line.decide(RETURN)
        line.hand.sensors(exit=0)
        assert line.poll() == RETURNED
        assert self.stand(line, self.next_poll(line)) == b""

    @pytest.mark.parametrize("data", [SOFT_RESET, POLL[:3], b"\x03" + POLL, frame(0x60, b"\0\0\5")])
    def test_anything_else_waits_too(self, data):
        line = settled(idle())
        line.poll()
        assert self.stand(line, data) == b""
        assert line.wire.buffer == data

    def test_a_request_is_answered_before_the_one_behind_it(self):
        line = settled(idle())
        line.poll()
        asked = self.next_poll(line)
        behind = [frame(0x10 | line.bit, asked[3:-2])]

        def step(event):
            line.step(event)
            line.port.incoming += behind.pop() if behind else b""
            line.wire.stand(line.now)

        line.wire.step = step
        sent = line.send(asked)
        assert [sent[2] & 1, sent[13] & 1] == [line.bit ^ 1, line.bit]


def test_a_whole_sale_over_the_wire():
    desk, port, bit = Desk(), Port(), [0]
    wire = Wire(desk.device, port, crc16, lambda event: desk.step(*event), SimpleNamespace(image_crc=0), 0)

    def ask(modes: int = FOUR_WAYS | ESCROW) -> bytes:
        desk.run(50)
        bit[0] ^= 1
        port.sent, port.incoming = b"", frame(0x10 | bit[0], bytes((ALL, modes, 0)))
        wire.poll(desk.now)
        return told(b"\x20" + port.sent[3:-2])

    seen = [ask() for _ in range(60)]
    order = [state for state, _ in itertools.groupby(seen)]
    assert order == [POWER_UP, bytes.fromhex("00100000"), IDLE]
    desk.plant.insert(note(4))
    seen = []
    for _ in range(120):
        seen.append(ask())
        if seen[-1] == bytes.fromhex("04102800"):
            seen.append(ask(FOUR_WAYS | ESCROW | STACK))
    order = [state.hex() for state, _ in itertools.groupby(seen) if state != IDLE]
    assert order == ["02100000", "04102800", "08100000", "10102800"]
    assert seen.count(bytes.fromhex("10102800")) == 1
    assert desk.commits[-1]["meters"]["bill_20"] == 1
    assert desk.commits[-1]["flight"] is None


def test_accepting_is_on_by_the_hosts_word_alone():
    line = Line(Hand())
    line.poll(notes=0)
    line.poll(notes=0)
    line.hand.pass_post()
    assert line.poll(notes=0) == bytes.fromhex("01100020")
    line.hand.sensors(entry=1)
    assert line.hand.device.state == "disabled"
    assert line.hand.device.settings.values["inhibit"] != ACCEPT
