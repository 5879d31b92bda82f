"""What an image is, measured on the PC: its CRC and its digest, from the bytes in a board's folder.

Written apart from the firmware's own code, with crcmod's CRC, so that both can't share a mistake.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import crcmod  # type: ignore[import-untyped]

CRC_FILE = "/image/crc"
MANIFEST_FILE = "/image/manifest"
SIGNATURE_FILE = "/image/manifest.sig"
# What the CRC leaves out: its own value, and what the key holder adds, which covers all else in its turn.
SEALS = (CRC_FILE, MANIFEST_FILE, SIGNATURE_FILE)

# CRC-16/KERMIT as mask 0x1021 reflected; a seed goes in as it is.
_KERMIT = (0x11021, True, 0)
_CRC_32 = (0x104C11DB7, True, 0xFFFFFFFF)


def image_part(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return those of a board's files that are the image's: what CRC, manifest and digest are about."""
    return {path: data for path, data in files.items() if path.startswith("/image/")}


def image_files(root: Path) -> dict[str, bytes]:
    """Return path on the board → content of every file under `root`/image, in byte order of path."""
    folder = root / "image"
    found = {f"/image/{p.relative_to(folder).as_posix()}": p for p in folder.rglob("*") if p.is_file()}
    return {path: found[path].read_bytes() for path in sorted(found, key=encoded_path)}


def walk(files: Mapping[str, bytes], *, with_seals: bool) -> Iterator[bytes]:
    """Yield the bytes that are measured: path, NUL, u32 little-endian length and content of each file.

    `with_seals` tells whether the embedded CRC, the manifest and its signature are measured too.
    """
    for path in sorted(files, key=encoded_path):
        if with_seals or path not in SEALS:
            yield encoded_path(path) + b"\0" + len(files[path]).to_bytes(4, "little")
            yield files[path]


def encoded_path(path: str) -> bytes:
    """The bytes of a path, as the board has them."""
    # A stray file may have a name that isn't UTF-8; a folder altered by a test has.
    return path.encode("utf-8", "surrogateescape")


def image_crc(files: Mapping[str, bytes], seed: int = 0, width: int = 16) -> int:
    """Return the CRC of an image: CRC-16/KERMIT, or with `width` 32 the CRC of zlib; seed 0 is the embedded one.

    Raises ValueError for another width.
    """
    if width not in (16, 32):
        raise ValueError(f"CRC width {width} is unknown; use 16 or 32")
    poly, reflected, final = _KERMIT if width == 16 else _CRC_32
    crc = crcmod.mkCrcFun(poly, seed, reflected, final)
    value = seed
    for piece in walk(files, with_seals=False):
        value = crc(piece, value)
    return int(value)


def image_digest(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 (hex) of an image; nothing is left out."""
    sha = hashlib.sha256()
    for piece in walk(files, with_seals=True):
        sha.update(piece)
    return sha.hexdigest()


def embedded_crc(files: Mapping[str, bytes]) -> int | None:
    """Return the CRC embedded in an image, None if it isn't there or isn't two bytes long."""
    data = files.get(CRC_FILE, b"")
    return int.from_bytes(data, "big") if len(data) == 2 else None
