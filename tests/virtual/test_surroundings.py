"""What a board that starts is told of the world around it."""

from __future__ import annotations

from itertools import count

from pitbench.virtual.surroundings import Surroundings


def test_a_fed_entropy_source_is_told_at_every_start_and_a_function_gives_each_its_own_seed() -> None:
    around = Surroundings()
    around.entropy_at_start("fixed", "abc")
    assert [around.told_at_start() for _ in range(2)] == [["entropy fixed abc", "world"]] * 2
    numbers = count(1)
    around.entropy_at_start("fixed", lambda: f"seed{next(numbers)}")
    assert [around.told_at_start()[0] for _ in range(2)] == ["entropy fixed seed1", "entropy fixed seed2"]
    around.entropy_at_start("board")
    assert around.told_at_start() == ["entropy board", "world"]


def test_a_fault_is_told_once() -> None:
    around = Surroundings()
    around.fault_at_start(3, "torn_ff")
    assert [around.told_at_start() for _ in range(2)] == [["fault 3 torn_ff", "world"], ["world"]]
