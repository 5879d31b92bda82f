"""Altered images for 13:69E-1.28N(h): every file of a board in, every file of the altered board out.

A mutation is kept only if the PC's own reference CRC-16 over the image, or the embedded value, differs afterwards, and
not both alike; what else it keeps (a CRC-8, a checksum) is said in its name. Nothing here is random: the same image
gives the same mutations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import crcmod  # type: ignore[import-untyped]
import pytest
from pitbench.image_error import ImageError
from pitbench.manifest import resealed
from pitbench.signature import CRC_FILE, SEALS, embedded_crc, image_crc, image_part, walk
from pitbench.signing import signing_key
from pitbench.virtual.flash import BoardFlash

Files = Mapping[str, bytes]
"""Path on the board → content, of every file of the board."""

# Nine bits are enough: of nine changes of an 8-bit check, some always cancel out.
BITS_TRIED = 12


@dataclass(frozen=True)
class Mutation:
    """One altered board.

    Args:
        name: what was done to which file.
        files: every file of the board afterwards.
        extra: path that the layout doesn't know, "" for none.
    """

    name: str
    files: Files
    extra: str = ""

    def changes_reference(self, files: Files) -> bool:
        """Whether the PC's CRC-16, or the embedded value, isn't that of `files`, and they don't agree."""
        old, new = image_part(files), image_part(self.files)
        changed = (image_crc(old), embedded_crc(old)) != (image_crc(new), embedded_crc(new))
        return changed and image_crc(new) != embedded_crc(new)


def measured(files: Files) -> list[str]:
    """Their paths in byte order; the embedded value is left out, and manifest and its signature are."""
    return sorted(path for path in image_part(files) if path not in SEALS)


def mutations(files: Files, kind: str) -> list[Mutation]:
    """Every mutation of a kind, each confirmed to change the reference CRC where it alters a measured file."""
    return [found for found in MAKERS[kind](files) if kind == "extra-file" or found.changes_reference(files)]


def lay_out(flash: BoardFlash, old: Files, new: Files) -> None:
    """Make a switched-off board hold `new` where it holds `old`; only what differs is touched."""
    changed = {path: data for path, data in new.items() if old.get(path) != data}
    flash.change(changed, sorted(old.keys() - new.keys()))


def sealed_alike(files: Files, good: Files) -> Files:
    """Altered files with a manifest over them, signed by the key that signed the sound ones.

    Skips the test that asks where this bench hasn't got that key.
    """
    try:
        return resealed(files, good, signing_key())
    except ImageError as error:
        pytest.skip(f"needs signing_key: {error}")


def flipped(data: bytes, *bits: int) -> bytes:
    """Data with some bits inverted, counted from the first byte's lowest."""
    changed = bytearray(data)
    for bit in bits:
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


# Where the name of its source ends in a file of bytecode.
_NAME_END = b".py\0"


def one_byte_altered(files: Files, which: int = -1) -> dict[str, bytes]:
    """The board with one bit of one measured file inverted, on which nothing hangs: in the name that its errors give.

    A board that doesn't compare runs on; other bits would stop it by a failure, and hide that it didn't.
    """
    path = measured(files)[which]
    return {**files, path: flipped(files[path], files[path].index(_NAME_END) * 8 - 8)}


def _edited(files: Files, name: str, **edits: Callable[[bytes], bytes]) -> Iterator[Mutation]:
    for path in measured(files):
        for edit, change in edits.items():
            yield Mutation(f"{path}: {name}{edit}", {**files, path: change(files[path])})


