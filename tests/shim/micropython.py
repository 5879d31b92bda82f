"""CPython's stand-in for MicroPython's module, so that tests can import the firmware's sources."""

from typing import Any


def const(value: Any) -> Any:
    return value


def kbd_intr(_character: int) -> None:
    pass


def opt_level(_level: int = 0) -> int:
    return 2
