"""The signed manifest of an image: every file with its length and SHA-256, in one canonical text.

    pitbench manifest 1
    device bill-acceptor
    kind bench
    revision 0123456789ab
    version 1
    key 0123456789abcdef test key
    SHA-256 LENGTH PATH          one line a file, in byte order of path

All files under /image but the manifest itself and its signature, /image/crc too. Written apart from the firmware's
own code; RSA is the cryptography package's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields

from pitbench.image_error import ImageError
from pitbench.signature import MANIFEST_FILE, SIGNATURE_FILE, encoded_path, image_part
from pitbench.signing import SigningKey, is_signed

FORMAT = "pitbench manifest 1"
_SEALS = (MANIFEST_FILE, SIGNATURE_FILE)

Files = Mapping[str, bytes]
"""Path on the board → content."""


@dataclass(frozen=True)
class Head:
    """What a manifest says of the image as a whole.

    Args:
        version: counts up; a board refuses less than the highest that it has run.
        key: fingerprint and name of the key that signs it.
    """

    device: str
    kind: str
    revision: str
    version: int
    key: str


def manifest_text(files: Files, head: Head) -> bytes:
    """The canonical text over every file under /image that it is about; other files are left aside."""
    first = [FORMAT, *(f"{field.name} {getattr(head, field.name)}" for field in fields(Head))]
    return "\n".join(first).encode() + b"\n" + b"".join(_line(path, files[path]) for path in signed_files(files))


def read_head(files: Files) -> Head:
    """What the manifest of an image says of it. Raises ImageError where there is none, or another text."""
    first = files.get(MANIFEST_FILE, b"").decode(errors="replace").split("\n")
    words = dict(line.partition(" ")[::2] for line in first[1 : len(fields(Head)) + 1])
    if first[0] != FORMAT or list(words) != [field.name for field in fields(Head)] or not words["version"].isdigit():
        raise ImageError("The image has no manifest.", "Build it again with `pitbench image`.")
    return Head(words["device"], words["kind"], words["revision"], int(words["version"]), words["key"])


def sealed(files: Files, head: Head, key: SigningKey) -> dict[str, bytes]:
    """The files with a manifest over them, and its signature."""
    text = manifest_text(files, head)
    return {**files, MANIFEST_FILE: text, SIGNATURE_FILE: key.sign(text)}


def resealed(files: Files, like: Files, key: SigningKey) -> dict[str, bytes]:
    """Altered files sealed as the holder of the key would: only their CRC tells them from a sound image.

    Args:
        files: to be sealed, whatever they are.
        like: the sound image, whose manifest says what it is.
        key: that it was sealed with.

    Raises ImageError when the sound image was sealed with another key.
    """
    head = read_head(like)
    if head.key.split(" ")[0] != key.fingerprint:
        raise ImageError(
            f"The image is signed with key {head.key}, and this bench has {key.label}.",
            "Give its key with PITBENCH_SIGNING_KEY.",
        )
    return sealed(files, head, key)


def manifest_faults(files: Files, modulus: bytes) -> list[str]:
    """What is wrong with an image by its manifest and the key with this modulus, a sentence's part each; [] if nothing.

    For the bench, which doesn't believe what a board says of itself.
    """
    text = files.get(MANIFEST_FILE, b"")
    if not is_signed(text, files.get(SIGNATURE_FILE, b""), modulus):
        return [f"{SIGNATURE_FILE} is no signature of {MANIFEST_FILE} by this key"]
    named = {line.split(b" ", 2)[2]: line for line in text.splitlines(keepends=True)[len(fields(Head)) + 1 :]}
    there = {encoded_path(path) + b"\n": _line(path, files[path]) for path in signed_files(files)}
    different = sorted(path for path in named.keys() | there.keys() if named.get(path) != there.get(path))
    return [f"{_how(path, named, there)} file {path[:-1].decode(errors='replace')}" for path in different]


def _how(path: bytes, named: Mapping[bytes, bytes], there: Mapping[bytes, bytes]) -> str:
    return "missing" if path not in there else "extra" if path not in named else "altered"


def signed_files(files: Files) -> list[str]:
    """Paths of the files that a manifest is about, in byte order."""
    return sorted((path for path in image_part(files) if path not in _SEALS), key=encoded_path)


def _line(path: str, data: bytes) -> bytes:
    return f"{hashlib.sha256(data).hexdigest()} {len(data)} ".encode() + encoded_path(path) + b"\n"
