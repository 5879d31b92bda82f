"""MicroPython's uhashlib is CPython's hashlib."""

from hashlib import *  # noqa: F403
