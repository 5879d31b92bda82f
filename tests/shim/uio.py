"""MicroPython's uio is CPython's io."""

from io import *  # noqa: F403
