"""SSP as a stream and in time: cut, joined, doubled, damaged and foreign frames, short writes, a device that stores."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ssp_bench import (
    ENABLE,
    FRAMES,
    HOST,
    OK,
    POLL,
    SYNC,
    VECTORS,
    Line,
    answers,
    crc16,
    credited,
    drawn_in,
    frame,
    offered,
    opened,
    past_lever,
    said,
)
from wire import ssp_frames

FIRST = frame(0, POLL)


def test_the_crc_is_the_published_one():
    check = VECTORS["check_values"]
    assert ssp_frames.crc16(check["of"].encode()) == int(check["crc16-itl-ssp"], 16)
    assert crc16(check["of"].encode()) == int(check["crc16-itl-ssp"], 16)


@pytest.mark.parametrize("data", FRAMES.values(), ids=[name for _, name in FRAMES])
def test_each_vector_is_taken_apart_and_made(data):
    inside, size = ssp_frames.taken(data)
    assert size == len(data)
    assert ssp_frames.good(inside)
    assert ssp_frames.framed(inside[0], inside[2:-2]) == data


@given(st.integers(0, 0xFE).filter(lambda first: first & 0x7F != 0x7F), st.binary(min_size=1, max_size=255))
def test_any_frame_is_made_as_another_codec_makes_it(first, data):
    made, body = ssp_frames.framed(first, data), bytes((first, len(data))) + data
    assert made == frame(first, data)
    assert ssp_frames.taken(made) == (body + crc16(body).to_bytes(2, "little"), len(made))


def doubled() -> bytes:
    """A host's frame with a 7F in its data."""
    return frame(0, b"\x02\x7f\x7f")


def test_a_7f_in_a_frame_is_doubled_both_ways():
    line = opened()
    assert line.send(doubled()) == frame(0, OK)
    assert line.hand.device.settings.values["enable"] == b"\x80\xff"
    line = Line(unique="000000007f7f007f")
    assert line.send(frame(0, b"\x0c")) == frame(0, OK + b"\x7f\x7f\0\x7f")


def test_a_crc_with_a_7f_is_doubled():
    channels = (n.to_bytes(2, "little") for n in range(0x10000))
    inhibits = next(made for made in (frame(0, b"\x02" + data) for data in channels) if made.endswith(b"\x7f\x7f"))
    assert opened().send(inhibits) == frame(0, OK)


@pytest.mark.parametrize("whole", [FIRST, doubled()], ids=bytes.hex)
def test_a_frame_may_come_in_two_pieces(whole):
    for cut in range(1, len(whole)):
        line = Line()
        assert line.send(whole[:cut]) == b""
        assert line.wire.receiving(line.now)
        assert len(answers(line.send(whole[cut:]))) == 1
        assert not line.wire.receiving(line.now)


def test_a_frame_may_come_byte_by_byte():
    line = Line()
    sent = [line.send(bytes((byte,))) for byte in FIRST]
    assert sent[:-1] == [b""] * 5
    assert answers(sent[-1]) == [(0, OK + b"\xf1")]


def test_joined_frames_are_answered_in_turn():
    joined = frame(0, SYNC) + frame(0, b"\x0d") + frame(0x80, POLL)
    assert [first for first, _ in answers(Line().send(joined))] == [0, 0, 0x80]


def test_a_frame_that_stops_for_50_ms_is_noise():
    line = Line()
    line.send(FIRST[:3])
    assert line.send(FIRST[3:], after_ms=51) == b""
    assert answers(line.send(FIRST)) == [(0, OK + b"\xf1")]
    assert line.wire.frames == 1


def test_a_lone_7f_begins_another_frame():
    for cut in range(1, len(FIRST)):
        line = Line()
        assert answers(line.send(FIRST[:cut] + FIRST)) == [(0, OK + b"\xf1")]


NOISE = [
    bytes.fromhex(noise) for noise in ("03", "00", "7f", "7f7f", "7f00", "fffe", "7f0000", "7f00ff07", "7fff", "0102")
]