def _bit_flips(files: Files) -> Iterator[Mutation]:
    """Two bits of each file: one of its first byte, one farther on, at another place in each."""
    for number, path in enumerate(measured(files)):
        bits = len(files[path]) * 8
        for place in (0, (bits - 8) * (number % 7) // 7 // 8 * 8 + 8):
            bit = min(place, bits - 8) + (number + place) % 8
            yield Mutation(f"{path}: bit {bit} flipped", {**files, path: flipped(files[path], bit)})


def _truncated(files: Files) -> Iterator[Mutation]:
    yield from _edited(files, "cut by ", one=lambda data: data[:-1])
    for path in measured(files)[::5]:
        yield Mutation(f"{path}: cut to half", {**files, path: files[path][: len(files[path]) // 2]})
        yield Mutation(f"{path}: cut to nothing", {**files, path: b""})


def _appended(files: Files) -> Iterator[Mutation]:
    tails = {"a zero": b"\0", "FF": b"\xff", "its own start": b"M\x06", "half a kilobyte of zeros": bytes(512)}
    for number, path in enumerate(measured(files)):
        name, tail = list(tails.items())[number % len(tails)]
        yield Mutation(f"{path}: {name} appended", {**files, path: files[path] + tail})


def _renamed(files: Files) -> Iterator[Mutation]:
    for path in measured(files):
        name = path.removesuffix(".mpy")
        # Its place among the others stays, for the most part.
        rest = {other: data for other, data in files.items() if other != path}
        yield Mutation(f"{path} renamed {name}_.mpy", {**rest, f"{name}_.mpy": files[path]})


def _swapped(files: Files) -> Iterator[Mutation]:
    paths = measured(files)
    for one, other in (*zip(paths, paths[1:], strict=False), (paths[0], paths[-1])):
        yield Mutation(f"{one} and {other} swapped", {**files, one: files[other], other: files[one]})


def _moved_across_files(files: Files) -> Iterator[Mutation]:
    """Bytes that leave one file's end for the start of the next, or the other way; their order stays."""
    paths = measured(files)
    for number, (one, other) in enumerate(zip(paths, paths[1:], strict=False)):
        joined, at = files[one] + files[other], len(files[one])
        at += (-1, 1, -7, 100)[number % 4]
        moved = {**files, one: joined[:at], other: joined[at:]}
        yield Mutation(f"end of {one} moved by {at - len(files[one])} bytes into {other}", moved)


def _leading_zeros(files: Files) -> Iterator[Mutation]:
    for number, path in enumerate(measured(files)):
        count = (1, 2, 4, 64)[number % 4]
        yield Mutation(f"{path}: {count} zeros before it", {**files, path: bytes(count) + files[path]})


def _embedded_value(files: Files) -> Iterator[Mutation]:
    right = files[CRC_FILE]
    for bit in range(16):
        yield Mutation(f"embedded value: bit {bit} flipped", {**files, CRC_FILE: flipped(right, bit)})
    others = {
        "0000": bytes(2),
        "FFFF": b"\xff\xff",
        "bytes swapped": right[::-1],
        "second byte missing": right[:1],
        "empty": b"",
        "one byte more": right + b"\0",
        "twice": right * 2,
        "in hex": right.hex().encode(),
    }
    for name, data in others.items():
        if data != right:
            yield Mutation(f"embedded value: {name}", {**files, CRC_FILE: data})
    yield Mutation("embedded value: file missing", {path: data for path, data in files.items() if path != CRC_FILE})


# -- changes that an 8-bit check doesn't see ------------------------------------------------------------------------

Check8 = Callable[[Files], int]


def _over_image(function: Callable[[bytes, int], int], start: int) -> Check8:
    """An 8-bit check over the same bytes as the signature."""

    def check(files: Files) -> int:
        value = start
        for piece in walk(image_part(files), with_seals=False):
            value = function(piece, value)
        return value

    return check


def _crc8(poly: int, start: int = 0, *, reflected: bool = False) -> Check8:
    return _over_image(crcmod.mkCrcFun(0x100 | poly, start, reflected, 0), start)


CHECKS_8 = {
    "low byte of the CRC-16": lambda files: image_crc(image_part(files)) & 255,
    "high byte of the CRC-16": lambda files: image_crc(image_part(files)) >> 8,
    "CRC-8 07": _crc8(0x07),
    "CRC-8 31 reflected": _crc8(0x31, reflected=True),
    "CRC-8 9B": _crc8(0x9B, 0xFF),
    "exclusive or": _crc8(0x01),  # x^8 + 1
}


def _same_crc_8(files: Files) -> Iterator[Mutation]:
    """A few bits that change the CRC-16 and leave an 8-bit check as it was, near the start, middle and end."""
    paths = measured(files)
    for name, check in CHECKS_8.items():
        for path in (paths[0], paths[len(paths) // 2], paths[-1]):
            bits = _unseen_by(check, files, path)
            if bits:
                yield Mutation(f"{path}: {name} kept", {**files, path: flipped(files[path], *bits)})


def _unseen_by(check: Check8, files: Files, path: str) -> tuple[int, ...]:
    """Bits of a file whose flips cancel out in a check that is linear, as any CRC is; () for none."""
    before, first = check(files), len(files[path]) * 4
    seen = {bit: check({**files, path: flipped(files[path], bit)}) ^ before for bit in range(first, first + BITS_TRIED)}
    for count in range(1, len(seen) + 1):
        for bits in combinations(seen, count):
            if not _joined(seen[bit] for bit in bits) and _changes_crc_16(files, path, bits):
                return bits
    return ()


def _joined(changes: Iterator[int]) -> int:
    value = 0
    for change in changes:
        value ^= change
    return value


def _changes_crc_16(files: Files, path: str, bits: tuple[int, ...]) -> bool:
    return image_crc(image_part({**files, path: flipped(files[path], *bits)})) != image_crc(image_part(files))


# -- files that the layout doesn't know -----------------------------------------------------------------------------

# A stray file that is run leaves its mark.
MARK = "/data/ran"
STRAY = b"open('/data/ran', 'w').close()\nraise SystemExit\n"
STRAYS = (
    "/hashlib.py", "/uhashlib.py", "/micropython.py", "/x", "/boot.mpy", "/main.mpy", "/image.crc", "/.hidden",
    "/lib/hashlib.py", "/lib/x.mpy", "/tmp/x",
    "/boot/ustruct.py", "/boot/uos.py", "/boot/x.mpy", "/boot/x/y.mpy",
    "/data/c", "/data/log2", "/data/x.py", "/data/a.bak", "/data/old/a",
)  # fmt: skip
# Imported in place of the boot block's own bytecode, if anything were imported: nobody is left to answer.
SHADOWS = ("/boot/verify.py", "/boot/block.py", "/boot/crc/__init__.py", "/boot/responder.py")
# Inside the image a stray file changes the reference CRC: the signature finds it.
IMAGE_STRAYS = (
    "/image/hashlib.py", "/image/main.py", "/image/x.mpy", "/image/crc.bak", "/image/device/json.py",
    "/image/hal/x", "/image/link/server.py", "/image/lib/x.mpy", "/image/.hidden",
)  # fmt: skip


def shadowing(files: Files) -> list[Mutation]:
    """Boards with a source beside the boot block's bytecode."""
    return [Mutation(f"{path} added", {**files, path: STRAY}, path) for path in SHADOWS]


def _extra_file(files: Files) -> Iterator[Mutation]:
    for path in STRAYS + IMAGE_STRAYS:
        # Outside the image the board names the path; of a folder that it doesn't know it names the folder.
        extra = "" if path.startswith("/image/") else path
        yield Mutation(f"{path} added", {**files, path: STRAY}, extra)


MAKERS: dict[str, Callable[[Files], Iterator[Mutation]]] = {
    "bit-flips": _bit_flips,
    "same-crc-8": _same_crc_8,
    "truncated": _truncated,
    "appended": _appended,
    "renamed": _renamed,
    "swapped": _swapped,
    "moved-across-files": _moved_across_files,
    "leading-zeros": _leading_zeros,
    "embedded-value": _embedded_value,
    "extra-file": _extra_file,
}
