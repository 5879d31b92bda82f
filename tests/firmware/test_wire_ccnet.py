"""CCNET on the device: what is told, understood and asked; the stream, time, money and repeats."""

from __future__ import annotations

from itertools import cycle, islice

import pytest
from acceptor_bench import COUPON, Desk, Hand, note, stored, ticket
from bench.plant.bill_acceptor import Plant
from ccnet_bench import (
    ACK,
    DISABLE,
    ESCROW,
    FRAMES,
    HOLD,
    HOST,
    ILLEGAL,
    NAK,
    NO,
    NO_ESCROW,
    POLL,
    RESET,
    RETURN,
    STACK,
    VECTORS,
    Line,
    Till,
    bodies,
    frame,
)
from device import validator
from device.bill_acceptor_selftest import _CODE_OF_A_SENSOR, CODES
from device.bill_acceptor_table import CONDITIONS, TABLE
from device.table import expand
from hypothesis import given, settings
from hypothesis import strategies as st
from kermit import crc16
from test_acceptor_table import PLACES, accepting, escrow, idle, jammed, power_up_stacker, vend_valid
from wire import ccnet_words as words


def test_the_port_is_set_to_9600_8n1():
    assert Line().port.how == (9600, 8, "N", 1)


def test_the_check_value_is_kermits():
    assert crc16(VECTORS["check_values"]["of"].encode()) == int(VECTORS["check_values"]["crc16-kermit"], 16)


@pytest.mark.parametrize("data", FRAMES.values(), ids=bytes.hex)
def test_each_vector_has_a_good_checksum_and_the_frame_of_these_tests_is_made_like_it(data):
    assert frame(data[3], data[4:-2]) == data


# -- what is told

TOLD = {
    "power_up": "10",
    "power_up_acceptor": "11",
    "power_up_stacker": "12",
    "initialize": "13",
    "disabled": "19",
    "idle": "14",
    "accepting": "15",
    "escrow": "8004",
    "holding": "1a",
    "stacking": "17",
    "vend_valid": "8104",
    "storing": "17",
    "stacked": "14",
    "rejecting": "1c6d",
    "returning": "18",
    "error": "4757",
}


@pytest.mark.parametrize("state", PLACES)
def test_each_state_is_told(state):
    assert Line(PLACES[state]()).ask(POLL).hex() == TOLD[state]


def test_disabled_is_told_as_the_vectors_have_it():
    assert Line(PLACES["disabled"]()).send(POLL) == FRAMES["device", "disabled"]


def test_escrow_and_stacked_are_told_as_the_vectors_have_it():
    hand = accepting()
    hand.sensors(centre=1)
    hand.sensors(note(3), entry=0, exit=1, centre=0)
    line = Line(hand)
    assert line.send(POLL) == FRAMES["device", "escrow, bill 3"]
    assert line.send(STACK) == ACK
    hand.sensors(lever=1, exit=0)
    hand.sensors(lever=0, chute=1)
    assert line.ask(POLL) == b"\x17"
    hand.sensors(home=0)
    hand.sensors(home=1, chute=0)
    assert line.send(POLL) == FRAMES["device", "stacked, bill 3"]


ERRORS = {
    "acceptor_door": ({"acceptor_door": 1}, "4757"),
    "stacker_removed": ({"box": 0}, "42"),
    "stacker_door": ({"stacker_door": 1}, "42"),
    "stacker_unlocked": ({"lock": 0}, "42"),
    "stacker_full": ({"full": 1}, "41"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_told(name):
    levels, told = ERRORS[name]
    hand = idle()
    hand.sensors(**levels)
    assert hand.device.standing.top()[0] == name
    assert Line(hand).ask(POLL).hex() == told


def test_a_jam_and_cheating_are_told():
    assert Line(jammed()).ask(POLL) == b"\x43"
    hand = escrow()
    hand.sensors(exit=0)
    line = Line(hand)
    assert line.poll() == b"\x18"
    hand.sensors()
    assert line.poll() == b"\x45"


def test_a_failed_self_test_and_lost_memory_are_told():
    hand = Hand()
    hand.host("host_reset")
    hand.wait(5000)
    assert Line(hand).ask(POLL) == b"\x47\x55"
    assert Line(Hand(new=False)).ask(POLL) == b"\x10"
    hand = Hand(new=False)
    hand.host("host_reset")
    assert Line(hand).ask(POLL) == b"\x47\x58"


def test_every_state_condition_and_reason_has_its_word():
    states = {row[0] for row in expand(TABLE)} | {row[1] for row in CONDITIONS}
    assert states - {"error", "stacked"} <= set(words.STATUS)
    reasons = {value for name, value in vars(validator).items() if name.startswith("REJECT_")}
    assert reasons == set(words.REASONS)
    codes = {*CODES.values(), _CODE_OF_A_SENSOR, *(row[2] for row in CONDITIONS if row[1] == "failure")} - {0}
    assert codes <= set(words.FAILURES)


def test_no_two_statuses_that_a_host_must_tell_apart_share_a_word():
    assert len(set(words.STATUS.values())) == len(words.STATUS) - 1  # storing shows as stacking


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (note(length=78), "6c"),
        (note(magnetic=0), "61"),
        (note(uv=200), "6d"),
        (note(thickness=200), "60"),
        (note(optical=[0, 0, 0, 0]), "65"),
        (ticket(barcode=None), "92"),
        (ticket(barcode="123"), "93"),
        ({**ticket(), "thickness": 200}, "69"),
    ],
)
def test_a_rejection_is_told_with_its_reason(item, reason):
    hand = accepting()
    hand.sensors(item, entry=0, exit=1)
    assert Line(hand).ask(POLL).hex() == "1c" + reason


