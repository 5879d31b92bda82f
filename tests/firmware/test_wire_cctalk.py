"""ccTalk on the device: what is told, understood and asked, as public vectors and the specification have it."""

from __future__ import annotations

from binascii import crc32
from types import SimpleNamespace

import pytest
from acceptor_bench import COUPON, Hand, note, stored, ticket
from cctalk_bench import (
    ACK,
    ALL_ON,
    BARCODE,
    BUSY,
    EXTEND,
    FRAMES,
    HOST,
    KINDS,
    MASK,
    MASTER,
    MODE,
    NAK,
    OFF,
    ON,
    POLL,
    RESET,
    RETURN,
    ROUTE,
    SELF_CHECK,
    SIMPLE_POLL,
    STACK,
    UNIQUE,
    VECTORS,
    Line,
    Till,
    bodies,
    frame,
    told,
)
from device import currency_usd
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_acceptor_table import PLACES, escrow, idle, power_up_stacker, pushed, rejecting, vend_valid
from wire.cctalk import REQUESTS
from wire.cctalk_events import FAULTS
from wire.cctalk_frame import xmodem
from wire.cctalk_identity import FAULT_CODES, FIXED

NOTHING = [(0, 0)] * 5
# In the mask, bits 14 and 15 are vouchers and coupons.
NO_VOUCHERS = b"\xff\x80"


def test_the_port_is_set_to_9600_8n1():
    assert Line().port.how == (9600, 8, "N", 1)


def test_the_crc_has_its_published_check_value():
    assert f"{xmodem(b'123456789'):04x}" == VECTORS["check_values"]["crc16-xmodem"]


# -- vectors


@pytest.mark.parametrize("kind", KINDS)
def test_a_simple_poll_is_answered_in_kind(kind):
    answer = {"sum": FRAMES["sum", "device", "simple poll reply"], "crc": FRAMES["crc", "device", "ack"]}
    assert Line().send(FRAMES[kind, "host", "simple poll"]) == answer[kind]


def test_a_bill_in_escrow_is_told_as_the_vectors_have_it():
    line = Line(escrow_of(2))
    line.send(FRAMES["crc", "host", "read buffered bill events"])
    told_by = line.send(FRAMES["crc", "host", "read buffered bill events"])
    assert told_by == FRAMES["crc", "device", "events, counter 1: type 3 in escrow"]


def test_a_removed_stacker_is_told_as_the_vectors_have_it():
    line = Line()
    line.poll()
    for _ in range(6):
        line.ask(MASTER, OFF)
        line.poll()
        line.ask(MASTER, ON)
    line.hand.sensors(box=0)
    told_by = line.send(FRAMES["crc", "host", "read buffered bill events"])
    assert told_by == FRAMES["crc", "device", "events, counter 7: stacker removed"]


UNDERSTOOD = {
    "route bill: stack": [("host", "stack", 1)],
    "master inhibit: accept": [("setting", "inhibit", b"\0")],
    "inhibits: all bills on": [("setting", "enable", b"\0\0"), ("setting", "barcode_inhibit", b"\0")],
}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_a_hosts_frame_is_understood_as_the_vectors_have_it(name):
    line = Line(escrow())
    line.send(FRAMES["crc", "host", name])
    assert line.events[0] == ("heard",)
    assert [event for event in UNDERSTOOD[name] if event not in line.events] == []


def escrow_of(index: int) -> Hand:
    hand = PLACES["accepting"]()
    hand.sensors(centre=1)
    hand.sensors(entry=0, exit=1)
    hand.sensors(note(index), centre=0)
    assert hand.device.state == "escrow"
    return hand


# -- frames


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", range(1, 5))
def test_a_frame_may_come_in_two_pieces(kind, cut):
    line, data = Line(kind=kind), frame(SIMPLE_POLL, kind=kind)
    assert line.send(data[:cut]) == b""
    assert line.wire.receiving(line.now)
    assert bodies(line.send(data[cut:]), kind) == [ACK]
    assert not line.wire.receiving(line.now)


def test_joined_frames_are_answered_in_turn():
    assert len(bodies(Line().send(frame(SIMPLE_POLL) + frame(POLL) + frame(245)))) == 3


def test_a_frame_that_stops_for_50_ms_is_noise():
    line = Line()
    line.send(frame(RESET)[:3])
    assert line.send(frame(RESET)[3:], after_ms=51) == b""
    assert bodies(line.send(frame(SIMPLE_POLL), after_ms=60)) == [ACK]
    assert line.wire.frames == 1


