"""MicroPython's ubinascii is CPython's binascii."""

from binascii import *  # noqa: F403