# -- what is understood

UNDERSTOOD = {"stack": ("host", "stack", 2), "return": ("host", "return", None), "hold": ("host", "hold", None)}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_a_word_for_an_item_in_escrow_is_understood(name):
    line = Line(escrow())
    line.poll()
    line.events.clear()
    assert line.send(FRAMES["host", name]) == ACK
    assert line.events == [("heard",), UNDERSTOOD[name]]


@pytest.mark.parametrize("name", UNDERSTOOD)
@pytest.mark.parametrize("state", ["idle", "disabled", "accepting", "initialize", "power_up", "error", "rejecting"])
def test_what_a_state_forbids_is_illegal(name, state):
    line = Line(PLACES[state]())
    assert line.ask(FRAMES["host", name]) == ILLEGAL
    assert line.device.state == state


def test_a_stack_before_the_escrow_was_told_is_illegal():
    line = Line(escrow())
    assert line.ask(STACK) == ILLEGAL
    assert line.device.state == "escrow"


def test_hold_is_told_and_may_be_repeated():
    line = Line(escrow())
    line.poll()
    assert [line.ask(HOLD), line.ask(HOLD)] == [b"\0", b"\0"]
    assert line.events.count(("host", "hold", None)) == 2
    assert line.poll() == b"\x1a"
    assert line.ask(STACK) == b"\0"
    assert line.poll() == b"\x17"


def test_a_reset_leaves_nothing_accepted_until_the_host_says_what():
    line = Line(Hand())
    assert line.poll() == b"\x10"
    assert line.send(RESET) == ACK
    assert line.poll() == b"\x13"
    line.hand.pass_post()
    assert line.poll() == b"\x19"
    assert line.ask(frame(0x31)) == bytes(6)
    assert line.send(ESCROW) == ACK
    assert line.poll() == b"\x14"


def test_what_is_enabled_while_it_initialises_stands():
    line = Line(Hand())
    line.send(RESET)
    assert line.send(NO_ESCROW) == ACK
    line.hand.pass_post()
    assert line.poll() == b"\x14"


def test_a_reset_is_acknowledged_where_an_error_still_stands():
    line = Line(PLACES["error"]())
    assert line.send(RESET) == ACK
    assert line.poll() == b"\x47\x57"
    line.hand.sensors(acceptor_door=0)
    assert line.poll() == b"\x13"
    line.hand.pass_post()
    assert line.poll() == b"\x19"


@pytest.mark.parametrize("kind", range(8))
def test_each_bill_type_is_enabled_by_its_own_bit(kind):
    line = Line(idle())
    line.send(frame(0x34, (1 << kind).to_bytes(3, "big") * 2))
    allowed = [n for n in range(7) if line.device.settings.allows(judged(note(n)), line.device.currency)]
    assert allowed == ([kind] if kind < 7 else [])
    assert not line.device.settings.allows(judged(ticket()), line.device.currency)
    assert line.poll() == (b"\x14" if kind < 7 else b"\x19")


def judged(item: dict):
    return Line().device.validator.judge(item)[0]


def test_bit_23_is_a_barcodes():
    line = Line(idle())
    assert line.send(frame(0x34, b"\x80\0\0\x80\0\0")) == ACK
    for item in (ticket(), ticket(COUPON)):
        assert line.device.settings.allows(judged(item), line.device.currency)
    assert not line.device.settings.allows(judged(note(3)), line.device.currency)
    assert line.poll() == b"\x14"


def test_bills_2_to_6_are_enabled_as_the_vectors_have_it():
    line = Line(idle())
    assert line.send(FRAMES["host", "enable bills 2 to 6, no escrow"]) == ACK
    allowed = [n for n in range(7) if line.device.settings.allows(judged(note(n)), line.device.currency)]
    assert allowed == [2, 3, 4, 5, 6]


