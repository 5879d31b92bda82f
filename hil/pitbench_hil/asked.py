"""What a person asked for on the command line, checked before anything is collected or started."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from pitbench.addresses import EMULATED, parse_target
from pitbench.errors import PitbenchError
from pitbench.image import KINDS, load_image, no_image
from pitbench.protocols.acceptor_host import host_names
from pitbench.signature import CRC_FILE
from pitbench.sources import wire_of, wires_of
from pitbench.targets import prove_startable

from pitbench_hil.lasting import LastingBoard, look_at

# What pytest-xdist takes besides a number.
_AUTOMATIC = ("auto", "logical")


def wire(device: str, named: str | None, images: Mapping[str, Path]) -> str:
    """The protocol on the device's wire: the one named, else that of a built image, else the device's usual one.

    Raises UnknownName.
    """
    if named is None and images:
        kind, folder = next(iter(images.items()))
        named = load_image(folder, device, kind).wire
    spoken, with_money = wire_of(device, named), set(wires_of(device)) & set(host_names())
    if with_money and spoken not in with_money:
        raise PitbenchError(
            f"The rules of a {device} can't be asked over {spoken}, which carries no money.",
            f"Name one of: {', '.join(sorted(with_money))}.",
        )
    return spoken


def reachable(
    target: str, device: str, wire: str, images: Mapping[str, Path], processes: int, budget: int | None
) -> LastingBoard | None:
    """Look whether a target can be opened at all, and what a real board is; None for a virtual one.

    Raises PitbenchError of many kinds, each one sentence.
    """
    where = parse_target(target)
    if where.virtual:
        prove_startable(where)
        return None
    if processes:
        raise PitbenchError(
            f"A real board is one process, and {processes} were asked for.", "Leave -n out, or write -n 0."
        )
    return look_at(where, device, wire, images, budget)


def image_dirs(pairs: Iterable[str]) -> dict[str, Path]:
    """Folders of built images by kind, from `KIND=FOLDER` words. Raises PitbenchError."""
    found: dict[str, Path] = {}
    for pair in pairs:
        kind, _, folder = pair.partition("=")
        if kind not in KINDS or not folder:
            raise PitbenchError(f"--image {pair} isn't KIND=FOLDER.", "Write --image bench=FOLDER, or release=FOLDER.")
        found[kind] = _with_image(Path(folder).resolve(), kind)
    return found


def _with_image(folder: Path, kind: str) -> Path:
    if not (folder / CRC_FILE[1:]).is_file():
        raise no_image(folder)
    is_bench = (folder / "image" / "bench").is_dir()
    if is_bench != (kind == "bench"):
        raise PitbenchError(
            f"{folder} holds a {'bench' if is_bench else 'release'} image.", f"Name a folder with a {kind} image."
        )
    return folder


def jobs(text: str) -> str:
    """The number of boards at a time, as pytest-xdist takes it. Raises PitbenchError."""
    if text in _AUTOMATIC or text.isdecimal():
        return text
    raise PitbenchError(f"{text} is no number of boards.", "Write --jobs 2, or 0 for one process, or auto.")


def uncertainty_ms(value: float) -> float:
    """The rig's own uncertainty of times, in ms. Raises PitbenchError for a negative or endless one."""
    if math.isfinite(value) and value >= 0:
        return value
    raise PitbenchError(f"A timing uncertainty of {value:g} ms can't be.", "Write a number of ms from 0 on.")


def sample(value: int | None, target: str) -> int:
    """The most tests that a rule gets on each kind of image, 0 for all. Raises PitbenchError for a negative number."""
    if value is None:
        return 1 if parse_target(target).interpreter == EMULATED else 0
    if value < 0:
        raise PitbenchError(f"A sample of {value} tests can't be.", "Write --sample 1, or 0 for all.")
    return value


def words(text: str, option: str) -> list[str]:
    """Words comma apart. Raises PitbenchError when there is a text without one."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if text and not found:
        raise PitbenchError(f"{option} '{text}' names nothing.", "Leave it out for all, or name some, comma apart.")
    return found
