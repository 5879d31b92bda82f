"""The image of a board: which files, compiled, signed, and put into a folder.

An image is bytecode only. One revision gives the same bytes from any folder, and the files under /image are the same
for every board; what differs between boards lies in /boot.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pitbench import compiler
from pitbench.board_facts import board_facts, board_module, board_names, constants, first_lines, march_of
from pitbench.errors import UnknownName
from pitbench.image_error import ImageError
from pitbench.manifest import Head, read_head, sealed
from pitbench.signature import CRC_FILE, image_crc, image_digest, image_part
from pitbench.signing import SigningKey, signing_key
from pitbench.sources import TUNNEL_OPS, Tree, product_name, wires_of

KINDS = ("bench", "release")
VERSION = "0.1.0"
# In the manifest. Raised with a release whose predecessors must not come back: boards that ran it refuse them. A
# product's own `image_version` goes before it.
IMAGE_VERSION = 1

# Sources that go to the board as they are, because a board looks for them by name.
_PLAIN = {"boot.py": "/boot.py", "boot/start.py": "/main.py"}
# A board has one port, beside its boot block: those of other boards would only cost it room and time to sign.
_PORTS = "hal/port_"
# And one wire, in which the boot block answers too.
_RESPONDERS, _RESPONDER = "boot/responder_", "boot/responder_wire.py"
# The boot block's CRC, in bytecode and in the code of the board's CPU.
_CRC, _CRC_NATIVE = "boot/crc.py", "boot/crc_viper.py"


@dataclass(frozen=True)
class Image:
    """One built image in a folder laid out as the board's file system."""

    folder: Path
    device: str
    kind: str
    board: str
    version: str
    revision: str
    wire: str
    crc: int
    digest: str
    files: Mapping[str, bytes]
    """Path on the board → content, boot block included."""

    @property
    def image_files(self) -> dict[str, bytes]:
        """The files under /image alone: what CRC, manifest and digest are about."""
        return image_part(self.files)

    @property
    def head(self) -> Head:
        """What the manifest says of the image. Raises ImageError for an image without one."""
        return read_head(self.files)

    @property
    def key(self) -> str:
        """Fingerprint and name of the key that signed it: "test key" for the published one. Raises ImageError."""
        return self.head.key


def build_image(
    device: str,
    kind: str,
    out: Path,
    *,
    board: str = "unix",
    wire: str | None = None,
    tunnel: bool = False,
    sources: Path | None = None,
    patches: Mapping[str, str] | None = None,
    product: Mapping[str, str | int] | None = None,
    key: SigningKey | None = None,
) -> Image:
    """Build the image of `device` (as `bill-acceptor`) for `board` into the folder `out`, and return it.

    Args:
        kind: "bench" or "release".
        wire: the protocol, None for the device's usual one.
        tunnel: whether the wire goes over the link, for a board that has no second port for it.
        sources: another firmware folder than this tree's.
        patches: new texts by path in that folder, as `device/bill_acceptor.py`.
        product: constants that replace or join those of product.py.
        key: signs the manifest (default: signing_key()).

    Raises UnknownName for an unknown device, board, wire or kind, ImageError for a patch of no file, for a source that
    won't compile and for a key that won't do.
    """
    if kind not in KINDS:
        raise UnknownName("image kind", kind, list(KINDS))
    tree = Tree(sources, patches)
    facts = {**board_facts(board), "tunnel": tunnel}
    device = product_name(device)
    revision = tree.revision(device, compiler.identity(), wire)
    names: dict[str, object] = {"DEVICE": device, "VERSION": VERSION, "REVISION": revision, "KIND": kind}
    names |= {**tree.constants(device, wire), **(product or {})}
    if tunnel:
        names["LATE_OPS"] = [*names["LATE_OPS"], *TUNNEL_OPS]  # type: ignore[misc]
    number, key = int(str(names.pop("IMAGE_VERSION", IMAGE_VERSION))), key or signing_key()
    files = _compile(tree, tree.files(device, kind, wire, tunnel=tunnel), facts, names, key)
    image = image_part(files)
    crc = image_crc(image)
    image[CRC_FILE] = crc.to_bytes(2, "big")
    image = sealed(image, Head(device, kind, str(names["REVISION"]), number, key.label), key)
    files |= image
    version, revision, wire = (str(names[name]) for name in ("VERSION", "REVISION", "WIRE"))
    _clear(out)
    built = Image(out, device, kind, board, version, revision, wire, crc, image_digest(image), files)
    _write(files, out)
    return built


