"""A store whose power fails in the n-th write."""

from collections.abc import Callable, Iterator
from pathlib import Path

from hal.store import Files


class Cut(Exception):
    """The power went away."""


Tear = Callable[[bytes, bytes], bytes | None]
"""Old content and new content → what is found after the cut (None: no file)."""


class FaultyFiles(Files):
    """Files that leave behind what `tear` makes of write number `at` (1 is the first), and then raise."""

    def __init__(self, folder: Path, at: int = 0, tear: Tear | None = None, error: type[Exception] = Cut) -> None:
        super().__init__(str(folder))
        self._at, self._tear, self._error = at, tear, error

    def _put(self, name: str, data: bytes, mode: str) -> None:
        if self.writes + 1 != self._at or self._tear is None:
            super()._put(name, data, mode)
            return
        self.writes += 1
        old = self.read(name) or b""
        left = self._tear(old, old + data if mode == "ab" else data)
        if left is not None:
            Path(self.path(name)).write_bytes(left)
        raise self._error("power cut in the store")


def tears(size: int) -> Iterator[tuple[str, Tear]]:
    """Every way in which a write of about `size` bytes can be torn, with a name."""
    yield "before", lambda old, new: old or None
    yield "after", lambda old, new: new
    for n in range(size + 1):
        yield f"prefix {n}", lambda old, new, n=n: new[:n]
        yield f"zeros from {n}", lambda old, new, n=n: new[:n] + bytes(len(new) - len(new[:n]))
        yield f"FF from {n}", lambda old, new, n=n: new[:n] + b"\xff" * (len(new) - len(new[:n]))
        yield f"old beyond {n}", lambda old, new, n=n: new[:n] + old[n:]
