"""A new board whose entropy the bench feeds, beside the generator that it declares, and how the two are compared."""

from __future__ import annotations

from typing import Any

from pitbench_hil.acts import afresh
from pitbench_hil.attended_bench import OWN_NOISE, TECHNICIAN
from pitbench_hil.declared_generator import CHALLENGE, Declared, cycles_until
from pitbench_hil.drawing_bench import DrawingBench

# Files below /image on which a drawn outcome hangs, each without its suffix; what loads the module that draws at will.
GENERATOR_FILES = ("device/drbg", "device/generator", "device/hmac_sha256", "hal/entropy")
DRAWS_LATE = {"bench/draw": ("words", {"n": 1})}


def the_same_again(bench: DrawingBench) -> None:
    """From the next start on chance gives the same."""
    bench.board.rig.entropy_at_start("fixed", "a5" * 32)


def newly_fed(bench: DrawingBench, seed: str) -> Declared:
    """A new board whose entropy is fed from its first word on, idle; returns the generator that it declares."""
    bench.board.rig.entropy_at_start("fixed", seed)
    return Declared(seed, again(bench))


def again(bench: DrawingBench) -> str:
    """A new board, fed as it was told last, idle; returns its unique id."""
    return str(afresh(bench)["uid"])


def fed_by_itself(bench: DrawingBench) -> None:
    """A new board with its own source again, idle."""
    bench.feed(OWN_NOISE)
    afresh(bench)


def set_as_declared(bench: DrawingBench, declared: Declared, **settings: Any) -> dict[str, Any]:
    """Set what is to be played; the challenge to it is taken from the declared generator's source too."""
    now = bench.configure(TECHNICIAN, **settings)
    declared.source.read(CHALLENGE)
    return now


def steps_before(bench: DrawingBench, declared: Declared, sample: list[Any], most: int) -> int | None:
    """After how many idle steps the declared generator draws a sample of the bench's; None if after none of `most`."""
    return cycles_until(declared, bench.sample_of, lambda drawn: drawn == sample, most)
