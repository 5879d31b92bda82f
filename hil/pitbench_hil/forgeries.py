"""Boards that somebody without the key altered, for 13:69E-1.28X(h): the CRC is as it was, the signature can't be.

CRC-16 is no obstacle: two bytes of an altered file bring it back to what it was. Where no byte is free, as with a
missing file, the embedded CRC is altered too, so that it fits; the manifest finds that as well, and so the board has to
name the file itself. Each forgery is confirmed on the PC, by another's RSA, to be no image of the key. Nothing here is
random but another maker's key: the same image gives the same forgeries. Those that need the key itself sign what its
holder never would.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import crcmod  # type: ignore[import-untyped]
from pitbench.board_facts import constants
from pitbench.compiler import compile_one
from pitbench.image import Image
from pitbench.manifest import manifest_faults, manifest_text, read_head, sealed, signed_files
from pitbench.signature import CRC_FILE, MANIFEST_FILE, SEALS, SIGNATURE_FILE, encoded_path, image_crc, image_part
from pitbench.signing import EXPONENT, SigningKey, fingerprint, signing_key

from pitbench_hil.mutations import MAKERS, MARK, Files, Mutation, flipped

KEY_FILE = "/boot/key.mpy"
KEY_BYTES = 256
# Leaves its mark as soon as it is imported.
MARKING = f"open('{MARK}', 'w').close()\nraise SystemExit\n"
# The image's CRC, and of its table the place of each entry by its upper byte: no two have the same.
CRC_16 = crcmod.mkCrcFun(0x11021, 0, True, 0)
_TABLE = [CRC_16(bytes([entry])) for entry in range(256)]
_ENTRIES = {entry >> 8: place for place, entry in enumerate(_TABLE)}
# RFC 8017, 9.2, note 1.
_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


def forgeries(files: Files, kind: str) -> list[Mutation]:
    """Every forgery of a kind; each is confirmed to be no image of the key."""
    modulus = modulus_of(files)
    return [found for found in FORGERS[kind](files) if is_forged(found.files, files, modulus)]


def is_forged(files: Files, good: Files, modulus: bytes) -> bool:
    """Whether the PC finds it wrong: by manifest and key, or because another key or another file lies outside."""
    outside = any(path not in good for path in files if not path.startswith("/image/"))
    return outside or modulus not in files[KEY_FILE] or bool(manifest_faults(image_part(files), modulus))


def with_fitting_crc(files: Files) -> dict[str, bytes]:
    """What anybody can do to altered files."""
    return {**files, CRC_FILE: image_crc(image_part(files)).to_bytes(2, "big")}


def one_byte_changed(files: Files, path: str) -> dict[str, bytes]:
    """The board with one byte of a file changed, at another place in each, and two at its end that keep the CRC."""
    data = files[path]
    changed = flipped(data, sum(path.encode()) * 37 % max(1, len(data) - 2) * 8 + 4)
    return {**files, path: changed} if path in SEALS else with_crc_kept(files, path, changed)


def with_crc_kept(files: Files, path: str, data: bytes) -> dict[str, bytes]:
    """The board with this content of a file, of which the last two bytes give way so that the CRC stays as it was."""
    sound = image_part(files)
    before = {other: sound[other] for other in sound if encoded_path(other) < encoded_path(path)}
    kept = data[:-2]
    head = encoded_path(path) + b"\0" + len(data).to_bytes(4, "little")
    wanted = image_crc({**before, path: sound[path]} if path in sound else before)
    return {**files, path: kept + _closing(CRC_16(head + kept, image_crc(before)), wanted)}


def _closing(state: int, wanted: int) -> bytes:
    """The two bytes that lead a reflected CRC-16 from one state to another."""
    last = _ENTRIES[wanted >> 8]
    first = _ENTRIES[(wanted ^ _TABLE[last]) & 255]
    between = _TABLE[first] ^ state >> 8
    return bytes([first ^ state & 255, last ^ between & 255])


def marking_code(path: str) -> bytes:
    """Bytecode, or a source, that takes the place of a file and leaves a mark if it is run; its end is free."""
    name = path.removeprefix("/image/").removesuffix(".mpy") + ".py"
    return (compile_one(name, MARKING, "marking.py") if path.endswith(".mpy") else MARKING.encode() + b"#") + b"  "


def modulus_of(files: Files) -> bytes:
    """The public key as the boot block has it: the bytes whose fingerprint the manifest gives."""
    data, wanted = files[KEY_FILE], read_head(files).key.split(" ")[0]
    found = (data[at : at + KEY_BYTES] for at in range(len(data) - KEY_BYTES + 1))
    return next(modulus for modulus in found if fingerprint(modulus) == wanted)


@cache
def another_key() -> SigningKey:
    """Another maker's key."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pem = rsa.generate_private_key(EXPONENT, KEY_BYTES * 8).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    with tempfile.TemporaryDirectory(prefix="pitbench-") as folder:
        path = Path(folder) / "another.pem"
        path.write_bytes(pem)
        return signing_key(path)


