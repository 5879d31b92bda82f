"""MicroPython's ustruct is CPython's struct."""

from struct import *  # noqa: F403
