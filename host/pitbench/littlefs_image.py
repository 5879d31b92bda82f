"""A board's littlefs as bytes: made from files, read, and altered while the board is off.

Geometry and cache as MicroPython mounts it (extmod/vfs_lfsx.c: cache = 4 × program size, at most a block). A file that
littlefs keeps inline must fit the cache of the reader, so a larger one here would make files that the board can't read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from littlefs import LittleFS, LittleFSError, UserContext

from pitbench.errors import PitbenchError

# The layout of a new file system: every MicroPython reads it. One that a board made itself may be newer.
DISK_VERSION = 0x00020000
ANY_VERSION = 0


@dataclass(frozen=True)
class Geometry:
    """Where a board's file system lies and how it is cut, in bytes.

    Args:
        offset: from the start of flash.
        size, block, prog, lookahead: of the file system.
    """

    offset: int
    size: int
    block: int
    prog: int
    lookahead: int

    @property
    def place(self) -> slice:
        """Of the file system in the flash."""
        return slice(self.offset, self.offset + self.size)


def geometry(facts: Mapping[str, object]) -> Geometry:
    """Return the geometry that a board's file gives. Raises PitbenchError when it gives none."""
    names = ("fs_offset", "fs_bytes", "fs_block", "fs_prog", "fs_lookahead")
    values = [facts.get(name) for name in names]
    if facts.get("fs") != "littlefs2" or not all(isinstance(value, int) for value in values):
        raise PitbenchError(
            f"No file system can be made on the PC for {facts.get('name')}: its file doesn't say where it lies.",
            "Copy the image with `pitbench flash`.",
        )
    offset, size, block, prog, lookahead = (int(str(value)) for value in values)
    return Geometry(offset, size, block, prog, lookahead)


def make_filesystem(files: Mapping[str, bytes], facts: Mapping[str, object]) -> bytes:
    """Return a new file system that holds `files` (path on the board → content).

    Raises PitbenchError when they don't fit, or the board's file gives no geometry.
    """
    shape = geometry(facts)
    context = UserContext(shape.size)
    filesystem = _filesystem(context, shape)
    try:
        filesystem.format()
        filesystem.mount()
        _put(filesystem, files)
    except LittleFSError as error:
        raise _failed("The files can't be put into a file system", error) from error
    filesystem.unmount()
    return bytes(context.buffer)


def read_files(content: bytes, facts: Mapping[str, object]) -> dict[str, bytes]:
    """Return path on the board → content of every file in a file system. Raises PitbenchError."""
    with _mounted(bytearray(content), facts) as filesystem:
        return {path: _read(filesystem, path) for path in _paths(filesystem)}


def change_files(
    content: bytes, facts: Mapping[str, object], put: Mapping[str, bytes] | None = None, remove: Iterable[str] = ()
) -> bytes:
    """Return a file system with files replaced, added or removed, and every other block as it was.

    Folders that a removed file leaves empty go with it.

    Raises PitbenchError for a file to remove that isn't there, and when the new ones don't fit.
    """
    buffer = bytearray(content)
    with _mounted(buffer, facts) as filesystem:
        for path in remove:
            _remove(filesystem, path)
        _put(filesystem, put or {})
    return bytes(buffer)


def _filesystem(context: UserContext, shape: Geometry, version: int = DISK_VERSION) -> LittleFS:
    return LittleFS(
        context=context,
        mount=False,
        block_size=shape.block,
        block_count=shape.size // shape.block,
        read_size=shape.prog,
        prog_size=shape.prog,
        cache_size=min(shape.block, 4 * shape.prog),
        lookahead_size=shape.lookahead,
        disk_version=version,
    )


@contextmanager
def _mounted(buffer: bytearray, facts: Mapping[str, object]) -> Iterator[LittleFS]:
    context, shape = UserContext(buffer=buffer), geometry(facts)
    try:
        filesystem = _mount(context, shape)
        yield filesystem
        filesystem.unmount()
    except LittleFSError as error:
        raise _failed("The board's file system can't be used", error) from error


def _mount(context: UserContext, shape: Geometry) -> LittleFS:
    # Asked for our own version first: mounted as any, an older file system would be made newer by a write.
    for version in (DISK_VERSION, ANY_VERSION):
        filesystem = _filesystem(context, shape, version)
        try:
            filesystem.mount()
            break
        except LittleFSError as error:
            if error.code != LittleFSError.Error.LFS_ERR_INVAL or version == ANY_VERSION:
                raise
    return filesystem


def _put(filesystem: LittleFS, files: Mapping[str, bytes]) -> None:
    for path in sorted(files):
        folder = path.rpartition("/")[0]
        if folder:
            filesystem.makedirs(folder, exist_ok=True)
        with filesystem.open(path, "wb") as file:
            file.write(files[path])


def _read(filesystem: LittleFS, path: str) -> bytes:
    with filesystem.open(path, "rb") as file:
        return bytes(file.read())


def _remove(filesystem: LittleFS, path: str) -> None:
    try:
        filesystem.remove(path)
    except FileNotFoundError as error:
        raise PitbenchError(f"The board's file system has no {path} to remove.", "Look at the path.") from error
    folder = path.rpartition("/")[0]
    while folder and not filesystem.listdir(folder):
        filesystem.remove(folder)
        folder = folder.rpartition("/")[0]


def _paths(filesystem: LittleFS) -> list[str]:
    found = []
    for folder, _, names in filesystem.walk("/"):
        found += [f"{folder.rstrip('/')}/{name}" for name in names]
    return found


def _failed(what: str, error: LittleFSError) -> PitbenchError:
    if error.code == LittleFSError.Error.LFS_ERR_NOSPC:
        return PitbenchError(f"{what}: it is full.", "Make the files smaller.")
    return PitbenchError(f"{what}: it is damaged ({error}).", "Take it away, and start from a fresh one.")