def test_disable_all_is_told():
    line = Line(idle())
    assert line.send(DISABLE) == ACK
    assert line.poll() == b"\x19"
    assert line.send(NO_ESCROW) == ACK
    assert line.poll() == b"\x14"


def test_the_status_reads_back_what_was_set():
    line = Line()
    line.send(frame(0x34, b"\x80\x01\x7c\xff\xff\xff"))
    assert line.send(frame(0x32, b"\0\0\x03")) == ACK
    assert line.ask(FRAMES["host", "get status"]) == b"\x80\x01\x7c\0\0\x03"


def test_barcode_parameters_are_set():
    line = Line()
    assert line.send(frame(0x39, b"\x01\x12")) == ACK
    assert line.device.settings.values["barcode"] == b"\x01\x12"


WITH_DATA = {0x32: 3, 0x34: 6, 0x39: 2}
KNOWN = {0x00, 0x30, 0x31, 0x33, 0x35, 0x36, 0x37, 0x38, 0x3A, 0x41, 0x51, 0xFF, *WITH_DATA}


@pytest.mark.parametrize("command", sorted(KNOWN))
@pytest.mark.parametrize("more", [-1, 1, 10])
def test_a_command_with_the_wrong_number_of_data_bytes_is_illegal_and_moves_nothing(command, more):
    size = WITH_DATA.get(command, 0) + more
    if size < 0:
        return
    line = Line(escrow())
    before = dict(line.device.settings.values)
    line.poll()
    line.events.clear()
    assert line.ask(frame(command, b"\xff" * size)) == ILLEGAL
    assert (line.events, line.device.settings.values) == ([("heard",)], before)


@pytest.mark.parametrize("command", sorted(set(range(256)) - KNOWN))
def test_an_unknown_command_is_illegal_and_moves_nothing(command):
    line = Line()
    assert line.ask(frame(command)) == ILLEGAL
    assert line.ask(frame(command, bytes(64))) == ILLEGAL
    assert line.events == [("heard",)] * 2


def test_the_identification_is_part_number_serial_and_asset():
    told = Line().ask(FRAMES["host", "identification"])
    assert (told[:15], told[15:27], told[27:]) == (b"PB-CCN-010 BEEF", b"4C311B8C6F2A", bytes(7))


def test_the_bill_table_has_24_rows_of_five_bytes():
    told = Line().ask(FRAMES["host", "get bill table"])
    rows = [told[n : n + 5] for n in range(0, 120, 5)]
    assert len(told) == 120
    values = [row[0] * 10 ** row[4] for row in rows[:7]]
    assert values == [1, 2, 5, 10, 20, 50, 100]
    assert {row[1:4] for row in rows[:7]} == {b"USA"}
    assert set(rows[7:]) == {bytes(5)}


# -- barcodes


def voucher() -> Line:
    hand = accepting()
    hand.sensors(ticket(), entry=0, exit=1)
    return Line(hand)


def test_a_barcode_is_the_last_bill_type_and_its_digits_are_read_out():
    line = voucher()
    assert line.poll() == b"\x80\x17"
    assert line.ask(FRAMES["host", "extract barcode data"]) == b"123456000250345678"
    line.send(RETURN)
    assert line.ask(FRAMES["host", "extract barcode data"]) == ILLEGAL


def test_there_is_no_barcode_to_extract_from_a_note():
    assert Line(escrow()).ask(FRAMES["host", "extract barcode data"]) == ILLEGAL
    assert Line(idle()).ask(FRAMES["host", "extract barcode data"]) == ILLEGAL


# -- the checksum of the code


class Pieces:
    def __init__(self, count: int, ok: bool = True) -> None:
        self.left, self.ok, self.crc = count, ok, 0x0123ABCD

    def step(self):
        self.left -= 1
        return None if self.left else (self.ok, "")


def checking(count: int, ok: bool = True) -> Line:
    line = Line()
    line.asked = []
    line.checksum = lambda *how: line.asked.append(how) or Pieces(count, ok)
    return line


def test_the_crc_32_is_told_when_it_is_computed():
    line = checking(3)
    assert line.ask(frame(0x51)) == b""
    assert line.wire.next() <= line.now
    assert bodies(line.wait(100)) == [bytes.fromhex("0123abcd")]
    assert line.asked == [(0, 32)]
    assert line.wire.next() > line.now


def test_a_host_that_asks_something_else_meanwhile_gets_the_crc_32_when_it_asks_again():
    line = checking(3)
    line.send(frame(0x51))
    assert line.poll() == b"\x14"
    assert line.wait(100) == b""
    assert line.ask(frame(0x51)) == bytes.fromhex("0123abcd")
    assert len(line.asked) == 1
    line.send(frame(0x51))
    assert len(line.asked) == 2


