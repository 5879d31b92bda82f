"""A bill on CCNET, from the mouth to the credit, as cashcode-bv has it."""

import pytest
from judged import Trial

ALL_TYPES = 24


@pytest.fixture
def trial(node_trial) -> Trial:
    trial = node_trial("ccnet", "judge_ccnet.js")
    trial.judge.do("connect")
    trial.judge.do("begin")
    trial.judge.says("status 14")
    return trial


def test_a_good_bill_is_credited_once_and_lies_in_the_box(trial: Trial) -> None:
    said = trial.judge.lines
    assert f"table {', '.join(f'{usd} USA' for usd in (1, 2, 5, 10, 20, 50, 100))}" in said
    assert f"enabled {ALL_TYPES}" in said
    trial.insert("usd20")
    for line in ("status 15", "escrow 20 USA", "status 17", "credit 20 USA", "status 14"):
        trial.judge.says(line)
    assert trial.plant()["stacked"] == 1
    assert trial.judge.count("credit .*") == 1


def test_a_bill_that_the_host_gives_back_is_back(trial: Trial) -> None:
    trial.judge.do("answer return")
    trial.insert("usd50")
    for line in ("escrow 50 USA", "status 18", "returned 50 USA", "status 14"):
        trial.judge.says(line)
    trial.wait_plant(returned=1, stacked=0)
    assert trial.judge.count("credit .*") == 0


def test_a_photocopy_is_rejected_and_never_offered(trial: Trial) -> None:
    trial.insert("photocopy")
    trial.judge.says("status 1c .*")
    trial.judge.says("status 14")
    assert trial.judge.count("(escrow|credit) .*") == 0
    assert trial.plant()["stacked"] == 0


def test_a_power_cut_in_escrow_costs_nobody_anything(trial: Trial) -> None:
    trial.judge.do("answer nothing")
    trial.insert("usd10")
    trial.judge.says("escrow 10 USA")
    trial.cut()
    trial.judge.says("status 11")
    trial.judge.do("connect")
    assert trial.plant()["stacked"] == trial.judge.count("credit .*") == 0
    takes_the_next_bill(trial)


def test_a_bill_past_the_lever_at_a_power_cut_is_told_to_the_host(trial: Trial) -> None:
    trial.judge.do("hang_at status 17")
    trial.insert("usd10")
    trial.cut_behind_the_judge("status 17", stacked=1)
    trial.judge.says("status 12")
    trial.judge.do("connect")
    assert trial.judge.count("status 12") == 1
    takes_the_next_bill(trial)


def takes_the_next_bill(trial: Trial) -> None:
    """Host and device are in step again."""
    before = trial.plant()["stacked"], trial.judge.count("credit .*")
    trial.judge.do("answer stack")
    trial.judge.do("begin")
    trial.judge.says("status 14")
    trial.insert("usd5")
    trial.judge.says("credit 5 USA")
    trial.judge.says("status 14")
    assert (trial.plant()["stacked"], trial.judge.count("credit .*")) == (before[0] + 1, before[1] + 1)
