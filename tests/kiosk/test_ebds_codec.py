"""The EBDS codec against frames that others made, and against every way that a line can mistreat them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitbench.protocols import ebds
from pitbench.protocols.ebds import Condition, Decoder, Exceptional, Frame, Kind, Note, State

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ebds.json").read_text("utf-8"))
ROWS = {row["name"]: row for row in VECTORS["frames"] if row["protocol"] == "ebds"}
BY_NAME = {name: bytes.fromhex(row["hex"]) for name, row in ROWS.items()}
EXTENDED = bytes.fromhex("02 04 10 00 00 54 01 01 55 53 44 30 32 30 2b 30 30 00 00 00 00 00 00 00 00")
MEANING = {
    "poll": (ebds.poll(0, b"\x7f\x10\x00"), "poll, notes 7f, one-way, escrow"),
    "stack": (ebds.poll(0, b"\x7f\x30\x00"), "stack, notes 7f, one-way, escrow"),
    "return": (ebds.poll(0, b"\x7f\x50\x00"), "return, notes 7f, one-way, escrow"),
    "idle, cassette present": (ebds.encode(2, 0, b"\x01\x10\0\0\x54\x01"), "idle, cassette present"),
    "cassette removed": (ebds.encode(2, 0, b"\x01\0\0\0\x54\x01"), "idle, cassette removed"),
    "escrow, value 4": (ebds.encode(2, 0, b"\x04\x10\x20\0\x54\x01"), "escrowed 4, cassette present"),
    "power up": (ebds.encode(2, 0, b"\x01\x10\x01\0\x54\x01"), "idle, power up, cassette present"),
    "extended escrow, USD 20": (ebds.encode(7, 1, EXTENDED), "USD 20 (index 1), escrowed, cassette present"),
    "soft reset": (ebds.query(0, ebds.Query.SOFT_RESET), "soft reset"),
    "software CRC query": (ebds.query(0, ebds.Query.SOFTWARE_CRC), "software CRC?"),
}
SHARED = sorted(MEANING)
FRAMES = st.builds(
    lambda kind, bit, data: Frame(kind << 4 | bit, bytes(data)),
    st.integers(0, 7),
    st.integers(0, 1),
    st.lists(st.integers(0, 0x7F), max_size=ebds.LONGEST - ebds.SHORTEST),
)


def encoded(frame: Frame) -> bytes:
    return ebds.encode(frame.kind, frame.bit, frame.data)


@pytest.mark.parametrize("name", SHARED)
def test_vector_both_ways(name):
    wire, words = MEANING[name]
    assert wire == BY_NAME[name]
    (frame,) = Decoder().feed(wire)
    assert encoded(frame) == wire
    assert ebds.frame_names(wire, ROWS[name]["from"] == "host") == [words]


@pytest.mark.parametrize("name", BY_NAME)
def test_every_vector_is_one_sound_frame_with_words(name):
    (frame,) = Decoder().feed(BY_NAME[name])
    assert encoded(frame) == BY_NAME[name]
    words = ebds.frame_text(frame, ROWS[name]["from"] == "host")
    assert words != f"{frame.ctl:02x}"


def test_what_the_vectors_of_replies_mean():
    (idle,), (note,) = (Decoder().feed(BY_NAME[name]) for name in ("escrow, value 4", "extended escrow, USD 20"))
    report, rest = ebds.parse_reply(idle)
    assert (report.state, report.condition, report.exceptional) == (State.ESCROWED, Condition.CASSETTE_PRESENT, 0)
    assert (report.value, report.model, report.revision, rest) == (4, 0x54, 1, b"")
    report, rest = ebds.parse_reply(note)
    assert (note.bit, report.state, report.value) == (1, State.ESCROWED, 0)
    assert ebds.parse_note(rest) == Note(1, "USD", 20, 0)


@given(st.lists(FRAMES, max_size=8), st.data())
def test_any_split_gives_the_same_frames(frames, data):
    stream = b"".join(encoded(f) for f in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder, got = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += decoder.feed(stream[start:end])
    assert got == frames
    assert (decoder.good, decoder.damaged, decoder.skipped) == (len(frames), 0, 0)


def test_one_byte_at_a_time_and_a_frame_of_64_bytes():
    long = Frame(0x60, b"v" * 59)
    stream = encoded(long) + BY_NAME["poll"]
    decoder, got = Decoder(), []
    for byte in stream:
        got += decoder.feed(bytes([byte]))
    assert len(encoded(long)) == 64
    assert got == [long, Frame(0x10, b"\x7f\x10\x00")]


@given(st.binary(max_size=40).filter(lambda b: ebds.STX not in b), FRAMES)
def test_garbage_between_frames_is_skipped_and_counted(garbage, frame):
    decoder = Decoder()
    wire = encoded(frame)
    assert decoder.feed(garbage + wire + garbage + wire) == [frame, frame]
    assert decoder.skipped == 2 * len(garbage)


@pytest.mark.parametrize("name", SHARED)
def test_each_byte_damaged_in_each_way_never_gives_a_frame_and_the_next_one_arrives(name):
    wire, good = BY_NAME[name], BY_NAME["idle, cassette present"]
    for at in range(len(wire)):
        for other in set(range(256)) - {wire[at]}:
            decoder = Decoder()
            damaged = wire[:at] + bytes([other]) + wire[at + 1 :]
            got = decoder.feed(damaged) + decoder.gap() + decoder.feed(good) + decoder.gap()
            assert got == [Frame(0x20, b"\x01\x10\0\0\x54\x01")], (at, other)
            assert decoder.damaged + decoder.skipped > 0


def test_the_eighth_bit_is_never_sent_and_never_taken():
    wire = bytearray(BY_NAME["poll"])
    wire[3] |= 0x80
    wire[-1] |= 0x80
    assert Decoder().feed(bytes(wire)) == []
    with pytest.raises(ValueError, match="seven bits"):
        ebds.encode(Kind.COMMAND, 0, b"\x80\0\0")


@pytest.mark.parametrize("length", [0, 1, 4, ebds.LONGEST + 1, 255])
def test_impossible_length_is_damaged_at_once(length):
    decoder = Decoder()
    assert decoder.feed(bytes([ebds.STX, length]) + BY_NAME["poll"]) == [Frame(0x10, b"\x7f\x10\x00")]
    assert decoder.damaged == 1


def test_frames_swallowed_by_a_damaged_length_come_out_when_the_line_falls_silent():
    decoder = Decoder()
    assert decoder.feed(bytes([ebds.STX, 100, 0x20]) + BY_NAME["power up"] + BY_NAME["cassette removed"]) == []
    assert [frame.data[:3].hex() for frame in decoder.gap()] == ["011001", "010000"]
    assert decoder.gap() == []


def test_decoder_keeps_no_more_than_one_frame():
    decoder = Decoder()
    for _ in range(1000):
        decoder.feed(bytes([ebds.STX, 0x7F]) * 25)
    assert len(decoder._held) <= ebds.LONGEST


def test_data_too_long_is_refused():
    assert len(ebds.encode(Kind.AUXILIARY, 0, b"x" * 122)) == ebds.LONGEST
    with pytest.raises(ValueError, match="123 data bytes"):
        ebds.encode(Kind.AUXILIARY, 0, b"x" * 123)


@pytest.mark.parametrize(
    ("field", "units"),
    [(b"020+00", 20), (b"005+01", 50), (b"002+03", 2000), (b"500-02", 5), (b"025-02", None), (b"001+00", 1)],
)
def test_value_of_a_note(field, units):
    note = ebds.parse_note(b"\x03USD" + field + b"\0" * 8)
    assert (note.index, note.currency, note.units) == (3, "USD", units)


@pytest.mark.parametrize("entry", [b"\x08" + b"\0" * 17, b"\x08USD000+00" + b"\0" * 8])
def test_an_entry_without_a_note_ends_the_table(entry):
    assert ebds.parse_note(entry) is None


@pytest.mark.parametrize(
    "bad", [b"", b"\x01USD02", b"\x01US 020+00", b"\x01USD0x0+00", b"\x01USD020*00", b"\x01USD020+ 1"]
)
def test_a_damaged_note_is_refused(bad):
    with pytest.raises(ValueError, match="note"):
        ebds.parse_note(bad)


@pytest.mark.parametrize("fill", [b"", b"\0", b"(", b" "])
def test_a_barcode_ends_at_what_fills_its_field(fill):
    number = b"123456789012345678"
    assert ebds.parse_barcode((number + fill * 10)[:28]) == number.decode()


def test_software_crc_is_four_nibbles():
    (frame,) = Decoder().feed(ebds.encode(Kind.AUXILIARY, 0, b"\x01\x0a\x00\x0f\0\0"))
    assert ebds.parse_crc(frame.data) == 0x1A0F
    assert ebds.who_text(frame) == "software CRC 1a0f"
    for bad in (b"\x01\x0a\x00\x10\0\0", b"\x01\x0a\x00\x0f\0\1", b"\x01\x0a\x00\x0f"):
        with pytest.raises(ValueError, match="nibbles"):
            ebds.parse_crc(bad)


def test_only_the_answer_to_the_crc_query_says_who():
    assert BY_NAME["software CRC query"] == ebds.WHO
    assert ebds.who_text(Frame(0x20, b"\x01\x02\x03\x04\0\0")) is None
    assert ebds.who_text(Frame(0x60, b"286000103")) is None


REPORT = b"\x11\x10\0\0\x54\x2a"


@pytest.mark.parametrize(
    ("frame", "to_board", "words"),
    [
        (Frame(0x11, b"\0\x1c\x16"), True, "poll, notes 00, four-way, escrow, barcode, power up b, extended note"),
        (Frame(0x11, b"\x01\x04\x20"), True, "poll, notes 01, two-way, no escrow, extended coupon"),
        (Frame(0x71, b"\x02\x7f\x1c\x10\x07"), True, "note table entry 7?"),
        (Frame(0x71, b"\x03\x7f\x1c\x10\x7f\x01"), True, "note enables 7f 01"),
        (Frame(0x60, b"\0\0\x08"), True, "variant name?"),
        (Frame(0x60, b"\0\0\x44"), True, "60"),
        (Frame(0x10, b"\0"), True, "10"),
        (Frame(0x70, b""), True, "70"),
        (Frame(0x30, b"\0\0\0"), True, "30"),
        (Frame(0x20, REPORT), False, "idle and stacked, cassette present"),
        (Frame(0x20, b"\x10\x10\x28\0\x54\1"), False, "stacked 5, cassette present"),
        (Frame(0x20, b"\0\x5c\x46\x21\x54\1"), False, "out of service, invalid command, failure, transport open, jam, "
         "stacker full, cassette present, calibrating, stalled, disabled"),
        (Frame(0x20, b"\0"), False, "20"),
        (Frame(0x60, b"USD_CAD\0\0"), False, "USD_CAD"),
        (Frame(0x60, b"\x01\x02"), False, "60"),
        (Frame(0x60, b""), False, "60"),
        (Frame(0x70, b"\x02" + REPORT + b"\x08" + b"\0" * 17), False, "empty entry (index 8), idle and stacked, "
         "cassette present"),
        (Frame(0x70, b"\x03" + REPORT), False, "note enables, idle and stacked, cassette present"),
        (Frame(0x70, b"\x02" + REPORT), False, "70"),
        (Frame(0x40, REPORT), False, "40"),
    ],
)  # fmt: skip
def test_words(frame, to_board, words):
    assert ebds.frame_text(frame, to_board) == words


def test_a_barcode_is_never_shown_whole():
    number = "123456789012345678"
    wire = ebds.encode(Kind.EXTENDED, 0, b"\x01\x04\x10\0\0\x54\x01" + number.encode() + b"\0" * 10)
    (frame,) = Decoder().feed(wire)
    assert ebds.frame_text(frame, False) == "barcode **************5678, escrowed, cassette present"
    for shown in (repr(frame), ebds.frame_text(Frame(0x70, frame.data[:5]), False), ebds.frame_text(frame, True)):
        assert "1234" not in shown
        assert number.encode().hex(" ")[:11] not in shown


@given(FRAMES, st.booleans())
def test_every_frame_has_words(frame, to_board):
    assert ebds.frame_text(frame, to_board)


def test_bits_of_a_report_keep_their_places():
    report = ebds.parse_report(b"\x40\x22\x7d\x00\x54\x00")
    assert report.value == 7
    assert report.exceptional == Exceptional.POWER_UP | Exceptional.FAILURE | Exceptional.TRANSPORT_OPEN
    assert report.condition == Condition.REJECTED | Condition.PAUSED
