"""GAT's wire as a stream: cut, joined, noisy and damaged frames, short writes, and a device that stores."""

from __future__ import annotations

import pytest
from gat_bench import FRAMES, HOST, IDLE, STATUS, Board, crc16, frame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.fixture
def board(tmp_path, monkeypatch) -> Board:
    return Board(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", [name for sender, name in FRAMES if sender == "host"])
def test_a_frame_may_be_split_at_every_byte(board, name):
    good = FRAMES["host", name]
    for cut in range(1, len(good)):
        board.start(1000)
        assert board.send(good[:cut]) == b""
        assert board.wire.receiving(board.now)
        assert board.send(good[cut:])[0] == good[0] | 0x80
        assert board.wire.frames == 1
        assert not board.wire.receiving(board.now)


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
def test_a_frame_may_come_byte_by_byte_and_is_answered_once(board, good):
    sent = [board.send(bytes((byte,))) for byte in good]
    assert sent[:-1] == [b""] * (len(good) - 1)
    assert len(sent[-1]) == sent[-1][1]
    assert board.send(b"") == b""


def test_joined_frames_are_answered_in_turn(board):
    assert board.send(STATUS * 3) == IDLE * 3
    assert board.wire.frames == 3
    assert board.heard == [board.now] * 3


def test_a_frame_that_stops_for_50_ms_is_noise(board):
    board.send(STATUS[:2])
    assert board.wire.patience(board.now) == 51
    assert board.send(b"", after_ms=51) == b""
    assert board.send(STATUS[2:]) == b""
    assert board.send(STATUS, after_ms=60) == IDLE
    assert board.wire.frames == 1


NOISE = [bytes.fromhex(noise) for noise in ("00", "ff", "01", "0101", "0105", "0307", "04", "0404", "04ff", "81040400")]


@pytest.mark.parametrize("noise", NOISE, ids=bytes.hex)
def test_a_frame_is_found_behind_noise(board, noise):
    board.send(noise)
    board.send(b"", after_ms=60)
    assert board.send(STATUS) == IDLE


@pytest.mark.parametrize("noise", ["00", "ff", "ff00fe", "0105", "0109", "0305", "0404", "0000000000"])
def test_a_frame_is_found_right_behind_noise(board, noise):
    assert board.send(bytes.fromhex(noise) + STATUS) == IDLE


@pytest.mark.parametrize("started", ["04ff", "04ba01", "0407"])
def test_a_frame_in_one_burst_with_one_that_never_ends_is_answered_when_the_line_falls_silent(board, started):
    assert board.send(bytes.fromhex(started) + STATUS) == b""
    assert board.send(b"", after_ms=51) == IDLE
    assert board.send(b"", after_ms=60) == b""


@pytest.mark.parametrize("good", HOST, ids=bytes.hex)
def test_no_damage_by_one_bit_or_one_byte_is_acted_on(board, good):
    damaged = [good[:n] + bytes((good[n] ^ 1 << bit,)) + good[n + 1 :] for n in range(len(good)) for bit in range(8)]
    damaged += [good[:n] + good[n + 1 :] for n in range(len(good))]
    damaged += [good[:n] + b"\x03" + good[n:] for n in range(1, len(good))]
    for data in damaged:
        if data.endswith(good):
            continue  # noise before a whole frame
        board.start(1000)
        assert board.send(data) == b""
        board.turn(60)
        assert (board.wire.frames, board.wire.work) == (0, None)


@pytest.mark.parametrize("good", HOST[:5], ids=bytes.hex)
def test_a_crc_that_is_half_right_or_turned_round_is_wrong(board, good):
    for at in (-2, -1):
        for byte in set(range(256)) - {good[at]}:
            damaged = bytearray(good)
            damaged[at] = byte
            board.send(b"", after_ms=60)
            assert board.send(bytes(damaged)) == b""
    board.send(b"", after_ms=60)
    assert board.send(good[:-2] + good[:-3:-1]) == b""
    assert board.wire.frames == 0


@pytest.mark.parametrize("command", sorted(set(range(256)) - {1, 2, 3, 4}))
def test_an_unknown_command_is_dropped_in_silence(board, command):
    for data in (b"", b"\1\0\1", b"\4\5\1\1\1"):
        assert board.send(frame(command, data)) == b""
    assert board.send(STATUS) == IDLE
    assert board.wire.frames == 1


WRONG_LENGTHS = [(1, b"\0"), (2, b"\0\0"), (3, b""), (3, b"\1\0"), (3, b"\1\0\1\0"), (4, b"")]


@pytest.mark.parametrize(("command", "data"), WRONG_LENGTHS)
def test_a_wrong_length_is_dropped_in_silence(board, command, data):
    assert board.send(frame(command, data)) == b""
    assert board.send(STATUS) == IDLE


def test_noise_that_never_ends_does_not_hold_the_device_up(board):
    board.send(b"\x04\xff")
    receiving = []
    for _ in range(12):
        board.send(b"\x03", after_ms=40)
        receiving.append(board.wire.receiving(board.now))
    assert receiving == [True] * 7 + [False] * 5


GOOD = st.sampled_from(HOST)
PIECES = st.lists(st.one_of(st.binary(max_size=20), GOOD, st.builds(lambda f, n: f[:n], GOOD, st.integers(1, 5))))


def whole_frames(stream: bytes) -> int:
    """How many well-formed frames could be found in a stream at most, wherever they start."""
    sizes = ((at, stream[at + 1]) for at in range(len(stream) - 3) if 1 <= stream[at] <= 4)
    found = (stream[at : at + n] for at, n in sizes if 4 <= n <= len(stream) - at)
    return sum(1 for f in found if crc16(f[:-2]).to_bytes(2, "big") == f[-2:])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PIECES, st.lists(st.integers(1, 40), min_size=1))
