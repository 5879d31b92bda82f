"""A bill on encrypted SSP, from the mouth to the credit, as encrypted-smiley-secure-protocol has it."""

import pytest
from judged import Trial

USD = (1, 2, 5, 10, 20, 50, 100)


@pytest.fixture
def trial(node_trial) -> Trial:
    trial = node_trial("ssp", "judge_ssp.js")
    trial.judge.do("open")
    trial.judge.do("connect")
    return trial


def test_a_good_bill_is_credited_once_and_lies_in_the_box(trial: Trial) -> None:
    said = trial.judge.lines
    assert "encrypted true" in said
    assert f"table {', '.join(f'{usd} USD' for usd in USD)}" in said
    trial.insert("usd20")
    for line in ("READ_NOTE unknown", "READ_NOTE 20 USD", "NOTE_STACKING", "CREDIT_NOTE 20 USD", "NOTE_STACKED"):
        trial.judge.says(line)
    assert trial.plant()["stacked"] == 1
    assert trial.judge.count("CREDIT_NOTE .*") == 1


def test_a_bill_that_the_host_gives_back_is_back(trial: Trial) -> None:
    trial.judge.do("answer reject")
    trial.insert("usd50")
    for line in ("READ_NOTE 50 USD", "NOTE_REJECTING", "NOTE_REJECTED"):
        trial.judge.says(line)
    trial.wait_plant(returned=1, stacked=0)
    assert trial.judge.count("CREDIT_NOTE .*") == 0


def test_a_photocopy_is_rejected_and_never_offered(trial: Trial) -> None:
    trial.insert("photocopy")
    for line in ("NOTE_REJECTING", "NOTE_REJECTED", "why .*"):
        trial.judge.says(line)
    assert trial.judge.count("(READ|CREDIT)_NOTE .* USD") == 0
    assert trial.plant()["stacked"] == 0


def test_a_power_cut_in_escrow_costs_nobody_anything(trial: Trial) -> None:
    trial.judge.do("hang_at READ_NOTE 10 USD")
    trial.insert("usd10")
    trial.cut_behind_the_judge("READ_NOTE 10 USD", in_path=1)
    trial.judge.says("refused POLL KEY_NOT_SET")
    trial.judge.do("connect")
    trial.judge.says("SLAVE_RESET")
    trial.judge.says("NOTE_CLEARED_FROM_FRONT unknown")
    assert trial.plant()["stacked"] == trial.judge.count("CREDIT_NOTE .*") == 0
    takes_the_next_bill(trial)


def test_a_bill_past_the_lever_at_a_power_cut_is_told_to_the_host(trial: Trial) -> None:
    trial.judge.do("hang_at NOTE_STACKING")
    trial.insert("usd10")
    trial.cut_behind_the_judge("NOTE_STACKING", stacked=1)
    trial.judge.says("refused POLL KEY_NOT_SET")
    trial.judge.do("connect")
    trial.judge.says("NOTE_CLEARED_TO_CASHBOX 10 USD")
    takes_the_next_bill(trial)
    assert trial.judge.count("NOTE_CLEARED_TO_CASHBOX 10 USD") == 1


def takes_the_next_bill(trial: Trial) -> None:
    """Host and device are in step again."""
    before = trial.plant()["stacked"], trial.judge.count("CREDIT_NOTE .*")
    trial.insert("usd5")
    trial.judge.says("CREDIT_NOTE 5 USD")
    trial.judge.says("NOTE_STACKED")
    assert (trial.plant()["stacked"], trial.judge.count("CREDIT_NOTE .*")) == (before[0] + 1, before[1] + 1)
