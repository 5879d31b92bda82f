"""SSP on the device: what is told, understood and asked, as public vectors and the public manual have it."""

from __future__ import annotations

import pytest
from acceptor_bench import COUPON, Hand, note, stored, ticket
from device.bill_acceptor_table import CONDITIONS as OF_DEVICE
from device.bill_acceptor_table import TABLE
from device.table import expand
from ssp_bench import (
    CANT,
    DISABLE,
    ENABLE,
    EVENT_ACK,
    FAIL,
    FRAMES,
    HOLD,
    OK,
    POLL,
    POLL_ACK,
    RANGE,
    REJECT,
    RESET,
    TWENTY,
    UNKNOWN,
    WRONG_NUMBER,
    Line,
    answers,
    credited,
    drawn_in,
    frame,
    offered,
    opened,
    past_lever,
    read,
    stacked,
)
from wire.ssp_commands import COMMANDS, SIZES
from wire.ssp_events import CONDITIONS, SAID

CREDIT = b"\xee" + bytes((TWENTY,))
ESCROW = b"\xef" + bytes((TWENTY,))
DIGITS = "123456000250345678"


def test_the_port_is_set_to_9600_8n2():
    assert Line().port.how == (9600, 8, "N", 2)


def test_every_state_and_condition_is_said():
    others = {"idle", "escrow", "holding", "vend_valid", "error", "power_up", "power_up_acceptor", "power_up_stacker"}
    assert {row[0] for row in expand(TABLE)} == set(SAID) | others
    assert {row[0] for row in OF_DEVICE} == set(CONDITIONS)


# -- start


def test_the_reset_is_told_as_the_vector_has_it_and_starts_the_device():
    line = Line()
    line.bit = 0x80
    assert line.send(line.next_frame(POLL)) == FRAMES["device", "reset event, sequence 1"]
    assert line.hand.device.state == "power_up"
    assert line.poll() == b"\xe8"
    assert line.hand.device.state == "initialize"


def test_what_was_set_before_the_reset_was_told_stands_after_it():
    line = Line()
    line.ask(b"\x02\x10\x00")
    line.ask(ENABLE)
    assert line.hand.device.state == "power_up"
    line.poll()
    line.ask(b"\x0c")
    line.hand.pass_post()
    assert line.hand.device.state == "idle"
    assert line.hand.device.settings.values["enable"] == b"\xef\xff"


def test_a_device_that_was_told_nothing_is_disabled_once_it_is_tested():
    line = Line()
    line.poll()
    line.poll()
    line.hand.pass_post()
    assert line.poll() == b"\xe8"
    assert line.hand.device.state == "disabled"


def test_a_note_in_the_path_at_start_is_told_and_driven_out():
    line = Line(Hand(exit=1))
    assert line.poll() == b"\xf1\xe1\0"
    assert line.poll() == b"\xe8"
    line.hand.pass_post()
    assert line.poll() == b"\xed"
    line.hand.sensors(exit=0)
    assert line.poll() == b"\xec\xe8"


def power_cut(kind: str = "note", cents: int = 2000) -> Line:
    return Line(Hand(stored({"stage": "stacked", "kind": kind, "cents": cents})))


def test_a_note_in_the_stacker_at_start_is_told_until_the_next_command_shows_that_it_was():
    line = power_cut()
    assert line.poll() == b"\xf1\xe2" + bytes((TWENTY,))
    assert line.again() == OK + b"\xf1\xe2" + bytes((TWENTY,))
    assert line.hand.device.record["flight"]
    assert line.poll() == b"\xe8"
    assert line.hand.device.record["flight"] is None


def test_a_note_in_the_stacker_at_start_is_told_anew_to_another_host():
    line = power_cut()
    line.poll()
    line.sync()
    assert line.hand.device.record["flight"]
    assert line.poll() == b"\xf1\xe2" + bytes((TWENTY,))


def test_a_ticket_in_the_stacker_at_start_has_no_channel():
    assert power_cut("voucher", 0).poll() == b"\xf1\xe2\0"


def test_a_host_of_an_older_protocol_hears_of_the_note_in_the_stacker_as_a_credit():
    line = power_cut()
    line.ask(b"\x06\x04")
    assert line.poll() == b"\xf1" + CREDIT


