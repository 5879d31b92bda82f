"""What a statistic says of a sample."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One statistic of one sample.

    Args:
        name: of the statistic.
        value: of the statistic, in its own unit.
        p: chance of such a value, or one further off, if the sample is fair.
        samples: how many decks, throws or counts it rests on.
        df: degrees of freedom, where p comes from a chi-square.
    """

    name: str
    value: float
    p: float
    samples: int
    df: int | None = None

    def __str__(self) -> str:
        df = f", {self.df} df" if self.df is not None else ""
        return f"{self.name} {self.value:.6g}{df}, p = {self.p:.3g} ({self.samples:,} samples)"
