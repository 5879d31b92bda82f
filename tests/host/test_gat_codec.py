"""The GAT codec against vectors, and against every way that a line can mistreat frames."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitbench.errors import PitbenchError
from pitbench.protocols import gat
from pitbench.protocols.gat import Command, Crc, Decoder, Frame, GatStatus, LastCalculation, Piece

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "gat.json").read_text("utf-8"))
BY_NAME = {row["name"]: bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
SENT = {
    "status query": (Command.STATUS, b""),
    "last status query": (Command.LAST, b""),
    "results query, text, frame 1": (Command.RESULTS, gat.results_data(1, 1)),
    "results query, XML, frame 258": (Command.RESULTS, gat.results_data(2, 258)),
    "start level 1": (Command.START, b"\x01"),
    "start level 1, seed 31 32 33 34": (Command.START, b"\x011234"),
    "start Get Special Functions": (Command.START, b"\xba" + gat.special_parameter("Get Special Functions")),
    "start Get File": (Command.START, b"\xba" + gat.special_parameter("Get File", "/image/crc")),
    "start Component": (Command.START, b"\xba" + gat.special_parameter("Component", "/image/main.mpy")),
    "start Component, seed 31 32 33 34": (
        Command.START,
        b"\xba" + gat.special_parameter("Component", "/image/main.mpy", "31323334"),
    ),
}
SAID = {
    "idle, text": (gat.parse_status, GatStatus(b"\x03\x50", 0x04, 1)),
    "requested, text": (gat.parse_status, GatStatus(b"\x03\x50", 0x01, 1)),
    "calculating, XML": (gat.parse_status, GatStatus(b"\x03\x50", 0x09, 2)),
    "done, XML": (gat.parse_status, GatStatus(b"\x03\x50", 0x06, 2)),
    "error, text": (gat.parse_status, GatStatus(b"\x03\x50", 0x0C, 1)),
    "last: level ba, 5 s ago": (gat.parse_last, LastCalculation(0xBA, 5)),
    "last: level 1, at an unknown time": (gat.parse_last, LastCalculation(1, None)),
    "last: none": (gat.parse_last, LastCalculation(0, None)),
    "results, frame 1 of more, 248 bytes": (gat.parse_piece, Piece(0, 1, bytes(range(248)))),
    "results, frame 258, last": (gat.parse_piece, Piece(2, 258, b"end\n")),
    "results, frame 1, last and empty": (gat.parse_piece, Piece(2, 1, b"")),
    "results, frame 9 refused": (gat.parse_piece, Piece(4, 9, b"")),
    "started": (gat.parse_started, gat.ACKNOWLEDGED | gat.STARTED),
    "level error": (gat.parse_started, gat.LEVEL_ERROR),
}
FRAMES = st.builds(Frame, st.sampled_from(sorted(gat.REPLIES)), st.binary(max_size=gat.LONGEST - gat.SHORTEST))
NOISE = st.binary(max_size=40).map(lambda data: bytes(byte for byte in data if byte not in gat.REPLIES))
REPLY_VECTORS = sorted(BY_NAME[name] for name in SAID)


def test_every_vector_has_its_meaning():
    assert {*SENT, *SAID} == set(BY_NAME)
    assert {row["name"]: row["from"] for row in VECTORS["frames"]} == {
        **dict.fromkeys(SENT, "host"),
        **dict.fromkeys(SAID, "device"),
    }


@pytest.mark.parametrize("name", SENT)
def test_a_request_both_ways(name):
    cmd, data = SENT[name]
    assert gat.encode(cmd, data) == BY_NAME[name]
    assert Decoder(gat.REQUESTS).feed(BY_NAME[name]) == [Frame(cmd, data)]


@pytest.mark.parametrize("name", SAID)
def test_a_reply_is_understood(name):
    parse, meaning = SAID[name]
    (frame,) = Decoder().feed(BY_NAME[name])
    assert parse(frame.data) == meaning
    assert gat.encode(frame.cmd, frame.data) == BY_NAME[name]


def test_the_longest_piece_fills_a_frame():
    assert len(BY_NAME["results, frame 1 of more, 248 bytes"]) == gat.LONGEST == gat.PIECE + 7


@pytest.mark.parametrize("name", gat.CRCS)
def test_crc_check_values(name):
    check = VECTORS["check_values"]
    assert f"{gat.CRCS[name].of(check['of'].encode()):04x}" == check[name]


@pytest.mark.parametrize("row", VECTORS["other_crc"], ids=lambda row: row["crc"])
def test_another_crc_is_a_setting(row):
    crc, wire = gat.crc_named(row["crc"]), bytes.fromhex(row["hex"])
    assert gat.encode(Command.STATUS, crc=crc) == wire
    assert Decoder(gat.REQUESTS, crc).feed(wire) == [Frame(Command.STATUS)]
    assert Decoder(gat.REQUESTS).feed(wire) == []


def test_crc_names():
    assert gat.crc_named("kermit:1d0f") == Crc(seed=0x1D0F)
    with pytest.raises(PitbenchError, match="There is no CRC 'crc32'. Choose from: kermit, xmodem"):
        gat.crc_named("crc32")
    for seed in ("12345", "xy", ""):
        with pytest.raises(gat.GatError, match=f"'{seed}' is no seed of a CRC. Write up to four hex digits"):
            gat.crc_named(f"kermit:{seed}")


# -- The stream


@given(st.lists(FRAMES, max_size=6), st.data())
def test_any_split_gives_the_same_frames(frames, data):
    stream = b"".join(gat.encode(frame.cmd, frame.data) for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder, got = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += decoder.feed(stream[start:end])
    assert got == frames
    assert (decoder.received, decoder.good, decoder.damaged, decoder.skipped) == (len(stream), len(frames), 0, 0)


@pytest.mark.parametrize("name", SAID)
def test_split_at_every_byte(name):
    wire = BY_NAME[name]
    for cut in range(len(wire) + 1):
        decoder = Decoder()
        assert len(decoder.feed(wire[:cut]) + decoder.feed(wire[cut:])) == 1
    decoder = Decoder()
    assert [len(decoder.feed(bytes([byte]))) for byte in wire] == [0] * (len(wire) - 1) + [1]


@given(NOISE, FRAMES)
def test_noise_between_frames_is_skipped_and_counted(noise, frame):
    decoder, wire = Decoder(), gat.encode(frame.cmd, frame.data)
    assert decoder.feed(noise + wire + noise + wire) == [frame, frame]
    assert decoder.skipped == 2 * len(noise)


@given(st.sampled_from(REPLY_VECTORS), st.data())
def test_one_flipped_bit_never_gives_a_frame_and_the_next_one_arrives(wire, data):
    bit = data.draw(st.integers(0, len(wire) * 8 - 1))
    damaged = bytearray(wire)
    damaged[bit // 8] ^= 1 << bit % 8
    decoder = Decoder()
    assert decoder.feed(bytes(damaged)) + decoder.gap() == []
    assert decoder.feed(BY_NAME["started"]) == [Frame(0x84, b"\x03")]
    assert decoder.damaged + decoder.skipped > 0


@given(st.sampled_from(REPLY_VECTORS), st.data())
def test_a_frame_cut_off_never_gives_a_frame(wire, data):
    decoder = Decoder()
    assert decoder.feed(wire[: data.draw(st.integers(0, len(wire) - 1))]) + decoder.gap() == []
    assert decoder.feed(wire) == Decoder().feed(wire)


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_whatever_comes_nothing_breaks_and_a_good_frame_arrives_behind_it(chunks):
    decoder = Decoder()
    for chunk in chunks:
        decoder.feed(chunk)
        assert len(decoder._held) < gat.LONGEST
    decoder.gap()
    assert decoder.feed(BY_NAME["done, XML"]) == [Frame(0x81, b"\x03\x50\x06\x02")]


@pytest.mark.parametrize("length", range(gat.SHORTEST))
def test_an_impossible_length_is_damaged_at_once(length):
    decoder = Decoder()
    assert decoder.feed(bytes([0x81, length]) + BY_NAME["started"]) == [Frame(0x84, b"\x03")]
    assert decoder.damaged == 1


def test_frames_swallowed_by_noise_come_out_when_the_line_falls_silent():
    decoder = Decoder()
    assert decoder.feed(b"\x83\xff" + BY_NAME["started"] + BY_NAME["idle, text"]) == []
    assert [frame.cmd for frame in decoder.gap()] == [0x84, 0x81]
    assert decoder.gap() == []


@pytest.mark.parametrize("stray", sorted(gat.REPLIES))
def test_one_stray_byte_costs_no_frame(stray):
    decoder = Decoder()
    assert decoder.feed(bytes([stray]) + BY_NAME["started"]) + decoder.gap() == [Frame(0x84, b"\x03")]


def test_our_own_echo_is_no_reply():
    assert Decoder().feed(BY_NAME["start level 1"]) == []


# -- What frames carry


@pytest.mark.parametrize(
    ("parse", "data", "why"),
    [
        (gat.parse_status, b"\x03\x50\x04", "3 data bytes where 4 belong"),
        (gat.parse_last, b"\x01\x00", "2 data bytes where 5 belong"),
        (gat.parse_piece, b"\x02\x01", "2 data bytes where at least 3 belong"),
        (gat.parse_started, b"", "0 data bytes where 1 belongs"),
    ],
)
def test_another_layout_is_a_value_error(parse, data, why):
    with pytest.raises(ValueError, match=why):
        parse(data)


def test_data_too_long_is_refused():
    assert len(gat.encode(Command.START, b"x" * 251)) == gat.LONGEST
    with pytest.raises(ValueError, match="252 data bytes do not fit"):
        gat.encode(Command.START, b"x" * 252)


def test_a_special_function_that_cannot_be_sent():
    assert len(gat.encode(Command.START, b"\xba" + gat.special_parameter("Get File", "x" * 240))) == gat.LONGEST
    with pytest.raises(gat.GatError, match="'Get File' with its arguments has 250 bytes, and a frame holds 249"):
        gat.special_parameter("Get File", "x" * 241)
    for bad in ("a\tb", "a\n", "é"):
        with pytest.raises(gat.GatError, match="can't be sent over GAT. Use plain ASCII"):
            gat.special_parameter("Get File", bad)


def test_words():
    assert [gat.state_text(state) for state in (1, 4, 6, 9, 12)] == [
        "requested",
        "idle",
        "done",
        "calculating",
        "error",
    ]
    assert gat.state_text(0x46) == "status 46"
    assert [gat.format_text(form) for form in (1, 2, 7)] == ["text", "XML", "format 07"]
    assert GatStatus(b"\x03\x10", 4, 1).version_text == "3.10"


WORDS = {
    "status query": "status?",
    "last status query": "last calculation?",
    "results query, text, frame 1": "result frame 1 as text?",
    "results query, XML, frame 258": "result frame 258 as XML?",
    "start level 1": "start level 01",
    "start level 1, seed 31 32 33 34": "start level 01 31323334",
    "start Get Special Functions": "start level ba Get Special Functions",
    "start Get File": "start level ba Get File /image/crc",
    "start Component": "start level ba Component /image/main.mpy",
    "start Component, seed 31 32 33 34": "start level ba Component /image/main.mpy 31323334",
    "idle, text": "idle, text",
    "requested, text": "requested, text",
    "calculating, XML": "calculating, XML",
    "done, XML": "done, XML",
    "error, text": "error, text",
    "last: level ba, 5 s ago": "last level ba, 5 s ago",
    "last: level 1, at an unknown time": "last level 01, at an unknown time",
    "last: none": "last level none",
    "results, frame 1 of more, 248 bytes": "result frame 1",
    "results, frame 258, last": "result frame 258, last",
    "results, frame 1, last and empty": "result frame 1, last",
    "results, frame 9 refused": "result frame 9, refused",
    "started": "started",
    "level error": "level error",
}


def test_words_for_frames():
    decoder = Decoder(gat.REQUESTS | gat.REPLIES)
    assert {name: gat.frame_text(*decoder.feed(wire)) for name, wire in BY_NAME.items()} == WORDS
    assert [gat.frame_text(Frame(0x84, data)) for data in (b"\1", b"\0")] == ["acknowledged", "not started"]


@given(st.integers(0, 255), st.binary(max_size=20))
def test_a_frame_laid_out_otherwise_has_words_too(cmd, data):
    assert gat.frame_text(Frame(cmd, data))