def rekeyed(image: Image, key: SigningKey) -> Image:
    """The same image as the holder of another key would have built and signed it."""
    source = constants({"NAME": key.name, "MODULUS": key.modulus})
    files = {**image.files, KEY_FILE: compile_one("boot/key.py", source, "key.py")}
    head = dataclasses.replace(image.head, key=key.label)
    return dataclasses.replace(image, files={**files, **sealed(image.image_files, head, key)})


# -- without the key ------------------------------------------------------------------------------------------------


def _code(files: Files) -> Iterator[Mutation]:
    for path in signed_files(files):
        yield Mutation(f"{path}: one byte changed", one_byte_changed(files, path), path)


def _fitted(kind: str) -> Callable[[Files], Iterator[Mutation]]:
    def made(files: Files) -> Iterator[Mutation]:
        for mutation in MAKERS[kind](files):
            yield Mutation(mutation.name, with_fitting_crc(mutation.files), _first_path(mutation))

    return made


def _first_path(mutation: Mutation) -> str:
    return mutation.name.split(" ")[0].rstrip(":")


def _truncated(files: Files) -> Iterator[Mutation]:
    for number, path in enumerate(signed_files(files)):
        name, end = (("by one", -1), ("to half", len(files[path]) // 2), ("to nothing", 0))[number % 3]
        if path not in SEALS:
            cut = with_fitting_crc({**files, path: files[path][:end]})
            yield Mutation(f"{path}: cut {name}", cut, path)


def _appended(files: Files) -> Iterator[Mutation]:
    for number, path in enumerate(signed_files(files)):
        tail = bytes((2, 3, 512)[number % 3])
        if path not in SEALS:
            yield Mutation(f"{path}: {len(tail)} bytes appended", with_crc_kept(files, path, files[path] + tail), path)


def _missing(files: Files) -> Iterator[Mutation]:
    for path in SEALS:
        # The board has words of its own for a seal that isn't there.
        yield Mutation(f"{path} taken away", _without(files, path))
    for path in signed_files(files):
        if path not in SEALS:
            yield Mutation(f"{path} taken away", with_fitting_crc(_without(files, path)), path)


def _without(files: Files, path: str) -> dict[str, bytes]:
    return {other: data for other, data in files.items() if other != path}


def _stray(files: Files) -> Iterator[Mutation]:
    tried = set[str]()
    for mutation in MAKERS["extra-file"](files):
        path = _first_path(mutation)
        tried.add(path)
        yield Mutation(mutation.name, _with_stray(files, path, mutation.files[path]), path)
    for path in signed_files(files)[::4]:
        beside = f"{path.removesuffix('.mpy')}.py"
        if path.endswith(".mpy") and beside not in tried:
            yield Mutation(f"{beside} added", _with_stray(files, beside, MARKING.encode()), beside)


def _with_stray(files: Files, path: str, data: bytes) -> dict[str, bytes]:
    if path.startswith("/image/"):
        return with_crc_kept(files, path, data + b"#  ")
    return {**files, path: data}


def _manifest(files: Files) -> Iterator[Mutation]:
    text, head = files[MANIFEST_FILE], read_head(files)
    lines = text.splitlines(keepends=True)
    digest, length, path = lines[-1].split(b" ", 2)
    others = {
        "first digit of a digest": flipped(text, (len(text) - len(lines[-1])) * 8),
        "a length": text.replace(lines[-1], b"%s %d %s" % (digest, int(length) + 1, path)),
        "a path": text.replace(lines[-1], b"%s %s /image/zz\n" % (digest, length)),
        "an entry less": b"".join(lines[:-1]),
        "an entry more": text + digest + b" 1 /image/zz\n",
        "an entry twice": text + lines[-1],
        "version raised": text.replace(b"version %d\n" % head.version, b"version %d\n" % (head.version + 1)),
        "another device": text.replace(head.device.encode(), b"card-dealer"),
        "a line of its head less": b"".join(lines[:1] + lines[2:]),
        "no last newline": text[:-1],
        "carriage returns": text.replace(b"\n", b"\r\n"),
        "empty": b"",
        "its head alone": b"".join(lines[:6]),
        "a kilobyte of zeros behind it": text + bytes(1024),
    }
    for name, data in others.items():
        yield Mutation(f"manifest: {name}", {**files, MANIFEST_FILE: data})


def _signature(files: Files) -> Iterator[Mutation]:
    right, size = files[SIGNATURE_FILE], KEY_BYTES
    others = {
        **{f"bit {bit} flipped": flipped(right, bit) for bit in (0, size * 4 + 3, size * 8 - 1)},
        "a byte less": right[:-1],
        "a byte more": right + b"\0",
        "a zero before it": b"\0" + right,
        "empty": b"",
        "zeros": bytes(size),
        "one": bytes(size - 1) + b"\1",
        "FF": b"\xff" * size,
        "plus the modulus": _wrapped(int.from_bytes(right, "big") + int.from_bytes(modulus_of(files), "big")),
        "of another key": another_key().sign(files[MANIFEST_FILE]),
    }
    for name, data in others.items():
        yield Mutation(f"signature: {name}", {**files, SIGNATURE_FILE: data})


def _wrapped(number: int) -> bytes:
    return number.to_bytes(KEY_BYTES + 1, "big").lstrip(b"\0")


def _key(files: Files) -> Iterator[Mutation]:
    modulus, data = modulus_of(files), files[KEY_FILE]
    for at in (0, KEY_BYTES // 2, KEY_BYTES - 1):
        changed = data.replace(modulus, flipped(modulus, at * 8 + 1))
        yield Mutation(f"key: byte {at} changed", {**files, KEY_FILE: changed})
    yield Mutation("key: another maker's", {**files, KEY_FILE: data.replace(modulus, another_key().modulus)})


def _code_and_manifest(files: Files) -> Iterator[Mutation]:
    """The hash lies beside the code, and both are changed."""
    paths = signed_files(files)
    for path in (paths[1], paths[len(paths) // 2], paths[-1]):
        changed = _manifest_over(files, one_byte_changed(files, path))
        rest = {other: data for other, data in changed.items() if other != SIGNATURE_FILE}
        text = changed[MANIFEST_FILE]
        signatures = {
            "signature left": files[SIGNATURE_FILE],
            "signature of zeros": bytes(KEY_BYTES),
            "its digest for a signature": hashlib.sha256(text).digest(),
            "signed with another key": another_key().sign(text),
        }
        yield Mutation(f"{path} and its digest changed, signature taken away", rest)
        for name, signature in signatures.items():
            yield Mutation(f"{path} and its digest changed, {name}", {**rest, SIGNATURE_FILE: signature})


def _manifest_over(files: Files, changed: Files) -> dict[str, bytes]:
    return {**changed, MANIFEST_FILE: manifest_text(changed, read_head(files))}


def _made_with_the_public_key(files: Files) -> Iterator[Mutation]:
    """Signatures by what the board holds: as a key of HMAC, and for exponents that need no private one."""
    changed = _manifest_over(files, one_byte_changed(files, signed_files(files)[-1]))
    text, modulus = changed[MANIFEST_FILE], modulus_of(files)
    digest = hashlib.sha256(text).digest()
    tags = {
        "HMAC over the manifest": hmac.digest(modulus, text, "sha256"),
        "HMAC over its digest": hmac.digest(modulus, digest, "sha256"),
        "digest of key and manifest": hashlib.sha256(modulus + text).digest(),
    }
    made = {f"{name}, {how}": data for name, tag in tags.items() for how, data in _placed(tag).items()}
    made["exponent of 1"] = _block(digest)
    made["exponent of 3, digest not at its end"] = _cube_root(digest)
    for name, data in made.items():
        yield Mutation(f"forged signature: {name}", {**changed, SIGNATURE_FILE: data})


def _placed(tag: bytes) -> dict[str, bytes]:
    rest = bytes(KEY_BYTES - len(tag))
    return {"alone": tag, "at the start": tag + rest, "at the end": rest + tag}


def _block(digest: bytes) -> bytes:
    """The block that is signed, RFC 8017, 9.2."""
    tail = b"\0" + _DIGEST_INFO + digest
    return b"\0\1" + b"\xff" * (KEY_BYTES - 2 - len(tail)) + tail


def _early(digest: bytes) -> bytes:
    """A block whose digest comes too early, up to there."""
    return b"\0\1" + b"\xff" * 8 + b"\0" + _DIGEST_INFO + digest


def _cube_root(digest: bytes) -> bytes:
    """A number whose cube begins like a block whose digest isn't at its end (Bleichenbacher, 2006)."""
    start = _early(digest)
    least = int.from_bytes(start + bytes(KEY_BYTES - len(start)), "big")
    low, high = 0, 1 << KEY_BYTES * 8 // 3 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**3 < least else (low, middle)
    assert (low**3).to_bytes(KEY_BYTES, "big").startswith(start)
    return low.to_bytes(KEY_BYTES, "big")


# -- with the key ---------------------------------------------------------------------------------------------------


def wrong_digits(files: Files, digits: Iterable[int]) -> Iterator[Mutation]:
    """Manifests, signed, with one hex digit of the last file's digest wrong, the file as it was."""
    line = files[MANIFEST_FILE].splitlines(keepends=True)[-1]
    for digit in digits:
        wrong = line[:digit] + _others(line[digit : digit + 1]) + line[digit + 1 :]
        yield _resigned(files, line, wrong, f"digit {digit} of a digest wrong")


def _digest_tail(files: Files) -> Iterator[Mutation]:
    lines = files[MANIFEST_FILE].splitlines(keepends=True)[6:]
    for line in (lines[0], lines[len(lines) // 2], lines[-1]):
        other = _others(line[:64])
        for right in (8, 16, 32, 63):
            wrong = line[:right] + other[right:] + line[64:]
            yield _resigned(files, line, wrong, f"{right} digits of a digest right, the others wrong")


def _others(digits: bytes) -> bytes:
    """For each hex digit another."""
    return bytes(ord("1" if digit == ord("0") else "0") for digit in digits)


def _resigned(files: Files, line: bytes, wrong: bytes, name: str) -> Mutation:
    text = files[MANIFEST_FILE].replace(line, wrong)
    signed = {MANIFEST_FILE: text, SIGNATURE_FILE: signing_key().sign(text)}
    return Mutation(f"{name}, signed: {line[65:-1].decode()}", {**files, **signed})


def _signature_tail(files: Files) -> Iterator[Mutation]:
    changed = _manifest_over(files, one_byte_changed(files, signed_files(files)[-1]))
    digest = hashlib.sha256(changed[MANIFEST_FILE]).digest()
    right = _block(digest)
    early = _early(digest)
    blocks = {
        "last byte wrong": right[:-1] + bytes([right[-1] ^ 1]),
        "first 32 bytes right": right[:32] + bytes(KEY_BYTES - 32),
        "digest of the sound manifest": _block(hashlib.sha256(files[MANIFEST_FILE]).digest()),
        "digest not at its end": early + bytes(KEY_BYTES - len(early)),
        "digest behind zeros": bytes(KEY_BYTES - len(digest)) + digest,
        "padding of zeros": right[:2] + bytes(KEY_BYTES - 54) + right[-52:],
        "block type 2": b"\0\2" + right[2:],
    }
    for name, block in blocks.items():
        yield Mutation(f"signed block: {name}", {**changed, SIGNATURE_FILE: _raised(block)})


def _raised(block: bytes) -> bytes:
    """A block as it is, to the private exponent."""
    secret, number = signing_key().secret_numbers(), int.from_bytes(block, "big")
    p, q = secret["p"], secret["q"]
    of_p, of_q = pow(number, secret["dP"], p), pow(number, secret["dQ"], q)
    return (of_q + (of_p - of_q) * secret["qInv"] % p * q).to_bytes(KEY_BYTES, "big")


FORGERS: dict[str, Callable[[Files], Iterator[Mutation]]] = {
    "code": _code,
    "manifest": _manifest,
    "signature": _signature,
    "key": _key,
    "code-and-manifest": _code_and_manifest,
    "digest-tail": _digest_tail,
    "signature-tail": _signature_tail,
    "truncated": _truncated,
    "appended": _appended,
    "renamed": _fitted("renamed"),
    "swapped": _fitted("swapped"),
    "missing": _missing,
    "stray": _stray,
    "made-with-the-public-key": _made_with_the_public_key,
}