def test_no_stream_raises_or_is_answered_but_for_its_whole_frames(board, pieces, cuts):
    board.start(1000)
    stream, at, n, answers = b"".join(pieces), 0, 0, b""
    while at < len(stream):
        size = cuts[n % len(cuts)]
        answers += board.send(stream[at : at + size])
        at, n = at + size, n + 1
    assert board.wire.frames <= whole_frames(stream)
    count = 0
    while answers:
        count, answers = count + 1, answers[answers[1] :]
    assert count == board.wire.frames
    board.send(b"", after_ms=60)
    assert board.send(STATUS)[:4] == IDLE[:4]


@pytest.mark.parametrize("room", [1, 2, 4])
def test_a_short_write_is_finished_later(board, room):
    board.port.room = room
    board.send(STATUS)
    board.port.sent, sent = b"", board.port.sent
    for _ in range(9):
        board.wire.poll(board.now)
    assert sent + board.port.sent == IDLE


def test_a_line_without_a_reader_keeps_no_more_than_one_burst(board):
    board.port.room = 0
    for _ in range(300):
        board.send(STATUS)
    assert len(board.wire.out) <= 512


class TestWhileTheDeviceStores:
    """A write of the store may take as long as a host waits."""

    def stand(self, board: Board, data: bytes) -> bytes:
        board.port.sent, board.port.incoming = b"", data
        board.wire.stand(board.now)
        return board.port.sent

    def test_a_status_is_answered(self, board):
        board.send(STATUS)
        assert self.stand(board, STATUS) == IDLE
        assert board.wire.frames == 2

    def test_nothing_is_read_from_the_store_in_the_middle_of_a_write(self, board):
        assert self.stand(board, STATUS) == b""
        assert board.wire.patience(board.now) == 0
        board.wire.poll(board.now)
        assert board.port.sent == IDLE

    @pytest.mark.parametrize("data", [*HOST[1:], STATUS[:3], STATUS * 2, b"\x03" + STATUS], ids=bytes.hex)
    def test_anything_else_waits_for_its_turn(self, board, data):
        board.send(STATUS)
        assert self.stand(board, data) == b""
        assert board.wire.buffer == data

    def test_a_frame_outlasts_the_write_of_a_flash(self, board):
        self.stand(board, STATUS[:2])
        self.stand(board, STATUS[2:])
        board.now += 400
        self.stand(board, b"")
        board.wire.poll(board.now)
        assert board.port.sent == IDLE

    def test_the_write_of_the_result_itself_answers_as_calculating(self, board):
        board.ask(4, b"\1")
        while board.wire.ok is None:
            board.turn()
        said = []
        board.files.between = lambda: said.append(self.stand(board, STATUS))
        board.turn(20)
        assert [reply[4] for reply in said] == [9]
        assert board.status() == 6
