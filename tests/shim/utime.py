"""MicroPython's utime: ticks that wrap at 2^30, as on a board."""

from time import monotonic, sleep, time

__all__ = ["sleep_ms", "ticks_add", "ticks_diff", "ticks_ms", "time"]

_PERIOD = 1 << 30


def ticks_ms() -> int:
    return int(monotonic() * 1000) % _PERIOD


def ticks_add(ticks: int, delta: int) -> int:
    return (ticks + delta) % _PERIOD


def ticks_diff(a: int, b: int) -> int:
    """Signed difference of two ticks (MicroPython: time.ticks_diff)."""
    return (a - b + _PERIOD // 2) % _PERIOD - _PERIOD // 2


def sleep_ms(ms: int) -> None:
    sleep(ms / 1000)
