"""What the bench of an attended device can ask of the board's surroundings."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pitbench.errors import BeyondRig
from pitbench_hil.attended_bench import OWN_NOISE, AttendedBench


def bench_on(rung: str, fed: list[tuple[str, str]]) -> AttendedBench:
    rig = SimpleNamespace(entropy_at_start=lambda how, seed: fed.append((how, seed)))
    bench = object.__new__(AttendedBench)
    bench.board = SimpleNamespace(rung=rung, rig=rig)  # type: ignore[assignment]
    return bench


def test_an_emulated_chip_is_not_asked_for_noise_of_its_own() -> None:
    fed: list[tuple[str, str]] = []
    with pytest.raises(BeyondRig, match="can't get noise out of an emulated chip"):
        bench_on("emu", fed).feed(OWN_NOISE)
    bench_on("emu", fed).feed("fixed", "abc")
    bench_on("unix", fed).feed(OWN_NOISE)
    assert fed == [("fixed", "abc"), (OWN_NOISE, "")]
