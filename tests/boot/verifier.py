"""The boot block's verifier on CPython, looking into a folder as if it were the board's file system."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import uos
from pitbench.signing import SigningKey

FIRMWARE = Path(__file__).parents[2] / "firmware"
OURS = ("crc", "verify", "authority", "key")


class Verifier:
    """`verify` and `authority` of the boot block over a folder.

    Args:
        root: the board's file system.
        key: whose modulus is in the boot block.
    """

    def __init__(self, root: Path, key: SigningKey) -> None:
        self.root = root
        self.verify, self.authority = _loaded(key)
        for module in (self.verify, self.authority):
            vars(module).update(open=self._open, uos=SimpleNamespace(stat=self._stat, ilistdir=self._ilistdir))

    def start(self) -> SimpleNamespace:
        """What the boot block finds at a start: ok and why of the signature, doubt and the rest of its boot object."""
        boot = SimpleNamespace(port=SimpleNamespace(feed=lambda: None), trusted=None)
        boot.ok, boot.why = self.authority.check(boot)
        return boot

    def run(self, trusted: bytes, only: str | None = None) -> tuple[bool, str]:
        """What a check finds while the application runs."""
        check = self.verify.Authenticity(trusted, only)
        while (result := check.step()) is None:
            pass
        return result

    def _place(self, path: str) -> str:
        return f"{self.root}{path}"

    def _open(self, path: str, mode: str = "r") -> object:
        return open(self._place(path), mode)

    def _stat(self, path: str) -> os.stat_result:
        return os.stat(self._place(path))

    def _ilistdir(self, path: str) -> Iterator[tuple[str, int, int]]:
        return uos.ilistdir(self._place(path))


def _loaded(key: SigningKey) -> tuple[ModuleType, ModuleType]:
    with _boot_block_on_the_path():
        stand_in = ModuleType("key")
        vars(stand_in).update(MODULUS=key.modulus, NAME=key.name)
        sys.modules["key"] = stand_in
        return importlib.import_module("verify"), importlib.import_module("authority")


@contextmanager
def _boot_block_on_the_path() -> Iterator[None]:
    """Its modules are nobody else's: they have common names."""
    before = {name: sys.modules.pop(name, None) for name in OURS}
    sys.path.insert(0, str(FIRMWARE / "boot"))
    try:
        yield
    finally:
        sys.path.remove(str(FIRMWARE / "boot"))
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module:
                sys.modules[name] = module
