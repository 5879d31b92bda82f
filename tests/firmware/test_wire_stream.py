"""The wire as a stream and in time: cut, joined, noisy and damaged frames, short writes, silence, announcements."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from acceptor_bench import ACCEPT, Desk, note
from fake_port import Port
from hypothesis import given, settings
from hypothesis import strategies as st
from kermit import crc16
from test_acceptor_table import escrow, vend_valid
from wire.id003 import Wire
from wire_bench import ACK, FRAMES, HOST, INHIBIT_OFF, POLL, STACK, Line, bodies, frame


@pytest.mark.parametrize("cut", range(1, len(POLL)))
def test_a_frame_may_come_in_two_pieces(cut):
    line = Line()
    assert line.send(POLL[:cut]) == b""
    assert line.wire.receiving(line.now)
    assert bodies(line.send(POLL[cut:])) == [b"\x11"]
    assert not line.wire.receiving(line.now)


def test_a_frame_may_come_byte_by_byte():
    line = Line()
    sent = [line.send(bytes((byte,))) for byte in POLL]
    assert sent[:-1] == [b""] * 4
    assert bodies(sent[-1]) == [b"\x11"]


def test_joined_frames_are_answered_in_turn():
    assert len(bodies(Line().send(POLL + INHIBIT_OFF + POLL))) == 3


def test_a_frame_that_stops_for_50_ms_is_noise():
    line = Line()
    line.send(POLL[:3])
    assert line.send(POLL[3:], after_ms=51) == b""
    assert bodies(line.send(POLL)) == [b"\x11"]
    assert line.wire.frames == 1


NOISE = [bytes.fromhex(noise) for noise in ("03", "00", "fc", "fcfc", "fc05", "fffe", "fc0411", "fcff11", "fc0303")]


@pytest.mark.parametrize("noise", NOISE)
def test_a_frame_is_found_behind_noise(noise):
    line = Line()
    line.send(noise)
    assert bodies(line.send(POLL, after_ms=60)) == [b"\x11"]


@pytest.mark.parametrize("noise", NOISE)
def test_a_frame_is_found_right_behind_noise(noise):
    line = Line()
    line.send(noise + POLL)
    line.send(POLL)
    assert line.wire.frames == 2


@pytest.mark.parametrize("started", ["fc80", "fc801105", "fc09c3", "fcfc7f"])
def test_a_frame_in_one_burst_with_one_that_never_ends_is_answered_when_the_line_falls_silent(started):
    line = Line()
    assert line.send(bytes.fromhex(started) + POLL) == b""
    assert line.wait(50) == b""
    assert bodies(line.wait(10)) == [b"\x11"]
    assert line.wait(100) == b""


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
def test_no_damage_by_one_bit_or_one_byte_is_acted_on(good):
    damaged = [good[:n] + bytes((good[n] ^ 1 << bit,)) + good[n + 1 :] for n in range(len(good)) for bit in range(8)]
    damaged += [good[:n] + b"\x03" + good[n + 1 :] for n in range(len(good)) if good[n] != 3]
    damaged += [good[:n] + good[n + 1 :] for n in range(len(good))]
    damaged += [good[:n] + b"\x03" + good[n:] for n in range(1, len(good))]
    for data in damaged:
        line = Line(escrow())
        assert line.send(data) == b""
        assert (line.events, line.wire.frames) == ([], 0)


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
def test_a_crc_that_is_half_right_is_wrong(good):
    line = Line(escrow())
    for at in (-2, -1):
        for byte in set(range(256)) - {good[at]}:
            damaged = bytearray(good)
            damaged[at] = byte
            line.send(bytes(damaged), after_ms=60)
    assert (line.events, line.wire.frames) == ([], 0)


@pytest.mark.parametrize("length", [0, 1, 4, 129, 255])
def test_an_impossible_length_holds_nothing_up(length):
    line = Line()
    line.send(bytes((0xFC, length, 0x11)))
    assert bodies(line.send(POLL)) == [b"\x11"]


def test_0x03_is_a_byte_like_any_other():
    line = Line()
    assert line.send(frame(0xC0, b"\x03\x03")) == frame(0xC0, b"\x03\x03")
    assert bodies(line.send(b"\x03" * 300 + POLL)) == [b"\x11"]


def test_noise_that_never_ends_does_not_hold_the_device_up():
    line = Line()
    line.send(b"\xfc\x80")
    receiving = []
    for _ in range(25):
        line.send(b"\x03", after_ms=40)
        receiving.append(line.wire.receiving(line.now))
    assert receiving == [True] * 5 + [False] * 20


GOOD = st.sampled_from(HOST)
PIECES = st.lists(st.one_of(st.binary(max_size=20), GOOD, st.builds(lambda f, n: f[:n], GOOD, st.integers(1, 5))))


def whole_frames(stream: bytes) -> int:
    """How many well-formed frames could be found in a stream at most, wherever they start."""
    sizes = ((at, stream[at + 1]) for at in range(len(stream) - 4) if stream[at] == 0xFC)
    return sum(1 for at, n in sizes if 5 <= n <= len(stream) - at and crc16(stream[at : at + n]) == 0)


@settings(max_examples=150, deadline=None)
@given(PIECES, st.lists(st.integers(1, 40), min_size=1))
def test_no_stream_raises_or_is_acted_on_but_for_its_whole_frames(pieces, cuts):
    stream, line, at, n = b"".join(pieces), Line(escrow()), 0, 0
    while at < len(stream):
        size = cuts[n % len(cuts)]
        line.send(stream[at : at + size])
        at, n = at + size, n + 1
    assert line.wire.frames <= whole_frames(stream)
    assert [event for event in line.events if event == ("heard",)] == [("heard",)] * line.wire.frames
    assert bodies(line.send(POLL, after_ms=60))


# -- the way out, and time


@pytest.mark.parametrize("room", [1, 2, 4])
def test_a_short_write_is_finished_later(room):
    line = Line()
    line.port.room = room
    line.send(POLL)
    line.port.sent, sent = b"", line.port.sent
    for _ in range(6):
        line.wire.poll(line.now)
    assert sent + line.port.sent == FRAMES["device", "idle (enabled)"]


def test_a_line_without_a_reader_keeps_no_more_than_one_burst():
    line = Line()
    line.port.room = 0
    for _ in range(300):
        line.send(POLL)
    assert len(line.wire.out) <= 512


def test_five_seconds_of_silence_are_a_communication_error_and_a_frame_ends_it():
    line = Line()
    line.wait(4990)
    assert line.events == []
    line.wait(20)
    assert line.events == [("silence",)]
    assert line.hand.device.shown()[0] == "communication_error"
    line.send(POLL)
    assert line.hand.device.standing.names() == []


def test_interrupt_mode_announces_news_until_it_is_polled():
    line = Line()
    line.send(frame(0xC2, b"\1"))
    line.send(POLL)
    line.hand.sensors(entry=1)
    assert line.wait(450) == FRAMES["device", "enq"] * 3
    line.send(POLL)
    assert line.wait(4000) == b""
    line.wait(6000)
    assert ("silence",) not in line.events


@pytest.mark.parametrize("news", [{"acceptor_door": 1}, {"full": 1}, {"box": 0}, {"entry": 1}])
def test_interrupt_mode_announces_every_state(news):
    line = Line()
    line.send(frame(0xC2, b"\1"))
    line.send(POLL)
    line.hand.sensors(**news)
    assert line.wait(50) == FRAMES["device", "enq"]


def test_polling_mode_says_nothing_unasked():
    line = Line()
    line.hand.sensors(entry=1)
    assert line.wait(1000) == b""


def test_interrupt_mode_counts_five_seconds_from_the_first_unanswered_enq():
    line = Line()
    line.send(frame(0xC2, b"\1"))
    line.send(POLL)
    line.wait(20000)
    assert ("silence",) not in line.events
    line.hand.sensors(entry=1)
    line.wait(4900)
    assert ("silence",) not in line.events
    line.wait(200)
    assert line.events[-1] == ("silence",)


def test_a_whole_sale_over_the_wire():
    desk = Desk()
    port = Port()
    wire = Wire(desk.device, port, crc16, lambda event: desk.step(*event), SimpleNamespace(image_crc=0), 0)

    def ask(data: bytes) -> bytes:
        desk.run(50)
        port.sent, port.incoming = b"", data
        wire.poll(desk.now)
        return bodies(port.sent)[0] if port.sent else b""

    assert ask(POLL) == b"\x40"
    assert ask(FRAMES["host", "reset"]) == b"\x50"
    ask(frame(0xC3, ACCEPT))
    seen = [ask(POLL) for _ in range(60)]
    assert seen[-1] == b"\x11"
    desk.plant.insert(note(4))
    seen = []
    for _ in range(120):
        seen.append(ask(POLL))
        if seen[-1] == b"\x13\x65":
            assert ask(STACK) == b"\x50"
        if seen[-1] == b"\x15":
            ask(ACK)
    order = [state for n, state in enumerate(seen) if n == 0 or seen[n - 1] != state]
    assert [state for state in order if state != b"\x11"] == [b"\x12", b"\x13\x65", b"\x14", b"\x15", b"\x14", b"\x16"]
    assert desk.commits[-1]["meters"]["bill_20"] == 1


class TestWhileTheDeviceStores:
    """A write of the store may take as long as a host waits; the device can't be stepped in it."""

    def stand(self, line: Line, data: bytes) -> bytes:
        line.port.sent, line.port.incoming = b"", data
        line.wire.stand(line.now)
        return line.port.sent

    def test_a_poll_is_answered_with_what_stood(self):
        line = Line()
        told = line.send(POLL)
        line.events.clear()
        assert self.stand(line, POLL) == told
        assert line.events == []
        assert line.wire.frames == 2

    def test_nothing_stands_before_the_first_poll(self):
        line = Line()
        assert self.stand(line, POLL) == b""
        assert line.wire.patience(line.now) == 0
        line.wire.poll(line.now)
        assert bodies(line.port.sent) == [b"\x11"]

    @pytest.mark.parametrize("data", [STACK, POLL[:3], POLL + POLL, b"\x03" + POLL, ACK])
    def test_anything_else_waits_for_its_turn(self, data):
        line = Line()
        line.send(POLL)
        assert self.stand(line, data) == b""
        assert line.wire.buffer == data

    def test_a_frame_outlasts_the_write_of_a_flash(self):
        line = Line()
        self.stand(line, POLL[:2])
        line.now += 10
        self.stand(line, POLL[2:])
        line.now += 400
        assert self.stand(line, b"") == b""
        line.wire.poll(line.now)
        assert bodies(line.port.sent) == [b"\x11"]

    def test_vend_valid_is_not_said_twice(self):
        line = Line(vend_valid())
        assert bodies(line.send(POLL)) == [b"\x15"]
        assert self.stand(line, POLL) == b""

    def test_a_command_is_answered_before_the_poll_behind_it(self):
        line = Line()
        line.send(POLL)
        polls = [POLL]
        line.wire.step = lambda event: line.step(event) or self.arrive(line, polls.pop() if polls else b"")
        assert bodies(line.send(INHIBIT_OFF)) == [INHIBIT_OFF[2:-2], b"\x11"]

    def arrive(self, line: Line, data: bytes) -> None:
        line.port.incoming += data
        line.wire.stand(line.now)
