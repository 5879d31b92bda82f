"""Credited = stacked on every wire: frames lost, late, doubled, damaged, cut and padded, crashes, and power cuts."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from kiosk_bench import Noise
from pitbench.protocols.acceptor_host import host_names
from whole import USD, Whole

WIRES = host_names()
# `make fuzz` asks for ten thousand.
BILLS = int(os.environ.get("PITBENCH_FUZZ_BILLS", "150"))
RATE = 0.03


@pytest.mark.parametrize("wire", WIRES)
def test_a_clean_line_credits_every_note_once(tmp_path: Path, wire: str) -> None:
    whole = Whole(wire, tmp_path / "journal")
    for usd in USD:
        whole.pay(usd)
    assert [credit.cents for credit in whole.kiosk.credits] == [100 * usd for usd in USD]
    assert whole.credited() == whole.stacked()
    assert whole.kiosk.disputes == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_bad_line_costs_time_and_nothing_else(tmp_path: Path, wire: str) -> None:
    whole, rng = Whole(wire, tmp_path / "journal", Noise(seed=7, rate=RATE)), random.Random(7)
    for _ in range(BILLS):
        whole.pay(rng.choice(USD))
    whole.settle()
    assert whole.credited() == whole.stacked() > 0
    assert [note for note in whole.kiosk.disputes if note.cents] == []


# Twenty milliseconds each: a whole insertion, from the mouth to the box.
STEPS = range(0, 160, 3)


@pytest.mark.parametrize("wire", WIRES)
def test_a_host_that_dies_at_any_moment_loses_and_gains_nothing(tmp_path: Path, wire: str) -> None:
    whole = Whole(wire, tmp_path / "journal")
    for steps in STEPS:
        whole.insert(20)
        for _ in range(steps):
            whole.step()
        whole.crash_host()
        whole.settle()
        assert whole.credited() == whole.stacked(), f"died {steps * 20} ms after the note was inserted"
    assert whole.stacked() > 0
    assert whole.kiosk.disputes == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_power_cut_at_any_moment_loses_and_gains_nothing(tmp_path: Path, wire: str) -> None:
    whole = Whole(wire, tmp_path / "journal")
    for steps in STEPS:
        whole.insert(20)
        for _ in range(steps):
            whole.step()
        whole.cut()
        whole.settle()
        assert whole.credited() == whole.stacked(), f"cut {steps * 20} ms after the note was inserted"
    assert whole.stacked() > 0


@pytest.mark.parametrize("wire", WIRES)
def test_both_at_once_loses_and_gains_nothing(tmp_path: Path, wire: str) -> None:
    whole = Whole(wire, tmp_path / "journal", Noise(seed=3, rate=RATE))
    for steps in STEPS:
        whole.insert(20)
        for _ in range(steps):
            whole.step()
        whole.cut()
        whole.crash_host()
    whole.settle()
    assert whole.credited() == whole.stacked() > 0
