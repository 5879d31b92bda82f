"""The mirrored record: a cut anywhere leaves the old or the new one, never another and never none."""

import binascii
from pathlib import Path

import pytest
from faulty import Cut, FaultyFiles, tears
from hal.store import Store

OLD, NEW, NEXT = {"bill_in_value": 2000, "n": 1}, {"bill_in_value": 7000, "n": 2}, {"bill_in_value": 9000, "n": 3}


def store_in(folder: Path, at: int = 0, tear=None, error=Cut) -> Store:
    return Store(FaultyFiles(folder, at, tear, error), binascii.crc32)


def load(folder: Path):
    store = store_in(folder)
    return store.load(), store.damaged


def prepare(folder: Path) -> int:
    """Put OLD into both copies; return the size of a copy."""
    folder.mkdir(exist_ok=True)
    for name in "ab":
        (folder / name).unlink(missing_ok=True)
    store = store_in(folder)
    store.load()
    store.commit(OLD)
    return (folder / "a").stat().st_size


def cut_commit(folder: Path, at: int, tear) -> None:
    store = store_in(folder, at, tear)
    store.load()
    with pytest.raises(Cut):
        store.commit(NEW)


def test_a_new_board_has_no_record_and_no_damage(tmp_path):
    assert load(tmp_path) == (None, None)


def test_a_commit_survives_and_is_written_twice(tmp_path):
    prepare(tmp_path)
    assert load(tmp_path) == (OLD, None)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_commit_costs_two_writes(tmp_path):
    files = FaultyFiles(tmp_path)
    store = Store(files, binascii.crc32)
    store.commit(OLD)
    assert (files.writes, store.commits) == (2, 1)


@pytest.mark.parametrize("at", [1, 2])
def test_a_cut_in_a_commit_leaves_old_or_new(tmp_path, at):
    for name, tear in tears(prepare(tmp_path)):
        prepare(tmp_path)
        cut_commit(tmp_path, at, tear)
        found, damaged = load(tmp_path)
        assert found in ([OLD, NEW] if at == 1 else [NEW]), name
        assert damaged in (None, "ab"[at - 1]), name
        assert load(tmp_path) == (found, None), f"{name}: not repaired"


@pytest.mark.parametrize("at", [1, 2])
def test_a_record_is_committed_when_a_is_closed(tmp_path, at):
    prepare(tmp_path)
    cut_commit(tmp_path, at, lambda old, new: new if at == 1 else old)
    assert load(tmp_path)[0] == NEW


@pytest.mark.parametrize("at", [1, 2])
def test_a_second_cut_in_the_repair_changes_nothing(tmp_path, at):
    size = prepare(tmp_path)
    for first, half in (("prefix", 5), ("header only", 16), ("empty", 0)):
        for name, tear in tears(size):
            prepare(tmp_path)
            cut_commit(tmp_path, at, lambda old, new, n=half: new[:n])
            with pytest.raises(Cut):
                store_in(tmp_path, 1, tear).load()
            assert load(tmp_path)[0] == (OLD if at == 1 else NEW), f"{first}, then {name}"


def test_a_cut_in_the_first_commit_ever_is_a_new_board(tmp_path):
    size = prepare(tmp_path)
    for name, tear in tears(size):
        for copy in "ab":
            (tmp_path / copy).unlink(missing_ok=True)
        with pytest.raises(Cut):
            store_in(tmp_path, 1, tear).commit(OLD)
        found, damaged = load(tmp_path)
        assert found in (None, OLD), name
        assert damaged == (None if found is None else "b"), name


@pytest.mark.parametrize(("copies", "damaged"), [("a", "a"), ("b", "b"), ("ab", "both")])
def test_any_flipped_bit_is_found(tmp_path, copies, damaged):
    for place in range(prepare(tmp_path)):
        prepare(tmp_path)
        for copy in copies:
            data = bytearray((tmp_path / copy).read_bytes())
            data[place] ^= 0x10
            (tmp_path / copy).write_bytes(data)
        assert load(tmp_path) == (None if damaged == "both" else OLD, damaged), place


def test_bytes_behind_a_record_are_damage(tmp_path):
    prepare(tmp_path)
    with (tmp_path / "a").open("ab") as f:
        f.write(b"\0")
    assert load(tmp_path) == (OLD, "a")


def test_a_missing_copy_is_damage(tmp_path):
    prepare(tmp_path)
    (tmp_path / "a").unlink()
    assert load(tmp_path) == (OLD, "a")


@pytest.mark.parametrize("before", [0xFFFFFFFE, 0xFFFFFFFF, 0])
def test_the_sequence_may_wrap_in_a_cut(tmp_path, before):
    prepare(tmp_path)
    store = store_in(tmp_path)
    store.load()
    store.sequence = before - 1 & 0xFFFFFFFF
    store.commit(OLD)
    cut_commit(tmp_path, 2, lambda old, new: old)
    assert load(tmp_path)[0] == NEW


@pytest.mark.parametrize("behind", [1, 2, 1000])
def test_a_copy_that_fell_far_behind_is_still_the_older(tmp_path, behind):
    prepare(tmp_path)
    store = store_in(tmp_path)
    store.sequence = 5000
    store.files.write("b", store._pack(b'{"n": 2}'))
    store.sequence = 5000 - behind
    store.files.write("a", store._pack(b'{"n": 1}'))
    assert load(tmp_path) == ({"n": 2}, None)


def test_an_older_copy_is_brought_up_to_date(tmp_path):
    prepare(tmp_path)
    cut_commit(tmp_path, 2, lambda old, new: old)
    load(tmp_path)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_full_disk_in_the_second_copy_never_risks_the_first(tmp_path):
    for name, tear in tears(prepare(tmp_path)):
        prepare(tmp_path)
        store = store_in(tmp_path, 2, lambda old, new: new[:3], OSError)
        store.load()
        with pytest.raises(OSError, match="power cut"):
            store.commit(NEW)
        store.files._at, store.files._tear, store.files._error = 3, tear, Cut
        with pytest.raises(Cut):
            store.commit(NEXT)
        assert load(tmp_path)[0] in (NEW, NEXT), name


def test_a_full_disk_in_a_repair_is_no_failure_of_the_load(tmp_path):
    prepare(tmp_path)
    (tmp_path / "a").write_bytes(b"torn")
    store = store_in(tmp_path, 1, lambda old, new: b"", OSError)
    assert store.load() == OLD
    assert store.damaged == "a"
    store.commit(NEW)
    assert load(tmp_path) == (NEW, None)
