"""The firmware's sources as files: which of them go into which product, with patches laid over them."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from pitbench.errors import UnknownName
from pitbench.image_error import ImageError
from pitbench.tables import read_toml

FIRMWARE = Path(__file__).parents[2] / "firmware"
_PRODUCTS = "products"
# Each device that this tree's firmware can be, by the name of its product.
DEVICES = tuple(sorted(path.stem for path in (FIRMWARE / _PRODUCTS).glob("*.toml")))

# The board's side of a wire that goes over the link, and the link's operation for it.
TUNNEL = ("boot/tunnel.py", "link/tunnel.py")
TUNNEL_OPS = ("link.tunnel", "wire")

Product = dict[str, Any]
"""One table products/NAME.toml."""


def product_name(device: str) -> str:
    """Return a device's name as products and command line write it: dashes, never underscores."""
    return device.replace("_", "-")


class Tree:
    """A folder of firmware with patches laid over it.

    Every product has a file products/NAME.toml. `own` lists, as patterns, the files that are the product's own; a
    file that no product owns is shared by all. `wires` names the protocols that it can speak: an image has the files
    of one, wire/NAME.py and wire/NAME_*.py. Every other value becomes a constant of the image's product.py. So a new
    device is new files and one table, with no edit elsewhere.
    """

    def __init__(self, folder: Path | None = None, patches: Mapping[str, str] | None = None) -> None:
        """Take `folder` (default: this tree's firmware); `patches` are new texts by path in it.

        Raises ImageError for a folder without products and for a patch of a file that isn't there.
        """
        self.folder = folder or FIRMWARE
        self.patches = dict(patches or {})
        self._products = {p.stem: _product(p) for p in sorted((self.folder / _PRODUCTS).glob("*.toml"))}
        if not self._products:
            raise ImageError(f"{self.folder} has no {_PRODUCTS}/*.toml.", "Name a folder of firmware.")
        self._names = self._list()
        for name in self.patches:
            if name not in self._names:
                raise ImageError(f"{self.folder} has no {name} to patch.", "Give a path below that folder.")

    @property
    def devices(self) -> list[str]:
        """Names of the devices that this firmware can be built for."""
        return list(self._products)

    def files(self, device: str, kind: str, wire: str | None = None, *, tunnel: bool = False) -> list[str]:
        """Return the sources of an image, as paths below the folder; bench/ is in a bench image only.

        Those of a tunnelled wire are in an image with one only.

        Raises UnknownName for an unknown device, and for a wire that it hasn't.
        """
        wire = self.wire(device, wire)
        names = [name for name in self._names if self._belongs(name, device) and _speaks(name, wire, self._wires)]
        left_out = () if tunnel else TUNNEL
        return [name for name in names if name not in left_out and (kind == "bench" or not name.startswith("bench/"))]

    def wires(self, device: str) -> list[str]:
        """Return the protocols that a device can speak, its usual one first. Raises UnknownName."""
        return [str(wire) for wire in self._product(device)["wires"]]

    def wire(self, device: str, wire: str | None = None) -> str:
        """Return the wire that is asked for, the usual one for None. Raises UnknownName."""
        wires = self.wires(device)
        if wire is not None and wire not in wires:
            raise UnknownName(f"wire of a {device}", wire, wires)
        return wire or wires[0]

    def constants(self, device: str, wire: str | None = None) -> dict[str, object]:
        """Return the constants of a product, by upper-case name. Raises UnknownName as `files`."""
        rows = self._product(device).items()
        constants: dict[str, object] = {name.upper(): value for name, value in rows if name not in ("own", "wires")}
        return {"WIRE": self.wire(device, wire), **constants}

    def text(self, name: str) -> str:
        """Return the text of a source, patched if there is a patch; line ends are LF on every PC."""
        if name in self.patches:
            return self.patches[name].replace("\r\n", "\n")
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except UnicodeDecodeError as e:
            raise ImageError(f"{self.place(name)} isn't UTF-8 at byte {e.start}.", "Save it as UTF-8.") from e

    def place(self, name: str) -> str:
        """Return where a source is found by a person, for messages."""
        return f"{self.folder / name}{' (patched)' if name in self.patches else ''}"

    def revision(self, device: str, tool: str, wire: str | None = None) -> str:
        """Return 12 hex digits of the SHA-256 over a product's sources and the compiler's version `tool`.

        It is the same for bench and release image, and for every board.
        """
        sha = hashlib.sha256(f"{tool}\0{sorted(self.constants(device, wire).items())}\0".encode())
        for name in self.files(device, "bench", wire):
            data = self.text(name).encode()
            sha.update(f"{name}\0{len(data)}\0".encode() + data)
        return sha.hexdigest()[:12]

    @property
    def _wires(self) -> set[str]:
        """Every protocol that any product can speak."""
        return {str(wire) for row in self._products.values() for wire in row["wires"]}

    def _list(self) -> list[str]:
        found = (p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*.py"))
        return sorted((name for name in found if not _hidden(name)), key=str.encode)

    def _product(self, device: str) -> Product:
        if device not in self._products:
            raise UnknownName("device", device, self.devices)
        return self._products[device]

    def _belongs(self, name: str, device: str) -> bool:
        owners = [other for other, row in self._products.items() if any(fnmatchcase(name, p) for p in row["own"])]
        return not owners or device in owners


@cache
def wire_of(device: str, wire: str | None = None) -> str:
    """Return the protocol that a product speaks on its wire, `wire` or the usual one: "id003". Raises UnknownName."""
    return Tree().wire(product_name(device), wire)


def add_wire(parser: argparse.ArgumentParser) -> None:
    """Declare the argument `--wire` of a command that builds an image."""
    every = sorted({wire for device in DEVICES for wire in wires_of(device)})
    parser.add_argument("--wire", metavar="NAME", help=f"protocol on its wire, {', '.join(every)} (default: its usual)")


@cache
def wires_of(device: str) -> list[str]:
    """Return every protocol that a product can speak, its usual one first. Raises UnknownName."""
    return Tree().wires(product_name(device))


def _speaks(name: str, wire: str, wires: set[str]) -> bool:
    """Whether a source is of this wire, or of none."""
    folder, _, stem = name.removesuffix(".py").rpartition("/")
    owner = {"wire": stem.split("_")[0], "boot": stem.removeprefix("responder_")}.get(folder)
    return owner not in wires or owner == wire


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "__pycache__")) for part in name.split("/"))


def _product(path: Path) -> Product:
    product = read_toml(path)
    for name, what in (("own", "patterns"), ("wires", "protocols")):
        row = product.get(name)
        if not isinstance(row, list) or not all(isinstance(word, str) for word in row) or not (row or name == "own"):
            raise ImageError(f"{path} has no list of {what} `{name}`.", "Add it.")
    return product
