"""The ccTalk codec against frames that others made, and against every way that a line can mistreat them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitbench.protocols import cctalk, protocol_named
from pitbench.protocols.cctalk import BillId, Checksum, Command, Decoder, Event, Events, Frame, Reply, Scaling

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "cctalk.json").read_text("utf-8"))
MODES = {"cctalk-sum": Checksum.SUM, "cctalk-crc": Checksum.CRC}
EMPTY = (Event(0, 0),) * 4
MEANING = {
    "simple poll": (Command.SIMPLE_POLL, b""),
    "simple poll reply": (Reply.DATA, b""),
    "ack": (Reply.DATA, b""),
    "read buffered bill events": (Command.READ_EVENTS, b""),
    "route bill: stack": (Command.ROUTE_BILL, b"\x01"),
    "master inhibit: accept": (Command.MODIFY_MASTER_INHIBIT, b"\x01"),
    "inhibits: all bills on": (Command.MODIFY_INHIBITS, b"\xff\xff"),
    "events, counter 1: type 3 in escrow": (Reply.DATA, Events(1, (Event(3, 1), *EMPTY)).data),
    "events, counter 7: stacker removed": (Reply.DATA, Events(7, (Event(0, 11), *EMPTY)).data),
}
CREDITED = Frame(1, 0, Events(2, (Event(3, 0), Event(2, 1), *EMPTY[:3])).data)
ROWS = [pytest.param(row, id=f"{row['protocol']}: {row['name']}") for row in VECTORS["frames"]]
WIRES = [(MODES[row["protocol"]], bytes.fromhex(row["hex"])) for row in VECTORS["frames"]]
CHECKSUMS = st.sampled_from(list(Checksum))
FRAMES = st.builds(
    Frame,
    st.sampled_from([cctalk.HOST, cctalk.VALIDATOR]),
    st.integers(0, 255),
    st.binary(max_size=cctalk.LONGEST_DATA),
)


def wire_of(frame: Frame, checksum: Checksum) -> bytes:
    source = cctalk.VALIDATOR if frame.to == cctalk.HOST else cctalk.HOST
    return cctalk.encode(frame.header, frame.data, checksum, frame.to, source)


@pytest.mark.parametrize("row", ROWS)
def test_vector_both_ways(row):
    wire, checksum = bytes.fromhex(row["hex"]), MODES[row["protocol"]]
    frame = Frame(cctalk.VALIDATOR if row["from"] == "host" else cctalk.HOST, *MEANING[row["name"]])
    assert wire_of(frame, checksum) == wire
    assert Decoder(checksum).feed(wire) == [frame]
    assert Decoder().feed(wire) == [frame]


def test_every_vector_has_a_meaning_and_the_crc_its_check_value():
    assert {row["name"] for row in VECTORS["frames"]} == set(MEANING)
    check = VECTORS["check_values"]
    assert f"{cctalk._crc(check['of'].encode()):04x}" == check["crc16-xmodem"]


@pytest.mark.parametrize(("checksum", "wire"), WIRES)
def test_a_decoder_of_the_other_mode_takes_nothing(checksum, wire):
    other = Checksum.CRC if checksum is Checksum.SUM else Checksum.SUM
    decoder = Decoder(other)
    assert decoder.feed(wire) + decoder.gap() == []


@given(st.lists(FRAMES, max_size=8), CHECKSUMS, st.booleans(), st.data())
def test_any_split_gives_the_same_frames(frames, checksum, knows, data):
    stream = b"".join(wire_of(frame, checksum) for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder, got = Decoder(checksum if knows else None), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += decoder.feed(stream[start:end])
    assert got == frames
    assert (decoder.good, decoder.damaged, decoder.skipped) == (len(frames), 0, 0)


@given(st.lists(st.tuples(FRAMES, CHECKSUMS), max_size=8))
def test_a_listener_takes_frames_of_both_modes(pairs):
    assert Decoder().feed(b"".join(wire_of(*pair) for pair in pairs)) == [frame for frame, _ in pairs]


@given(st.binary(max_size=40).filter(lambda b: not {cctalk.HOST, cctalk.VALIDATOR} & set(b)), FRAMES, CHECKSUMS)
def test_garbage_between_frames_is_skipped_and_counted(garbage, frame, checksum):
    decoder = Decoder(checksum)
    wire = wire_of(frame, checksum)
    assert decoder.feed(garbage + wire + garbage + wire) == [frame, frame]
    assert decoder.skipped == 2 * len(garbage)


@pytest.mark.parametrize(("checksum", "wire"), WIRES)
def test_no_damaged_byte_gives_a_frame_and_the_next_one_arrives(checksum, wire):
    after = cctalk.encode(Reply.NAK, b"", checksum, cctalk.HOST, cctalk.VALIDATOR)
    for at in range(len(wire)):
        for other in set(range(256)) - {wire[at]}:
            decoder = Decoder(checksum)
            got = decoder.feed(wire[:at] + bytes([other]) + wire[at + 1 :] + after) + decoder.gap()
            assert got == [Frame(cctalk.HOST, Reply.NAK)], (at, other)
            assert decoder.damaged + decoder.skipped > 0


def test_an_impossible_length_is_damaged_at_once():
    decoder = Decoder()
    wire = bytes.fromhex("01002800d7")
    assert decoder.feed(bytes([cctalk.HOST, cctalk.LONGEST_DATA + 1]) + wire) == [Frame(cctalk.HOST, Reply.DATA)]
    assert decoder.damaged == 1


def test_frames_swallowed_by_a_damaged_length_come_out_when_the_line_falls_silent():
    decoder = Decoder(Checksum.SUM)
    ack = bytes.fromhex("01002800d7")
    assert decoder.feed(bytes([cctalk.HOST, 60, cctalk.VALIDATOR]) + ack + ack) == []
    assert decoder.gap() == [Frame(cctalk.HOST, Reply.DATA)] * 2
    assert decoder.gap() == []


def test_other_addresses_are_told_apart():
    decoder = Decoder(Checksum.SUM, host=1, validator=41)
    ours = cctalk.encode(Reply.DATA, b"", Checksum.SUM, 1, 41)
    assert decoder.feed(bytes.fromhex("01002800d7") + ours) + decoder.gap() == [Frame(1, Reply.DATA)]


def test_decoder_keeps_no_more_than_one_frame():
    decoder = Decoder()
    for _ in range(1000):
        decoder.feed(bytes([cctalk.HOST]) * 50)
    assert len(decoder._held) <= cctalk.LONGEST_DATA + cctalk.SHORTEST


def test_data_too_long_is_refused():
    assert len(cctalk.encode(Reply.DATA, b"x" * 64)) == 69
    with pytest.raises(ValueError, match="65 data bytes"):
        cctalk.encode(Reply.DATA, b"x" * 65)


@pytest.mark.parametrize(
    ("last", "now", "count"),
    [
        (23, 23, 0),
        (102, 104, 2),
        (255, 1, 1),
        (253, 3, 5),
        (48, 54, 6),
        (67, 0, 0),
        (0, 0, 0),
        (0, 3, 3),
        (0, 255, 255),
    ],
)
def test_counter_steps_of_the_specification(last, now, count):
    assert cctalk.counted(last, now) == count


@pytest.mark.parametrize(
    ("text", "bill"),
    [
        (b"US0005A", BillId("US", 5, "A")),
        (b"GB0050C", BillId("GB", 50, "C")),
        (b".......", None),
        (b"US0000A", None),
        (b"       ", None),
        (b"", None),
        (b"US005A", None),
        (b"US0005AB", None),
    ],
)
def test_bill_ids(text, bill):
    assert cctalk.parse_bill_id(text) == bill


@pytest.mark.parametrize(
    ("value", "scaling", "cents"), [(5, b"\x64\x00\x02", 500), (1, b"\x01\x00\x00", 100), (50, b"\xe8\x03\x03", 5000)]
)
def test_a_bills_worth(value, scaling, cents):
    worth = cctalk.denomination(0x65, BillId("US", value, "A"), cctalk.parse_scaling(scaling))
    assert (worth.code, worth.country, worth.cents) == (0x65, 1, cents)


@pytest.mark.parametrize("scaling", [Scaling(1, 2), Scaling(0, 0), Scaling(1, 255)])
def test_a_worth_that_is_no_number_of_whole_units_is_refused(scaling):
    with pytest.raises(ValueError, match="whole units"):
        cctalk.denomination(0x65, BillId("GB", 5, "A"), scaling)


@pytest.mark.parametrize("data", [b"", b"\x64\x00", b"\x64\x00\x02\x00"])
def test_a_scaling_has_three_bytes(data):
    with pytest.raises(ValueError, match="3 bytes"):
        cctalk.parse_scaling(data)


@given(
    st.integers(0, 255), st.lists(st.builds(Event, st.integers(0, 255), st.integers(0, 255)), min_size=5, max_size=5)
)
def test_events_round_trip(counter, events):
    told = Events(counter, tuple(events))
    assert cctalk.parse_events(told.data) == told
    for bad in (told.data[:-1], told.data + b"\0"):
        with pytest.raises(ValueError, match="a counter and 5 events"):
            cctalk.parse_events(bad)


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        ("280001fed9", "simple poll"),
        ("01002800d7", "ack"),
        ("2801bc9a0162", "route bill: stack"),
        ("2801eae40149", "modify master inhibit: accept"),
        ("28025fe7ffffdf", "modify inhibits: types 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 on"),
        ("010b3b0001030100000000000000003d", "events, counter 1: type 3 in escrow"),
        (
            "010b980007000b000000000000000092",
            "events, counter 7: stacker removed, " + ", ".join(["master inhibit active"] * 4),
        ),
    ],
)
def test_words_of_vectors(wire, words):
    (frame,) = Decoder().feed(bytes.fromhex(wire))
    assert cctalk.frame_text(frame) == words


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (Frame(1, 0, bytes(11)), "events, counter 0: none since the reset"),
        (CREDITED, "events, counter 2: type 3 credited, type 2 in escrow"),
        (Frame(1, 0, Events(1, (Event(3, 7), *EMPTY)).data), "events, counter 1: type 3 result 7"),
        (Frame(1, 0, Events(1, (Event(0, 99), *EMPTY)).data), "events, counter 1: event 0 99"),
        (Frame(1, 0, b"US0005A"), "reply US0005A"),
        (Frame(1, 0, b"ABCDEFGHIJK"), "reply ABCDEFGHIJK"),
        (Frame(1, 0, b"\xfe"), "reply fe"),
        (Frame(1, 0, b"123456789012345678"), "reply **************5678"),
        (Frame(1, 0, b"AB3456789012CD"), "reply **********12CD"),
        (Frame(1, 5), "nak"),
        (Frame(1, 6), "busy"),
        (Frame(1, 9), "reply 9"),
        (Frame(40, 157, b"\x03"), "request bill id: type 3"),
        (Frame(40, 231, b"\0\0"), "modify inhibits: types none on"),
        (Frame(40, 228, b"\0"), "modify master inhibit: refuse all"),
        (Frame(40, 154, b"\x07"), "route bill: route 7"),
        (Frame(40, 156, b"US"), "request scaling: US"),
        (Frame(40, 200), "command 200"),
    ],
)  # fmt: skip
def test_words(frame, words):
    assert cctalk.frame_text(frame) == words


@given(FRAMES)
def test_any_frame_has_words(frame):
    assert cctalk.frame_text(frame)


def test_a_barcode_is_never_shown_whole():
    assert repr(Frame(1, 0, b"123456789012345678")) == "Frame(to 1: 0 **************5678)"
    assert repr(Frame(1, 0)) == "Frame(to 1: 0)"


def test_what_the_bench_asks_of_every_protocol():
    protocol = protocol_named("cctalk")
    (asked,) = protocol.Decoder().feed(protocol.WHO)
    assert asked == Frame(cctalk.VALIDATOR, Command.REQUEST_SOFTWARE_REVISION)
    answer = cctalk.encode(Reply.DATA, b"pitbench 0.1", Checksum.SUM, cctalk.HOST, cctalk.VALIDATOR)
    (told,) = protocol.Decoder().feed(answer)
    assert protocol.who_text(told) == "pitbench 0.1"
    assert protocol.who_text(asked) is None
    assert protocol.who_text(Frame(cctalk.HOST, Reply.DATA)) is None
    assert protocol.frame_names(protocol.WHO, to_board=True) == ["request software revision"]
    assert protocol.frame_names(protocol.WHO + answer, to_board=False) == ["reply pitbench 0.1"]
    assert str(protocol.FRAMING) == "9600 8N1"
