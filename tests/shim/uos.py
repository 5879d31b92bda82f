"""MicroPython's uos is CPython's os, as far as the firmware uses it."""

from collections.abc import Iterator
from os import listdir, mkdir, remove, rename, rmdir, scandir, stat, urandom

__all__ = ["ilistdir", "listdir", "mkdir", "remove", "rename", "rmdir", "stat", "urandom"]

_DIR, _FILE, _OTHER = 0x4000, 0x8000, 0x1000


def ilistdir(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield (name, kind, inode) of each entry, kinds as MicroPython gives them."""
    for entry in scandir(folder):
        is_dir, is_file = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
        yield entry.name, _DIR if is_dir else _FILE if is_file else _OTHER, entry.inode()
