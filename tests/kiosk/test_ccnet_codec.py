"""The CCNET codec against frames that others made, and against every way that a line can mistreat them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitbench.protocols import ccnet, protocol_named
from pitbench.protocols.ccnet import BillType, Command, Decoder, Frame, Reply, State

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ccnet.json").read_text("utf-8"))
ROWS = {row["name"]: row for row in VECTORS["frames"]}
BY_NAME = {name: bytes.fromhex(row["hex"]) for name, row in ROWS.items()}
ALL, NONE = b"\xff" * 3, bytes(3)
EUROS = b"".join(bytes([digit]) + b"EUR" + bytes([zeros]) for digit, zeros in
                 [(5, 0), (1, 1), (2, 1), (5, 1), (1, 2), (2, 2), (5, 2)])  # fmt: skip
IDENTITY = b"ID003          " + b"231000760443" + bytes(7)
# Code, data, and the words for them.
MEANING = {
    "poll": (Command.POLL, b"", "poll"),
    "reset": (Command.RESET, b"", "reset"),
    "get status": (Command.GET_STATUS, b"", "get status"),
    "stack": (Command.STACK, b"", "stack"),
    "return": (Command.RETURN, b"", "return"),
    "identification": (Command.IDENTIFICATION, b"", "identification"),
    "hold": (Command.HOLD, b"", "hold"),
    "extract barcode data": (Command.EXTRACT_BARCODE_DATA, b"", "extract barcode data"),
    "get bill table": (Command.GET_BILL_TABLE, b"", "get bill table"),
    "request statistics": (Command.REQUEST_STATISTICS, b"", "request statistics"),
    "enable all, no escrow": (Command.ENABLE_BILL_TYPES, ALL + NONE, "enable bill types: all; with escrow: none"),
    "enable all, escrow": (Command.ENABLE_BILL_TYPES, ALL + ALL, "enable bill types: all; with escrow: all"),
    "enable bills 2 to 6, no escrow": (
        Command.ENABLE_BILL_TYPES,
        ccnet.mask(frozenset(range(2, 7))) + NONE,
        "enable bill types: 2 3 4 5 6; with escrow: none",
    ),
    "disable all": (Command.ENABLE_BILL_TYPES, NONE + NONE, "enable bill types: none; with escrow: none"),
    "ack": (Reply.ACK, b"", "ack"),
    "nak": (Reply.NAK, b"", "nak"),
    "power up": (State.POWER_UP, b"", "power up"),
    "idling": (State.IDLING, b"", "idling"),
    "accepting": (State.ACCEPTING, b"", "accepting"),
    "stacking": (State.STACKING, b"", "stacking"),
    "disabled": (State.UNIT_DISABLED, b"", "unit disabled"),
    "escrow, bill 1": (State.ESCROW_POSITION, b"\x01", "escrow position (bill type 1)"),
    "escrow, bill 2": (State.ESCROW_POSITION, b"\x02", "escrow position (bill type 2)"),
    "escrow, bill 3": (State.ESCROW_POSITION, b"\x03", "escrow position (bill type 3)"),
    "stacked, bill 1": (State.BILL_STACKED, b"\x01", "bill stacked (bill type 1)"),
    "stacked, bill 3": (State.BILL_STACKED, b"\x03", "bill stacked (bill type 3)"),
    "nothing enabled": (0, bytes(5), "enabled: none; high security: none"),
    "identification ID003 231000760443": (IDENTITY[0], IDENTITY[1:], "ID003, serial 231000760443"),
    "bill table, 5 to 500 EUR": (
        EUROS[0],
        EUROS[1:] + bytes(85),
        "bill table: 0 5 EUR, 1 10 EUR, 2 20 EUR, 3 50 EUR, 4 100 EUR, 5 200 EUR, 6 500 EUR",
    ),
}
FRAMES = st.builds(Frame, st.binary(min_size=1, max_size=ccnet.LONGEST - ccnet.SHORTEST + 1))


def wire_of(frame: Frame) -> bytes:
    return ccnet.encode(frame.code, frame.data)


@pytest.mark.parametrize("name", BY_NAME)
def test_vector_both_ways(name):
    code, data, words = MEANING[name]
    assert ccnet.encode(code, data) == BY_NAME[name]
    (frame,) = Decoder().feed(BY_NAME[name])
    assert (frame.code, frame.data) == (code, data)
    assert ccnet.frame_names(BY_NAME[name], ROWS[name]["from"] != "device") == [words]


def test_crc_check_value():
    check = VECTORS["check_values"]
    assert f"{ccnet._crc(check['of'].encode()):04x}" == check["crc16-kermit"]


@given(st.lists(FRAMES, max_size=8), st.data())
def test_any_split_gives_the_same_frames(frames, data):
    stream = b"".join(map(wire_of, frames))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder, got = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += decoder.feed(stream[start:end])
    assert got == frames
    assert (decoder.good, decoder.damaged, decoder.skipped) == (len(frames), 0, 0)


def test_one_byte_at_a_time_and_a_frame_of_64_bytes():
    stream = ccnet.encode(0x41, b"v" * 58) + BY_NAME["ack"]
    decoder, got = Decoder(), []
    for byte in stream:
        got += decoder.feed(bytes([byte]))
    assert len(stream) == 64 + 6
    assert got == [Frame(b"A" + b"v" * 58), Frame(b"\0")]


@given(st.binary(max_size=40).filter(lambda b: ccnet.SYNC not in b), FRAMES)
def test_garbage_between_frames_is_skipped_and_counted(garbage, frame):
    decoder = Decoder()
    assert decoder.feed(garbage + wire_of(frame) + garbage + wire_of(frame)) == [frame, frame]
    assert decoder.skipped == 2 * len(garbage)


def test_half_a_header_before_a_frame_costs_no_frame():
    decoder = Decoder()
    assert decoder.feed(b"\x02") == []
    assert decoder.feed(b"\x02" + BY_NAME["poll"]) == [Frame(bytes([Command.POLL]))]
    assert decoder.skipped == 2


def test_another_address_is_skipped():
    body = bytes.fromhex("02010633")
    other = body + ccnet._crc(body).to_bytes(2, "little")
    assert Decoder().feed(other + BY_NAME["poll"]) == [Frame(bytes([Command.POLL]))]


@pytest.mark.parametrize("name", BY_NAME)
def test_no_damaged_byte_gives_a_frame_and_the_next_one_arrives(name):
    wire = BY_NAME[name]
    for at in range(len(wire)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = wire[:at] + bytes([wire[at] ^ flip]) + wire[at + 1 :]
            decoder = Decoder()
            got = decoder.feed(damaged) + decoder.gap() + decoder.feed(BY_NAME["stacked, bill 3"]) + decoder.gap()
            assert got == [Frame(b"\x81\x03")], (at, flip)
            assert decoder.damaged + decoder.skipped > 0


@given(st.sampled_from(sorted(BY_NAME)), st.integers(0, 200), st.integers(0, 255))
def test_a_good_frame_directly_behind_a_damaged_one_is_never_lost(name, at, byte):
    wire = bytearray(BY_NAME[name])
    wire[at % len(wire)] ^= byte or 1
    decoder = Decoder()
    assert decoder.feed(bytes(wire) + BY_NAME["stacked, bill 1"]) + decoder.gap() == [Frame(b"\x81\x01")]


@pytest.mark.parametrize("length", [0, 1, 5, ccnet.LONGEST + 1, 255])
def test_impossible_length_is_damaged_at_once(length):
    decoder = Decoder()
    assert decoder.feed(ccnet.HEADER + bytes([length]) + BY_NAME["stacked, bill 1"]) == [Frame(b"\x81\x01")]
    assert decoder.damaged == 1


def test_frames_swallowed_by_a_damaged_length_come_out_when_the_line_falls_silent():
    decoder = Decoder()
    swallowing = ccnet.HEADER + bytes([100, 0x14])
    assert decoder.feed(swallowing + BY_NAME["stacked, bill 1"] + BY_NAME["idling"]) == []
    assert decoder.gap() == [Frame(b"\x81\x01"), Frame(b"\x14")]
    assert decoder.gap() == []


def test_decoder_keeps_no_more_than_one_frame():
    decoder = Decoder()
    for _ in range(1000):
        decoder.feed(ccnet.HEADER * 25)
    assert len(decoder._held) <= ccnet.LONGEST


def test_data_too_long_is_refused():
    most = ccnet.LONGEST - ccnet.SHORTEST
    assert len(ccnet.encode(Command.DOWNLOAD, b"x" * most)) == ccnet.LONGEST
    with pytest.raises(ValueError, match=f"{most + 1} data bytes"):
        ccnet.encode(Command.DOWNLOAD, b"x" * (most + 1))


# What frames carry


@given(st.frozensets(st.integers(0, 23)))
def test_masks_round_trip(bill_types):
    assert ccnet.masked_types(ccnet.mask(bill_types)) == bill_types


def test_a_masks_last_byte_holds_the_lowest_types():
    assert ccnet.mask(frozenset({0, 9, 23})) == bytes.fromhex("800201")
    with pytest.raises(ValueError, match="24 is no bill type"):
        ccnet.mask(frozenset({3, 24}))


def test_bill_table():
    table = ccnet.parse_bill_table(EUROS + bytes(85))
    assert table[3] == BillType(3, "EUR", 5, 1)
    assert {number: row.cents for number, row in table.items()} == {
        0: 500, 1: 1000, 2: 2000, 3: 5000, 4: 10000, 5: 20000, 6: 50000
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "cents"), [(b"\x05USA\x81", 50), (b"\x19KWD\x82", 25), (b"\x19KWD\x83", None), (b"\x01USA\x00", 100)]
)
def test_decimals_of_a_bill_type(row, cents):
    assert ccnet.parse_bill_table(row + bytes(115))[0].cents == cents


def test_answers_of_another_layout_are_refused():
    for bad in (b"", bytes(119), bytes(121), b"\x01USA\x0a" + bytes(115), b"\x01USA\x8a" + bytes(115)):
        with pytest.raises(ValueError, match="belong|power of ten"):
            ccnet.parse_bill_table(bad)
    with pytest.raises(ValueError, match="33 bytes where 34 belong"):
        ccnet.parse_identification(bytes(33))
    with pytest.raises(ValueError, match="5 bytes where 6 belong"):
        ccnet.parse_status(bytes(5))


def test_status():
    status = ccnet.parse_status(bytes.fromhex("80007f000004"))
    assert (status.enabled, status.high_security) == (frozenset({*range(7), 23}), frozenset({2}))


def test_identification_that_says_nothing():
    assert ccnet.parse_identification(bytes(34)).text == "no part number, serial unknown"


# Words


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"\x14", "idling"),
        (b"\x1c\x68", "rejecting (inhibited)"),
        (b"\x1c\x99", "rejecting (reason 99)"),
        (b"\x47\x50", "failure (stack motor)"),
        (b"\x47\x99", "failure (failure 99)"),
        (b"\x1b\x05", "device busy (05)"),
        (b"\x80\x17", "escrow position (barcode)"),
        (b"\x82\x03", "bill returned (bill type 3)"),
        (b"\x30", "illegal command"),
        (b"\x99", "state 99"),
        (b"\x12\x34\x56\x78", "answer of 4 bytes: 12 34 56 78"),
        (b"123456789012345678", "barcode **************5678"),
        (b"\x01123456789012345678", "answer of 19 bytes: 01 **************5678"),
    ],
)
def test_words_of_replies(payload, words):
    assert ccnet.frame_names(ccnet.encode(payload[0], payload[1:]), False) == [words]


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"\x32\x00\x00\x05", "set security: 0 2"),
        (b"\x39\x01\x12", "set barcode parameters (01 12)"),
        (b"\xff", "nak"),
        (b"\x77", "command 77"),
        (b"\x77\x01", "command 77 (01)"),
    ],
)
def test_words_of_commands(payload, words):
    assert ccnet.frame_names(ccnet.encode(payload[0], payload[1:]), True) == [words]


@given(FRAMES, st.booleans())
def test_every_frame_has_words(frame, to_board):
    assert ccnet.frame_text(frame, to_board)


def test_a_barcode_is_never_shown_whole():
    number = b"123456789012345678"
    for payload in (number, b"\x80\x17" + number, number + b"\0\0"):
        (frame,) = Decoder().feed(ccnet.encode(payload[0], payload[1:]))
        assert "5678" in repr(frame)
        for shown in (repr(frame), ccnet.frame_text(frame, False), ccnet.frame_text(frame, True)):
            assert "1234" not in shown
            assert "31 32 33" not in shown


def test_what_the_bench_asks():
    protocol = protocol_named("ccnet")
    assert BY_NAME["identification"] == protocol.WHO
    assert str(protocol.FRAMING) == "9600 8N1"
    assert protocol.TELLS_SIGNATURE
    (answer,) = protocol.Decoder().feed(BY_NAME["identification ID003 231000760443"])
    assert protocol.who_text(answer) == "CCNET ID003, serial 231000760443"
    assert protocol.who_text(Frame(b"\x30")) == "CCNET, and no identification in its present state"
    assert protocol.who_text(Frame(b"\x14")) is None
