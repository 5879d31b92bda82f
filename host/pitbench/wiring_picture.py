"""A board's wiring as a picture: its pads as seen from above, and beside each what is wired to it. SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pitbench.wiring import (
    COLUMNS,
    FRAM,
    GROUND,
    OUT,
    OUTPUT,
    RIG,
    SENSOR,
    STRAP,
    SUPPLY,
    WIRE,
    Place,
    Use,
    columns,
    kind_of_pad,
    labels,
    ran_on,
)

Area = tuple[float, float, float, float]
"""x, y, width, height."""

PITCH, PAD_W, PAD_H = 24, 66, 18
MARGIN, GAP, LEAD = 24, 4, 22
HEAD_H, USB_H, LEGEND_H = 106, 44, 20
# Width of a character of the labels, in pixels: a bit more than what browsers take, so that nothing runs over.
CHAR = 6.1
LINE_CHARS = 118
LEAST_BOARD = 230

COLOURS = {
    WIRE: "#0b5fad",
    RIG: "#7b3fa0",
    SENSOR: "#1f7a3d",
    OUTPUT: "#b85c00",
    FRAM: "#00767a",
    STRAP: "#8a6d00",
    GROUND: "#222222",
    SUPPLY: "#c0202a",
}
LEGEND = {
    WIRE: "the device's own protocol, crossed: TX to RX, RX to TX, GND to GND. Needed always",
    RIG: "lines of whoever plays sensors or scan head, and switches the supply; crossed too. Optional",
    SENSOR: "an input. A release image reads all of these; a bench image has a plant instead, and reads {from_pins}",
    OUTPUT: "drives a driver's input, never a motor, lamp or emitter itself",
    FRAM: "the memory that holds the data: without one this board refuses to run",
    STRAP: "left open; held to GND while the board starts, it leads back to MicroPython's prompt",
    GROUND: "joined to the ground of the host, of the rig and of every part",
    SUPPLY: "supply or reference; nothing of ours needs it but small parts on 3.3 V",
}
WARNING = "3.3 V levels only. RS-232 or 5 V on a signal pad may destroy the board: put a level converter between."
# Labels stand left of these columns, right of all others.
_SIDE = {"left": -1, "right_inner": -1}
_STYLE = """
text { font: 11px "DejaVu Sans", Verdana, Arial, sans-serif; fill: #222222; }
.title { font-size: 18px; font-weight: bold; }
.name { font-weight: bold; }
.pad { text-anchor: middle; }
.taken { fill: #ffffff; }
.warning { font-weight: bold; fill: #a01018; }
"""


@dataclass(frozen=True)
class Column:
    """One column of pads in the picture.

    Args:
        name: as the board's file calls it.
        pads: names from top to bottom.
        x: left edge of its pads.
        top: middle of its first pad.
        side: where its labels stand, -1 left of the pads, 1 right of them.
    """

    name: str
    pads: list[str]
    x: float
    top: float
    side: int


def picture(facts: Mapping[str, Any]) -> str:
    """Return the SVG text of a board's wiring. Raises ImageError for a pin that is no pad of the board."""
    beside = labels(facts)
    placed, board, width = _placed(columns(facts), beside)
    notes, below = _notes(facts, beside.values()), board[1] + board[3] + MARGIN
    root = _sheet(str(facts["title"]), width, below + LEGEND_H * len(notes) + MARGIN)
    _heading(root, facts)
    _outline(root, board, facts)
    for column in placed:
        _draw_column(root, column, beside)
    _legend(root, notes, below)
    # One element a line: differences between two pictures can be read.
    root.text = "\n"
    for element in root:
        element.tail = "\n"
    return ET.tostring(root, encoding="unicode") + "\n"


def _sheet(title: str, width: float, height: float) -> ET.Element:
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
    root.set("viewBox", f"0 0 {width:g} {height:g}")
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
    _add(root, "title", f"Wiring of {title}")
    _add(root, "style", _STYLE)
    _box(root, (0, 0, width, height), "#ffffff")
    return root


def _placed(pads: Mapping[str, list[str]], beside: Mapping[Place, Use]) -> tuple[list[Column], Area, float]:
    """The columns, the board's outline, and the picture's width."""
    room = {name: _label_room(name, beside) for name in COLUMNS}
    inside = [name for name in pads if name not in ("left", "right")]
    board_w = 2 * PAD_W + sum(room[name] + PAD_W for name in inside) + 4 * GAP + (3 * MARGIN if inside else 0)
    board_w = max(LEAST_BOARD, board_w)
    left = MARGIN + room["left"]
    x = _lefts(left, left + board_w)
    placed = [Column(name, pads[name], x[name], HEAD_H + USB_H + PITCH, _SIDE.get(name, 1)) for name in pads]
    board_h = USB_H + PITCH * (max(map(len, pads.values())) + 0.5)
    return placed, (left, HEAD_H, board_w, board_h), MARGIN + max(LINE_CHARS * CHAR, left + board_w + room["right"])


def _lefts(left: float, right: float) -> dict[str, float]:
    """The left edge of each column's pads on a board between `left` and `right`."""
    step = PAD_W + GAP
    inner = {"left_inner": left + GAP + step, "middle": left + step + 2 * MARGIN, "right_inner": right - 2 * step}
    return {"left": left + GAP, **inner, "right": right - step}


def _label_room(column: str, beside: Mapping[Place, Use]) -> float:
    lengths = [len(f"{use.name}  {use.part}") for (name, _), use in beside.items() if name == column]
    return LEAD + CHAR * max(lengths, default=0)


def _heading(root: ET.Element, facts: Mapping[str, Any]) -> None:
    _add(root, "text", facts["title"], x=MARGIN, y=MARGIN + 8, **{"class": "title"})
    _add(root, "text", f"{facts['cpu']}; {ran_on(facts)}", x=MARGIN, y=MARGIN + 28)
    _add(root, "text", f"Link: {facts['stdio']}", x=MARGIN, y=MARGIN + 45)
    _add(root, "text", WARNING, x=MARGIN, y=MARGIN + 64, **{"class": "warning"})


def _outline(root: ET.Element, board: Area, facts: Mapping[str, Any]) -> None:
    x, y, width, height = board
    _box(root, board, "#eef1f4", stroke="#5a6672", rx=10)
    middle = x + width / 2
    _box(root, (middle - 27, y - 8, 54, 22), "#c9ced4", stroke="#5a6672", rx=3)
    _add(root, "text", "USB", x=middle, y=y + 7, **{"class": "pad"})
    _add(root, "text", str(facts["name"]), x=middle, y=y + 32, **{"class": "pad name"})


def _draw_column(root: ET.Element, column: Column, beside: Mapping[Place, Use]) -> None:
    for row, pad in enumerate(column.pads):
        y, use = column.top + row * PITCH, beside.get((column.name, row))
        parent = ET.SubElement(root, "g", id=use.id) if use else root
        # A ground stays black, whatever it goes with.
        _draw_pad(parent, column.x, y, pad, kind_of_pad(pad) or (use.kind if use else ""))
        if use:
            _draw_label(parent, column, y, use)


def _draw_pad(root: ET.Element, x: float, y: float, pad: str, kind: str) -> None:
    fill = COLOURS.get(kind, "#ffffff")
    _box(root, (x, y - PAD_H / 2, PAD_W, PAD_H), fill, stroke="#8a949e", rx=4)
    _add(root, "text", pad, x=x + PAD_W / 2, y=y + 4, **{"class": "pad taken" if kind else "pad"})


def _draw_label(root: ET.Element, column: Column, y: float, use: Use) -> None:
    edge = column.x if column.side < 0 else column.x + PAD_W
    far = edge + column.side * (LEAD - 6)
    colour = COLOURS[use.kind]
    _add(root, "path", d=f"M {edge:g} {y:g} H {far:g}", stroke=colour)
    if use.way:
        _arrow_head(root, (far, edge) if use.way == OUT else (edge, far), y, colour)
    text = _add(root, "text", x=edge + column.side * LEAD, y=y + 4)
    text.set("text-anchor", "end" if column.side < 0 else "start")
    # The name stands beside the pad, on either side of the board.
    for at, (word, style) in enumerate([(use.name, "name"), (use.part, "")][:: column.side]):
        span = _add(text, "tspan", word, **({"class": style, "fill": colour} if style else {}))
        if at:
            span.set("dx", "7")


def _arrow_head(root: ET.Element, line: tuple[float, float], y: float, colour: str) -> None:
    """A head at the first end of a level line."""
    point, other = line
    base = point + (6 if other > point else -6)
    _add(root, "path", d=f"M {point:g} {y:g} L {base:g} {y - 4:g} V {y + 4:g} Z", fill=colour)


def _notes(facts: Mapping[str, Any], found: Iterable[Use]) -> list[tuple[str, str]]:
    """Rows of the legend: a kind, "" for none, and its text."""
    from_pins = ", ".join(facts["sensors"]["from_pins"]) or "none of them"
    kinds = {use.kind for use in found} | {GROUND, SUPPLY}
    rows = [(kind, f"{kind}: {text.format(from_pins=from_pins)}") for kind, text in LEGEND.items() if kind in kinds]
    return [*rows, ("", str(facts["wiring"]))]


def _legend(root: ET.Element, notes: list[tuple[str, str]], top: float) -> None:
    for row, (kind, text) in enumerate(notes):
        y = top + row * LEGEND_H
        if kind:
            _box(root, (MARGIN, y, 14, 12), COLOURS[kind], rx=3)
        _add(root, "text", text, x=MARGIN + 22, y=y + 10)


def _box(root: ET.Element, at: Area, fill: str, **more: Any) -> None:
    x, y, width, height = at
    _add(root, "rect", x=x, y=y, width=width, height=height, fill=fill, **more)


def _add(root: ET.Element, tag: str, text: str = "", **attributes: Any) -> ET.Element:
    words = {name: f"{value:g}" if isinstance(value, (int, float)) else value for name, value in attributes.items()}
    element = ET.SubElement(root, tag, words)
    element.text = text or None
    return element
