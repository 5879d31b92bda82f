"""Deadlines on a clock that the test winds by hand."""

import pytest
from pitbench.deadline import Deadline, DeadlinePassed


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_counts_down_and_stops_at_zero() -> None:
    clock = Clock()
    deadline = Deadline(2, clock)
    assert (deadline.remaining, deadline.passed) == (2, False)
    clock.now += 2
    assert (deadline.remaining, deadline.passed) == (0, True)
    clock.now += 5
    assert deadline.remaining == 0


def test_a_step_never_outlives_the_whole() -> None:
    clock = Clock()
    deadline = Deadline(2, clock)
    assert deadline.within(1).remaining == 1
    assert deadline.within(10).remaining == 2


def test_the_error_names_what_was_awaited() -> None:
    clock = Clock()
    deadline = Deadline(1, clock)
    deadline.check("The stacking")
    clock.now += 1
    with pytest.raises(DeadlinePassed, match="The stacking did not happen in time"):
        deadline.check("The stacking")
