"""Draw a device's state table, as the board reports it, beside the reference chart, into docs/."""

from __future__ import annotations

import argparse
import importlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from pitbench.errors import PitbenchError
from pitbench.link import whole_table
from pitbench.targets import open_target

from pitbench_hil.catalogue import normal_device
from pitbench_hil.chart import Chart
from pitbench_hil.plugin import DEFAULT_TARGET

DOCS = Path(__file__).parents[3] / "docs"
HEAD = """# {device}: states

Written by `pitbench draw {device}`; don't edit. The first chart is the table that the firmware works by, as a running
board reports it over the link. The second is the reference, written from clauses and protocol documents. A test holds
one against the other, edge by edge.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("device", help="bill-acceptor, …")
    parser.add_argument("--target", default=DEFAULT_TARGET, help=f"board to ask for its table ({DEFAULT_TARGET})")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file is out of date")


def run(args: argparse.Namespace) -> int:
    """Exit code 0; with --check, 1 when docs/ isn't what would be drawn."""
    device = normal_device(args.device)
    path = DOCS / f"{device}-states.md"
    text = drawing(device, args.target)
    if args.check:
        fresh = path.exists() and path.read_text(encoding="utf-8") == text
        print(f"{path} is up to date" if fresh else f"{path} is out of date: run `pitbench draw {device}`")
        return 0 if fresh else 1
    path.write_text(text, encoding="utf-8")
    print(path)
    return 0


def drawing(device: str, target: str) -> str:
    """The whole page for a device. Raises PitbenchError for a device without a reference chart."""
    chart = chart_of(device)
    with open_target(target, device=device) as board:
        rows = whole_table(board.link)
    table = [(row[0], f"{row[1]} [{row[2]}]" if row[2] else row[1], row[3]) for row in rows]
    parts = [HEAD.format(device=device), "## As the firmware reports it\n", mermaid(table)]
    parts += [
        "## Reference chart\n",
        mermaid(sorted(chart.edges())),
        "| trigger | from | to | source |\n|---|---|---|---|",
    ]
    parts += [f"| {trigger} | {', '.join(of)} | {', '.join(to)} | {why} |" for trigger, of, to, why in chart.rows]
    return "\n".join(parts) + "\n"


def chart_of(device: str) -> Chart:
    """A device's reference chart. Raises PitbenchError when there is none."""
    name = f"pitbench_hil.charts.{device.replace('-', '_')}"
    try:
        return cast(Chart, importlib.import_module(name).CHART)
    except ModuleNotFoundError as error:
        raise PitbenchError(f"There is no reference chart for '{device}'.", f"Write {name}.") from error


def mermaid(edges: Iterable[tuple[str, str, str]]) -> str:
    """A Mermaid state diagram; edges between the same two states share an arrow."""
    labels: dict[tuple[str, str], list[str]] = defaultdict(list)
    names: dict[str, str] = {}
    for source, label, to in edges:
        labels[_node(source, names), _node(to, names)].append(label)
    lines = [f'    state "{name}" as {node}' for name, node in names.items()]
    lines += [f"    {source} --> {to}: {', '.join(dict.fromkeys(text))}" for (source, to), text in labels.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```\n"])


def _node(state: str, names: dict[str, str]) -> str:
    return names.setdefault(state, state.replace(",", "").replace(" ", "_"))
