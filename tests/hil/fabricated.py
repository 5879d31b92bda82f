"""Texts of a fabricated suite: a board that is a dictionary, and three rules of its own."""

RULES = """
[defaults]
devices = ["bill-acceptor"]
basis = "TEXT"
method = "Look."
needs = ["wire"]

[[rule]]
id = "NJ-1.28N(i)2/idle"
reads = "Idle."
limits.accepted = { max = 0, unit = "items" }

[[rule]]
id = "NJ-1.28N(h)/boots"
reads = "Boots."
images = ["bench", "release"]

[[rule]]
id = "HOUSE-reason"
clause = "NJ-1.28N(b)"
basis = "HOUSE"
reads = "Reason."

[[rule]]
id = "NJ-1.28N(e)/wiring"
reads = "Wiring."
instead = "INSPECT"
condition = "Look at the cables."
"""

CONFTEST = """
import time
import pytest

@pytest.fixture
def board(run, image_kind):
    caps = {"wire", "plant"} if image_kind == "bench" else {"wire"}
    run.identify({"image": image_kind, "digest": "aa11", "uid": "1"}, rung="unix", caps=caps, pc={"digest": "aa11"})
    run.trace(time.monotonic(), "wire", "to_board", bytes.fromhex("fc05112756"))
    return {"kind": image_kind}
"""

GOOD = """
from pitbench_hil.marks import images, needs, rule

@rule("NJ-1.28N(i)2/idle")
def test_door(board, check):
    check.stimulus("door opened", number="123456789012345678")
    check.measure("accepted", 0)

@images("bench", "release")
@rule("NJ-1.28N(h)/boots")
def test_boots(board, check):
    check.expect("state", "ready", "ready")

@rule("HOUSE-reason")
def test_reason(board, check):
    check.expect("reason", 0x71, 0x71)
"""
