"""MicroPython's usys is CPython's sys."""

from sys import *  # noqa: F403