def test_a_host_that_polls_while_the_device_stores_does_not_wait_for_the_crc_32_any_more():
    line = checking(3)
    line.poll()
    line.send(frame(0x51))
    assert bodies(line.stand(POLL)) == [b"\x14"]
    assert line.wait(100) == b""


def test_an_image_that_cant_be_read_has_no_crc_32():
    line = checking(2, ok=False)
    line.send(frame(0x51))
    assert bodies(line.wait(100)) == [ILLEGAL]


# -- money


def test_a_stacked_bill_is_told_until_it_is_acknowledged():
    line = Line(vend_valid())
    assert [line.ask(POLL) for _ in range(3)] == [b"\x81\x04"] * 3
    assert ("host", "ack") not in line.events
    assert line.ask(ACK) == b""
    assert line.events[-1] == ("host", "ack")
    assert line.ask(POLL) == b"\x17"


OTHERS = [data for data in HOST if data not in (POLL, ACK, RESET)]


@pytest.mark.parametrize("between", [*OTHERS, frame(0x34), frame(0x99), frame(0x51)], ids=bytes.hex)
def test_only_an_acknowledgement_of_the_stacked_bill_itself_takes_the_credit(between):
    line = Line(vend_valid())
    line.checksum = lambda *how: Pieces(9)
    assert line.ask(POLL) == b"\x81\x04"
    line.send(between)
    line.send(ACK)
    assert ("host", "ack") not in line.events
    assert line.poll() == b"\x81\x04"
    assert line.events.count(("host", "ack")) == 1


def test_an_acknowledgement_of_what_was_told_before_is_not_of_the_stacked_bill():
    line = Line(PLACES["stacking"]())
    assert line.ask(POLL) == b"\x17"
    line.hand.sensors(lever=0, chute=1)
    line.hand.sensors(home=0)
    line.hand.sensors(home=1, chute=0)
    assert line.device.state == "vend_valid"
    line.send(ACK)
    assert ("host", "ack") not in line.events
    assert line.poll() == b"\x81\x04"


def test_a_bill_that_a_cut_left_stacked_is_told_until_it_is_acknowledged_and_survives_a_reset_before():
    line = Line(power_up_stacker())
    assert line.send(RESET) == ACK
    assert [line.ask(POLL), line.ask(POLL)] == [b"\x12", b"\x12"]
    assert line.send(RESET) == ACK
    assert line.device.record["flight"]
    assert line.poll() == b"\x12"
    assert line.device.record["flight"] is None
    assert line.poll() == b"\x13"


def test_without_a_reset_what_a_cut_left_is_told_on():
    line = Line(power_up_stacker())
    assert [line.poll() for _ in range(3)] == [b"\x12"] * 3
    assert line.send(RESET) == ACK
    assert line.device.record["flight"] is None
    assert line.poll() == b"\x13"


def test_a_reset_before_the_stacked_bill_was_acknowledged_keeps_the_credit():
    line = Line(vend_valid())
    line.ask(POLL)
    assert line.send(RESET) == ACK
    assert line.device.record["flight"]
    assert line.poll() == b"\x12"
    assert line.poll() == b"\x13"
    assert line.device.record["flight"] is None


@pytest.mark.parametrize("command", [STACK, RETURN], ids=["stack", "return"])
def test_a_repeated_command_is_answered_again_and_not_obeyed_again(command):
    line = Line(escrow())
    line.poll()
    assert [line.send(command), line.send(command)] == [ACK, ACK]
    assert len([event for event in line.events if event[:2] in (("host", "stack"), ("host", "return"))]) == 1
    line.poll()
    assert line.ask(command) == ILLEGAL


def test_a_nak_brings_the_last_answer_again():
    line = Line(escrow())
    assert line.send(NAK) == b""
    told = line.send(POLL)
    assert [line.send(NAK), line.send(NAK)] == [told, told]
    assert line.events.count(("told",)) == 1
    assert line.send(STACK) == ACK
    assert line.send(NAK) == ACK
    assert line.events.count(("host", "stack", 2)) == 1


def test_a_stacked_bill_said_again_after_a_nak_is_acknowledged_as_the_first():
    line = Line(vend_valid())
    told = line.send(POLL)
    assert line.send(NAK) == told
    line.send(ACK)
    assert line.events[-1] == ("host", "ack")


# -- escrow or not


def test_a_bill_type_without_escrow_is_stacked_unasked():
    line = Line(accepting())
    line.send(NO_ESCROW)
    line.hand.sensors(note(), entry=0, exit=1)
    line.wait(10)
    assert line.device.state == "stacking"
    assert line.poll() == b"\x17"


def test_a_poll_that_is_first_finds_it_stacking_too():
    line = Line(accepting())
    line.send(NO_ESCROW)
    line.hand.sensors(note(), entry=0, exit=1)
    assert line.poll() == b"\x17"


