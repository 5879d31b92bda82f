"""A bill on encrypted SSP, from the mouth to the credit, as the C of eSSP6 has it."""

import sys
from pathlib import Path

import pytest
from judged import Trial

SCRIPT = Path(__file__).with_name("judge_essp6.py")


@pytest.fixture
def trial(trial_of, pip) -> Trial:
    trial = trial_of("ssp", sys.executable, "-u", SCRIPT, PYTHONPATH=str(pip))
    trial.judge.do("connect")
    return trial


def test_a_good_bill_is_credited_once_and_lies_in_the_box(trial: Trial) -> None:
    said = trial.judge.lines
    assert "Encryption Setup" in said
    assert [line for line in said if line.startswith("Channel ")] == [
        f"Channel {channel} :  {usd} USD" for channel, usd in enumerate((1, 2, 5, 10, 20, 50, 100), 1)
    ]
    trial.insert("usd20")
    for line in ("Read note 0", "Read note 5", "Stacking", "Credit note 5", "Stacked"):
        trial.judge.says(line)
    assert trial.plant()["stacked"] == 1
    assert trial.judge.count("Credit note .*") == 1


def test_a_bill_that_the_host_gives_back_is_back(trial: Trial) -> None:
    trial.judge.do("answer reject")
    trial.insert("usd50")
    for line in ("Read note 6", "Reject", "Rejected"):
        trial.judge.says(line)
    trial.wait_plant(returned=1, stacked=0)
    assert trial.judge.count("Credit note .*") == 0


def test_a_bill_past_the_lever_at_a_power_cut_is_told_to_the_host(trial: Trial) -> None:
    trial.judge.do("hang_at Stacking")
    trial.insert("usd10")
    trial.cut_behind_the_judge("Stacking", stacked=1)
    # It agrees on a new key by itself.
    for line in ("Encryption Setup", "Poll Reset", "Cleared into cashbox 4"):
        trial.judge.says(line)
    trial.insert("usd5")
    for line in ("Credit note 3", "Stacked"):
        trial.judge.says(line)
    assert trial.plant()["stacked"] == 2
    assert trial.judge.count("Credit note .*") == trial.judge.count("Cleared into cashbox .*") == 1
