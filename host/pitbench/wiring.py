"""What is wired to each pad of a board, read from its file: pictures and tables are made from this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pitbench.board_facts import board_facts, board_names
from pitbench.image_error import ImageError

# Columns of pads from left to right; `middle` is a row of pads inside the board.
COLUMNS = ("left", "left_inner", "middle", "right_inner", "right")
OUT, IN = "out", "in"
WIRE, RIG, SENSOR, OUTPUT, FRAM, STRAP, GROUND, SUPPLY = (
    "wire",
    "rig",
    "sensor",
    "output",
    "fram",
    "strap",
    "ground",
    "supply",
)
_GROUND = "GND"
_GROUNDS = (_GROUND, "AGND")
_SUPPLIES = ("3V3", "5V", "VIN", "VBUS", "VSYS", "VUSB", "A3V3", "AVDD", "IOREF")
_NEVER = "never run on"

Place = tuple[str, int]
"""A pad's column and its row, from 0."""


@dataclass(frozen=True)
class Use:
    """What one pad is for.

    Args:
        id: place in the board's file, "pins.entry" or "wire.tx".
        kind: wire, rig, sensor, output, fram or strap.
        pad: its name in [header].
        name: short name, as the firmware calls it.
        part: what is wired to it.
        way: "out" of the board or "in", "" for neither.
    """

    id: str
    kind: str
    pad: str
    name: str
    part: str
    way: str = ""


def wired_boards() -> list[str]:
    """Return the names of the boards that a person can wire: with pads, and plugged into USB."""
    return [name for name in board_names() if (facts := board_facts(name)).get("header") and facts["usb"]]


def uses(facts: Mapping[str, Any]) -> list[Use]:
    """Return every pin that a board's file gives a use to. Raises ImageError for one that is no pad in [header]."""
    found = [*_line(facts, WIRE, "the host"), *_line(facts, RIG, "the bench"), *_sensors(facts), *_outputs(facts)]
    found += [*_fram(facts), *_strap(facts)]
    pads = {pad for column in columns(facts).values() for pad in column}
    for use in found:
        if use.pad not in pads:
            raise ImageError(f"{facts['name']} has no pad {use.pad} for {use.id}.", "Correct its file in boards/.")
    return found


def columns(facts: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return a board's columns of pads from left to right, each from top to bottom."""
    header = facts["header"]
    return {name: [str(pad) for pad in header[name]] for name in COLUMNS if name in header}


def labels(facts: Mapping[str, Any]) -> dict[Place, Use]:
    """Return what stands beside which pad: every use once, and the ground that goes with the wire. Raises ImageError.

    Of two pads with one name, which are one net, the first has the label.
    """
    places = _places(facts)
    found = {places[use.pad][0]: use for use in uses(facts)}
    ground = Use("wire.gnd", WIRE, _GROUND, "wire GND", "to GND of the host")
    return {**found, _wire_ground(facts, places): ground}


def _places(facts: Mapping[str, Any]) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {}
    for column, pads in columns(facts).items():
        for row, pad in enumerate(pads):
            places.setdefault(pad, []).append((column, row))
    return places


def _wire_ground(facts: Mapping[str, Any], places: Mapping[str, list[Place]]) -> Place:
    """The ground nearest to the wire: in its column, else in the next one."""
    if _GROUND not in places:
        raise ImageError(f"{facts['name']} has no ground among its pads.", "Correct its file in boards/.")
    home, line = places[str(facts[WIRE]["tx"])][0]
    order = list(columns(facts))
    return min(places[_GROUND], key=lambda at: (abs(order.index(at[0]) - order.index(home)), abs(at[1] - line)))


def kind_of_pad(pad: str) -> str:
    """Return ground or supply for such a pad, "" for any other."""
    return GROUND if pad in _GROUNDS else SUPPLY if pad in _SUPPLIES else ""


def ran_on(facts: Mapping[str, Any]) -> str:
    """Words for where a board's image ran last."""
    last = str(facts["last_run_on"])
    return "never run on this board" if last == _NEVER else f"last run on {last}"


def _line(facts: Mapping[str, Any], kind: str, peer: str) -> Iterator[Use]:
    if row := facts.get(kind):
        speed = f", {row['baud']} baud" if "baud" in row else ""
        yield Use(f"{kind}.tx", kind, str(row["tx"]), f"{kind} TX", f"to RX of {peer}{speed}", OUT)
        yield Use(f"{kind}.rx", kind, str(row["rx"]), f"{kind} RX", f"from TX of {peer}{speed}", IN)


def _sensors(facts: Mapping[str, Any]) -> Iterator[Use]:
    for name, row in facts.get("pins", {}).items():
        pull = "no pull" if row["pull"] == "none" else f"pull-{row['pull']}"
        part = f"{row['part']}; {pull}, active {row['active']}"
        yield Use(f"pins.{name}", SENSOR, str(row["pin"]), name, part, IN)


def _outputs(facts: Mapping[str, Any]) -> Iterator[Use]:
    for name, row in facts.get("outputs", {}).items():
        yield Use(f"outputs.{name}", OUTPUT, str(row["pin"]), name, row["part"], OUT)
        if "pin_back" in row:
            back = Use(f"outputs.{name}.back", OUTPUT, str(row["pin_back"]), f"{name} back", row["part"], OUT)
            yield back


def _fram(facts: Mapping[str, Any]) -> Iterator[Use]:
    row = facts.get("fram", {})
    for name, way in (("cs", OUT), ("sck", OUT), ("miso", IN), ("mosi", OUT)):
        if name in row:
            yield Use(f"fram.{name}", FRAM, str(row[name]), f"FRAM {name.upper()}", f"SPI {row['spi']}", way)


def _strap(facts: Mapping[str, Any]) -> Iterator[Use]:
    pin = facts.get("strap")
    if pin is not None:
        yield Use("strap", STRAP, str(pin), "strap", "to GND at reset: MicroPython's prompt", IN)