def test_each_bill_type_has_an_escrow_of_its_own():
    line = Line(accepting())
    line.send(frame(0x34, b"\xff\xff\xff\0\0\x10"))
    line.hand.sensors(note(4), entry=0, exit=1)
    line.wait(50)
    assert line.poll() == b"\x80\x04"


def test_what_is_set_while_a_bill_waits_does_not_decide_about_it():
    line = Line(escrow())
    assert line.poll() == b"\x80\x04"
    assert line.send(DISABLE) == ACK
    line.wait(50)
    assert line.poll() == b"\x80\x04"
    assert line.send(STACK) == ACK


def test_a_bill_that_is_not_told_yet_waits_where_the_host_wanted_it_to_when_it_came():
    line = Line(accepting())
    line.hand.sensors(note(), entry=0, exit=1)
    assert line.send(NO_ESCROW) == ACK
    assert line.poll() == b"\x80\x04"


def test_nothing_is_stored_for_it_while_a_frame_comes_in():
    line = Line(accepting())
    line.send(NO_ESCROW)
    line.send(POLL[:3])
    line.hand.sensors(note(), entry=0, exit=1)
    line.wait(30)
    assert line.device.state == "escrow"
    line.wait(40)
    assert line.device.state == "stacking"


# -- an item on its way back


def test_a_returned_bill_is_told_until_it_is_acknowledged():
    line = Line(escrow())
    line.poll()
    line.send(RETURN)
    assert line.poll() == b"\x18"
    line.hand.sensors(exit=0)
    assert [line.ask(POLL), line.ask(POLL)] == [b"\x82\x04"] * 2
    assert line.ask(ACK) == b""
    assert line.poll() == b"\x14"


def test_what_a_host_left_in_escrow_too_long_is_returned_not_rejected():
    line = Line(escrow())
    for _ in range(4):
        line.send(POLL, after_ms=2900)
        line.send(ACK)
    assert line.device.state == "rejecting"
    assert line.poll() == b"\x18"
    line.hand.sensors(exit=0)
    assert line.poll() == b"\x82\x04"
    assert line.poll() == b"\x14"


def test_a_rejected_item_is_not_told_as_returned():
    line = Line(PLACES["rejecting"]())
    assert line.poll() == b"\x1c\x6d"
    line.hand.sensors(centre=0, exit=0)
    assert line.poll() == b"\x14"


def test_a_return_that_something_new_overtakes_is_not_told_late():
    line = Line(escrow())
    line.poll()
    line.send(RETURN)
    line.poll()
    line.hand.sensors(exit=0)
    assert line.ask(POLL) == b"\x82\x04"
    line.hand.sensors(entry=1)
    assert line.poll() == b"\x15"
    line.hand.step("told")
    line.hand.sensors(entry=0)
    assert line.poll() == b"\x14"


def test_paper_found_at_the_start_is_returned_without_a_type():
    line = Line(PLACES["power_up_acceptor"]())
    assert line.poll() == b"\x11"
    line.send(RESET)
    line.hand.pass_post()
    assert line.poll() == b"\x18"
    line.hand.sensors(exit=0)
    assert line.poll() == b"\x19"


def test_paper_found_after_a_stacked_bill_is_not_told_as_that_bill():
    line = Line(PLACES["stacked"]())
    line.poll()
    line.hand.sensors(exit=1)
    line.send(RESET)
    line.hand.pass_post()
    assert line.poll() == b"\x18"
    line.hand.sensors(exit=0)
    assert line.poll() == b"\x19"


# -- the stream


@pytest.mark.parametrize("cut", range(1, len(POLL)))
def test_a_frame_may_come_in_two_pieces(cut):
    line = Line()
    assert line.send(POLL[:cut]) == b""
    assert line.wire.receiving(line.now)
    assert line.ask(POLL[cut:]) == b"\x14"
    assert not line.wire.receiving(line.now)


def test_joined_frames_are_answered_in_turn():
    line = Line(escrow())
    assert bodies(line.send(POLL + ACK + STACK + POLL)) == [b"\x80\x04", b"\0", b"\x17"]


def test_a_frame_that_stops_for_50_ms_is_noise():
    line = Line()
    line.send(POLL[:3])
    assert line.send(POLL[3:], after_ms=51) == b""
    assert line.ask(POLL) == b"\x14"
    assert line.wire.frames == 1


NOISE = [
    bytes.fromhex(noise) for noise in ("02", "00", "0202", "0203", "03", "020305", "020300", "0203ff", "fffe", "0200")
]


