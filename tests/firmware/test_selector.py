"""The selector, stepped with its plant: a press, a number on the display, and what keeps it from there."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from bench.plant.selector import Plant
from desk import UNIQUE, Source
from device import selector
from device.selector_table import CONDITIONS
from hypothesis import given, settings
from hypothesis import strategies as st
from selector_bench import Desk

OUTCOME = 3
BUTTONS = ("select", "done", "recall", "clear")


@pytest.fixture
def table() -> Desk:
    return Desk().started()


def rounds(table: Desk) -> list[int]:
    return [row[OUTCOME] for row in table.device.rounds()]


# -- a round


def test_a_press_shows_the_number_that_was_drawn_after_a_moment_with_none(table):
    table.press("select")
    assert (table.device.state, table.plant.display, table.device.message()) == ("selecting", 0, "")
    table.run(1000)
    number = table.plant.display
    assert (table.device.state, table.device.light(), table.device.message()) == ("shown", "green", str(number))
    assert table.device.rounds() == [[1, 1_800_000_000, "pai gow poker", number]]
    assert table.device.status()["number"] == number


def test_numbers_are_one_through_seven_and_each_of_them(table):
    seen = Counter(table.select() for _ in range(200))
    assert sorted(seen) == [1, 2, 3, 4, 5, 6, 7]
    assert len(table.plant.figures) == 64


def test_the_number_is_on_the_store_before_anything_tells_it(table):
    told = []
    table.before_commit = lambda: told.append((table.plant.display, table.device.status()["number"]))
    table.press("select")
    assert table.commits[-1]["open"] == "drawn"
    assert (table.device.rounds(), table.device.status()["number"]) == ([], None)
    table.run(1000)
    assert told == [(0, None), (0, table.device.number())]


def test_pressed_again_while_it_selects_nothing_else_is_drawn(table):
    table.press("select")
    drawn = table.commits[-1]["rounds"]
    for _ in range(3):
        table.press("select")
    assert table.commits[-1]["rounds"] == drawn
    assert table.device.generator.draws == 1


def test_a_button_that_is_held_is_pressed_once(table):
    table.do("press", button="select")
    table.plant.due["button"] = table.now + 10_000
    table.run(9000)
    assert table.device.record["meters"]["rounds"] == 1


def test_done_takes_the_number_away(table):
    table.select()
    table.press("done")
    table.run(200)
    assert (table.device.state, table.plant.display, table.device.record["open"]) == ("idle", 0, None)
    assert len(rounds(table)) == 1


# -- where it may not be used


@pytest.mark.parametrize(
    ("game", "bonus", "state"),
    [
        ("pai gow poker", True, "locked"),
        ("pai gow poker", False, "idle"),
        ("asia poker", True, "idle"),
        ("supreme pai gow", True, "idle"),
    ],
)
def test_not_for_pai_gow_poker_with_the_bonus_wagers(game, bonus, state):
    table = Desk(game=game, bonus=bonus).started()
    assert table.device.state == state
    assert bool(table.select()) == (state == "idle")
    assert ("13:69F-11.17" in table.device.message()) == (state == "locked")


def test_it_is_set_to_and_fro(table):
    table.step("configure", {"bonus": True}, "technician")
    assert (table.device.state, table.select()) == ("locked", 0)
    table.step("configure", {"game": "asia poker"}, "technician")
    assert (table.device.state, bool(table.select())) == ("idle", True)


def test_after_a_memory_clear_it_is_locked_until_somebody_says_what_the_table_offers(table):
    table.select()
    table.press("done")
    table.step("clear_memory", "technician")
    assert (table.device.state, table.device.rounds(), table.select()) == ("locked", [], 0)


def test_whose_memory_is_lost_is_locked_once_it_was_cleared():
    entropy = Source()
    device = selector.create(None, (True, ""), lambda: None, False, lambda: entropy, UNIQUE)
    assert device.barred()
    assert not selector.create(None, (True, ""), lambda: None, True, lambda: entropy, UNIQUE).barred()


def test_settings_stay_as_they_are_while_a_round_is_open(table):
    assert table.device.under_way() == ""
    table.press("select")
    assert table.device.under_way() == "a round is open: press done first"
    table.run(1000)
    assert table.device.under_way()
    table.press("done")
    assert table.device.under_way() == ""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"game": "pai gow"}, "game is pai gow poker, asia poker, supreme pai gow"),
        ({"bonus": 1}, "bonus is no setting, or of another type"),
        ({"decks": 1}, "decks is no setting, or of another type"),
        ({"game": "asia poker", "bonus": True}, ""),
    ],
)
def test_a_wrong_setting_is_said(table, asked, said):
    assert table.device.wrong_setting(asked) == said


# -- what stops it


def test_a_door_takes_the_number_away_and_it_comes_back_as_it_was(table):
    number = table.select()
    table.do("door", which="service", open=True)
    table.run(300)
    assert (table.device.state, table.plant.display, table.standing) == ("error", 0, ["service_door"])
    table.do("door", which="service", open=False)
    table.press("clear")
    assert table.device.state == "error"  # without the key
    table.clear()
    assert (table.device.state, table.plant.display, rounds(table)) == ("shown", number, [number])


def test_a_door_while_it_selects_shows_nothing_until_it_is_cleared(table):
    table.press("select")
    drawn = table.commits[-1]["rounds"][-1][OUTCOME]
    table.do("door", which="service", open=True)
    table.run(5000)
    assert (table.plant.figures, table.device.rounds()) == ([], [])
    table.do("door", which="service", open=False)
    table.clear()
    assert (table.plant.figures, rounds(table)) == ([drawn], [drawn])


@pytest.mark.parametrize(("how", "still"), [("stuck", "display"), ("dark", "post"), ("segment", "post")])
def test_a_display_that_shows_something_else_is_noticed(how, still):
    table = Desk(source=Source(b"3")).started()
    while table.select() not in (3, 6, 7):  # the second line is lit
        pass
    table.do("break", part="display", how=how)
    if how == "stuck":
        table.press("select")
    table.run(300)
    assert (table.device.state, table.standing, table.device.light()) == ("error", ["display_failed"], "red")
    table.clear()
    assert (table.device.state, table.standing) == ("error", [still + "_failed"])
    table.do("mend", part="display")
    table.clear()
    assert (table.device.state, table.plant.display) == ("shown", table.device.number())


def test_without_a_sound_source_there_is_no_number(table):
    first = table.select()
    table.device.generator.entropy.healthy = False
    assert table.select() == 0
    assert (table.standing, rounds(table), table.device.record["open"]) == (["entropy_failed"], [first], None)


def test_a_store_that_fails_shows_nothing(table):
    table.press("select")
    table.step("store_error", "full")
    table.run(2000)
    assert (table.device.state, table.plant.display, table.plant.figures) == ("error", 0, [])


def test_a_program_error_is_told_until_someone_clears_it(table):
    table.step("service", "software_error", "RuntimeError")
    assert (table.device.state, table.device.message()) == ("error", "Program error: call a technician")
    table.clear()
    assert table.device.state == "idle"


def test_a_low_battery_is_shown_and_stops_nothing(table):
    table.do("battery", mv=2000)
    assert (table.device.light(), table.device.message()) == ("amber", "Battery low: replace it")
    assert table.select()
    assert [entry[4] for entry in table.logged].count("low_battery") == 1


def test_every_condition_has_words_of_its_own():
    messages = [condition[5] for condition in CONDITIONS]
    assert len(set(messages)) == len(messages)


def test_in_a_self_test_no_deadline_stands_still():
    table = Desk().started()
    table.select()
    for which in ("service", "housing"):
        table.do("door", which=which, open=True)
        table.do("door", which=which, open=False)
    table.do("key", turned=True)
    table.do("press", button="clear")
    while table.device.post.running():
        assert table.device.next() > table.now
        table.run(10)
    assert table.device.post.ok


# -- recall


def test_the_last_rounds_are_recalled_one_by_one_and_then_the_round_that_is(table):
    shown = [table.select() for _ in range(20)]
    kept = table.device.rounds()
    assert [row[OUTCOME] for row in kept] == shown[-16:]
    for back in range(1, 17):
        table.press("recall")
        number, _, game, outcome = kept[-back]
        assert table.device.message() == f"Round {number}, 2027-01-15 08:00, {game}: {outcome}"
    table.press("recall")
    assert table.device.message() == str(shown[-1])


def test_with_none_there_is_nothing_to_recall(table):
    table.press("recall")
    assert table.device.message() == "idle"


# -- power


def again(table: Desk, source: bytes = b"another") -> Desk:
    """The same selector after a power cut: what was committed, in the world that was."""
    plant = Plant()
    plant.restore(json.loads(json.dumps(table.plant.world())))
    return Desk(table.commits[-1], plant, source=Source(source))


def test_after_a_cut_the_round_has_the_number_that_it_had():
    for ms in (0, 400, 700, 2000):
        table = Desk().started()
        table.press("select")
        table.run(ms)
        drawn = table.commits[-1]["rounds"]
        after = again(table).started()
        assert (after.device.state, after.device.rounds()) == ("shown", drawn)
        assert after.plant.display == drawn[-1][OUTCOME]
        assert set(after.plant.figures) == {drawn[-1][OUTCOME]}


def test_a_number_that_was_taken_away_does_not_come_back(table):
    table.select()
    table.press("done")
    after = again(table).started()
    assert (after.device.state, after.plant.display, len(rounds(after))) == ("idle", 0, 1)


def test_the_saved_seed_is_another_after_each_start_and_each_round(table):
    seeds = [table.commits[-1]["seed"]]
    table.press("select")
    seeds.append(table.commits[-1]["seed"])
    seeds.append(again(table).commits[-1]["seed"])
    assert len(set(seeds)) == 3


def test_it_cycles_while_nobody_plays():
    numbers = []
    for idle in (0, 5000):
        table = Desk(source=Source(b"same")).started()
        table.run(idle)
        numbers.append([table.select() for _ in range(20)])
    assert numbers[0] != numbers[1]


def test_at_rest_it_asks_to_be_woken_for_its_next_cycle(table):
    assert table.device.next() == table.device.cycle


# -- anything


DEEDS = st.one_of(
    st.tuples(st.just("press"), st.sampled_from(BUTTONS)),
    st.tuples(st.just("run"), st.integers(0, 2000)),
    st.tuples(st.just("door"), st.booleans()),
    st.tuples(st.just("break"), st.sampled_from(("stuck", "dark", "segment"))),
    st.tuples(st.just("mend"), st.none()),
    st.tuples(st.just("clear"), st.none()),
    st.tuples(st.just("cut"), st.none()),
)


def deed(table: Desk, what: str, how: object) -> Desk:
    if what == "press":
        table.press(how)
    elif what == "run":
        table.run(how)
    elif what == "door":
        table.do("door", which="service", open=how)
    elif what == "break":
        table.do("break", part="display", how=how)
    elif what == "mend":
        table.do("mend", part="display")
    elif what == "clear":
        table.clear()
    else:
        table = again(table)
    return table


@settings(max_examples=150, deadline=None)
@given(st.lists(DEEDS, max_size=25))
def test_whatever_is_done_a_round_keeps_its_number_and_is_kept(deeds):
    table = Desk().started()
    known: list[list[object]] = []
    for what, how in deeds:
        table = deed(table, what, how)
        now = table.device.record["rounds"]
        assert now[: len(known)] == known
        assert len(now) <= len(known) + 1
        known = [list(row) for row in now]
        if table.device.state == "shown":
            assert table.device.message().endswith(str(known[-1][OUTCOME])) or table.device.recalled
        else:
            assert table.device.driven == 0