def test_a_note_in_the_stacker_is_not_lost_to_a_reset_before_it_was_told():
    line = power_cut()
    assert line.ask(RESET) == OK
    assert line.poll() == b"\xf1\xe2" + bytes((TWENTY,))


# -- a sale


def test_a_note_from_the_entry_to_credit():
    line = opened()
    drawn_in(line)
    assert line.poll() == b"\xef\0"
    line.hand.sensors(centre=1)
    line.hand.sensors(note(), entry=0, exit=1, centre=0)
    assert line.poll() == ESCROW
    assert line.given("stack") == []
    assert line.poll() == b"\xcc"
    assert line.given("stack") == [("host", "stack", 1)]
    past_lever(line)
    assert line.poll() == CREDIT
    assert line.given("ack") == []
    assert line.poll() == b"\xcc"
    assert line.given("ack") == [("host", "ack")]
    stacked(line)
    assert line.poll() == b"\xeb"
    assert line.poll() == b""
    assert line.hand.device.record["meters"]["bill_20"] == 1


@pytest.mark.parametrize("index", range(7))
def test_each_note_has_the_channel_of_its_place(index):
    line = read(opened(), note(index))
    assert line.poll() == bytes((0xEF, index + 1))
    line.poll()
    past_lever(line)
    assert line.poll() == bytes((0xEE, index + 1))


def test_a_credit_whose_answer_was_lost_is_told_again_and_once_only():
    line = credited()
    assert line.poll() == CREDIT
    assert [line.again() for _ in range(3)] == [OK + CREDIT] * 3
    assert line.given("ack") == []
    assert CREDIT not in [line.poll() for _ in range(5)]
    assert line.given("ack") == [("host", "ack")]


@pytest.mark.parametrize("command", [b"\x0c", HOLD, b"\x99", ENABLE, RESET])
def test_any_next_command_shows_that_the_credit_arrived(command):
    line = credited()
    line.poll()
    line.ask(command)
    assert line.given("ack") == [("host", "ack")]
    assert line.hand.device.record["flight"] is None


def test_a_credit_is_told_anew_to_a_host_that_begins_with_sync():
    line = credited()
    line.poll()
    line.sync()
    assert line.given("ack") == []
    assert line.poll() == CREDIT


def test_an_offer_that_another_host_got_is_not_taken_by_this_ones_poll():
    line = offered()
    line.sync()
    assert line.poll() == ESCROW
    assert line.given("stack") == []
    assert line.poll() == b"\xcc"


def test_a_repeated_poll_takes_nothing():
    line = read(opened())
    line.poll()
    assert [line.again() for _ in range(3)] == [OK + ESCROW] * 3
    assert line.given("stack") == []


def test_reset_between_credit_and_its_acknowledgement_keeps_it():
    line = credited()
    assert line.ask(POLL_ACK) == OK + CREDIT
    assert line.ask(RESET) == OK
    assert line.poll() == b"\xf1\xe2" + bytes((TWENTY,))


# -- escrow


def test_a_held_note_is_kept_until_a_poll_takes_it():
    line = offered()
    for _ in range(20):
        line.now += 2000
        line.hand.wait(2000)
        assert line.ask(HOLD) == OK
    assert line.hand.device.state == "holding"
    assert line.poll() == b"\xcc"


@pytest.mark.parametrize("command", [b"\x0c", b"\x27", b"\x05", ENABLE])
def test_any_other_command_lets_the_time_of_an_escrow_begin_anew(command):
    line = offered()
    line.ask(command)
    assert line.given("hold") == [("host", "hold", None)]
    assert line.poll() == b"\xcc"


def test_nothing_is_held_that_was_not_offered():
    assert opened().ask(HOLD) == CANT
    line = read(opened())
    assert line.ask(HOLD) == CANT
    assert line.poll() == ESCROW


def test_a_note_is_rejected_by_the_host():
    line = offered()
    assert line.ask(REJECT) == OK
    assert line.given("return") == [("host", "return", None)]
    assert line.poll() == b"\xed"
    assert line.poll() == b"\xed"
    line.hand.sensors(exit=0)
    assert line.poll() == b"\xec"
    assert line.poll() == b""
    assert line.ask(b"\x17") == OK + b"\x08"


@pytest.mark.parametrize("make", [opened, lambda: drawn_in(opened()), credited])
def test_nothing_is_rejected_where_nothing_is_in_escrow(make):
    assert make().ask(REJECT) == CANT