@pytest.mark.parametrize("noise", NOISE, ids=bytes.hex)
def test_a_frame_is_found_behind_noise(noise):
    line = Line()
    line.send(noise)
    assert line.ask(POLL) == b"\x14" or line.send(POLL, after_ms=60)
    assert line.ask(POLL) == b"\x14"


def test_a_frame_behind_a_false_start_is_found_when_the_line_is_silent():
    line = Line()
    line.send(b"\x02\x03\x50" + POLL)
    line.port.sent = b""
    line.now += 60
    line.wire.poll(line.now)
    assert bodies(line.port.sent) == [b"\x14"]


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
def test_no_damage_by_one_bit_or_one_byte_is_acted_on(good):
    damaged = [good[:n] + bytes((good[n] ^ 1 << bit,)) + good[n + 1 :] for n in range(len(good)) for bit in range(8)]
    damaged += [good[:n] + b"\x03" + good[n + 1 :] for n in range(len(good)) if good[n] != 3]
    damaged += [good[:n] + good[n + 1 :] for n in range(len(good))]
    damaged += [good[:n] + b"\x03" + good[n:] for n in range(1, len(good)) if good[n - 1] != 3 and good[n] != 3]
    for data in damaged:
        line = Line(escrow())
        assert line.send(data) in (b"", NAK)
        assert (line.events, line.wire.frames) == ([], 0)


def test_a_damaged_frame_is_answered_with_nak_and_the_repeated_one_as_if_nothing_had_been():
    line = Line()
    assert line.ask(POLL[:-1] + b"\0") == NO
    assert line.events == []
    assert line.ask(POLL) == b"\x14"
    line.send(ACK)
    assert line.ask(POLL[:3] + b"\x32" + POLL[4:]) == NO


def test_damage_is_answered_each_time_and_the_last_answer_is_kept():
    line = Line(escrow())
    line.poll()
    assert line.ask(STACK) == b"\0"
    assert [line.ask(POLL[:-1] + b"\0"), line.ask(POLL[:-1] + b"\0")] == [NO, NO]
    assert line.send(NAK) == ACK


def test_a_good_frame_right_behind_a_damaged_one_is_all_that_is_answered():
    assert bodies(Line().send(POLL[:-1] + b"\0" + POLL)) == [b"\x14"]


@pytest.mark.parametrize("length", [0, 1, 5, 129, 255])
def test_an_impossible_length_holds_nothing_up(length):
    line = Line()
    line.send(bytes((2, 3, length, 0x33)))
    assert line.ask(POLL) == b"\x14"


def test_a_damaged_frame_where_an_acknowledgement_is_owed_is_met_with_silence():
    line = Line(vend_valid())
    told = line.send(POLL)
    assert line.send(ACK[:-1] + b"\0") == b""
    assert ("host", "ack") not in line.events
    assert line.send(NAK) == told
    assert line.send(ACK[:-1] + b"\0") == b""
    assert line.send(POLL) == told


@pytest.mark.parametrize("address", [0, 1, 2, 4, 15, 16, 255])
def test_a_frame_for_another_address_is_ignored(address):
    line = Line()
    assert line.send(frame(0x33, address=address)) == b""
    assert line.send(frame(0x33, address=address)[:-1] + b"\0", after_ms=60) == b""
    assert (line.events, line.wire.frames) == ([], 0)
    assert bodies(line.send(POLL, after_ms=60)) == [b"\x14"]


def test_a_frame_within_a_frame_for_another_address_is_not_acted_on():
    line = Line()
    assert line.send(frame(0x40, RESET, address=1)) == b""
    assert line.events == []
    assert line.ask(POLL) == b"\x14"


FOREIGN = [
    bytes.fromhex(data) for data in ("fc05402b15", "fc05112756", "7f80010711e1", "020810000000000318", "28000101d6")
]


@pytest.mark.parametrize("data", FOREIGN, ids=bytes.hex)
def test_other_protocols_move_nothing(data):
    line = Line(escrow())
    assert line.send(data) == b""
    assert line.events == []
    assert line.ask(POLL) == b"\x80\x04" or line.send(POLL, after_ms=60)


def test_noise_that_never_ends_does_not_hold_the_device_up():
    line = Line()
    line.send(b"\x02\x03\x80")
    receiving = []
    for _ in range(25):
        line.send(b"\x03", after_ms=40)
        receiving.append(line.wire.receiving(line.now))
    assert receiving[:4] == [True] * 4
    assert receiving[5:] == [False] * 20


GOOD = st.sampled_from(HOST)
PIECES = st.lists(st.one_of(st.binary(max_size=20), GOOD, st.builds(lambda f, n: f[:n], GOOD, st.integers(1, 5))))


def whole_frames(stream: bytes) -> int:
    """How many well-formed frames could be found in a stream at most, wherever they start."""
    sizes = ((at, stream[at + 2]) for at in range(len(stream) - 5) if stream[at : at + 2] == b"\x02\x03")
    return sum(1 for at, n in sizes if 6 <= n <= len(stream) - at and crc16(stream[at : at + n]) == 0)


