"""Pictures: well-formed, to be read by themselves, and drawn from what was counted."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import machines
import numpy as np
import pytest
from pitbench_hil.statistics import pictures
from pitbench_hil.statistics.positions import position_counts
from pitbench_hil.statistics.samples import SampleError
from pitbench_hil.statistics.valleys import valleys

SVG = "{http://www.w3.org/2000/svg}"
RANDOM = np.random.default_rng(52)
DECKS = machines.fair(RANDOM, 600)
DRAWN = {
    "positions": pictures.position_map(position_counts(DECKS)),
    "valleys": pictures.valley_histogram(valleys(DECKS)),
    "faces": pictures.face_histogram(RANDOM.integers(1, 7, (600, 3))),
    "sums": pictures.sum_histogram(RANDOM.integers(1, 7, (600, 3))),
    "p-values": pictures.p_value_plot({"valleys": 0.4, "faces <&>": 1e-9, "cycles": 0.9}, 0.001),
}


def words_in(text: str) -> str:
    return " ".join(word for word in ET.fromstring(text).itertext() if word.strip())


def box_of(text: str) -> tuple[float, float]:
    _, _, width, height = map(float, ET.fromstring(text).attrib["viewBox"].split())
    return width, height


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_needs_nothing_from_elsewhere(name):
    text = DRAWN[name]
    assert "href" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert text.count("://") == 1  # the name of SVG itself


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_has_a_title_and_all_of_it_lies_within(name):
    root = ET.fromstring(DRAWN[name])
    width, height = box_of(DRAWN[name])
    assert root.findtext(f"{SVG}title")
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width + 0.1
        assert y + h <= height + 0.1
    for text in root.iter(f"{SVG}text"):
        room = {"middle": 0.5, "end": 0.0}.get(text.attrib.get("class", ""), 1.0)
        assert float(text.attrib["x"]) + room * 6.1 * len(text.text or "") <= width
        assert float(text.attrib["y"]) <= height


def test_the_map_has_a_cell_for_each_card_at_each_position_in_the_colour_of_its_score():
    counts = np.full((52, 52), 100)
    counts[0, :3] = 200, 0, 100
    cells = list(ET.fromstring(pictures.position_map(counts)).iter(f"{SVG}g"))
    assert [len(row) for row in cells] == [52] * 52
    assert [cell.attrib["fill"] for cell in cells[0]][:3] == ["#c0202a", "#0b5fad", "#ffffff"]
    assert "2601 df" in words_in(DRAWN["positions"])


def test_the_histogram_tells_every_column():
    found = valleys(DECKS)
    told = words_in(DRAWN["valleys"])
    for number, count in enumerate(np.bincount(found)):
        assert not count or f"{number} valleys: {count:,} decks" in told
    assert f"600 decks of 52: {found.mean():.3f} on average, 16.667 if fair" in told


def test_a_shelf_machine_lies_beside_the_fair_line():
    told = words_in(pictures.valley_histogram(valleys(machines.shelves(RANDOM, 100, 10))))
    assert "9 valleys: " in told
    assert "17 valleys: 0 decks" in told


def test_p_values_below_alpha_are_named_and_red():
    text = DRAWN["p-values"]
    assert "3 statistics, 1 below α = 0.001" in words_in(text)
    assert "below α: faces <&> 1e-09" in words_in(text)
    assert [dot.attrib["fill"] for dot in ET.fromstring(text).iter(f"{SVG}circle")] == ["#a01018", "#222222", "#222222"]


def test_nothing_is_not_drawn():
    with pytest.raises(SampleError, match="no p-value to draw"):
        pictures.p_value_plot({}, 0.01)
    with pytest.raises(SampleError, match="no deck to draw"):
        pictures.valley_histogram(np.zeros(0, np.int64))