@pytest.mark.parametrize("noise", ["03", "00", "ff", "28", "2800", "28ff", "ffff", "01ff", "2801", "fc051127"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_found_behind_noise(kind, noise):
    line = Line(kind=kind)
    line.send(bytes.fromhex(noise))
    assert bodies(line.send(frame(SIMPLE_POLL, kind=kind), after_ms=60), kind) == [ACK]
    line = Line(kind=kind)
    line.send(bytes.fromhex(noise) + frame(SIMPLE_POLL, kind=kind))
    line.wait(60)
    line.send(frame(SIMPLE_POLL, kind=kind))
    assert line.wire.frames == 2


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
@pytest.mark.parametrize("known", [True, False])
def test_no_damage_by_one_bit_or_one_byte_is_acted_on(good, known):
    damaged = [good[:n] + bytes((good[n] ^ 1 << bit,)) + good[n + 1 :] for n in range(len(good)) for bit in range(8)]
    damaged += [good[:n] + b"\x03" + good[n + 1 :] for n in range(len(good)) if good[n] != 3]
    damaged += [good[:n] + good[n + 1 :] for n in range(len(good))]
    for data in damaged:
        line = Line(escrow())
        if known:
            line.send(good)
        frames, events = line.wire.frames, list(line.events)
        assert line.send(data, after_ms=60) == b""
        assert (line.wire.frames, line.events) == (frames, events)


def test_the_host_is_held_to_its_kind_of_frame_until_it_falls_silent():
    line = Line()
    assert line.ask(SIMPLE_POLL) == ACK
    assert line.send(frame(RESET, kind="sum")) == b""
    assert line.events == [("heard",)]
    line.wait(5000)
    assert bodies(line.send(frame(SIMPLE_POLL, kind="sum")), "sum") == [ACK]
    assert line.send(frame(RESET)) == b""


@pytest.mark.parametrize("to", [0, 1, 2, 39, 41, 255])
@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_to_another_address_is_ignored(kind, to):
    line = Line(kind=kind)
    assert line.send(frame(RESET, kind=kind, to=to)) == b""
    assert (line.events, line.wire.frames) == ([], 0)
    assert line.ask(SIMPLE_POLL) == ACK


def test_only_the_host_is_obeyed():
    line = Line()
    assert line.send(frame(RESET, kind="sum", source=2)) == b""
    assert line.events == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_inside_a_frame_to_another_is_not_acted_on(kind):
    line = Line(kind=kind)
    assert line.send(frame(0, b"\x28" + frame(RESET, kind=kind), kind, to=2)) == b""
    assert line.events == []
    assert line.ask(SIMPLE_POLL) == ACK


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_answers_that_the_wire_brings_back_are_ignored(kind):
    line = Line(escrow(), kind)
    for header, data in ((SIMPLE_POLL, b""), (POLL, b""), (245, b""), (ROUTE, RETURN)):
        sent = frame(header, data, kind)
        line.send(line.send(sent))
    assert line.wire.frames == 4
    assert line.ask(SIMPLE_POLL) == ACK


@pytest.mark.parametrize("start", [(40, 9), (40, 255), (2, 65), (2, 255)])
def test_no_length_swallows_the_traffic_behind_it(start):
    line = Line()
    line.send(bytes((*start, 1, RESET)) + frame(SIMPLE_POLL))
    line.wait(60)
    assert line.wire.frames == 1
    line.send(bytes((*start,)) * 40 + frame(SIMPLE_POLL))
    line.wait(60)
    assert line.wire.frames == 2
    assert line.events == [("heard",)] * 2


@pytest.mark.parametrize("start", [(40, 9), (40, 255), (2, 65), (2, 255)])
def test_nor_does_it_where_the_line_is_never_silent(start):
    line = Line()
    line.send(bytes(start))
    for _ in range(16):
        line.send(frame(SIMPLE_POLL), after_ms=20)
    assert line.wire.frames == 16


def test_noise_that_never_ends_does_not_hold_the_device_up():
    line = Line()
    line.send(b"\x02\x40")
    receiving = []
    for _ in range(25):
        line.send(b"\x03", after_ms=40)
        receiving.append(line.wire.receiving(line.now))
    assert receiving[3:] == [False] * 22


GOOD = st.sampled_from(HOST)
PIECES = st.lists(st.one_of(st.binary(max_size=20), GOOD, st.builds(lambda f, n: f[:n], GOOD, st.integers(1, 5))))


def whole_frames(stream: bytes) -> int:
    """How many well-formed frames to the device could be found in a stream at most, wherever they start."""
    found = 0
    for at in range(len(stream) - 4):
        data = stream[at : at + stream[at + 1] + 5]
        if data[0] == 40 and len(data) == data[1] + 5:
            found += data in (frame(data[3], data[4:-1], "sum"), frame(data[3], data[4:-1], "crc"))
    return found


@settings(max_examples=150, deadline=None)
@given(PIECES, st.lists(st.integers(1, 40), min_size=1))
def test_no_stream_raises_or_is_acted_on_but_for_its_whole_frames(pieces, cuts):
    stream, line, at, n = b"".join(pieces), Line(escrow()), 0, 0
    while at < len(stream):
        size = cuts[n % len(cuts)]
        line.send(stream[at : at + size])
        at, n = at + size, n + 1
    line.wait(60)
    assert line.wire.frames <= whole_frames(stream)
    assert [event for event in line.events if event == ("heard",)] == [("heard",)] * line.wire.frames
    line.wait(5000)
    assert bodies(line.send(frame(SIMPLE_POLL)))


@pytest.mark.parametrize("room", [1, 2, 4])
def test_a_short_write_is_finished_later(room):
    line = Line()
    line.port.room = room
    sent = line.send(frame(POLL))
    while line.wire.out:
        line.port.sent = b""
        line.wire.poll(line.now)
        sent += line.port.sent
    assert bodies(sent) == [(0, bytes(11))]


def test_a_port_that_nobody_reads_costs_no_memory_and_no_event():
    line = Line()
    line.port.room = 0
    for _ in range(100):
        line.ask(POLL)
    assert len(line.wire.out) <= 512
    line.port.room, line.wire.out = 99999, b""
    assert line.poll() == (0, NOTHING)


# -- requests

TEXTS = {
    246: b"PBN",
    245: b"Bill Validator",
    244: b"PB-BV",
    243: b"\0",
    242: (crc32(UNIQUE.encode()) & 0xFFFFFF).to_bytes(3, "little"),
    241: b"PB-CCT-010 BEEF",
    249: b"\x02\x14",
    247: b"\x10\x01",
    213: b"\x03",
    192: b"PB01",
    145: b"PB01",
    152: b"\x03",
    4: b"\x01\x04\x07",
    BARCODE: b"",
    SIMPLE_POLL: b"",
    SELF_CHECK: b"\0",
}


@pytest.mark.parametrize("header", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_it_is(kind, header):
    assert Line(kind=kind).ask(header) == (0, TEXTS[header])


def test_a_padded_simple_poll_is_a_simple_poll():
    assert Line().ask(SIMPLE_POLL, b"\1" * 8) == ACK


def test_each_bill_has_its_identity_and_other_types_have_dots():
    line = Line()
    ids = [line.ask(157, bytes((number,)))[1] for number in range(18)]
    bills = [b"US0001A", b"US0002A", b"US0005A", b"US0010A", b"US0020A", b"US0050A", b"US0100A"]
    assert ids == [b"......."] + bills + [b"......."] * 10


def test_a_bill_is_worth_its_value_by_the_scaling_factor():
    line = Line()
    low, high, places = line.ask(156, b"US")[1]
    for number in range(1, 8):
        value = int(line.ask(157, bytes((number,)))[1][2:6]) * (low + 256 * high)
        assert value * 100 == currency_usd.cents(number - 1) * 10**places
    assert line.ask(156, b"GB") == (0, b"\0\0\0")


def test_a_currency_has_its_place_in_the_mask_and_its_revision():
    line = Line()
    assert line.ask(155, b"US") == (0, b"\x7f\0")
    assert line.ask(155, b"EU") == (0, b"\0\0")
    assert line.ask(145, b"US") == (0, b"PB01")
    assert line.ask(145, b"EU") == (0, b"Unknown")


def test_the_rom_checksum_is_busy_until_it_is_computed():
    line, steps = Line(), []
    step = lambda: steps.append(1) or (len(steps) > 40 and (True, "")) or None  # noqa: E731
    line.checksum = lambda seed, width: SimpleNamespace(crc=0x1234, step=step)
    said, before = [], 0
    while not said or said[-1] == BUSY:
        said.append(line.ask(197))
        assert len(steps) - before <= 8
        before = len(steps)
    assert said == [BUSY] * 7 + [(0, b"\x34\x12\0\0")]
    assert line.ask(197) == BUSY


KNOWN = {*FIXED, *REQUESTS}


@pytest.mark.parametrize("header", sorted(set(range(256)) - KNOWN))
def test_an_unknown_header_is_met_with_silence_and_moves_nothing(header):
    line = Line()
    assert line.ask(header) is None
    assert line.ask(header, b"\1") is None
    assert line.events == [("heard",)] * 2


@pytest.mark.parametrize("header", REQUESTS)
def test_too_little_or_too_much_data_is_refused_and_moves_nothing(header):
    for size in {REQUESTS[header][1] - 1, REQUESTS[header][2] + 1} & set(range(9)):
        line = Line(escrow())
        assert line.ask(header, b"\1" * size) == NAK
        assert line.events == [("heard",)]


# -- what is accepted


def test_nothing_is_accepted_before_both_inhibits_are_set():
    line = Line(power_up())
    line.poll()
    line.hand.pass_post()
    assert (line.ask(230), line.ask(227)) == ((0, b"\0\0"), (0, b"\0"))
    assert line.device.state == "initialize"
    line.ask(MASTER, ON)
    assert line.device.state == "idle"
    line.hand.sensors(entry=1)
    line.hand.sensors(note(), entry=0, exit=1)
    assert line.device.state == "rejecting"
    assert line.news() == [(0, 4)]


def power_up() -> Hand:
    return PLACES["power_up"]()


@pytest.mark.parametrize("index", range(7))
def test_a_bit_of_the_mask_is_a_bill(index):
    line = Line()
    line.ask(MASK, bytes((1 << index, 0)))
    assert line.ask(230) == (0, bytes((1 << index, 0)))
    allowed = [line.device.settings.allows(item(n), currency_usd) for n in range(7)]
    assert allowed == [n == index for n in range(7)]


def item(index: int) -> SimpleNamespace:
    return SimpleNamespace(kind="note", code=currency_usd.DENOMINATIONS[index][0], orientation=0, digits=None)


@pytest.mark.parametrize(("mask", "allowed"), [(b"\xff\x3f", ""), (b"\0\x40", "voucher"), (b"\0\x80", "coupon")])
def test_the_two_last_bits_are_vouchers_and_coupons(mask, allowed):
    line = Line()
    line.ask(MASK, mask)
    for kind in ("voucher", "coupon"):
        paper = SimpleNamespace(kind=kind, digits="1" * 18)
        assert line.device.settings.allows(paper, currency_usd) == (kind == allowed)


def test_a_mask_may_be_shorter_or_longer_than_two_bytes():
    line = Line()
    assert line.ask(MASK, b"\x05") == ACK
    assert line.ask(230) == (0, b"\x05\0")
    assert line.ask(MASK, b"\1\2\3") == ACK
    assert line.ask(230) == (0, b"\1\2")


def test_the_master_inhibit_is_set_read_and_told():
    line = Line()
    line.poll()
    assert line.ask(MASTER, b"\xfe") == ACK
    assert line.ask(227) == (0, OFF)
    assert line.device.state == "disabled"
    assert line.poll()[1][0] == (0, 0)
    assert line.poll()[0] == 1
    assert line.ask(MASTER, b"\xff") == ACK
    assert line.ask(227) == (0, ON)
    assert line.device.state == "idle"


def test_a_bill_in_escrow_is_settled_though_its_kind_is_inhibited_meanwhile():
    line = Line(escrow())
    line.news()
    line.ask(MASK, b"\0\0")
    line.ask(MASTER, OFF)
    assert line.ask(ROUTE, STACK) == ACK
    assert line.device.state == "stacking"


def test_the_stacker_cannot_be_left_out():
    line = Line()
    assert line.ask(MODE, b"\2") == ACK
    assert line.ask(152) == (0, b"\3")
    assert line.ask(MODE, b"\0") == ACK
    assert line.ask(152) == (0, b"\1")


def test_a_reset_undoes_every_setting():
    line = Line()
    line.ask(MASK, ALL_ON)
    line.ask(MASTER, ON)
    line.ask(MODE, b"\1")
    assert line.ask(RESET) == ACK
    assert (line.ask(230), line.ask(227), line.ask(152)) == ((0, b"\0\0"), (0, b"\0"), (0, b"\3"))
    line.hand.pass_post()
    assert line.device.state == "initialize"


def test_a_reset_that_an_error_outlives_undoes_them_too():
    line = Line()
    line.ask(MASK, ALL_ON)
    line.ask(MASTER, ON)
    line.hand.sensors(acceptor_door=1)
    line.ask(RESET)
    line.hand.sensors(acceptor_door=0)
    line.poll()
    line.hand.pass_post()
    assert line.device.state == "disabled"
    assert not line.device.settings.allows(item(4), currency_usd)


# -- events


def test_the_counter_is_0_once_and_then_goes_from_255_to_1():
    line = Line()
    assert line.poll() == (0, NOTHING)
    seen = []
    for _ in range(260):
        line.ask(MASTER, OFF)
        seen.append(line.poll()[0])
        line.ask(MASTER, ON)
    assert seen == [*range(1, 256), *range(1, 6)]


def test_events_are_kept_five_deep_newest_first():
    till = Till().open_for_business()
    for index in range(3):
        pass_in(till, note(index))
    assert till.poll()[1] == [(3, 0), (3, 1), (2, 0), (2, 1), (1, 0)]


def test_a_poll_that_is_repeated_brings_nothing_twice():
    line = Line(escrow())
    line.poll()
    assert [line.poll()[0] for _ in range(4)] == [1, 1, 1, 1]


def test_events_come_one_a_poll_so_that_lost_answers_lose_none():
    line = Line()
    line.poll()
    line.hand.sensors(box=0)
    line.hand.sensors(acceptor_door=1)
    line.hand.sensors(full=1)
    line.wire.tick(line.now)
    line.hand.sensors(acceptor_door=0)
    assert [line.poll()[0] for _ in range(6)] == [1, 2, 3, 4, 4, 4]
    assert line.poll()[1][:4] == [(0, 10), (0, 14), (0, 11), (0, 13)]


def test_a_flapping_contact_floods_nothing_and_its_last_state_is_told():
    line = Line()
    line.poll()
    for _ in range(50):
        for box in (0, 1, 0):
            line.hand.sensors(box=box)
            line.wire.tick(line.now)
    events = line.news()
    assert len(events) < 12
    assert events[-1] == (0, 11)


@pytest.mark.parametrize(
    ("reading", "event"),
    [
        (note(uv=200), 2),
        (note(magnetic=0), 2),
        (note(length=78), 2),
        (note(optical=[128, 128, 128, 128]), 2),
        (note(thickness=220), 3),
        (ticket(barcode=None), 2),
        (ticket(barcode="123"), 2),
        ({**ticket(), "thickness": 200}, 3),
    ],
)
def test_a_rejection_is_told_by_its_reason(reading, event):
    line = Line(PLACES["accepting"]())
    line.poll()
    line.hand.sensors(centre=1)
    line.hand.sensors(reading, entry=0, exit=1)
    assert line.device.state == "rejecting"
    assert line.news() == [(0, event)]


def test_a_rejection_ends_only_once_it_was_told():
    line = Line(rejecting())
    line.hand.sensors(centre=0, exit=0)
    line.poll()
    assert line.device.state == "rejecting"
    assert line.poll()[1][0] == (0, 2)
    assert line.device.state == "idle"


FAULTY = {
    "acceptor_door": ({"acceptor_door": 1}, (0, 13), (0, 10), 51),
    "stacker_removed": ({"box": 0}, (0, 11), (0, 12), 44),
    "stacker_door": ({"stacker_door": 1}, (0, 11), (0, 12), 44),
    "stacker_unlocked": ({"lock": 0}, (0, 11), (0, 12), 44),
    "stacker_full": ({"full": 1}, (0, 14), None, 45),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_condition_is_told_as_it_begins_and_ends_and_by_the_self_check(name):
    levels, begun, ended, code = FAULTY[name]
    line = Line()
    line.poll()
    before = {sensor: line.hand.levels[sensor] for sensor in levels}
    line.hand.sensors(**levels)
    assert line.poll()[1][0] == begun
    assert line.ask(SELF_CHECK) == (0, bytes((code,)))
    line.hand.sensors(**before)
    if ended:
        assert line.poll()[1][0] == ended
        line.hand.pass_post()
    else:
        assert line.poll()[0] == 1
        line.ask(RESET)
        line.hand.pass_post()
    assert line.ask(SELF_CHECK) == (0, b"\0")


def test_two_conditions_with_one_event_are_one():
    line = Line()
    line.poll()
    line.hand.sensors(stacker_door=1)
    line.hand.sensors(box=0)
    assert [line.poll()[1][0] for _ in range(2)] == [(0, 11), (0, 11)]
    line.hand.sensors(stacker_door=0)
    assert line.poll()[0] == 1
    line.hand.sensors(box=1)
    assert line.poll() == (2, [(0, 12), (0, 11), (0, 0), (0, 0), (0, 0)])


def test_every_condition_but_the_hosts_own_silence_is_told():
    conditions = {row[0] for row in idle().device.conditions}
    assert conditions - set(FAULTS) == {"comm_error"}
    assert conditions - set(FAULT_CODES) == {"comm_error", "post_failed", "cheated"}


STEPS = {"sensors": 49, "scanner": 36, "transport_motor": 37, "stack_motor": 38, "signature": 30, "memory": 9}


@pytest.mark.parametrize("step", STEPS)
def test_a_failed_self_test_is_told_by_its_step(step):
    line = Line()
    line.poll()
    line.device.post.steps = [(step, False, "")]
    line.device.standing.sense("post_failed", True)
    assert line.poll()[1][0] == (0, 13)
    assert line.ask(SELF_CHECK) == (0, bytes((STEPS[step],)))


def test_a_failure_of_an_earlier_run_has_no_step():
    line = Line(Hand(stored(latched=["post_failed"])))
    assert line.ask(SELF_CHECK) == (0, b"\xff")


def test_the_self_check_is_busy_while_the_self_test_runs():
    line = Line(PLACES["initialize"]())
    assert line.ask(SELF_CHECK) == BUSY
    line.hand.pass_post()
    assert line.ask(SELF_CHECK) == (0, b"\0")


def test_a_bill_pulled_from_escrow_and_a_string_are_told_apart():
    line = Line(escrow())
    line.poll()
    line.hand.sensors(exit=0)
    assert line.news()[-1] == (0, 8)
    assert line.ask(SELF_CHECK) == (0, b"\xff")
    line = Line(PLACES["stacking"]())
    line.poll()
    line.hand.now = line.now + 900
    line.hand.step("tick")
    assert line.news()[-1] == (0, 18)


# -- escrow


def test_a_route_before_the_escrow_was_told_fails():
    line = Line(escrow())
    assert line.ask(ROUTE, STACK) == (0, b"\xff")
    assert line.device.state == "escrow"


@pytest.mark.parametrize(("route", "state"), [(STACK, "stacking"), (RETURN, "returning"), (EXTEND, "holding")])
def test_a_route_is_obeyed_and_once_only(route, state):
    line = Line(escrow())
    line.news()
    assert line.ask(ROUTE, route) == ACK
    assert line.device.state == state
    asked = [event for event in line.events if event[0] == "host"]
    assert line.ask(ROUTE, route) == ACK
    again = [event for event in line.events if event[0] == "host"]
    assert (line.device.state, again == asked) == (state, route != EXTEND)


@pytest.mark.parametrize("route", [STACK, RETURN, EXTEND])
def test_an_empty_escrow_has_nothing_to_route(route):
    line = Line()
    assert line.ask(ROUTE, route) == (0, b"\xfe")
    assert line.events == [("heard",)]


@pytest.mark.parametrize(
    ("place", "route"),
    [("stacking", RETURN), ("stacking", EXTEND), ("vend_valid", RETURN), ("returning", STACK), ("returning", EXTEND)],
)
def test_another_route_than_the_one_under_way_fails(place, route):
    line = Line(PLACES[place]())
    assert line.ask(ROUTE, route) == (0, b"\xff")
    assert line.events == [("heard",)]


def test_there_is_no_other_route():
    line = Line(escrow())
    assert line.ask(ROUTE, b"\2") == NAK


def test_a_returned_bill_is_told():
    line = Line(escrow())
    line.news()
    line.ask(ROUTE, RETURN)
    assert line.poll()[1][0] == (0, 1)


def test_a_bill_whose_time_in_escrow_ends_is_told_as_returned():
    line = Line(escrow())
    line.news()
    line.hand.now = line.now + 10001
    line.hand.device.heard = line.hand.now
    line.hand.step("tick")
    assert line.device.state == "rejecting"
    assert line.poll()[1][0] == (0, 1)


def test_without_escrow_a_bill_is_stacked_unasked_and_told_once():
    till = Till().open_for_business()
    till.ask(MODE, b"\1")
    till.desk.do("insert", item=note(3))
    assert till.polls(80) == [(4, 0)]
    assert till.device.state == "idle"


def test_a_bill_that_was_told_waits_for_the_host_though_escrow_is_switched_off():
    line = Line(escrow())
    line.news()
    line.ask(MODE, b"\1")
    line.wait(100)
    assert line.device.state == "escrow"


# -- vouchers


def test_a_voucher_is_told_read_stacked_and_told_again():
    till = Till().open_for_business()
    till.desk.do("insert", item=ticket())
    assert till.polls(40) == [(0, 20)]
    assert till.ask(BARCODE) == (0, b"123456000250345678")
    assert till.ask(ROUTE, STACK) == ACK
    assert till.polls(60) == [(0, 21)]
    assert till.ask(BARCODE) == (0, b"123456000250345678")


def test_without_escrow_a_voucher_waits_for_the_host_all_the_same():
    till = Till().open_for_business()
    till.ask(MODE, b"\1")
    till.desk.do("insert", item=ticket())
    assert till.polls(40) == [(0, 20)]
    assert till.ask(ROUTE, RETURN) == ACK
    assert till.polls(40) == [(0, 1)]


def test_vouchers_switched_off_are_inhibited_and_coupons_not():
    till = Till().open_for_business()
    till.ask(MASK, NO_VOUCHERS)
    till.desk.do("insert", item=ticket())
    assert till.polls(40) == [(0, 4)]
    till.desk.do("insert", item=ticket(COUPON))
    assert till.polls(40) == [(0, 20)]


# -- money


def pass_in(till: Till, paper: dict) -> list[tuple[int, int]]:
    """What a host hears of a bill that it stacks."""
    till.desk.do("insert", item=paper)
    heard = till.polls(40)
    assert till.device.state == "escrow", heard
    assert till.ask(ROUTE, STACK) == ACK
    return heard + till.polls(60)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", range(7))
def test_a_bill_goes_from_insertion_to_one_credit(kind, index):
    till = Till(kind=kind).open_for_business()
    assert pass_in(till, note(index)) == [(index + 1, 1), (index + 1, 0)]
    assert till.device.state == "idle"
    assert till.device.record["flight"] is None


def test_the_credit_is_settled_by_the_next_poll_and_by_nothing_else():
    line = Line(vend_valid())
    line.poll()
    assert line.poll()[1][0] == (5, 0)
    line.wait(900)
    for header in (SIMPLE_POLL, 245, SELF_CHECK, 227):
        line.ask(header)
    line.send(frame(POLL)[:-1] + b"\0")
    line.send(frame(POLL, kind="sum"), after_ms=60)
    line.stand(frame(POLL))
    line.wire.poll(line.now)
    assert line.device.state == "vend_valid"
    assert line.poll()[1][0] == (5, 0)
    assert line.device.state == "storing"
    assert line.events.count(("host", "ack")) == 1


def test_a_poll_that_waited_together_with_the_one_before_settles_nothing():
    line = Line(vend_valid())
    line.poll()
    answers = [told(body) for body in bodies(line.send(frame(POLL) * 2))]
    assert [answer[0] for answer in answers] == [1, 1]
    assert line.device.state == "vend_valid"
    line.poll()
    assert line.device.state == "storing"


def test_a_stored_bill_is_told_nothing_more_of():
    line = Line(vend_valid())
    for _ in range(3):
        line.poll()
    pushed(line.hand)
    line.poll()
    assert line.device.state == "idle"
    assert line.poll()[0] == 1


def test_a_jam_behind_the_lever_keeps_the_credit_before_it():
    line = Line(vend_valid())
    line.poll()
    line.hand.now = line.now + 1100
    line.hand.step("tick")
    line.hand.now = line.now
    assert "jam_stacker" in line.device.standing.names()
    assert line.news() == [(5, 0), (0, 7)]
    assert line.device.record["flight"] is None
    assert line.ask(SELF_CHECK) == (0, b"\x27")


def test_a_jam_in_reach_is_told_and_credits_nothing():
    till = Till().open_for_business()
    till.desk.do("break", part="transport_motor", how="stall")
    till.desk.do("insert", item=note())
    assert till.polls(60) == [(0, 6)]
    assert till.ask(SELF_CHECK) == (0, b"\x27")


def test_a_reset_before_the_credit_is_settled_tells_it_anew():
    line = Line(vend_valid())
    line.poll()
    line.poll()
    assert line.ask(RESET) == ACK
    assert line.device.state == "power_up_stacker"
    assert line.poll() == (0, NOTHING)
    assert line.poll() == (1, [(5, 0)] + NOTHING[1:])
    assert line.ask(RESET) == ACK
    assert line.device.state == "power_up_stacker"
    assert [line.poll()[0] for _ in range(3)] == [0, 1, 1]
    assert line.device.state == "initialize"
    assert line.device.record["flight"] is None


def test_polls_joined_to_a_reset_settle_nothing():
    line = Line(vend_valid())
    line.poll()
    line.poll()
    line.send(frame(RESET) + frame(POLL) * 3)
    assert line.device.state == "power_up_stacker"


# -- power-up


def test_a_power_up_is_told_by_counter_0_and_starts_what_the_host_has_set():
    line = Line(power_up())
    line.ask(MASK, ALL_ON)
    line.ask(MASTER, ON)
    assert line.ask(SIMPLE_POLL) == ACK
    assert line.device.state == "power_up"
    assert line.poll() == (0, NOTHING)
    assert line.device.state == "initialize"
    line.hand.pass_post()
    assert line.device.state == "idle"
    assert line.device.settings.allows(item(4), currency_usd)


def test_a_power_up_with_a_bill_in_the_path_gives_it_back_and_tells_so():
    line = Line(PLACES["power_up_acceptor"]())
    assert line.poll() == (0, NOTHING)
    line.ask(MASTER, ON)
    line.hand.pass_post()
    assert line.device.state == "returning"
    assert line.news() == [(0, 1)]


def test_a_power_up_with_a_stacked_bill_tells_its_credit_and_settles_it_by_the_next_poll():
    line = Line(power_up_stacker())
    line.ask(MASK, ALL_ON)
    line.ask(MASTER, ON)
    assert line.poll() == (0, NOTHING)
    assert line.poll() == (1, [(5, 0)] + NOTHING[1:])
    assert line.device.state == "power_up_stacker"
    assert line.device.record["flight"]
    assert line.poll()[0] == 1
    assert line.device.state == "initialize"
    assert line.device.record["flight"] is None
    line.hand.pass_post()
    assert line.device.state == "idle"


@pytest.mark.parametrize("flight", [("voucher", 0), ("coupon", 2500), ("note", 12345)])
def test_a_stacked_item_without_a_type_is_told_as_unknown_and_settled_too(flight):
    line = Line(Hand(stored({"stage": "stacked", "kind": flight[0], "cents": flight[1]})))
    assert [line.poll()[1][0] for _ in range(3)] == [(0, 0), (0, 21), (0, 21)]
    assert line.device.record["flight"] is None


@pytest.mark.parametrize("polls", range(14))
def test_a_cut_anywhere_behind_the_route_loses_no_bill_and_credits_none_that_went_back(polls):
    till = Till().open_for_business()
    till.desk.do("insert", item=note(3))
    till.polls(40)
    till.ask(ROUTE, STACK)
    before = till.polls(polls)
    settled = ("host", "ack") in till.events
    again = till.cut().open_for_business()
    credits, went_back = (before + again.heard).count((4, 0)), (0, 1) in again.heard
    # Told and not settled is told again: the host's journal has it.
    assert credits == (0 if went_back else 1 + ((4, 0) in before and not settled))
    assert again.desk.plant.truth()["stacked"] == (0 if went_back else 1)


class Host:
    """Stacks every bill, loses some answers, and credits what its journal has open."""

    def __init__(self) -> None:
        self.till, self.credited = Till(), 0
        self.open: list[int] = []
        self.polls(60)

    def poll(self, lost: bool = False) -> None:
        """One poll; a lost answer is one that this host never saw."""
        known, heard = self.till.counter, list(self.till.heard)
        counter, _ = self.till.poll()
        if lost:
            self.till.counter, self.till.heard = known, heard
            return
        if counter == 0:
            self.till.ask(MASK, ALL_ON)
            self.till.ask(MASTER, ON)
        for number, what in self.till.heard:
            self.hear(number, what)
        self.till.heard = []

    def hear(self, number: int, what: int) -> None:
        if number and what == 1:
            self.open = [number]
            self.till.ask(ROUTE, STACK)
        elif number and self.open == [number]:
            self.credited += currency_usd.cents(number - 1)
            self.open = []
        elif (number, what) == (0, 1):
            self.open = []

    def polls(self, count: int) -> None:
        for _ in range(count):
            self.poll()

    def insert(self, index: int) -> None:
        try:
            self.till.desk.do("insert", item=note(index))
        except ValueError:
            return  # one is in the path
        self.polls(15 + index)

    def sell(self, index: int) -> None:
        """As far as past the lever, and so many polls on."""
        self.insert(0)
        for _ in range(60):
            if self.till.device.state != "vend_valid":
                self.poll()
        self.polls(index)

    def lose(self, count: int) -> None:
        for _ in range(count):
            self.poll(lost=True)
        self.poll()

    def reset(self, _: int) -> None:
        self.till.ask(RESET)
        self.till.counter = 0

    def cut(self, _: int) -> None:
        self.till = self.till.cut()


ACTS = st.tuples(st.sampled_from(["insert", "sell", "polls", "lose", "reset", "cut"]), st.integers(0, 4))


@settings(max_examples=25, deadline=None)
@given(st.lists(ACTS, max_size=12))
@example([("sell", 0), ("cut", 0)])
@example([("sell", 1), ("cut", 0)])
@example([("sell", 0), ("reset", 0), ("reset", 0)])
@example([("sell", 0), ("lose", 4), ("sell", 0)])
def test_money_is_conserved_whatever_is_lost_cut_or_reset(acts):
    host = Host()
    for act, n in acts:
        getattr(host, act)(n)
    host.polls(120)
    truth = host.till.desk.plant.truth()
    assert host.credited == sum(int(worth) * n for worth, n in truth["values"].items())
    assert host.till.device.state == "idle"


# -- time


def test_silence_is_noticed_every_5_s_and_heard_frames_end_it():
    line = Line()
    line.wait(4990)
    assert line.events == []
    line.wait(10)
    assert line.events == [("silence",)]
    line.wait(5000)
    assert line.events == [("silence",)] * 2
    line.ask(SIMPLE_POLL)
    assert line.events[2:] == [("heard",)]
    line.wait(4990)
    assert len(line.events) == 3
    assert line.wire.next() == line.now + 10 or line.wire.next() > line.now


def test_frames_to_others_are_no_sign_of_the_host():
    line = Line()
    for _ in range(60):
        line.send(frame(POLL, to=2))
        line.wait(100)
    assert ("silence",) in line.events


def test_while_the_device_stores_a_poll_is_answered_with_what_stands():
    line = Line(escrow())
    line.poll()
    before = line.poll()
    line.events.clear()
    assert told(bodies(line.stand(frame(POLL)))[0]) == before
    assert bodies(line.stand(frame(SIMPLE_POLL))) == [ACK]
    assert line.stand(frame(ROUTE, STACK)) == b""
    assert line.events == []
    line.port.sent = b""
    line.wire.poll(line.now)
    assert bodies(line.port.sent) == [ACK]
    assert line.device.state == "stacking"


def test_a_host_that_is_answered_with_what_stands_is_not_silent():
    line = Line()
    line.wait(4000)
    line.stand(frame(POLL))
    line.wire.poll(line.now)
    line.wait(4000)
    assert line.events == []
    assert line.wire.frames == 1


def test_what_stands_is_told_in_the_hosts_kind_and_not_to_others():
    line = Line()
    line.ask(SIMPLE_POLL)
    for data in (frame(POLL, kind="sum"), frame(POLL, to=2), frame(POLL)[:-1] + b"\0"):
        assert line.stand(data) == b""
        assert line.send(b"", after_ms=60) == b""
    assert told(bodies(line.stand(frame(POLL)))[0]) == (0, NOTHING)


def test_a_host_that_is_owed_an_answer_gets_that_one_first():
    till = Till().open_for_business()
    till.desk.do("insert", item=note())
    till.polls(40)
    till.desk.before_commit = lambda: till.stand(frame(POLL)) if till.wire.answering else None
    sent = bodies(till.send(frame(ROUTE, STACK)))
    assert sent[0] == ACK