@settings(max_examples=150, deadline=None)
@given(PIECES, st.lists(st.integers(1, 40), min_size=1))
def test_no_stream_raises_or_is_acted_on_but_for_its_whole_frames(pieces, cuts):
    stream, line, at, n = b"".join(pieces), Line(escrow()), 0, 0
    while at < len(stream):
        size = cuts[n % len(cuts)]
        line.send(stream[at : at + size])
        at, n = at + size, n + 1
    line.send(b"", after_ms=60)
    assert line.wire.frames <= whole_frames(stream)
    assert [event for event in line.events if event == ("heard",)] == [("heard",)] * line.wire.frames
    assert line.ask(POLL)


@pytest.mark.parametrize("room", [1, 2, 4])
def test_a_short_write_is_finished_later(room):
    line = Line()
    line.port.room = room
    line.send(POLL)
    line.port.sent, sent = b"", line.port.sent
    for _ in range(6):
        line.wire.poll(line.now)
    assert bodies(sent + line.port.sent) == [b"\x14"]


def test_a_line_without_a_reader_keeps_no_more_than_one_burst():
    line = Line()
    line.port.room = 0
    for _ in range(300):
        line.send(POLL)
    assert len(line.wire.out) <= 512


# -- time


def test_five_seconds_of_silence_are_a_communication_error_and_a_frame_ends_it():
    line = Line()
    line.wait(4990)
    assert line.events == []
    line.wait(20)
    assert line.events == [("silence",)]
    assert line.device.shown()[0] == "communication_error"
    line.send(POLL)
    assert line.device.standing.names() == []


def test_nothing_is_said_unasked():
    line = Line()
    line.hand.sensors(entry=1)
    assert line.wait(1000) == b""


# -- while the device stores


def test_a_poll_is_answered_with_what_stood():
    line = Line()
    told = line.send(POLL)
    line.events.clear()
    assert line.stand(ACK) == b""
    assert [line.stand(POLL), line.stand(ACK + POLL)] == [told, told]
    assert line.events == []
    assert line.wire.frames == 5


def test_nothing_stands_before_the_first_poll():
    line = Line()
    assert line.stand(POLL) == b""
    assert line.wire.patience(line.now) == 0
    line.wire.poll(line.now)
    assert bodies(line.port.sent) == [b"\x14"]


@pytest.mark.parametrize("data", [STACK, POLL[:3], POLL + POLL, b"\x03" + POLL, RESET, NAK])
def test_anything_else_waits_for_its_turn(data):
    line = Line()
    line.poll()
    assert line.stand(data) == b""
    assert line.wire.buffer == data


@pytest.mark.parametrize("place", [vend_valid, power_up_stacker], ids=lambda place: place.__name__)
def test_what_an_acknowledgement_settles_is_not_said_twice(place):
    line = Line(place())
    line.ask(POLL)
    assert line.stand(POLL) == b""
    line.wire.poll(line.now)
    line.port.sent = b""
    assert line.stand(ACK) == b""
    assert line.wire.due == line.device.state
    line.wire.poll(line.now)
    assert line.wire.due is None


def test_a_command_is_answered_before_the_poll_behind_it():
    line = Line()
    line.poll()
    polls = [POLL]
    line.wire.step = lambda event: line.step(event) or arrive(line, polls.pop() if polls else b"")
    assert bodies(line.send(DISABLE)) == [b"\0", b"\x19"]


def arrive(line: Line, data: bytes) -> None:
    line.port.incoming += data
    line.wire.stand(line.now)


# -- whole sales


def shown(heard: list[bytes]) -> list[str]:
    return [told.hex() for n, told in enumerate(heard) if n == 0 or heard[n - 1] != told]


def test_a_whole_sale_over_the_wire():
    till = Till().open()
    till.desk.plant.insert(note(4))
    heard = till.until(b"\x80\x04")
    till.ask(ACK)
    assert till.ask(STACK) == b"\0"
    heard += till.until(b"\x81\x04")
    till.ask(ACK)
    heard += till.until(b"\x14")
    assert shown(heard) == ["15", "8004", "17", "8104", "14"]
    assert till.desk.commits[-1]["meters"]["bill_20"] == 1
    assert till.desk.commits[-1]["flight"] is None
    assert till.events.count(("host", "ack")) == 1


def test_a_whole_sale_without_escrow():
    till = Till().open(NO_ESCROW)
    till.desk.plant.insert(note(3))
    heard = [told.hex() for told in till.polls(100)]
    assert heard == ["15", "17", "8103", "14"]
    assert till.desk.commits[-1]["meters"]["bill_10"] == 1


