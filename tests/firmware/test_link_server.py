"""The link on the board: lines that are damaged, over-long, joined or split; sessions, ids, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fake_port import Port
from hypothesis import given, settings
from hypothesis import strategies as st
from kermit import crc16
from link.args import Operations
from link.frame import REPLY_MAX, REQUEST_MAX, Lines, page
from link.server import Server


def line(request: Any) -> bytes:
    """A line of the link, as docs/link.md defines it."""
    text = request if isinstance(request, bytes) else json.dumps(request, separators=(",", ":")).encode()
    return text + b"\t%04x\n" % crc16(text)


ARGS = """
note: what?=:str
big:
fails:
door: which=acceptor|stacker open=:bool
pull:
box: present?=:bool count?=:int
set: to=:int|:NoneType
put: item=:dict
prove: proof=:str|:empty
"""


class Table(Operations):
    """Operations that are plain functions."""

    ARGS = ARGS

    def __init__(self, table: dict[str, Callable[[dict], dict]]) -> None:
        super().__init__(None)
        self.table = table

    def carry_out(self, request: dict) -> dict:
        return self.table[request["do"]](request)


class Link:
    """A server with some operations, and the replies that it sends."""

    def __init__(self, **ops: Callable[[dict], dict]) -> None:
        self.port, self.done = Port(), []
        table = Table({"note": self.note, "big": lambda _: {"x": "y" * 1024}, **ops})
        self.server = Server(self.port, crc16, (Operations(None), table), dict)

    def note(self, request: dict) -> dict:
        self.done.append(request["what"])
        return {"count": len(self.done)}

    def send(self, data: bytes) -> list[dict]:
        self.port.sent, self.port.incoming = b"", data
        self.server.poll()
        replies = self.port.sent.split(b"\n")
        assert replies.pop() == b""
        return [self.reply(text) for text in replies]

    def reply(self, text: bytes) -> dict:
        assert len(text) < REPLY_MAX
        body, _, crc = text.rpartition(b"\t")
        assert crc == b"%04x" % crc16(body)
        return json.loads(body)

    def do(self, number: Any, do: Any = "note", **args: Any) -> dict:
        return self.send(line({"id": number, "do": do, **args}))[0]

    def hello(self, number: int = 0) -> Link:
        assert self.do(number, "hello", session=77)["ok"] == {"session": 77}
        return self


def code(reply: dict) -> str:
    assert reply["err"]["why"]
    return reply["err"]["code"]


# -- lines

NOTE = line({"id": 1, "do": "note", "what": "a"})


@pytest.mark.parametrize("cut", range(1, len(NOTE)))
def test_a_line_may_come_in_two_pieces(cut):
    link = Link().hello()
    assert link.send(NOTE[:cut]) == []
    assert link.send(NOTE[cut:]) == [{"id": 1, "ok": {"count": 1}}]


def test_joined_lines_are_answered_in_turn():
    link = Link()
    replies = link.send(line({"id": 5, "do": "hello", "session": 1}) + line({"id": 6, "do": "note", "what": "a"}))
    assert [reply["id"] for reply in replies] == [5, 6]


def test_a_carriage_return_is_no_damage():
    assert Link().hello().send(NOTE[:-1] + b"\r\n") == [{"id": 1, "ok": {"count": 1}}]


@pytest.mark.parametrize("at", range(len(NOTE) - 1))
def test_a_damaged_line_is_an_error_and_is_not_acted_on(at):
    for flip in (1, 0x20, 0x80):
        link = Link().hello()
        damaged = NOTE[:at] + bytes((NOTE[at] ^ flip,)) + NOTE[at + 1 :]
        replies = link.send(damaged)
        assert link.done == []
        assert {code(reply) for reply in replies} <= {"bad_crc"}


BAD = {
    "bad_crc": [b"\n", b"hello\n", b"{}\n", b"\t\n", b"\t0000\n"[:2] + b"\n", b'{"id":1}\t0000\n', b"\xff\xfe\n"],
    "bad_json": [line(text) for text in (b"{", b"[1]", b'"x"', b"7", b"null", b"{}", b'{"id":1}', b"\xff", b"[" * 200)],
}


@pytest.mark.parametrize(("expected", "data"), [(name, data) for name, rows in BAD.items() for data in rows])
def test_what_is_no_request_is_answered_with_an_error(expected, data):
    link = Link().hello()
    assert [code(reply) for reply in link.send(data)] == [expected] * data.count(b"\n")
    assert link.send(NOTE) == [{"id": 1, "ok": {"count": 1}}]


def padded(length: int) -> bytes:
    """A good request line of so many bytes before its newline."""
    empty = len(line({"id": 1, "do": "note", "what": ""})) - 1
    return line({"id": 1, "do": "note", "what": "x" * (length - empty)})


@pytest.mark.parametrize(("length", "taken"), [(REQUEST_MAX, True), (REQUEST_MAX + 1, False), (5000, False)])
@pytest.mark.parametrize("piece", [1, 100, 9999])
def test_an_over_long_line_is_refused_once_and_the_next_is_heard(length, taken, piece):
    link, replies = Link().hello(), []
    data = padded(length) + line({"id": 2 if taken else 1, "do": "note", "what": "b"})
    for at in range(0, len(data), piece):
        replies += link.send(data[at : at + piece])
    assert len(replies) == 2
    assert [what[0] for what in link.done] == (["x", "b"] if taken else ["b"])
    assert taken or code(replies[0]) == "too_long"


def test_noise_without_an_end_takes_no_room():
    lines = Lines()
    for _ in range(1000):
        assert lines.feed(b"\x03" * 100) == []
    assert len(lines.rest) <= REQUEST_MAX


# -- sessions and ids


def test_before_hello_there_is_no_session():
    link = Link()
    assert code(link.do(1, what="a")) == "no_session"
    assert link.done == []


def test_a_repeated_id_gets_the_same_reply_and_is_not_executed_again():
    link = Link().hello()
    first = link.do(1, what="a")
    assert [link.do(1, what="a"), link.do(1, what="other")] == [first, first]
    assert link.done == ["a"]


def test_a_repeated_id_gets_the_same_error_again():
    link = Link().hello()
    first = link.do(1, "nothing")
    assert code(first) == "unknown_op"
    assert link.do(1, what="a") == first


@pytest.mark.parametrize("number", [-1, 0, 2, 3, 1 << 40])
def test_an_id_that_does_not_follow_is_refused_and_changes_nothing(number):
    link = Link().hello(0)
    assert code(link.do(number, what="a")) == "bad_id"
    assert link.done == []
    assert link.do(1, what="a") == {"id": 1, "ok": {"count": 1}}


@pytest.mark.parametrize("number", ["1", None, [1], {"a": 1}, 1.5])
def test_an_id_is_a_whole_number(number):
    link = Link().hello()
    assert code(link.do(number, what="a")) == "bad_args"
    assert code(link.do(number, "hello", session=1)) == "bad_args"
    assert link.do(1, what="a") == {"id": 1, "ok": {"count": 1}}


@pytest.mark.parametrize("session", [None, "x", [1]])
def test_a_session_is_a_whole_number_and_a_bad_hello_leaves_the_open_one(session):
    link = Link().hello()
    kept = link.do(1, what="a")
    assert code(link.do(9, "hello", session=session)) == "bad_args"
    assert code(link.do(9, "hello")) == "bad_args"
    assert link.do(1, what="a") == kept
    assert link.do(2, what="b") == {"id": 2, "ok": {"count": 2}}


def test_hello_discards_the_kept_reply():
    link = Link().hello()
    link.do(1, what="a")
    link.hello(0)
    assert link.do(1, what="b") == {"id": 1, "ok": {"count": 2}}


RAISED = [KeyError("x"), TypeError("x"), ValueError("x"), AttributeError("x"), OSError(28)]


@pytest.mark.parametrize("error", RAISED, ids=repr)
def test_an_operation_that_fails_is_an_error_and_not_the_end(error):
    def fails(_: dict) -> dict:
        raise error

    link = Link(fails=fails).hello()
    assert code(link.do(1, "fails")) == ("store" if isinstance(error, OSError) else "bad_args")
    assert link.do(2, what="a")["ok"]


def test_an_answer_that_does_not_fit_is_refused():
    assert code(Link().hello().do(1, "big")) == "too_long"


# -- the way out


@pytest.mark.parametrize("room", [1, 7, 50])
def test_a_short_write_is_finished_later(room):
    link = Link().hello()
    link.port.room = room
    link.port.sent, link.port.incoming = b"", NOTE
    for _ in range(60):
        link.server.poll()
    assert link.reply(link.port.sent[:-1]) == {"id": 1, "ok": {"count": 1}}


def test_without_a_reader_the_replies_take_no_room():
    link = Link()
    link.port.room = 0
    for _ in range(200):
        link.port.incoming = NOTE
        link.server.poll()
    assert len(link.server.out) <= 4096


ROWS = st.lists(st.text(max_size=60), max_size=60)


@given(ROWS)
def test_a_page_is_the_first_rows_that_fit(rows):
    taken = page(rows)
    assert taken == rows[: len(taken)]
    assert len(json.dumps(taken)) < REPLY_MAX - 200
    assert taken or not rows


REQUESTS = st.dictionaries(
    st.sampled_from(["id", "do", "what", "session"]),
    st.one_of(st.integers(-1, 3), st.none(), st.sampled_from(["hello", "note", "big", "x"]), st.lists(st.integers())),
).map(line)
STREAM = st.lists(st.one_of(st.binary(max_size=60), REQUESTS, st.just(b"\n"), st.just(b"\x03" * 250)), max_size=12)


@settings(max_examples=150, deadline=None)
@given(STREAM, st.integers(1, 300))
def test_no_stream_raises_and_every_line_is_answered(pieces, size):
    link, stream, replies = Link(), b"".join(pieces), 0
    for at in range(0, len(stream), size):
        replies += len(link.send(stream[at : at + size]))
    assert replies == stream.count(b"\n")


# -- arguments


@pytest.mark.parametrize(
    ("do", "args", "why"),
    [
        ("door", {"which": "stacker", "open": "maybe"}, "open is true or false"),
        ("door", {"which": "stacker", "open": 1}, "open is true or false"),
        ("door", {"which": "cash", "open": True}, "which is acceptor or stacker"),
        ("door", {"which": "stacker"}, "door needs which: acceptor or stacker, open: true or false"),
        ("door", {"which": "stacker", "open": True, "wide": 1}, "door needs which: acceptor or stacker"),
        ("pull", {"hard": True}, "pull takes no arguments"),
        ("box", {"count": -1}, "count is a whole number from 0"),
        ("box", {"count": True}, "count is a whole number from 0"),
        ("box", {"full": True}, "box needs optional present: true or false, optional count: a whole number"),
        ("note", {"what": ""}, "what is text"),
        ("note", {"what": 5}, "what is text"),
        ("set", {"to": "noon"}, "to is a whole number from 0 or null"),
        ("set", {"to": ":int"}, "to is a whole number"),
        ("put", {"item": "usd20"}, "item is an object"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_words_and_nothing_is_done(do, args, why):
    done: list[dict] = []
    names = ("door", "pull", "box", "set", "put")
    link = Link(**dict.fromkeys(names, lambda request: done.append(request) or {}))
    reply = link.hello().do(1, do, **args)
    assert code(reply) == "bad_args"
    assert reply["err"]["why"].startswith(why)
    assert done == link.done == []


@pytest.mark.parametrize(
    ("do", "args"),
    [
        ("prove", {"proof": ""}),
        ("prove", {"proof": "00"}),
        ("door", {"which": "stacker", "open": False}),
        ("pull", {}),
        ("box", {}),
        ("box", {"count": 0}),
        ("set", {"to": 0}),
        ("set", {"to": None}),
        ("put", {"item": {"length": 1}}),
    ],
)
def test_arguments_that_fit_are_taken(do, args):
    done: list[dict] = []
    link = Link(**{do: lambda request: done.append(request) or {}})
    assert link.hello().do(1, do, **args) == {"id": 1, "ok": {}}
    assert len(done) == 1


def test_hello_says_what_it_needs():
    assert Link().do(1, "hello")["err"]["why"] == "hello needs session: a whole number from 0"
