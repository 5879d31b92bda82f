"""The log: bounded, numbered; a torn or uncommitted entry never hides or imitates a committed one."""

import json
from pathlib import Path

import pytest
from faulty import Cut, FaultyFiles, tears
from hal.store import Log


def entry(n: int, what: str = "stacked") -> str:
    return json.dumps([n, 1, 1000 + n, None, what, [2000], "0123abcd"])


def log_of(folder: Path, head: int, **fault) -> Log:
    log = Log(FaultyFiles(folder, **fault))
    log.trim(head)
    return log


def fill(folder: Path, count: int) -> Log:
    for name in ("log0", "log1"):
        (folder / name).unlink(missing_ok=True)
    log = log_of(folder, -1)
    for n in range(count):
        log.append(n, entry(n))
    return log


def numbers(log: Log, first: int = 0) -> list[int]:
    return [json.loads(line)[0] for line in log.lines(first)]


@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 255, 256, 257, 300, 600])
def test_what_was_appended_is_read_back_bounded(tmp_path, count):
    log = fill(tmp_path, count)
    oldest = max(0, (count - 1) // 128 * 128 - 128)
    assert numbers(log) == list(range(oldest, count))
    assert numbers(log_of(tmp_path, count - 1)) == list(range(oldest, count))


def test_a_page_starts_where_it_is_asked_to(tmp_path):
    assert numbers(fill(tmp_path, 300), 290) == list(range(290, 300))


def test_the_log_never_outgrows_two_segments(tmp_path):
    fill(tmp_path, 1000)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log0", "log1"]
    assert all(p.read_bytes().count(b"\n") <= 128 for p in tmp_path.iterdir())


def test_a_tail_beyond_the_head_is_dropped(tmp_path):
    fill(tmp_path, 10)
    log = log_of(tmp_path, 6)
    assert numbers(log) == list(range(7))
    log.append(7, entry(7, "new"))
    assert numbers(log) == list(range(8))
    assert json.loads(list(log.lines(7))[0])[4] == "new"
    assert numbers(log_of(tmp_path, 7)) == list(range(8))


def test_trimming_writes_nothing(tmp_path):
    fill(tmp_path, 10)
    files = FaultyFiles(tmp_path)
    Log(files).trim(3)
    assert files.writes == 0


@pytest.mark.parametrize("n", [5, 128, 256])
def test_a_torn_entry_takes_no_committed_one_along(tmp_path, n):
    base = (tmp_path / "log0").stat().st_size if (tmp_path / "log0").exists() else 0
    for name, tear in tears(base + len(entry(n)) + 1):
        fill(tmp_path, n)
        # An append tears what it adds; what was closed before stays.
        appended = n % 128 != 0
        torn = (lambda old, new, t=tear: old + (t(b"", new[len(old) :]) or b"")) if appended else tear
        log = log_of(tmp_path, n - 1, at=1, tear=torn)
        with pytest.raises(Cut):
            log.append(n, entry(n, "cut"))
        log = log_of(tmp_path, n - 1)
        oldest = max(0, n - 128) if n % 128 == 0 else 0
        assert numbers(log) == list(range(oldest, n)) or n % 128 == 0, name
        log.append(n, entry(n, "again"))
        log.append(n + 1, entry(n + 1))
        assert numbers(log_of(tmp_path, n + 1)) == list(range(oldest, n + 2)), name
        assert json.loads(list(log.lines(n))[0])[4] == "again", name


def test_a_full_disk_leaves_the_log_usable(tmp_path):
    fill(tmp_path, 5)
    log = log_of(tmp_path, 4, at=2, tear=lambda old, new: new[: len(old) + 9], error=OSError)
    log.append(5, entry(5))
    with pytest.raises(OSError, match="power cut"):
        log.append(6, entry(6))
    log.append(6, entry(6, "again"))
    assert numbers(log) == list(range(7))


def test_noise_in_a_segment_is_passed_over(tmp_path):
    fill(tmp_path, 3)
    with (tmp_path / "log0").open("ab") as f:
        f.write(b'[x,1]\n[2\n[1,torn\n\xff\xff\n{"a":1}\n[99,1]\n\n')
    assert list(log_of(tmp_path, 2).lines(0)) == [entry(n) for n in range(3)]
