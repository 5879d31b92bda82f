"""Names of the frames in a trace line, so that a person needn't know the protocol's numbers by heart."""

from __future__ import annotations

from typing import Any

from pitbench.protocols import id003


def frame_names(row: dict[str, Any]) -> str:
    """Names of the ID-003 frames in one trace line of the wire; empty where there are none (masked ones included)."""
    if row["port"] != "wire" or "hex" not in row:
        return ""
    frames = id003.Decoder().feed(bytes.fromhex(row["hex"]))
    names = id003.Command if row["dir"] == "to_board" else id003.Status
    return ", ".join(_name(frame.cmd, names) for frame in frames)


def _name(number: int, names: Any) -> str:
    """The name among those of the direction; answers to commands carry the command's own number."""
    for known in (names, id003.Command, id003.Status):
        if number in known._value2member_map_:
            return str(known(number).name).lower().replace("_", " ")
    return f"{number:02x}"
