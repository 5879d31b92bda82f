"""The ID-003 codec against frames that others made, and against every way that a line can mistreat them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitbench.protocols import id003
from pitbench.protocols.id003 import Command, Decoder, Frame, Reply, Status

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "id003.json").read_text("utf-8"))
BY_NAME = {row["name"]: bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
MEANING = {
    "status request": (Command.STATUS_REQUEST, b""),
    "ack": (Command.ACK, b""),
    "reset": (Command.RESET, b""),
    "stack 1": (Command.STACK_1, b""),
    "stack 2": (Command.STACK_2, b""),
    "return": (Command.RETURN, b""),
    "hold": (Command.HOLD, b""),
    "inhibit off": (Command.SET_INHIBIT, b"\x00"),
    "inhibit on": (Command.SET_INHIBIT, b"\x01"),
    "idle (enabled)": (Status.IDLE, b""),
    "escrow, code 65": (Status.ESCROW, b"\x65"),
    "vend valid": (Status.VEND_VALID, b""),
    "stacked": (Status.STACKED, b""),
    "disabled (inhibited)": (Status.DISABLED, b""),
    "initialize": (Status.INITIALISE, b""),
    "power up": (Status.POWER_UP, b""),
    "power up with bill in stacker": (Status.POWER_UP_BILL_IN_STACKER, b""),
    "stacker full": (Status.STACKER_FULL, b""),
    "stacker open": (Status.STACKER_OPEN, b""),
    "jam in stacker": (Status.JAM_IN_STACKER, b""),
    "cheated": (Status.CHEATED, b""),
    "failure, stack motor": (Status.FAILURE, bytes([id003.FailureCode.STACK_MOTOR])),
    "enq": (Reply.ENQ, b""),
}
FRAMES = st.builds(Frame, st.integers(0, 255), st.binary(max_size=id003.LONGEST - id003.SHORTEST))


@pytest.mark.parametrize("name", BY_NAME)
def test_vector_both_ways(name):
    cmd, data = MEANING[name]
    assert id003.encode(cmd, data) == BY_NAME[name]
    assert Decoder().feed(BY_NAME[name]) == [Frame(cmd, data)]


def test_crc_check_value():
    check = VECTORS["check_values"]
    assert f"{id003._crc(check['of'].encode()):04x}" == check["crc16-kermit"]


@given(st.lists(FRAMES, max_size=8), st.data())
def test_any_split_gives_the_same_frames(frames, data):
    stream = b"".join(id003.encode(f.cmd, f.data) for f in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder, got = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += decoder.feed(stream[start:end])
    assert got == frames
    assert (decoder.good, decoder.damaged, decoder.skipped) == (len(frames), 0, 0)


def test_one_byte_at_a_time_and_a_frame_of_64_bytes():
    stream = id003.encode(Command.VERSION, b"v" * 59) + BY_NAME["ack"]
    decoder, got = Decoder(), []
    for byte in stream:
        got += decoder.feed(bytes([byte]))
    assert got == [Frame(Command.VERSION, b"v" * 59), Frame(Command.ACK)]


@given(st.binary(max_size=40).filter(lambda b: id003.SYNC not in b), FRAMES)
def test_garbage_between_frames_is_skipped_and_counted(garbage, frame):
    decoder = Decoder()
    wire = id003.encode(frame.cmd, frame.data)
    assert decoder.feed(garbage + wire + garbage + wire) == [frame, frame]
    assert decoder.skipped == 2 * len(garbage)


@given(st.sampled_from(sorted(BY_NAME.values())), st.data())
def test_one_flipped_bit_never_gives_a_frame_and_the_next_one_arrives(wire, data):
    bit = data.draw(st.integers(0, len(wire) * 8 - 1))
    damaged = bytearray(wire)
    damaged[bit // 8] ^= 1 << bit % 8
    decoder = Decoder()
    got = decoder.feed(bytes(damaged)) + decoder.gap() + decoder.feed(BY_NAME["ack"]) + decoder.gap()
    assert got == [Frame(Command.ACK)]
    assert decoder.damaged + decoder.skipped > 0


@pytest.mark.parametrize("length", [0, 1, 4, id003.LONGEST + 1, 255])
def test_impossible_length_is_damaged_at_once(length):
    decoder = Decoder()
    assert decoder.feed(bytes([id003.SYNC, length]) + BY_NAME["vend valid"]) == [Frame(Status.VEND_VALID)]
    assert decoder.damaged == 1


def test_frames_swallowed_by_a_damaged_length_come_out_when_the_line_falls_silent():
    decoder = Decoder()
    assert decoder.feed(bytes([id003.SYNC, 100, 0x11]) + BY_NAME["vend valid"] + BY_NAME["stacked"]) == []
    assert decoder.gap() == [Frame(Status.VEND_VALID), Frame(Status.STACKED)]
    assert decoder.gap() == []


def test_decoder_keeps_no_more_than_one_frame():
    decoder = Decoder()
    for _ in range(1000):
        decoder.feed(bytes([id003.SYNC]) * 50)
    assert len(decoder._held) <= id003.LONGEST


def test_data_too_long_is_refused():
    assert len(id003.encode(Command.VERSION, b"x" * 123)) == id003.LONGEST
    with pytest.raises(ValueError, match="124 data bytes"):
        id003.encode(Command.VERSION, b"x" * 124)


def test_currency_table():
    table = id003.parse_currency_table(bytes.fromhex("6101010062000000 65010201 67010102".replace(" ", "")))
    assert {code: d.cents for code, d in table.items()} == {0x61: 100, 0x65: 2000, 0x67: 10000}
    for bad in (b"", b"\x61\x01\x01", b"\x61\x01\x01\xff"):
        with pytest.raises(ValueError, match="currency table"):
            id003.parse_currency_table(bad)


@pytest.mark.parametrize(
    ("cmd", "data", "words"),
    [
        (Status.IDLE, b"", "idle"),
        (Status.REJECTING, b"\x79", "rejecting (inhibited)"),
        (Status.REJECTING, b"\x9b", "rejecting (barcode upside down)"),
        (Status.REJECTING, b"\x93", "rejecting (barcode, reason 93)"),
        (Status.REJECTING, b"\x10", "rejecting (reason 10)"),
        (Status.FAILURE, b"\xab", "failure (cash box not ready)"),
        (Status.FAILURE, b"\x01", "failure (failure 01)"),
        (Status.ESCROW, b"\x65", "escrow (65)"),
        (Status.ESCROW, b"\x6f123456789012345678", "escrow (6f **************5678)"),
        (0x99, b"", "status 99"),
    ],
)
def test_words(cmd, data, words):
    assert id003.status_text(cmd, data) == words


def test_a_barcode_is_never_shown_whole():
    number = "123456789012345678"
    wire = id003.encode(Status.ESCROW, b"\x6f" + number.encode())
    (frame,) = Decoder().feed(wire)
    assert frame.barcode == number
    assert repr(frame) == "Frame(13 6f **************5678)"


@pytest.mark.parametrize(
    ("number", "shown"), [("", ""), ("12", "**"), ("123", "***"), ("12345", "***45"), ("12345678", "****5678")]
)
def test_at_least_three_characters_are_masked(number, shown):
    assert id003.mask_number(number) == shown
