"""The journal is durable, tolerates its own torn end at every byte, and nothing else."""

import errno
import os

import pytest
from pitbench.kiosk import journal as module
from pitbench.kiosk.journal import Journal, JournalError

ENTRIES = [("decided", {"note": 1, "cents": 2000}), ("credited", {"note": 1}), ("ä\n\t", {"text": "é\t\n"})]


def write(path, entries=ENTRIES) -> list:
    journal = Journal(path, wall=lambda: 1.5)
    for what, fields in entries:
        journal.append(what, **fields)
    journal.close()
    return journal.records


def test_entries_come_back(tmp_path):
    written = write(tmp_path / "new folder" / "j")
    journal = Journal(tmp_path / "new folder" / "j")
    assert journal.records == written
    assert [r["n"] for r in written] == [1, 2, 3]
    assert written[0] == {"n": 1, "at": 1.5, "what": "decided", "note": 1, "cents": 2000}
    assert journal.torn == b""
    journal.close()


def test_truncated_at_every_byte(tmp_path):
    path = tmp_path / "j"
    written = write(path)
    content = path.read_bytes()
    ends = [0] + [at + 1 for at, byte in enumerate(content) if byte == ord("\n")]
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        journal = Journal(path, wall=lambda: 1.5)
        whole = sum(end <= length for end in ends) - 1
        assert journal.records == written[:whole]
        assert journal.torn == content[ends[whole] : length]
        journal.append("after")
        journal.close()
        again = Journal(path)
        assert [r["what"] for r in again.records] == [what for what, _ in ENTRIES[:whole]] + ["after"]
        assert again.torn == b""
        again.close()


@pytest.mark.parametrize("tail", [b"\0" * 100, b"\xff" * 7, b'{"n":4}\t00000000\n', b"\n", b"{\n{\n"])
def test_garbage_at_the_end_is_cut_off_and_reported(tmp_path, tail):
    path = tmp_path / "j"
    written = write(path)
    with path.open("ab") as file:
        file.write(tail)
    journal = Journal(path)
    assert journal.records == written
    assert journal.torn == tail
    journal.close()


@pytest.mark.parametrize("content", [b"a letter\n", b'{"id": 1}\n{"id": 2}\n', b"\0"])
def test_what_is_no_journal_is_left_as_it_is(tmp_path, content):
    path = tmp_path / "j"
    path.write_bytes(content)
    with pytest.raises(JournalError, match="something else than a journal"):
        Journal(path)
    assert path.read_bytes() == content


def test_a_device_is_no_journal():
    with pytest.raises(JournalError, match="is no file"):
        Journal("/dev/null")


@pytest.mark.parametrize("line", [0, 1])
def test_damage_before_good_lines_is_refused(tmp_path, line):
    path = tmp_path / "j"
    write(path)
    content = bytearray(path.read_bytes())
    start = 0 if line == 0 else content.index(b"\n") + 1
    for at in (start, start + 10, content.index(b"\n", start)):
        damaged = bytearray(content)
        damaged[at] ^= 0x20
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match=f"damaged at line {line + 1}"):
            Journal(path)
        assert path.read_bytes() == damaged


def test_a_line_taken_out_or_doubled_is_refused(tmp_path):
    path = tmp_path / "j"
    write(path)
    first, second, third = path.read_bytes().splitlines(keepends=True)
    for lines in ([first, third], [first, first, second, third], [second, third]):
        path.write_bytes(b"".join(lines))
        with pytest.raises(JournalError, match="damaged"):
            Journal(path)


def test_one_kiosk_at_a_time(tmp_path):
    first = Journal(tmp_path / "j")
    with pytest.raises(JournalError, match="held by another kiosk"):
        Journal(tmp_path / "j")
    first.close()
    Journal(tmp_path / "j").close()


def test_unusable_path_is_one_sentence(tmp_path):
    with pytest.raises(JournalError, match=r"can't be opened: Is a directory\. Choose another path"):
        Journal(tmp_path)


def test_synced_before_append_returns(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    synced = []
    monkeypatch.setattr(module.os, "fsync", lambda fd: synced.append((tmp_path / "j").read_bytes()))
    journal.append("credited", note=1)
    assert synced == [(tmp_path / "j").read_bytes()]
    journal.close()


def test_full_disk_leaves_the_journal_as_it_was_and_it_works_again(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    journal.append("one")
    before = (tmp_path / "j").read_bytes()
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, bytes(data)[:10])

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "write", full)
        with pytest.raises(JournalError, match=r"No space left on device\. Make room"):
            journal.append("two")
    assert (tmp_path / "j").read_bytes() == before
    journal.append("three")
    journal.close()
    again = Journal(tmp_path / "j")
    assert [r["what"] for r in again.records] == ["one", "three"]
    again.close()


def test_a_disk_that_refuses_to_sync_ends_the_journal(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")

    def refuse(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "fsync", refuse)
        with pytest.raises(JournalError, match="Input/output error"):
            journal.append("one")
    with pytest.raises(JournalError, match="out of use"):
        journal.append("two")
    journal.close()
    again = Journal(tmp_path / "j")
    assert again.records == []
    again.close()
