"""The link client against a double of the firmware, on a real interpreter and a real pty; and its framing alone."""

import pytest
from pitbench.deadline import Deadline
from pitbench.link import (
    REPLY_LIMIT,
    BoardRebooted,
    DamagedLine,
    LineSplitter,
    LinkClient,
    LinkError,
    LinkOutOfStep,
    LinkTimeout,
    decode_line,
    encode_line,
)


class Script:
    """A transport that answers each write with the next of its replies."""

    url, name = "script://", "link"

    def __init__(self, *replies: bytes) -> None:
        self.replies = list(replies)
        self.sent: list[bytes] = []
        self._ready = b""

    def write(self, data: bytes) -> None:
        self.sent.append(data)
        if self.replies:
            self._ready += self.replies.pop(0)

    def read(self, timeout: float) -> bytes:
        data, self._ready = self._ready, b""
        return data

    def flush_input(self) -> None:
        self._ready = b""

    def close(self) -> None:
        pass


HELLO = encode_line({"id": 0, "ok": {"boot": 1}})


def scripted(*replies: bytes) -> tuple[LinkClient, Script]:
    script = Script(HELLO, *replies)
    return LinkClient(script, timeout=0.02), script


def ok(number: int, **result: int) -> bytes:
    return encode_line({"id": number, "ok": result})


def err(number: int | None, code: str) -> bytes:
    return encode_line({"id": number, "err": {"code": code, "why": "test"}})


# CRC-16/KERMIT of "123456789" is 0x2189: check value of the CRC catalogue (reveng).
def test_the_crc_is_kermit() -> None:
    from pitbench.link import _crc16

    assert _crc16(b"123456789") == 0x2189


def test_a_line_is_compact_json_tab_crc_newline() -> None:
    line = encode_line({"id": 7, "do": "status"})
    assert line.startswith(b'{"id":7,"do":"status"}\t')
    assert len(line) == len(b'{"id":7,"do":"status"}') + 6
    assert line.endswith(b"\n")
    assert decode_line(line[:-1]) == {"id": 7, "do": "status"}


@pytest.mark.parametrize("place", range(len(HELLO) - 1))
def test_a_flipped_bit_anywhere_is_noticed(place: int) -> None:
    line = bytearray(HELLO[:-1])
    line[place] ^= 1
    with pytest.raises(DamagedLine):
        decode_line(bytes(line))


@pytest.mark.parametrize("line", [b"", b"\t", b"{}", b"[1]\t%04x", b"garbage"])
def test_what_is_no_message_is_damaged(line: bytes) -> None:
    with pytest.raises(DamagedLine):
        decode_line(line)


def test_lines_come_whole_however_they_are_split() -> None:
    splitter = LineSplitter()
    lines = [line for byte in b"one\ntwo\n\nthr" for line in splitter.feed(bytes([byte]))]
    assert lines == [b"one", b"two", b""]
    assert splitter.feed(b"ee\n") == [b"three"]


def test_an_endless_line_does_not_fill_the_memory() -> None:
    splitter = LineSplitter()
    for _ in range(100):
        assert splitter.feed(b"x" * 100) == []
    (line,) = splitter.feed(b"\n")
    assert len(line) <= REPLY_LIMIT


def test_a_damaged_reply_is_asked_for_by_the_same_id() -> None:
    client, script = scripted(b"?" + ok(1, a=1), ok(1, a=1))
    assert client.do("status") == {"a": 1}
    assert script.sent[1] == script.sent[2]
    assert client.damaged_lines == 1


@pytest.mark.parametrize("code", ["bad_crc", "too_long", "bad_json"])
def test_a_request_damaged_on_its_way_is_sent_again(code: str) -> None:
    client, script = scripted(err(None, code), ok(1, a=1))
    assert client.do("status") == {"a": 1}
    assert script.sent[1] == script.sent[2]


def test_a_late_answer_to_an_earlier_id_is_passed_over() -> None:
    client, _ = scripted(ok(1, a=1), ok(1, a=1) + ok(2, b=2))
    client.do("status")
    assert client.do("status") == {"b": 2}


def test_it_gives_up_after_two_retries() -> None:
    client, script = scripted()
    with pytest.raises(LinkTimeout, match="'status'"):
        client.do("status")
    assert len(script.sent) == 1 + 3


def test_a_late_answer_to_an_earlier_hello_is_passed_over() -> None:
    late = encode_line({"id": 0, "ok": {"session": -1, "boot": 9}})
    client = LinkClient(Script(late + HELLO), timeout=0.02)
    assert client.hello()["boot"] == 1


def test_an_overlong_request_is_not_sent() -> None:
    client, script = scripted()
    with pytest.raises(LinkError, match="240"):
        client.do("insert", item="x" * 230)
    assert len(script.sent) == 1


def test_hello_tells_who_the_board_is(link: LinkClient) -> None:
    assert link.hello()["device"] == "double"
    assert link.boot == 1


def test_ids_count_up_and_survive_many_requests(link: LinkClient) -> None:
    for _ in range(20):
        assert link.do("status")["state"] == "idle"
    assert link.retries == 0


@pytest.mark.parametrize("fault", ["lose", "damage"])
def test_a_lost_reply_is_not_executed_twice(link: LinkClient, fault: str) -> None:
    link.do("fault", faults={fault: 1})
    link.do_within(0.1, "insert", item={})
    assert link.retries >= 1
    assert link.do("executed")["ops"].count("insert") == 1


def test_a_refusal_has_code_and_words(link: LinkClient) -> None:
    with pytest.raises(LinkError, match="no such operation") as caught:
        link.do("fly")
    assert caught.value.code == "unknown_op"
    assert link.do("status")["state"] == "idle"


@pytest.mark.parametrize("code", ["bad_id", "no_session"])
def test_a_request_that_was_not_looked_at_is_no_refused_one(code: str) -> None:
    client, _ = scripted(err(1, code), HELLO, ok(1, a=1))
    with pytest.raises(LinkOutOfStep, match="didn't look at 'status': test"):
        client.do("status")
    assert client.do("status") == {"a": 1}


def test_a_reboot_is_told_and_never_retried_across(link: LinkClient) -> None:
    link.hello()
    with pytest.raises(BoardRebooted, match="boot 1 became 2") as caught:
        link.do_within(0.1, "restart", how="watchdog")
    assert caught.value.reset == "watchdog"
    assert link.do("executed")["ops"] == ["executed"]


def test_half_a_line_left_by_somebody_is_no_obstacle(link: LinkClient) -> None:
    link.transport.write(b'{"id":3,"do":')
    assert link.hello()["boot"] == 1


def test_reconnect_waits_for_the_board(link: LinkClient) -> None:
    link.transport.write(b"")
    assert link.reconnect(Deadline(5))["boot"] == 1


def test_reconnect_ends_at_its_deadline() -> None:
    with pytest.raises(LinkTimeout):
        LinkClient(Script()).reconnect(Deadline(0.02))