def load_image(folder: Path, device: str, kind: str) -> Image:
    """Read a built image from the folder that build_image wrote. Raises ImageError when there is none."""
    if not (folder / CRC_FILE[1:]).is_file():
        raise no_image(folder)
    files = board_files(folder)
    image = image_part(files)
    crc = int.from_bytes(image[CRC_FILE], "big")
    wire = _named_in(files.get("/image/product.mpy", b""), wires_of(device))
    return Image(folder, device, kind, _board_of(files), VERSION, "", wire, crc, image_digest(image), files)


def board_files(folder: Path) -> dict[str, bytes]:
    """Read every file that runs on a board, by its path there, from an image's folder or a board's.

    Raises ImageError where there is none.
    """
    # Looked for first: a wrong folder may be a whole disk.
    if not (folder / "boot.py").is_file():
        raise no_image(folder)
    found = {f"/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}
    return {path: place.read_bytes() for path, place in found.items() if not path.startswith("/data/")}


def _board_of(files: Mapping[str, bytes]) -> str:
    """The board whose facts are in a boot block, "" where it doesn't say."""
    return _named_in(files.get("/boot/board.mpy", b""), board_names())


def _named_in(module: bytes, names: Iterable[str]) -> str:
    """The longest of the names that a compiled module holds, "" for none."""
    return max((name for name in names if name.encode() in module), key=len, default="")


def no_image(folder: Path) -> ImageError:
    """The error for a folder without a built image."""
    return ImageError(f"{folder} holds no built image.", "Build one with `pitbench image`, and name its --out folder.")


def install(image: Image, root: Path) -> None:
    """Put an image into a board's folder, in place of the one there; its data are left alone.

    The board must be off.
    """
    _clear(root)
    _write(image.files, root)


def sha256_list(image: Image) -> dict[str, str]:
    """Return path on the board → SHA-256 (hex) of each file, as a report lists them."""
    return {path: hashlib.sha256(data).hexdigest() for path, data in sorted(image.files.items())}


def _compile(
    tree: Tree, names: list[str], facts: Mapping[str, object], product: Mapping[str, object], key: SigningKey
) -> dict[str, bytes]:
    port = f"{_PORTS}{facts['port']}.py"
    if port not in names:
        raise ImageError(f"board {facts['name']} wants {port}, which the firmware hasn't got.", "Add it.")
    responder = f"{_RESPONDERS}{product.get('WIRE')}.py"
    if responder not in names:
        raise ImageError(f"wire {product.get('WIRE')} wants {responder}, which the firmware hasn't got.", "Add it.")
    texts = {name: tree.text(name) for name in names if not name.startswith((_PORTS, _RESPONDERS))}
    texts["product.py"] = constants(product)
    texts["boot/board.py"] = board_module(facts)
    texts["boot/key.py"] = constants({"NAME": key.name, "MODULUS": key.modulus})
    texts["boot/port.py"] = tree.text(port)
    texts[_RESPONDER] = tree.text(responder)
    texts["boot.py"] = first_lines(texts["boot.py"], facts)
    places = {name: tree.place(name) for name in texts}
    places |= {"boot/port.py": tree.place(port), _RESPONDER: tree.place(responder)}
    march = _native_crc(tree, facts, texts, places)
    plain = {_PLAIN[name]: texts.pop(name).encode() for name in _PLAIN}
    compiled = compiler.compile_all({name: places[name] for name in texts}, texts, march)
    return plain | {_on_board(name): data for name, data in compiled.items()}


def _native_crc(
    tree: Tree, facts: Mapping[str, object], texts: dict[str, str], places: dict[str, str]
) -> dict[str, str]:
    """The CRC in the CPU's own code takes the place of the other, where the board's file names the CPU."""
    native = texts.pop(_CRC_NATIVE)
    cpu = march_of(facts)
    if not cpu:
        return {}
    texts[_CRC], places[_CRC] = native, places[_CRC_NATIVE]
    return {_CRC: cpu}


def _on_board(name: str) -> str:
    folder = "" if name.startswith("boot/") else "image/"
    return f"/{folder}{name.removesuffix('.py')}.mpy"


def _clear(root: Path) -> None:
    """Nothing of an earlier image stays: of another wire, say."""
    for name in ("boot", "image"):
        shutil.rmtree(root / name, ignore_errors=True)


def _write(files: Mapping[str, bytes], root: Path) -> None:
    try:
        for folder in {(root / path[1:]).parent for path in files} | {root / "data"}:
            folder.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            (root / path[1:]).write_bytes(data)
    except OSError as error:
        raise ImageError(
            f"{root} can't take an image ({error.strerror}).", "Name a folder that you can write to."
        ) from error
