"""The boards' wiring pictures: as the boards' data give them, each pin once, no text over another."""

from __future__ import annotations

import argparse
import copy
import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pitbench.board_facts import BOARDS, board_facts
from pitbench.commands import wiring as command
from pitbench.errors import PitbenchError
from pitbench.image_error import ImageError
from pitbench.tables import read_toml
from pitbench.wiring import wired_boards
from pitbench.wiring_picture import WARNING, picture
from pitbench.wiring_table import with_table

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=wired_boards())
def facts(request: pytest.FixtureRequest) -> dict[str, Any]:
    return board_facts(request.param)


def pins_of(facts: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Place and pad of every pin in a board's data, read without the module that draws them."""
    found = [("strap", facts["strap"]), ("wire.tx", facts["wire"]["tx"]), ("wire.rx", facts["wire"]["rx"])]
    found += [(f"rig.{end}", facts["rig"][end]) for end in ("tx", "rx") if "rig" in facts]
    found += [(f"pins.{name}", row["pin"]) for name, row in facts["pins"].items()]
    found += [(f"outputs.{name}", row["pin"]) for name, row in facts["outputs"].items()]
    found += [(f"outputs.{name}.back", row["pin_back"]) for name, row in facts["outputs"].items() if "pin_back" in row]
    found += [(f"fram.{key}", value) for key, value in facts.get("fram", {}).items() if key not in ("spi", "bytes")]
    return Counter((place, str(pad)) for place, pad in found)


def drawn(facts: dict[str, Any]) -> ET.Element:
    return ET.fromstring(picture(facts))


def texts(element: ET.Element) -> list[str]:
    return ["".join(text.itertext()).strip() for text in element.iter(f"{SVG}text")]


def test_what_is_in_docs_is_what_the_boards_files_give():
    stale = [
        path.name
        for path, text in command.drawings(command.DOCS).items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run `make docs`"


def test_there_is_a_picture_of_each_board_that_can_be_wired_and_no_other():
    files = {path.stem: read_toml(path) for path in BOARDS.glob("*.toml")}
    boards = {name for name, row in files.items() if row["port" if "port" in row else "like"] not in ("unix", "wasm")}
    assert {path.stem for path in (command.DOCS / "boards").glob("*.svg")} == boards - {"rp2040-emulated"}


def test_every_pin_of_the_data_is_drawn_once_at_its_pad(facts):
    groups = [(group.get("id"), texts(group)[0]) for group in drawn(facts).iter(f"{SVG}g")]
    assert Counter(groups) - Counter([("wire.gnd", "GND")]) == pins_of(facts)


def test_every_pad_is_drawn_in_its_order(facts):
    pads = [pad for pad in drawn(facts).iter(f"{SVG}text") if "pad" in pad.get("class", "").split()]
    columns: dict[str, list[str]] = {}
    for pad in pads:
        columns.setdefault(pad.get("x", ""), []).append("".join(pad.itertext()))
    names = {"USB", facts["name"]}
    found = sorted(column for column in ([p for p in pads if p not in names] for pads in columns.values()) if column)
    assert found == sorted([str(pad) for pad in column] for column in facts["header"].values())


def test_the_wire_is_crossed(facts):
    said = {group.get("id"): texts(group)[1] for group in drawn(facts).iter(f"{SVG}g")}
    assert "to RX of the host" in said["wire.tx"]
    assert "from TX of the host" in said["wire.rx"]
    assert "to GND of the host" in said["wire.gnd"]


def test_a_sensor_is_drawn_with_its_part(facts):
    said = {group.get("id"): texts(group)[1] for group in drawn(facts).iter(f"{SVG}g")}
    for name, row in facts["pins"].items():
        assert name in said[f"pins.{name}"]
        assert f"{row['part']}; pull-{row['pull']}, active {row['active']}" in said[f"pins.{name}"]


def test_warning_and_where_it_ran_stand_in_every_picture(facts):
    said = texts(drawn(facts))
    assert WARNING in said
    ran = "never run on this board" if facts["last_run_on"] == "never run on" else facts["last_run_on"]
    assert any(ran in line for line in said)


def span(text: ET.Element) -> tuple[float, float]:
    """Where a text reaches from and to, with characters of 6.1 pixels."""
    width, x = 6.1 * len("".join(text.itertext()).strip()), float(text.get("x", "0"))
    starts = {"end": x - width, "middle": x - width / 2}
    middle = "pad" in text.get("class", "").split()
    start = starts.get("middle" if middle else text.get("text-anchor", ""), x)
    return start, start + width


def test_no_text_runs_over_another_or_out_of_the_picture(facts):
    root = drawn(facts)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    lines: dict[str, list[tuple[float, float]]] = {}
    for text in root.iter(f"{SVG}text"):
        lines.setdefault(text.get("y", ""), []).append(span(text))
    for y, spans in lines.items():
        ordered = sorted(spans)
        assert 0 < float(y) < height
        assert ordered[0][0] >= 0
        assert ordered[-1][1] <= width
        for (_, end), (start, _) in zip(ordered, ordered[1:], strict=False):
            assert start >= end, (y, ordered)


def test_what_a_bench_image_reads_from_pins_is_said():
    facts = copy.deepcopy(board_facts("rpi-pico"))
    assert any("reads none of them" in line for line in texts(drawn(facts)))
    facts["sensors"]["from_pins"] = ["box", "lock"]
    assert any("reads box, lock" in line for line in texts(drawn(facts)))


def test_a_pin_that_is_no_pad_is_named():
    facts = copy.deepcopy(board_facts("rpi-pico"))
    facts["pins"]["entry"]["pin"] = "GP77"
    with pytest.raises(ImageError, match="rpi-pico has no pad GP77 for pins.entry"):
        picture(facts)


def test_a_page_without_a_place_for_the_table_is_refused():
    with pytest.raises(PitbenchError, match="no place for the table"):
        with_table("# Boards\n")


def test_check_finds_a_stale_picture_and_one_of_no_board(tmp_path: Path, monkeypatch, capsys):
    shutil.copytree(command.DOCS, tmp_path / "docs")
    monkeypatch.setattr(command, "DOCS", tmp_path / "docs")
    check, write = argparse.Namespace(check=True), argparse.Namespace(check=False)
    assert command.run(check) == 0
    stale, orphan = tmp_path / "docs/boards/rpi-pico.svg", tmp_path / "docs/boards/gone.svg"
    sound = stale.read_text()
    stale.write_text(sound.replace("GP0", "GP1"))
    orphan.write_text("")
    assert command.run(check) == 1
    assert capsys.readouterr().out.count("out of date") == 2
    assert command.run(write) == 0
    assert stale.read_text() == sound
    assert not orphan.exists()
