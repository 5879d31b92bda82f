"""MicroPython's ujson is CPython's json."""

from json import *  # noqa: F403
