"""MicroPython's uerrno is CPython's errno."""

from errno import *  # noqa: F403
