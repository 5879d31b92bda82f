"""MicroPython's ucollections is CPython's collections."""

from collections import *  # noqa: F403
