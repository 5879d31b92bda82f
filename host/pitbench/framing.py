"""How a serial port is set, and how long a byte takes on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Framing:
    """Line settings of a port: bits a second, data bits, parity letter (N, E, O), stop bits."""

    baud: int = 115200
    bits: int = 8
    parity: str = "N"
    stop: int = 1

    def __str__(self) -> str:
        return f"{self.baud} {self.bits}{self.parity}{self.stop}"

    @property
    def byte_ms(self) -> float:
        """Time that one byte takes on the line, in ms: start bit, data, parity and stop bits."""
        return 1000 * (1 + self.bits + (self.parity != "N") + self.stop) / self.baud