def test_a_note_that_waited_too_long_is_not_taken():
    line = offered()
    line.hand.wait(3000)
    assert line.poll() == b"\xed"
    assert line.given("stack") == []
    assert line.ask(b"\x17") == OK + b"\x13"


def test_a_note_is_given_back_when_its_stacker_is_taken_out():
    line = offered()
    line.hand.sensors(box=0)
    assert line.poll() == b"\xed"
    assert line.ask(b"\x17") == OK + b"\x1d"


REJECTED = [
    (note(length=150), 0x01),
    (note(magnetic=0), 0x05),
    (note(optical=[0, 0, 0, 0]), 0x02),
    (note(uv=200), 0x03),
    (note(thickness=220), 0x1C),
    (ticket(barcode=None), 0x14),
    (ticket(), 0x0C),
]


@pytest.mark.parametrize(("reading", "code"), REJECTED)
def test_a_rejection_is_told_and_its_reason_asked_for(reading, code):
    line = read(opened(), reading)
    assert line.poll() == b"\xed"
    line.hand.sensors(exit=0)
    assert line.poll() == b"\xec"
    assert line.ask(b"\x17") == OK + bytes((code,))


def test_the_reason_is_forgotten_with_the_next_credit():
    line = read(opened(), note(uv=200))
    line.poll()
    line.hand.sensors(exit=0)
    line.poll()
    read(line)
    line.poll()
    line.poll()
    past_lever(line)
    line.poll()
    assert line.ask(b"\x17") == OK + b"\0"


# -- what is accepted


def test_a_bit_that_is_set_accepts_a_channel():
    line = opened()
    assert line.ask(b"\x02\x0f\x00") == OK
    assert line.hand.device.settings.values["enable"] == b"\xf0\xff"
    read(line)
    assert line.poll() == b"\xed"
    assert line.ask(b"\x17") == OK + b"\x0c"


@pytest.mark.parametrize("data", [b"\x10", b"\x10\0", b"\x10\0\0"])
def test_channels_that_are_not_named_are_inhibited(data):
    line = opened()
    assert line.ask(b"\x02" + data) == OK
    assert line.hand.device.settings.values["enable"] == b"\xef\xff"


def test_disable_and_enable():
    line = opened()
    assert line.ask(DISABLE) == OK
    assert line.poll() == b"\xe8"
    assert line.ask(ENABLE) == OK
    assert line.poll() == b""


@pytest.mark.parametrize(("version", "told"), [(6, b"\xe8"), (7, b"\xb5\xe8")])
def test_a_device_whose_channels_are_all_inhibited_is_disabled(version, told):
    line = opened(version)
    line.ask(b"\x02\x00\x00")
    assert line.poll() == told
    line.ask(b"\x02\x01\x00")
    assert line.poll() == b""


def test_a_reset_takes_back_what_was_set():
    line = opened(8)
    assert line.ask(RESET) == OK
    line.hand.pass_post()
    assert line.poll() == b"\xf1"
    assert line.poll() == b"\xe8"
    assert line.ask(b"\x0d")[-1] == 6
    assert line.hand.device.settings.values["enable"] == b"\xff\xff"


# -- tickets


def open_for_tickets() -> Line:
    line = opened()
    assert line.ask(b"\x26\xfc") == OK
    return line


def test_a_ticket_from_escrow_to_the_stacker():
    line = read(open_for_tickets(), ticket())
    assert line.ask(b"\x27") == OK + b"\0\0"
    assert line.poll() == b"\xe5"
    assert line.ask(b"\x27") == OK + b"\x01\x12" + DIGITS.encode()
    assert line.ask(HOLD) == OK
    assert line.poll() == b"\xcc"
    past_lever(line)
    assert line.poll() == b"\xd1"
    assert line.ask(b"\x27") == OK + b"\x02\x12" + DIGITS.encode()


def test_a_ticket_that_the_host_refuses_is_given_back():
    line = read(open_for_tickets(), ticket())
    line.poll()
    assert line.ask(REJECT) == OK
    assert line.poll() == b"\xed"
    assert line.ask(b"\x27") == OK + b"\x03\x12" + DIGITS.encode()


@pytest.mark.parametrize("paper", [ticket(), ticket(COUPON)])
def test_no_ticket_is_accepted_before_the_host_says_so(paper):
    line = read(opened(), paper)
    assert line.poll() == b"\xed"


