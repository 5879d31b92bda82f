"""Statistics as pictures for the report: SVG text, readable by itself, nothing fetched from elsewhere."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pitbench_hil.statistics.dice import SIDES, sum_chances, throws_of
from pitbench_hil.statistics.positions import position_matrix_test
from pitbench_hil.statistics.samples import SampleError
from pitbench_hil.statistics.valleys import fair_valleys

WIDTH, HEIGHT, LEFT, TOP, BELOW = 640, 360, 60, 64, 48
CELL = 9
INK, FRAME, FOUND, FAIR, ALARM = "#222222", "#8a949e", "#9db8d2", "#0b5fad", "#a01018"
_STYLE = """
text { font: 11px "DejaVu Sans", Verdana, Arial, sans-serif; fill: #222222; }
.title { font-size: 15px; font-weight: bold; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
"""
# Colours of a cell: a standard score of this size or more has the full colour.
FULL_SCORE = 5.0
# (x, y) of the origin, and pixels a unit along each.
Scale = tuple[float, float, float, float]


def position_map(counts: ArrayLike) -> str:
    """The matrix of positions and cards: blue where a card lies too seldom, red where too often, white where fair.

    Args:
        counts: shape (positions, cards), as positions.position_counts gives them.
    """
    found = np.asarray(counts, np.float64)
    result = position_matrix_test(found)
    cards, expected = len(found), found[0].sum() / len(found)
    scores = (found - expected) / math.sqrt(expected * (1 - 1 / cards))
    side = CELL * cards
    root = _sheet("Which card lies where", LEFT + side + 24, TOP + side + BELOW + 16, str(result))
    for position, row in enumerate(scores):
        _row_of_cells(root, position, row)
    _box(root, LEFT, TOP, side, side, "none", FRAME)
    for at in _every(cards):
        _text(root, LEFT + CELL * (at + 0.5), TOP + side + 15, str(at + 1), "middle")
        _text(root, LEFT - 6, TOP + CELL * (at + 0.5) + 4, str(at + 1), "end")
    _text(root, LEFT + side / 2, TOP + side + 32, "card, by its position before the shuffle", "middle")
    _text(root, LEFT, TOP - 8, "rows: position after the shuffle, from the top")
    legend = f"white: {expected:.1f} as expected; full blue: {FULL_SCORE:g} standard deviations less, full red: more"
    _text(root, LEFT, TOP + side + 50, legend)
    return _written(root)


def _row_of_cells(root: ET.Element, position: int, scores: Any) -> None:
    group = ET.SubElement(root, "g")
    for card, score in enumerate(scores):
        _box(group, LEFT + CELL * card, TOP + CELL * position, CELL, CELL, _colour(float(score)))


def _colour(score: float) -> str:
    """Towards blue below zero, towards red above."""
    share = min(1.0, abs(score) / FULL_SCORE)
    full = (11, 95, 173) if score < 0 else (192, 32, 42)
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in full)


def _every(cards: int) -> range:
    """Positions with a number beside them: some ten of them."""
    return range(0, cards, max(1, round(cards / 10)))


def valley_histogram(valleys: ArrayLike, cards: int = 52) -> str:
    """How many decks have how many valleys: columns as found, the line as on fair decks.

    Args:
        valleys: of each deck, as valleys.valleys gives them.

    Raises SampleError without a deck.
    """
    found = np.bincount(np.asarray(valleys))
    decks = int(found.sum())
    if not decks:
        raise SampleError("There is no deck to draw.", "Take some.")
    fair = fair_valleys(cards) * decks
    about = f"{decks:,} decks of {cards}: {np.dot(np.arange(found.size), found) / decks:.3f} on average, "
    words = "Valleys in a deck", f"{about}{(cards - 2) / 3:.3f} if fair", "valleys", "decks"
    return _histogram(words, found, fair, range(*_seen(found, fair)))


def face_histogram(throws: ArrayLike) -> str:
    """How often each face came: columns as found, the line as of fair dice.

    Args:
        throws: shape (throws, dice), faces from 1 on.

    Raises SampleError for what is no throw.
    """
    rows = throws_of(throws)
    found = np.bincount(rows.ravel(), minlength=SIDES + 1)
    fair = np.full(SIDES + 1, rows.size / SIDES)
    words = "Faces", f"{len(rows):,} throws of {rows.shape[1]} dice", "face", "dice"
    return _histogram(words, found, fair, range(1, SIDES + 1))


def sum_histogram(throws: ArrayLike) -> str:
    """How often each sum came: columns as found, the line as of fair dice; `throws` as for face_histogram."""
    rows = throws_of(throws)
    count = rows.shape[1]
    fair = np.concatenate((np.zeros(count), sum_chances(count) * len(rows)))
    found = np.bincount(rows.sum(axis=1), minlength=fair.size)
    words = "Sums", f"{len(rows):,} throws of {count} dice", "sum", "throws"
    return _histogram(words, found, fair, range(count, fair.size))


def _histogram(words: tuple[str, str, str, str], found: Any, fair: Any, places: range) -> str:
    """Columns as found over a line as if fair; `words`: title, what it is about, what lies along, what goes up."""
    title, about, along, up = words
    root = _sheet(title, WIDTH, HEIGHT, about)
    scale = _axes(root, len(places), max(found.max(), fair.max()), along, up)
    for at in places:
        count, name = int(_at(found, at)), f"{at} {along}"
        _column(root, scale, at - places[0], count, f"{name}: {count:,} {up}, {_at(fair, at):.1f} if fair")
        _text(root, scale[0] + scale[2] * (at - places[0] + 0.5), HEIGHT - BELOW + 15, str(at), "middle")
    _line(root, scale, [(at - places[0] + 0.5, _at(fair, at)) for at in places], FAIR)
    _legend(root, {"as found": FOUND, "if fair": FAIR})
    return _written(root)


def _seen(found: Any, fair: Any) -> tuple[int, int]:
    """The first score that some deck has, or a twentieth of one by chance, and the one behind the last such."""
    seen = [*np.flatnonzero(found), *np.flatnonzero(fair >= 0.05)]
    return int(min(seen)), int(max(seen)) + 1


def _at(row: Any, at: int) -> float:
    return float(row[at]) if at < len(row) else 0.0


def p_value_plot(p_values: Mapping[str, float], alpha: float) -> str:
    """All p-values in order, each with its name. If all is fair they lie along the line.

    Args:
        p_values: by name of the statistic.
        alpha: the declared false alarm of each; a value below is drawn in red.

    Raises SampleError without a p-value.
    """
    if not p_values:
        raise SampleError("There is no p-value to draw.", "Judge something.")
    rows = sorted(p_values.items(), key=lambda row: row[1])
    below = sum(p < alpha for _, p in rows)
    root = _sheet("p-values", WIDTH, HEIGHT, f"{len(rows)} statistics, {below} below α = {alpha:.3g}")
    scale = _axes(root, len(rows), 1.0, "rank of the p-value, from the lowest", "p-value")
    _line(root, scale, [(0, 0), (len(rows), 1)], FAIR)
    for rank, (name, p) in enumerate(rows):
        dot = _dot(root, scale, (rank + 0.5, p), ALARM if p < alpha else INK)
        _add(dot, "title", f"{name}: p = {p:.3g}")
    if below:
        names = ", ".join(f"{name} {p:.2g}" for name, p in rows[: min(below, 4)])
        _text(root, LEFT + 10, TOP + 16, f"below α: {names}{' …' if below > 4 else ''}")
    _legend(root, {"p-value": INK, "if fair": FAIR, "below α": ALARM})
    return _written(root)


def _sheet(title: str, width: float, height: float, about: str) -> ET.Element:
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
    for name, value in (("viewBox", f"0 0 {width:g} {height:g}"), ("width", f"{width:g}"), ("height", f"{height:g}")):
        root.set(name, value)
    _add(root, "title", title)
    _add(root, "style", _STYLE)
    _box(root, 0, 0, width, height, "#ffffff")
    _text(root, 16, 22, title, "title")
    _text(root, 16, 39, about)
    return root


def _axes(root: ET.Element, units: float, highest: float, along: str, up: str) -> Scale:
    """The frame, its labels, and the scale within: `units` along, 0 … `highest` up."""
    width, height = WIDTH - LEFT - 24, HEIGHT - TOP - BELOW
    _box(root, LEFT, TOP, width, height, "none", FRAME)
    _text(root, LEFT + width / 2, HEIGHT - 14, along, "middle")
    _text(root, LEFT, TOP - 8, up, "end")
    for share in (0.0, 0.5, 1.0):
        _text(root, LEFT - 6, HEIGHT - BELOW - height * share + 4, f"{highest * share:,.6g}", "end")
    return LEFT, HEIGHT - BELOW, width / units, height / highest


def _column(root: ET.Element, scale: Scale, at: int, value: float, title: str) -> None:
    x, y, unit, height = scale
    box = _box(root, x + unit * (at + 0.1), y - height * value, unit * 0.8, height * value, FOUND)
    _add(box, "title", title)


def _line(root: ET.Element, scale: Scale, points: list[tuple[float, float]], colour: str) -> None:
    x, y, unit, height = scale
    path = " ".join(f"{x + unit * at:.1f},{y - height * value:.1f}" for at, value in points)
    _add(root, "polyline", points=path, fill="none", stroke=colour, **{"stroke-width": "2"})


def _dot(root: ET.Element, scale: Scale, point: tuple[float, float], colour: str) -> ET.Element:
    x, y, unit, height = scale
    return _add(root, "circle", cx=x + unit * point[0], cy=y - height * point[1], r=3, fill=colour)


def _legend(root: ET.Element, colours: Mapping[str, str]) -> None:
    for at, (name, colour) in enumerate(colours.items()):
        x = WIDTH - 24 - 90 * (len(colours) - at)
        _box(root, x, TOP - 18, 12, 10, colour)
        _text(root, x + 17, TOP - 9, name)


def _box(
    root: ET.Element, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none"
) -> ET.Element:
    return _add(root, "rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke)


def _text(root: ET.Element, x: float, y: float, words: str, style: str = "") -> None:
    _add(root, "text", words, x=x, y=y, **({"class": style} if style else {}))


def _add(root: ET.Element, tag: str, text: str = "", **attributes: Any) -> ET.Element:
    words = {name: f"{value:g}" if isinstance(value, (int, float)) else value for name, value in attributes.items()}
    element = ET.SubElement(root, tag, words)
    element.text = text or None
    return element


def _written(root: ET.Element) -> str:
    # One element a line: differences between two pictures can be read.
    root.text = "\n"
    for element in root:
        element.tail = "\n"
    return ET.tostring(root, encoding="unicode") + "\n"
