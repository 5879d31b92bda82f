"""Device time never runs ahead of the wall, and a chip that fell behind never hurries."""

from __future__ import annotations

import pytest
from pitbench.emulated.pacer import NS, Pacer


class Clock:
    def __init__(self) -> None:
        self.nanos = 0.0

    def tick(self, nanos: float) -> None:
        self.nanos += nanos


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def wall() -> list[float]:
    return [100.0]


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def pacer(clock: Clock, wall: list[float], waits: list[float]) -> Pacer:
    def attend(seconds: float) -> None:
        waits.append(seconds)
        wall[0] += seconds

    return Pacer(clock, attend, lambda: wall[0])


def test_a_chip_ahead_waits_for_the_wall(pacer: Pacer, clock: Clock, wall: list[float]) -> None:
    clock.tick(0.25 * NS)
    pacer.hold()
    assert wall[0] == pytest.approx(100.25)


def test_a_chip_behind_does_not_wait(pacer: Pacer, clock: Clock, wall: list[float], waits: list[float]) -> None:
    wall[0] += 3.0
    clock.tick(0.1 * NS)
    pacer.hold()
    assert waits == []


def test_a_chip_that_fell_behind_does_not_hurry_afterwards(pacer: Pacer, clock: Clock, wall: list[float]) -> None:
    wall[0] += 3.0
    pacer.hold()
    clock.tick(0.5 * NS)
    pacer.hold()
    assert wall[0] == pytest.approx(103.5)


def test_time_spent_passes_on_both_clocks_and_ports_go_on(
    pacer: Pacer, clock: Clock, wall: list[float], waits: list[float]
) -> None:
    pacer.spend(0.045 * NS)
    assert clock.nanos == pytest.approx(0.045 * NS)
    assert wall[0] == pytest.approx(100.045)
    assert len(waits) >= 45