@pytest.mark.parametrize("noise", NOISE, ids=bytes.hex)
def test_a_frame_is_found_right_behind_noise(noise):
    line = Line()
    assert answers(line.send(noise + FIRST)) == [(0, OK + b"\xf1")]
    assert line.wire.frames == 1


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
def test_no_damage_by_one_bit_or_one_byte_is_acted_on(good):
    damaged = [good[:n] + bytes((good[n] ^ 1 << bit,)) + good[n + 1 :] for n in range(len(good)) for bit in range(8)]
    damaged += [good[:n] + good[n + 1 :] for n in range(len(good))]
    damaged += [good[:n] + b"\x03" + good[n:] for n in range(1, len(good))]
    line = Line()
    for data in (data for data in damaged if not data.startswith(good)):
        assert line.send(data, after_ms=60) == b""
    assert (line.events, line.wire.frames) == ([], 0)


@pytest.mark.parametrize("address", [1, 0x10, 0x7D])
def test_a_frame_for_another_address_is_nobodys_business_here(address):
    line = Line()
    for bit in (0, 0x80):
        assert line.send(frame(bit | address, ENABLE)) == b""
    assert (line.events, line.wire.frames) == ([], 0)


def test_what_stands_within_another_devices_frame_is_not_acted_on():
    line = offered()
    assert line.send(frame(0x10, b"\x7e" + frame(0, POLL) + frame(0x80, POLL))) == b""
    assert line.events == []


def test_a_frame_without_data_says_nothing():
    line = Line()
    assert line.send(frame(0, b"")) == b""
    assert line.events == []


FOREIGN = ["fc05112756", "280001fed9", "0208107f10000377", "02030633da81", "0104ea5e"]


@pytest.mark.parametrize("data", FOREIGN)
def test_frames_of_other_protocols_do_nothing(data):
    line = Line()
    assert line.send(bytes.fromhex(data)) == b""
    assert line.events == []
    assert len(answers(line.send(FIRST, after_ms=60))) == 1


def test_noise_that_never_ends_does_not_hold_the_device_up():
    line = Line()
    line.send(b"\x7f\0\xff")
    receiving = []
    for _ in range(20):
        line.send(b"\x03", after_ms=40)
        receiving.append(line.wire.receiving(line.now))
    assert receiving == [True] * 7 + [False] * 13


GOOD = st.sampled_from(HOST)
PIECES = st.lists(st.one_of(st.binary(max_size=20), GOOD, st.builds(lambda f, n: f[:n], GOOD, st.integers(1, 5))))


@settings(max_examples=150, deadline=None)
@given(PIECES, st.lists(st.integers(1, 40), min_size=1))
def test_no_stream_raises_and_the_next_frame_is_answered(pieces, cuts):
    stream, line, at, n = b"".join(pieces), Line(), 0, 0
    while at < len(stream):
        size = cuts[n % len(cuts)]
        line.send(stream[at : at + size])
        at, n = at + size, n + 1
    assert [event for event in line.events if event == ("heard",)] == [("heard",)] * line.wire.frames
    assert answers(line.send(frame(0, SYNC), after_ms=60)) == [(0, OK)]


# -- the sequence bit


def test_the_same_bit_gets_the_same_answer_and_nothing_is_done():
    line = opened()
    line.ask(b"\x0d")
    before = list(line.events)
    line.bit ^= 0x80
    assert line.ask(b"\x09") == line.again()
    assert line.events == [*before, ("heard",), ("heard",)]
    assert line.poll() == b""


def test_the_answer_has_the_bit_of_its_command():
    line = Line()
    assert [answers(line.send(frame(bit, b"\x0d")))[0][0] for bit in (0x80, 0, 0x80)] == [0x80, 0, 0x80]


@pytest.mark.parametrize("bit", [0, 0x80])
def test_after_a_sync_the_next_bit_is_clear(bit):
    line = opened()
    assert answers(line.send(frame(bit, SYNC))) == [(bit, OK)]
    assert answers(line.send(frame(0, b"\x21"))) == [(0, OK + b"USD01001")]
    assert answers(line.send(frame(bit, SYNC))) == [(bit, OK)]
    assert answers(line.send(frame(0x80, b"\x21"))) == [(0x80, OK)]


