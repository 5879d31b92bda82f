"""ID-003 on the device: what is told, understood and asked, as public vectors have it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from acceptor_bench import ticket
from test_acceptor_table import PLACES, escrow, idle
from wire.id003 import COMMANDS, STATUS
from wire_bench import ACK, FRAMES, POLL, STACK, Line, bodies, frame


def test_the_port_is_set_to_9600_8e1():
    assert Line().port.how == (9600, 8, "E", 1)


SHOWN = {
    "idle (enabled)": "idle",
    "escrow, code 65": "escrow",
    "vend valid": "vend_valid",
    "disabled (inhibited)": "disabled",
    "initialize": "initialize",
    "power up": "power_up",
    "power up with bill in stacker": "power_up_stacker",
    "stacked": "stacked",
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_state_is_told_as_the_vectors_have_it(name):
    assert Line(PLACES[SHOWN[name]]()).send(POLL) == FRAMES["device", name]


ERRORS = {"stacker full": {"full": 1}, "stacker open": {"stacker_door": 1}}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_told_as_the_vectors_have_it(name):
    hand = idle()
    hand.sensors(**ERRORS[name])
    assert Line(hand).send(POLL) == FRAMES["device", name]


def test_every_state_has_a_status_and_no_two_that_a_host_must_tell_apart_share_one():
    assert len(set(STATUS.values())) == len(STATUS) - 1  # storing shows as stacking


def test_a_voucher_in_escrow_is_told_by_its_digits():
    hand = PLACES["accepting"]()
    hand.sensors(ticket(), entry=0, exit=1)
    assert bodies(Line(hand).send(POLL)) == [b"\x13\x6f123456000250345678"]


EXPECTED_EVENTS = {
    "reset": ("host", "host_reset", None),
    "stack 1": ("host", "stack", 1),
    "stack 2": ("host", "stack", 2),
    "return": ("host", "return", None),
    "hold": ("host", "hold", None),
    "inhibit off": ("setting", "inhibit", b"\0"),
    "inhibit on": ("setting", "inhibit", b"\1"),
}


@pytest.mark.parametrize("name", EXPECTED_EVENTS)
def test_a_hosts_frame_is_understood_as_the_vectors_have_it(name):
    line = Line(escrow())
    line.send(FRAMES["host", name])
    assert line.events == [("heard",), EXPECTED_EVENTS[name]]


def test_what_a_state_forbids_is_an_invalid_command():
    assert bodies(Line(idle()).send(STACK)) == [b"\x4b"]
    line = Line(escrow())
    line.send(POLL)
    assert line.send(STACK) == ACK


def test_a_reset_is_obeyed_where_its_cause_still_stands():
    hand = idle()
    hand.sensors(stacker_door=1)
    assert Line(hand).send(FRAMES["host", "reset"]) == ACK


# Data bytes of each setting, as hosts send them.
SIZES = {0xC0: 2, 0xC1: 2, 0xC2: 1, 0xC3: 1, 0xC4: 1, 0xC5: 2, 0xC6: 2, 0xC7: 1}


@pytest.mark.parametrize("command", SIZES)
@pytest.mark.parametrize("more", [1, 10])
def test_a_setting_with_too_much_data_is_invalid_and_sets_nothing(command, more):
    line = Line()
    before = dict(line.hand.device.settings.values)
    assert bodies(line.send(frame(command, b"\7" * (SIZES[command] + more)))) == [b"\x4b"]
    assert bodies(line.send(frame(command))) == [b"\x4b"]
    assert line.hand.device.settings.values == before


@pytest.mark.parametrize("command", SIZES)
def test_a_setting_is_echoed_and_read_back(command):
    line = Line()
    data = b"\2\3"[: SIZES[command]]
    assert line.send(frame(command, data)) == frame(command, data)
    assert line.send(frame(command - 0x40)) == frame(command - 0x40, data)


def test_the_version_ends_with_the_embedded_signature():
    assert bodies(Line().send(frame(0x88)))[0].endswith(b" BEEF")


def test_the_currency_table_has_four_bytes_a_note():
    table = bodies(Line().send(frame(0x8A)))[0][1:]
    assert table == bytes.fromhex("61010100 62010200 63010500 64010101 65010201 66010501 67010102")


def test_the_signature_is_busy_until_it_is_computed():
    line, steps = Line(), []
    line.checksum = SimpleNamespace(
        crc=0x1234, step=lambda: steps.append(1) or (len(steps) > 40 and (True, "")) or None
    )
    said, before = [], 0
    while not said or said[-1] == b"\xde":
        said += bodies(line.send(frame(0xDC)))
        assert len(steps) - before <= 8
        before = len(steps)
    assert said == [b"\xde"] * 7 + [b"\xdf\x34\x12"]
    assert bodies(line.send(frame(0xDC))) == [b"\xde"]


KNOWN = {0x11, 0x50, *COMMANDS, *range(0x80, 0x8B), *range(0xC0, 0xC8), 0xDC}


@pytest.mark.parametrize("command", sorted(set(range(256)) - KNOWN))
def test_an_unknown_command_is_invalid_and_moves_nothing(command):
    line = Line()
    assert bodies(line.send(frame(command))) == [b"\x4b"]
    assert line.events == [("heard",)]
