"""What the shuffler's randomness suite rests on: the declared generator, and trials that keep to their plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pitbench_hil.declared_generator import Declared, Drbg, Fed, cycles_before
from pitbench_hil.inquiry import Inquiry
from pitbench_hil.records import NEEDED
from pitbench_hil.shuffler import unpacked
from pitbench_hil.shuffler_random import dealt
from pitbench_hil.statistics.budget import Family

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "hmac_drbg.json").read_text("utf-8"))["vectors"]
UNIQUE = "0011223344556677"
# The declared generator never gives additional input to an output.
PLAIN = [row for row in VECTORS if not any(data[0] for name, *data in row["calls"] if name == "generate")]


class Recorder:
    """Stands for `check`: keeps measurements by name."""

    def __init__(self) -> None:
        self.measured: dict[str, tuple[Any, float]] = {}

    def note(self, text: str, **data: Any) -> None:
        """Nothing."""

    def measure(self, name: str, value: Any, *, uncertainty: float = 0.0, **_: Any) -> None:
        """Keep it."""
        self.measured[name] = (value, uncertainty)


# -- the declared generator


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row["group"])
def test_known_answers_of_nist(row):
    drbg, out = Drbg(bytes.fromhex(row["entropy"] + row["nonce"] + row["personalisation"])), b""
    for name, *data in row["calls"]:
        if name == "generate":
            out = drbg.generate(128)
        else:
            drbg.update(bytes.fromhex("".join(data)))
    assert out.hex() == row["returned"]


def test_what_is_fed_may_be_set_back():
    source = Fed("x")
    first = source.read(40)
    source.given = 0
    assert source.read(20) + source.read(20) == first


def test_an_order_is_found_after_the_right_number_of_idle_steps():
    drawing, knowing = Declared("x", UNIQUE), Declared("x", UNIQUE)
    for steps in (0, 3, 1):
        for _ in range(steps):
            drawing.cycle()
        assert cycles_before(knowing, drawing.order(52), 10) == steps
    assert cycles_before(knowing, list(range(52)), 3) is None


@pytest.mark.parametrize(("cards", "bits"), [(52, 256), (53, 256), (54, 512), (416, 3328)])
def test_bits_gathered_for_an_order(cards, bits):
    declared = Declared("x", UNIQUE)
    assert sorted(declared.order(cards)) == list(range(cards))
    assert declared.bits == bits


def test_orders_of_more_than_256_cards_have_a_ninth_bit():
    row = np.array([[1, 255, 0b1000_0000]], np.uint8)
    assert unpacked(row, 2).tolist() == [[1, 255, 128]]
    low = np.arange(300) % 256
    packed = np.concatenate([low.astype(np.uint8), np.packbits(np.arange(300) >= 256)])
    assert unpacked(packed[None, :], 300).tolist() == [list(range(300))]


def test_decks_are_the_inverse_of_slots():
    assert dealt(np.array([[2, 0, 1]])).tolist() == [[1, 2, 0]]


# -- trials

PLAN = Family(0.001, 1).plan("share of ones", 100, 0.99, "any")


def p_value(sample: Any) -> float:
    return 0.5 if np.asarray(sample).mean() < 0.5 else 1e-6


def inquired(*samples: int) -> tuple[dict[str, tuple[Any, float]], int]:
    """Samples that are all ones or all zeros, one after the other."""
    check, left = Recorder(), list(samples)
    inquiry = Inquiry(check, [PLAN], {PLAN.statistic: p_value}, lambda size: np.full(size, left.pop(0)), "decks")  # type: ignore[arg-type]
    inquiry.run()
    inquiry.decide("a rule")
    return check.measured, len(left)


def test_a_fair_sample_is_enough():
    measured, left = inquired(0, 1)
    assert measured == {"failed_samples": (0, 0.0)}
    assert left == 1


def test_two_that_fail_say_how_few_would_have_done():
    measured, _ = inquired(1, 1)
    assert measured["failed_samples"] == (2, 0.0)
    assert measured[f"{NEEDED}share of ones"][0] == 1


@pytest.mark.parametrize(("last", "said"), [(0, (1, 1.0)), (1, (2, 0.0))])
def test_two_that_disagree_never_pass(last, said):
    measured, left = inquired(1, 0, last)
    assert measured["failed_samples"] == said
    assert left == 0
