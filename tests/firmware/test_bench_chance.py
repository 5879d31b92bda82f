"""What the bench feeds in place of the board's noise, as the PC's reference knows it."""

from __future__ import annotations

import pytest
from bench.chance import fed
from link.frame import Refused
from pitbench_hil.declared_generator import Fed


class Noise:
    """Stands for hal/entropy.py."""

    name = "own"

    def __init__(self) -> None:
        self.source = bytes


def fed_noise(how: str, seed: str = "") -> Noise:
    noise = Noise()
    fed(noise, how, seed)
    return noise


def test_fixed_is_what_the_reference_knows():
    assert bytes(fed_noise("fixed", "seed").source(100)) == Fed("seed").read(100)


@pytest.mark.parametrize("bit", [0, 7, 256, 799])
def test_one_bit_is_turned_over_and_no_other(bit):
    source = fed_noise("fixed", f"seed~{bit}").source
    found = b"".join(source(20) for _ in range(5))
    differs = int.from_bytes(found, "big") ^ int.from_bytes(Fed("seed").read(100), "big")
    assert differs == 1 << (799 - bit)


def test_chosen_bytes_come_first():
    source = fed_noise("led", "17a5*2,3c*3").source
    assert bytes(source(7)) == bytes.fromhex("17a517a53c3c3c")
    assert len(source(40)) == 40


def test_slow_gives_half_and_its_own_comes_back():
    noise = fed_noise("slow", "x")
    assert len(noise.source(32)) == 16
    fed(noise, "board")
    assert noise.source is bytes


def test_no_other_way():
    with pytest.raises(Refused):
        fed_noise("loaded")