# -- the way out, and time


@pytest.mark.parametrize("room", [1, 2, 4])
def test_a_short_write_is_finished_later(room):
    line = Line()
    line.port.room = room
    line.send(frame(0, b"\x20"))
    line.port.sent, sent = b"", line.port.sent
    for _ in range(30):
        line.wire.poll(line.now)
    assert answers(sent + line.port.sent) == [(0, OK + b"PB0010010000BEEF")]


def test_a_line_without_a_reader_keeps_no_more_than_one_burst():
    line = Line()
    line.port.room = 0
    for _ in range(300):
        line.send(FIRST)
    assert len(line.wire.out) <= 512


def test_nothing_is_said_unasked():
    line = drawn_in(opened())
    assert line.wait(1000) == b""


class TestWhileTheDeviceStores:
    """A write of the store may take as long as a host waits; the device can't be stepped in it."""

    def test_a_poll_is_answered_with_what_stood(self):
        line = drawn_in(opened())
        assert line.poll() == b"\xef\0"
        before, frames = list(line.events), line.wire.frames
        for bit in (line.bit, line.bit ^ 0x80):
            assert answers(line.stand(frame(bit, POLL))) == [(bit, OK + b"\xef\0")]
        assert line.events == before
        assert line.wire.frames == frames + 2
        assert line.wire.buffer == b""

    def test_a_poll_with_ack_too_in_plain_unless_a_key_stands(self):
        line = drawn_in(opened())
        line.ask(b"\x56")
        assert answers(line.stand(line.next_frame(b"\x56"))) == [(line.bit ^ 0x80, OK + b"\xef\0")]
        line.wire.secure.on = lambda: True
        assert line.stand(frame(line.bit, b"\x56")) == b""

    def test_the_silence_is_over(self):
        line = opened()
        line.wait(4000)
        line.stand(line.next_frame(POLL))
        line.wait(4000)
        assert ("silence",) not in line.events

    def test_a_repeated_command_gets_its_answer_again(self):
        line = credited()
        told = line.ask(POLL)
        assert answers(line.stand(line.last)) == [(line.bit ^ 0x80, told)]
        assert line.given("ack") == []

    @pytest.mark.parametrize("make", [Line, offered, credited])
    def test_nothing_stands_where_a_poll_means_something(self, make):
        line = make()
        line.poll()
        if make is offered:
            past_lever(line)
            line.poll()
        assert line.stand(line.next_frame(POLL)) == b""
        assert line.wire.patience(line.now) == 0

    def test_a_poll_that_would_take_a_note_waits(self):
        line = offered()
        assert line.stand(line.next_frame(POLL)) == b""
        line.wire.poll(line.now)
        assert said(answers(line.port.sent)[0][1]) == b"\xcc"

    @pytest.mark.parametrize("data", [frame(0x80, SYNC), frame(0, ENABLE), FIRST[:4], FIRST + FIRST, b"\x03" + FIRST])
    def test_anything_else_waits_for_its_turn(self, data):
        line = opened()
        line.sync()
        line.ask(b"\x0d")
        assert line.poll() == b""
        assert line.stand(data) == b""
        assert line.wire.buffer == data

    def test_a_frame_for_another_address_waits_too(self):
        line = opened()
        assert line.stand(frame(0x10, POLL)) == b""

    def test_a_command_is_answered_before_the_poll_behind_it(self):
        line = opened()
        line.poll()
        command, polls = line.next_frame(b"\x02\x01\0"), [line.next_frame(POLL)]
        line.wire.step = line.wire.events.step = lambda event: line.step(event) or self.arrive(line, polls)
        assert [answer for _, answer in answers(line.send(command))] == [OK, OK]

    def arrive(self, line: Line, polls: list[bytes]) -> None:
        line.port.incoming += polls.pop() if polls else b""
        line.wire.stand(line.now)