def test_the_inhibits_of_notes_and_tickets_are_read_back():
    line = opened()
    assert line.ask(b"\x25") == OK + b"\xfe"
    line.ask(b"\x26\xfd")
    assert line.ask(b"\x25") == OK + b"\xfd"
    assert read(line).poll() == b"\xed"


def test_the_reader_is_set_and_read_back():
    line = open_for_tickets()
    assert line.ask(b"\x23") == OK + b"\x01\x01\x01\x12"
    assert line.ask(b"\x24\x03\x01\x06") == OK
    assert line.ask(b"\x23") == OK + b"\x01\x01\x01\x06"
    assert read(line, ticket()).poll() == b"\xed"


def test_a_reader_that_is_off_accepts_no_ticket():
    line = open_for_tickets()
    assert line.ask(b"\x24\x00\x01\x12") == OK
    assert read(line, ticket()).poll() == b"\xed"


@pytest.mark.parametrize("data", [b"\x04\x01\x12", b"\x01\x02\x12", b"\x01\x01\x05", b"\x01\x01\x19"])
def test_a_setting_of_the_reader_out_of_range_sets_nothing(data):
    line = opened()
    assert line.ask(b"\x24" + data) == RANGE
    assert line.ask(b"\x23") == OK + b"\x01\x01\x01\x12"


# -- errors


def jam(line: Line) -> None:
    line.hand.levels["moving"] = 0
    line.hand.sensors()
    line.hand.wait(100)


