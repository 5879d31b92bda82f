"""Every reference chart against the table that its device reports, and against docs/."""

from __future__ import annotations

from pathlib import Path

import pytest
from pitbench.link import whole_table
from pitbench.targets import open_target
from pitbench_hil import charts
from pitbench_hil.charts.bill_acceptor import CHART, STATES
from pitbench_hil.commands.draw import DOCS, chart_of, drawing

DEVICES = sorted(
    path.stem.replace("_", "-") for path in Path(charts.__file__).parent.glob("*.py") if path.stem != "__init__"
)


@pytest.mark.parametrize("device", DEVICES)
def test_the_firmwares_table_is_the_reference_chart(device: str) -> None:
    chart = chart_of(device)
    with open_target("virtual", device=device) as board:
        reported = chart.firmware_edges(whole_table(board.link))
    assert reported == chart.edges()


@pytest.mark.parametrize("device", DEVICES)
def test_the_drawing_in_docs_is_up_to_date(device: str) -> None:
    drawn = (DOCS / f"{device}-states.md").read_text(encoding="utf-8")
    assert drawn == drawing(device, "virtual"), f"run `pitbench draw {device}`"


def test_every_state_of_the_chart_can_be_reached_and_left() -> None:
    assert {source for source, _, _ in CHART.edges()} == set(STATES)
    starts = {state for state in STATES if state.startswith("power up")}
    assert {to for _, _, to in CHART.edges()} | starts == set(STATES)


def test_a_chart_refuses_what_no_trigger_explains() -> None:
    chart = CHART.follow("idle")
    assert chart.saw("accepting", 1)
    assert not chart.saw("vend valid", 1)


def test_a_chart_counts_the_triggers_that_may_go_unseen() -> None:
    assert not CHART.follow("idle").saw("escrow", 1)
    assert CHART.follow("idle").saw("escrow", 2)
