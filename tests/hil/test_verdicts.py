import math

import pytest
from pitbench_hil.catalogue import Limit, rules_for
from pitbench_hil.verdict import (
    Expectation,
    Facts,
    Measurement,
    Verdict,
    counts,
    judge,
    judge_measurement,
    judge_rule,
)

RULES = rules_for("bill-acceptor")
TIMED = RULES["NJ-1.28N(a)/response-time"]
PLAIN = RULES["NJ-1.28N(a)/settings"]


def timed(value, uncertainty=0.0, **facts):
    return Facts(measurements=[Measurement("slowest_reply", value, "ms", uncertainty)], **facts)


@pytest.mark.parametrize(
    ("value", "uncertainty", "verdict"),
    [
        (50, 0, Verdict.PASS),
        (50.1, 0, Verdict.FAIL),
        (45, 5, Verdict.PASS),
        (45.1, 5, Verdict.INCONCLUSIVE),
        (55, 5, Verdict.INCONCLUSIVE),
        (55.1, 5, Verdict.FAIL),
        (None, 0, Verdict.INCONCLUSIVE),
        (math.nan, 0, Verdict.INCONCLUSIVE),
    ],
)
def test_uncertainty_makes_a_band_around_a_limit_in_which_nothing_is_concluded(value, uncertainty, verdict):
    assert judge(TIMED, timed(value, uncertainty)).verdict is verdict


@pytest.mark.parametrize(
    ("limit", "value", "verdict"),
    [
        (Limit(min=2.5, max=3.5), 2.4, Verdict.FAIL),
        (Limit(min=2.5, max=3.5), 3.0, Verdict.PASS),
        (Limit(min=2.5, max=3.5), 3.6, Verdict.FAIL),
        (Limit(equals=0), -1, Verdict.FAIL),
        (Limit(equals=0), 0, Verdict.PASS),
        (Limit(equals="green"), "red", Verdict.FAIL),
    ],
)
def test_every_kind_of_limit_decides_on_both_sides(limit, value, verdict):
    assert judge_measurement(Measurement("x", value), limit) is verdict


def test_a_rule_whose_limit_was_not_measured_is_not_tested():
    facts = Facts(expectations=[Expectation("state", 1, 1)])
    judgement = judge(TIMED, facts)
    assert judgement.verdict is Verdict.NOT_TESTED
    assert "slowest_reply" in judgement.why


def test_a_test_that_decides_nothing_is_not_tested():
    assert judge(PLAIN, Facts(measurements=[Measurement("frames", 12)])).verdict is Verdict.NOT_TESTED


def test_an_unmet_expectation_fails_and_says_what_was_seen():
    judgement = judge(PLAIN, Facts(expectations=[Expectation("light", "green", "red")]))
    assert judgement.verdict is Verdict.FAIL
    assert "light: green instead of red" in judgement.why


def test_the_comparison_made_before_masking_stands():
    assert not Expectation("number", "****5678", "****5678", met=False).holds


def test_what_failed_before_the_rig_broke_stays_a_fail_and_what_passed_does_not_stay_a_pass():
    assert judge(TIMED, timed(90, broken="cable")).verdict is Verdict.FAIL
    judgement = judge(TIMED, timed(3, broken="cable"))
    assert (judgement.verdict, judgement.why) == (Verdict.NOT_TESTED, "cable")


def test_an_interrupted_test_is_not_tested():
    assert judge(TIMED, timed(3, finished=False)).verdict is Verdict.NOT_TESTED


def test_a_second_try_never_turns_a_fail_into_a_pass():
    assert judge_rule(TIMED, [timed(90), timed(3)]).verdict is Verdict.FAIL
    assert judge_rule(TIMED, [timed(3), timed(90)]).verdict is Verdict.FAIL
    assert judge_rule(TIMED, [timed(49, 5), timed(3)]).verdict is Verdict.INCONCLUSIVE
    assert judge_rule(TIMED, [timed(3), timed(3, skipped="no")]).verdict is Verdict.NOT_TESTED


def test_a_pass_says_on_which_image():
    assert judge_rule(TIMED, [timed(3)]).label == "PASS (bench image)"
    assert judge_rule(TIMED, [timed(3), timed(3, image="release")]).label == "PASS"
    untested = judge_rule(TIMED, [timed(3), timed(3, image="release", skipped="no pins")])
    assert untested.label == "PASS (bench image)"
    assert "no pins" in untested.why
    assert judge_rule(TIMED, [timed(3), timed(90, image="release")]).verdict is Verdict.FAIL


def test_rows_without_a_test_keep_their_answer_and_no_record_is_not_tested():
    assert judge_rule(RULES["NJ-1.28N(e)/wiring"], []).label == "INSPECT"
    assert judge_rule(TIMED, [], "the rig broke: cable").why == "the rig broke: cable"


def test_the_worst_of_several_measurements_is_shown():
    facts = Facts(measurements=[Measurement("slowest_reply", v, "ms") for v in (3, 41, 7)])
    assert judge(TIMED, facts).observed == "slowest_reply 41 ms"


def test_house_counts_under_the_house_profile_only_and_a_state_under_its_own():
    house, nj, ny = RULES["HOUSE-log-chain"], TIMED, RULES["NY-5321.12(f)/signal/jam"]
    assert [counts(rule, ["nj", "ny"]) for rule in (house, nj, ny)] == [False, True, True]
    assert [counts(rule, ["ny"]) for rule in (house, nj, ny)] == [False, False, True]
    assert all(counts(rule, ["house"]) for rule in (house, nj, ny))