def test_a_returned_note_leaves_no_credit():
    till = Till().open()
    till.desk.plant.insert(note(6))
    till.until(b"\x80\x06")
    till.ask(ACK)
    till.ask(RETURN)
    assert [told.hex() for told in till.polls(80)] == ["18", "8206", "14"]
    assert till.desk.plant.truth()["returned"] == 1
    assert till.desk.commits[-1]["meters"]["stacked_count"] == 0


def test_a_voucher_is_redeemed_once():
    till = Till().open()
    till.desk.plant.insert(ticket())
    till.until(b"\x80\x17")
    till.ask(ACK)
    assert till.ask(frame(0x3A)) == b"123456000250345678"
    till.ask(ACK)
    till.ask(STACK)
    till.until(b"\x81\x17")
    till.ask(ACK)
    assert till.polls(5)[-1] == b"\x14"
    assert till.desk.plant.truth()["barcodes"] == ["123456000250345678"]


def test_a_jam_behind_the_lever_keeps_the_credit():
    till = Till().open()
    till.desk.plant.insert(note(4))
    till.until(b"\x80\x04")
    till.ask(ACK)
    till.ask(STACK)
    till.desk.do("break", part="stack_motor")
    till.until(b"\x81\x04")
    till.ask(ACK)
    assert till.polls(3)[-1] == b"\x44"
    assert till.desk.commits[-1]["meters"]["bill_20"] == 1


def test_a_power_cut_before_the_acknowledgement_is_told_as_a_bill_in_the_stacker_once():
    till = Till().open()
    till.desk.plant.insert(note(4))
    till.until(b"\x80\x04")
    till.ask(ACK)
    till.ask(STACK)
    till.until(b"\x81\x04")
    plant = Plant()
    plant.box["count"] = 1
    again = Till(Desk(till.desk.commits[-1], plant))
    assert [told.hex() for told in again.polls(3)] == ["12"]
    again.open()
    assert again.desk.commits[-1]["flight"] is None
    assert again.desk.commits[-1]["meters"]["bill_20"] == 1
    third = Till(Desk(again.desk.commits[-1], plant))
    assert third.poll() == b"\x10"


def test_a_power_cut_after_the_acknowledgement_is_an_ordinary_one():
    till = Till().open(NO_ESCROW)
    till.desk.plant.insert(note(4))
    till.until(b"\x81\x04")
    till.ask(ACK)
    assert Till(Desk(till.desk.commits[-1], Plant())).poll() == b"\x10"


def test_a_record_of_an_interrupted_stacking_is_no_credit():
    hand = Hand(stored({"stage": "stacking", "kind": "note", "cents": 2000}))
    assert Line(hand).poll() == b"\x10"


def test_the_mode_is_polling():
    line = Line()
    assert (line.wire.mode(), line.wire.next()) == ("polling", 5000)


LOST = st.sampled_from(["", "", "", "request", "answer", "ack", "damaged"])


class Kiosk:
    """A host behind a bad line: it stacks what is in escrow, and credits a stacked bill that it hadn't heard before."""

    def __init__(self, till: Till, trouble: list[str]) -> None:
        self.till, self.heard, self.credits = till, b"", []
        self.trouble = islice(cycle(trouble or [""]), 250)

    def say(self, data: bytes) -> bytes:
        lost = next(self.trouble, "")
        if lost == "damaged":
            data = data[:-1] + bytes((data[-1] ^ 0x10,))
        answer = self.till.send(b"" if lost == "request" else data)
        if lost == "answer" or not answer:
            return b""
        if bodies(answer)[0] not in (b"\0", NO) and lost != "ack":
            self.till.send(ACK)
        return bodies(answer)[0]

    def poll(self) -> None:
        told = self.say(POLL)
        if told[:1] == b"\x80":
            self.say(STACK)
        if told[:1] == b"\x81" and self.heard[:1] != b"\x81":
            self.credits.append(told[1])
        self.heard = told if told not in (b"", NO) else self.heard


@settings(max_examples=40, deadline=None)
@given(st.lists(LOST, max_size=12))
def test_a_bad_line_neither_loses_nor_doubles_a_credit(trouble):
    till = Till().open()
    kiosk = Kiosk(till, trouble)
    for kind in (4, 2):
        till.desk.plant.insert(note(kind))
        for _ in range(600):
            kiosk.poll()
            if till.device.state == "idle" and not till.desk.plant.item:
                break
    assert till.device.state == "idle"
    stacked = till.desk.commits[-1]["meters"]
    assert kiosk.credits == [4] * stacked["bill_20"] + [2] * stacked["bill_5"]
    assert till.desk.plant.truth()["stacked"] == len(kiosk.credits)
    assert till.device.record["flight"] is None
