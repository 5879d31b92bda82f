"""MicroPython's uarray is CPython's array."""

from array import *  # noqa: F403
