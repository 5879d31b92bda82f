"""What people read: links lead somewhere, commands and targets exist, and no path of somebody's machine is left."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from bench import draw, rare, rig
from bench.plant import bill_acceptor, dice_shaker, selector, shuffler
from link import audit, cards, dice, ops, rounds, service, settings
from pitbench.cli import all_commands
from tree import ROOT, texts

DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = DOCS[0].read_text(encoding="utf-8")
# What stands as code in a text, in a block or in a line.
CODE = r"```.*?```|`[^`]+`"
# In pieces, so that this file doesn't hold them.
MACHINES = ["/" + "work/", ".." + "/shared", "/" + "home/", "/" + "root/", "/" + "Users/"]


@pytest.mark.parametrize("word", MACHINES)
def test_no_path_of_a_machine_is_left(word):
    found = [str(path.relative_to(ROOT)) for path, text in texts() if word in text]
    assert found == []


@pytest.mark.parametrize("doc", DOCS, ids=lambda doc: doc.name)
def test_links_lead_to_files(doc):
    links = re.findall(r"\]\(([^)\s]+)\)", doc.read_text(encoding="utf-8"))
    files = [link.partition("#")[0] for link in links if "://" not in link and not link.startswith("#")]
    assert [link for link in files if not (doc.parent / link).exists()] == []


def test_the_map_of_folders_names_folders():
    rows = re.findall(r"^\| `([^`]+/)` \|", README, re.M)
    assert len(rows) >= 6
    assert [row for row in rows if not (ROOT / row).is_dir()] == []


def commands_in(text: str) -> set[str]:
    code = "\n".join(re.findall(CODE, text, re.S))
    return set(re.findall(r"pitbench\s+([a-z][a-z-]*)", code))


@pytest.mark.parametrize("doc", DOCS, ids=lambda doc: doc.name)
def test_every_command_in_a_text_exists(doc):
    assert commands_in(doc.read_text(encoding="utf-8")) - set(all_commands()) == set()


def test_the_readme_names_the_commands_that_people_start_with():
    assert {"sim", "kiosk", "do", "rules", "rabbits", "rejudge"} <= commands_in(README)


@pytest.mark.parametrize("command", sorted(all_commands()))
def test_every_command_explains_itself(command):
    run = subprocess.run(
        [sys.executable, "-m", "pitbench", command, "--help"], capture_output=True, text=True, timeout=30
    )
    assert run.returncode == 0
    assert f"usage: pitbench {command}" in run.stdout


PAGES = {
    "dice-shaker.md": (settings.Ops, rounds.Ops, dice.Ops, dice_shaker.Plant),
    "link.md": (ops.Ops, audit.Ops, service.Ops, rig.Rig, rare.Ops, bill_acceptor.Plant),
    "selector.md": (settings.Ops, rounds.Ops, draw.Ops, selector.Plant),
    "shuffler.md": (settings.Ops, cards.Ops, draw.Ops, shuffler.Plant),
}
OPERATIONS = [
    (page, line) for page, kinds in PAGES.items() for kind in kinds for line in re.findall(r"^\w+:.*", kind.ARGS, re.M)
]


@pytest.mark.parametrize(("page", "line"), OPERATIONS)
def test_every_operation_of_the_link_is_described_with_its_arguments(page, line):
    op, _, arguments = line.partition(":")
    rows = [row for row in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines() if row.startswith("| `")]
    described = [row for row in rows if re.match(rf"\| (`[^|]*`, )?`{op}\b", row)]
    assert len(described) == 1, described
    assert [word for word in re.findall(r"(\w+)\??=", arguments) if word not in described[0]] == []


def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


@pytest.mark.parametrize("doc", DOCS, ids=lambda doc: doc.name)
def test_every_make_target_in_a_text_exists(doc):
    code = "\n".join(re.findall(CODE, doc.read_text(encoding="utf-8"), re.S))
    assert set(re.findall(r"\bmake ([a-z]+)", code)) - targets() == set()


def test_every_target_is_explained_by_make_help():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"^([a-z]+):.*## .", text, re.M)) == targets()