ERRORS = {
    "acceptor_door": ({"acceptor_door": 1}, b"\xe0\xe8"),
    "stacker_door": ({"stacker_door": 1}, b"\xe3\xe8"),
    "stacker_removed": ({"box": 0}, b"\xe3\xe8"),
    "stacker_unlocked": ({"lock": 0}, b"\xe3\xe8"),
    "stacker_full": ({"full": 1}, b"\xe7\xe8"),
    "full and open": ({"full": 1, "stacker_door": 1}, b"\xe3\xe7\xe8"),
    "open and unlocked": ({"stacker_door": 1, "lock": 0, "box": 0}, b"\xe3\xe8"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_told_as_long_as_it_stands(name):
    levels, told = ERRORS[name]
    line = opened()
    line.hand.sensors(**levels)
    assert [line.poll() for _ in range(3)] == [told] * 3


def test_a_stacker_that_is_put_back_is_told_once():
    line = opened()
    line.hand.sensors(box=0)
    line.poll()
    line.hand.sensors(box=1)
    assert line.poll() == b"\xe4\xe8"
    assert line.poll() == b"\xe8"
    line.hand.pass_post()
    assert line.poll() == b""


def test_a_stacker_that_was_out_unseen_is_not_told_to_be_back():
    line = opened()
    line.hand.sensors(box=0)
    line.hand.sensors(box=1)
    assert line.poll() == b"\xe8"


def test_jams_are_told_apart_and_released_by_a_reset():
    line = offered()
    line.ask(REJECT)
    jam(line)
    assert line.poll() == b"\xe9\xe8"
    line.hand.sensors(exit=0)
    assert line.poll() == b"\xe9\xe8"
    line.ask(RESET)
    assert line.poll() == b"\xf1"
    assert line.poll() == b"\xe8"
    line = offered()
    line.poll()
    line.hand.sensors(lever=1)
    jam(line)
    assert line.poll() == b"\xea\xe8"


def test_a_jam_after_the_credit_point_keeps_the_credit():
    line = credited()
    line.hand.wait(1000)
    assert line.poll() == CREDIT
    assert line.poll() == b"\xea\xe8"
    assert line.given("ack") == [("host", "ack")]


def pulled_out() -> Line:
    line = offered()
    line.hand.sensors(exit=0)
    assert line.poll() == b"\xed"
    line.hand.sensors()
    return line


def test_a_note_that_is_pulled_out_of_escrow_is_fraud():
    line = pulled_out()
    assert [line.poll(), line.poll(), line.poll()] == [b"\xec\xe6\0\xe8", b"\xe6\0\xe8", b"\xe6\0\xe8"]


def test_a_failure_is_a_software_error():
    line = Line(Hand(new=False))
    line.poll()
    assert line.ask(POLL) == b"\xf6"


def test_five_seconds_of_silence_are_a_communication_error_and_a_frame_ends_it():
    line = opened()
    line.wait(4990)
    assert ("silence",) not in line.events
    line.wait(20)
    assert line.hand.device.shown()[0] == "communication_error"
    assert line.wire.next() > line.now
    assert line.poll() == b"\xe8"
    assert line.hand.device.standing.names() == []


# -- poll with ack


def test_a_credit_is_repeated_until_it_is_acknowledged():
    line = credited()
    assert line.ask(POLL_ACK) == OK + CREDIT
    line.ask(b"\x0c")
    stacked(line)
    assert line.ask(POLL_ACK) == OK + CREDIT
    assert line.given("ack") == []
    assert line.ask(EVENT_ACK) == OK
    assert line.given("ack") == [("host", "ack")]
    assert line.ask(POLL_ACK) == OK + b"\xeb"
    assert line.ask(EVENT_ACK) == CANT


def test_a_plain_poll_does_not_acknowledge_what_waits_for_an_event_ack():
    line = credited()
    line.ask(POLL_ACK)
    assert line.poll() == CREDIT
    assert line.given("ack") == []
    line.poll()
    assert line.given("ack") == [("host", "ack")]


def test_a_note_in_the_stacker_at_start_is_repeated_until_it_is_acknowledged():
    line = power_cut()
    told = OK + b"\xf1\xe2" + bytes((TWENTY,))
    assert [line.ask(POLL_ACK) for _ in range(3)] == [told] * 3
    assert line.hand.device.state == "power_up_stacker"
    assert line.ask(EVENT_ACK) == OK
    assert line.ask(POLL_ACK) == OK + b"\xb6\xe8"


def test_fraud_is_repeated_until_it_is_acknowledged():
    line = pulled_out()
    told = [line.ask(POLL_ACK) for _ in range(3)]
    assert told == [OK + b"\xec\xe6\0\xe8", *[OK + b"\xe6\0\xe8"] * 2]
    assert line.ask(EVENT_ACK) == OK
    assert line.ask(POLL_ACK) == OK + b"\xe8"


def test_what_stands_is_told_beside_a_reset():
    line = opened()
    line.hand.sensors(stacker_door=1)
    assert line.ask(b"\x01") == OK
    assert line.poll() == b"\xf1\xe3\xe8"
    assert line.poll() == b"\xe3\xe8"


def test_a_failure_is_told_before_a_reset_is():
    line = Line(Hand(new=False))
    told = [line.ask(command) for command in (POLL, POLL, b"\x01", POLL, POLL)]
    assert told == [OK + b"\xf1", b"\xf6", OK, b"\xf6", b"\xf6"]


def test_a_reset_wants_no_event_ack():
    line = Line()
    assert line.ask(POLL_ACK) == OK + b"\xf1"
    assert line.ask(EVENT_ACK) == CANT
    assert line.ask(POLL_ACK) == OK + b"\xb6\xe8"
    line.hand.pass_post()
    assert line.ask(POLL_ACK) == OK + b"\xe8"


def test_a_poll_with_ack_takes_what_was_offered():
    line = read(opened())
    assert line.ask(POLL_ACK) == OK + ESCROW
    assert line.ask(POLL_ACK) == OK + b"\xcc"


# -- facts


def test_the_version_of_events_is_agreed_on():
    line = opened()
    assert [line.ask(bytes((6, n))) for n in (3, 4, 8, 9)] == [FAIL, OK, OK, FAIL]
    assert line.ask(b"\x05")[1 + 15 + 14] == 8


EXPANDED = b"USD" * 7 + b"".join(n.to_bytes(4, "little") for n in (1, 2, 5, 10, 20, 50, 100))
VALUES = bytes((7, 1, 2, 5, 10, 20, 50, 100))
UNIT = b"\0" + b"0010USD" + b"\0\0\1"


def test_the_setup_names_the_channels():
    line = opened()
    plain = UNIT + VALUES + b"\2" * 7 + b"\0\0\x64"
    assert line.ask(b"\x05") == OK + plain + b"\6" + EXPANDED
    line.ask(b"\x06\x05")
    assert line.ask(b"\x05") == OK + plain + b"\5"


def test_other_facts_are_told_as_the_manual_has_them():
    line = opened()
    assert line.ask(b"\x0d") == OK + UNIT + b"\6"
    assert line.ask(b"\x0e") == OK + VALUES + EXPANDED
    assert line.ask(b"\x0f") == OK + b"\7" + b"\2" * 7
    assert line.ask(b"\x10") == OK + b"\0\0\0"
    assert line.ask(b"\x20") == OK + b"PB0010010000BEEF"
    assert line.ask(b"\x21") == OK + b"USD01001"
    assert line.ask(b"\x4f") == OK + b"\0\1\0"


def test_the_serial_number_is_the_boards_and_fits_a_signed_number():
    assert opened().ask(b"\x0c") == OK + b"\x70\x1c\x96\x2c"
    assert opened().ask(b"\x0c\0") == OK + b"\x70\x1c\x96\x2c"
    assert opened().ask(b"\x0c\1") == RANGE


def test_a_serial_number_is_told_as_the_vector_has_it():
    line = Line(unique="00000000001c962c")
    assert line.send(FRAMES["host", "serial number"]) == FRAMES["device", "serial number 1873452"]


# -- every command


@pytest.mark.parametrize("command", sorted(set(range(256)) - set(COMMANDS) - {0x7E}))
def test_an_unknown_command_is_unknown_and_moves_nothing(command):
    line = opened()
    assert line.ask(bytes((command,))) == UNKNOWN
    assert line.events == [("heard",)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_number_of_data_bytes_does_nothing(command):
    least, most = SIZES.get(command, b"\0\0")
    for size in {least - 1, most + 1} - {-1}:
        line = opened()
        assert line.ask(bytes((command,)) + b"\1" * size) == WRONG_NUMBER
        assert line.events == [("heard",)]


def test_host_frames_of_the_vectors_are_understood():
    expected = {
        "sync": OK,
        "host protocol 6": OK,
        "poll, sequence 0": OK + b"\xf1",
        "poll, sequence 1": OK + b"\xf1",
        "enable": OK,
        "sync, sequence 1": OK,
        "reset": OK,
        "host protocol 8": OK,
        "host protocol 9": FAIL,
        "serial number": OK + b"\x70\x1c\x96\x2c",
        "serial number of a payout": RANGE,
        "disable": OK,
        "enable, sequence 1": OK,
        "firmware version": OK + b"PB0010010000BEEF",
        "dataset version": OK + b"USD01001",
        "inhibits: channels 1 to 3 on": OK,
        "inhibits: 16 channels on": OK,
        "reject": CANT,
        "last reject code": OK + b"\0",
        "poll with ack": OK + b"\xf1",
        "event ack": CANT,
        "generator 982451653": OK,
        "modulus 1287821": OK,
        "key exchange": FAIL,
        "build revision": OK + b"\0\1\0",
        "hold": CANT,
        "setup request": OK + UNIT + VALUES + b"\2" * 7 + b"\0\0\x64\6" + EXPANDED,
    }
    asked = {name: data for (sender, name), data in FRAMES.items() if sender == "host"}
    assert set(asked) == set(expected)
    for name, data in asked.items():
        [(first, answer)] = answers(Line().send(data))
        assert (first, answer) == (data[1], expected[name]), name


TOLD = {
    "ok": (opened, 0x00),
    "credit channel 3, sequence 1": (lambda: credited(note(2)), 0x80),
    "credit channel 4": (lambda: credited(note(3)), 0x80),
    "escrow, channel 3": (lambda: read(opened(), note(2)), 0x80),
    "note being read": (lambda: drawn_in(opened()), 0x80),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_a_poll_tells_is_framed_as_the_vectors_have_it(name):
    make, bit = TOLD[name]
    line = make()
    if line.bit != bit:
        line.ask(b"\x0d")
    assert line.send(frame(bit, POLL)) == FRAMES["device", name]


ALONE = {
    "rejecting": lambda: read(opened(), note(uv=200)),
    "stacking": lambda: taken(),
    "disabled": lambda: disabled(),
}


def taken() -> Line:
    line = offered()
    line.poll()
    return line


def disabled() -> Line:
    line = opened()
    line.ask(DISABLE)
    return line


@pytest.mark.parametrize("name", ALONE)
def test_a_state_is_told_as_the_manual_has_it(name):
    line = ALONE[name]()
    if line.bit == 0:
        line.ask(b"\x0d")
    assert line.send(frame(0x80, POLL)) == FRAMES["device", name]
