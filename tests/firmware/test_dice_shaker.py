"""The dice shaker, stepped with its plant: filled by two, shaken, read, shown; what stops it, what voids a shake."""

from __future__ import annotations

import pytest
from device.dice import GAMES
from device.dice_age import DAY_MS
from device.dice_shaker_table import CONDITIONS
from dice_bench import PEOPLE, TODAY, Calendar, Desk

HOUR_MS = 3_600_000


@pytest.fixture
def table() -> Desk:
    return Desk().filled()


# -- a round


def test_the_result_is_what_the_readers_saw(table):
    assert table.shake("354") == "3 5 4"
    assert (table.device.state, table.device.message(), table.device.light()) == ("shown", "Result 3 5 4", "green")
    assert table.rounds == [[1, TODAY + 3, "3 5 4", 0, "result"]]
    assert table.commits[-1]["shown"] == "3 5 4"


def test_shaken_again_only_after_the_result_was_taken_away(table):
    table.shake("354")
    assert table.shake("111") == "3 5 4"
    table.press("next")
    assert (table.device.state, table.device.status()["faces"]) == ("idle", None)
    assert table.shake() == "1 1 1"
    assert [row[0] for row in table.rounds] == [1, 2]


def test_no_face_is_told_before_the_result_is_stored(table):
    table.do("lie", above="354")
    table.press("shake")
    for _ in range(300):
        assert table.device.status()["faces"] is None or table.commits[-1]["shown"] == "3 5 4"
        assert "3" not in table.device.message() or table.commits[-1]["shown"] == "3 5 4"
        table.run(10)
    assert table.device.status()["faces"] == [3, 5, 4]


def test_dice_tumble_and_each_face_comes(table):
    seen = set()
    for _ in range(60):
        seen |= {int(face) for face in table.shake().split()}
        table.press("next")
    assert seen == {1, 2, 3, 4, 5, 6}
    assert table.plant.turned > 60 * 20


@pytest.mark.parametrize("game", sorted(GAMES))
def test_each_game_has_its_dice(game):
    Desk(game=game).filled("f" * GAMES[game])
    for dice in range(5):
        if dice != GAMES[game]:
            desk = Desk(game=game)
            desk.run(1000)
            desk.place("f" * dice)
            desk.fill()
            assert desk.standing == ["dice_wrong"], dice
            assert desk.shake() == ""


def test_the_last_ten_rounds_are_recalled(table):
    for number in range(12):
        table.shake(str(111 + number % 6))
        table.press("next")
    assert [row[0] for row in table.rounds] == list(range(3, 13))
    table.press("recall")
    table.press("recall")
    assert table.device.message() == "Round 11, 2027-01-15 08:00: 1 1 5"
    for _ in range(9):
        table.press("recall")
    assert table.device.message() == "idle"


# -- void


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ({"above": "304"}, "leaning"),
        ({"above": "35", "below": "423"}, "stacked"),
        ({"above": "354", "below": "42"}, "stacked"),
        ({"above": "354", "sure": 89}, "unsure"),
    ],
)
def test_what_is_not_surely_read_is_void_and_shaken_again(table, lie, why):
    table.do("lie", **lie)
    assert table.shake("2") == ""
    assert table.device.record["meters"]["void_" + why] == 1
    table.plant.coming.clear()


def test_a_void_shake_is_followed_by_another_in_the_same_round(table):
    table.do("lie", above="304")
    table.do("lie", above="666")
    table.press("shake")
    table.run(6000)
    assert table.device.record["shown"] == "6 6 6"
    assert table.rounds[-1][0::2] == [1, "6 6 6", "result"]
    assert table.rounds[-1][3] == 1


@pytest.mark.parametrize("tries", [1, 3, 5])
def test_shakes_end_with_an_attendant(tries):
    table = Desk(tries=tries).filled()
    for _ in range(9):
        table.do("lie", above="304")
    table.press("shake")
    table.run(30_000)
    assert table.standing == ["no_result"]
    assert table.device.record["meters"]["shakes"] == tries
    assert table.rounds == [[1, table.rounds[0][1], "", tries, "no_result"]]
    table.plant.coming.clear()
    table.clear()
    assert table.shake("222") == "2 2 2"
    assert table.rounds[-1][0] == 2


@pytest.mark.parametrize(("above", "below"), [("354", "423"[::-1]), ("666", "116"), ("123", "653")])
def test_a_die_that_cannot_be_stops_it(table, above, below):
    assert table.shake(above, below=below) == ""
    assert table.standing == ["die_impossible"]
    table.clear()
    assert table.standing == ["die_impossible"]


@pytest.mark.parametrize("dice", ["35", "3541"])
def test_another_number_of_dice_stops_it(table, dice):
    assert table.shake(dice) == ""
    assert table.standing == ["dice_wrong"]


def test_dice_that_never_rest_give_no_result(table):
    table.do("break", part="rest")
    table.press("shake")
    table.run(60_000)
    assert table.standing == ["no_result"]
    assert table.device.record["meters"]["void_restless"] == 3


def test_dice_that_are_moved_while_they_are_read_are_void(table):
    table.do("lie", above="354")
    table.press("shake")
    while table.device.state != "reading":
        table.run(10)
    table.do("knock")
    assert table.device.state == "shaking"
    assert table.device.record["meters"]["void_moved"] == 1


# -- people


@pytest.mark.parametrize(
    "changed",
    [
        {"witness": "A. Floor"}, {"witness_licence": "L-1"}, {"who": ""}, {"licence": ""}, {"witness": ""},
        {"witness_licence": ""}, {"who": "x" * 25}, {"licence": "L\n1"},
    ],
)  # fmt: skip
def test_two_persons_with_licences_fill_it(changed):
    desk = Desk()
    desk.run(1000)
    desk.place("fff")
    assert desk.fill(**changed)
    assert desk.device.state == "unfilled"
    assert not desk.fill()
    assert desk.device.state == "idle"
    assert desk.logged[-1][4:6] == ["filled", "A. Floor L-1, B. Dealer L-2"]


def test_it_is_filled_closed_locked_and_secured():
    desk = Desk()
    desk.run(1000)
    desk.do("lid", open=True)
    desk.do("place", dice="fff")
    assert "lid" in desk.fill()
    desk.do("lid", open=False)
    desk.do("lock", locked=False)
    assert "seal" in desk.fill()
    desk.do("latch", secured=False)
    assert "table" in desk.fill(seal="S-77")
    desk.do("latch", secured=True)
    assert not desk.fill(seal="S-77")
    assert desk.device.state == "idle"


def test_a_mini_dice_shaker_is_handed_to_the_dealer():
    desk = Desk(game="mini-dice")
    desk.do("latch", secured=False)
    assert desk.filled("ff").shake("61") == "6 1"


def test_no_new_dice_before_the_last_were_inspected(table):
    table.do("lid", open=True)
    table.do("take")
    table.do("lid", open=False)
    table.clear()
    table.place("fff")
    assert "inspect" in table.fill()
    table.step("inspect", "P. Boss", "L-9", "")
    assert not table.fill()
    assert table.device.state == "idle"


def test_tampering_is_reported_with_when_where_who(table):
    table.step("inspect", "P. Boss", "L-9", "shaved corner")
    assert table.standing == ["tampered"]
    assert table.device.record["tamper"] == [table.calendar(), "-", "P. Boss", "L-9", "shaved corner"]
    table.clear()
    assert table.standing == ["tampered"]


# -- lid, lock, latch


@pytest.mark.parametrize("when", ["idle", "shaking", "resting", "reading", "shown"])
@pytest.mark.parametrize(
    ("op", "wrong", "name"),
    [
        ("lid", {"open": True}, "lid_open"),
        ("lock", {"locked": False}, "unlocked"),
        ("latch", {"secured": False}, "unsecured"),
    ],
)  # fmt: skip
def test_opened_at_any_step(table, when, op, wrong, name):
    table.do("lie", above="354")
    if when != "idle":
        table.press("shake")
        for _ in range(1000):
            if table.device.state == when:
                break
            table.run(5)
    table.do(op, **wrong)
    assert (table.device.state, table.standing, table.device.light()) == ("error", [name], "red")
    table.run(10_000)
    assert table.plant.speed == 0
    assert [row[4] for row in table.rounds] == {"idle": [], "shown": ["result"]}.get(when, [name])
    assert name in [entry[4] for entry in table.logged]
    table.do(op, **{key: not value for key, value in wrong.items()})
    table.clear()
    assert table.standing == []
    assert table.device.state == {"lid": "unfilled"}.get(op, "shown" if when == "shown" else "idle")


# -- time


def test_dice_stay_a_day_and_no_longer(table):
    table.run(DAY_MS - 20_000)
    assert table.shake("354") == "3 5 4"
    table.press("next")
    table.run(20_000)
    assert (table.standing, table.device.state) == (["dice_expired"], "error")
    table.clear()
    assert table.standing == ["dice_expired"]
    table.do("lid", open=True)
    table.do("take")
    table.do("lid", open=False)
    table.clear()
    assert table.device.state == "unfilled"


def test_a_day_ends_in_mid_shake_without_a_result(table):
    table.run(DAY_MS - 1500 - table.device.age.ms(table.now))
    assert table.shake("354") == ""
    assert table.standing == ["dice_expired"]


@pytest.mark.parametrize(("hours", "calendar", "expired"), [
    (1, {}, False), (22, {}, False), (24, {}, True), (1, {"second": None}, True), (1, {"second": TODAY - 60}, True),
])  # fmt: skip
def test_age_goes_on_without_power(table, hours, calendar, expired):
    table.run(HOUR_MS)
    again = table.cut(hours, **calendar)
    assert (again.standing == ["dice_expired"]) is expired
    if not expired:
        assert again.device.age.ms(again.now) >= HOUR_MS * (1 + hours)


def test_a_clock_set_back_makes_no_die_younger(table):
    table.run(14 * 60_000)
    table.calendar.second -= 1800
    table.run(10_000)
    age = table.device.age.ms(table.now)
    again = table.cut(2)
    assert again.device.age.ms(again.now) >= age + 2 * HOUR_MS - 10_000


def test_time_that_was_never_known_is_a_day():
    table = Desk(calendar=Calendar(None)).filled()
    assert table.shake("354") == "3 5 4"
    assert table.cut().standing == ["dice_expired"]


# -- power


@pytest.mark.parametrize("ms", range(0, 2400, 60))
def test_a_cut_at_any_moment_shows_one_result_or_none(ms):
    table = Desk().filled()
    table.do("lie", above="354")
    table.press("shake")
    table.run(ms)
    stored = table.commits[-1]["shown"]
    again = table.cut()
    assert again.device.record["shown"] == stored
    assert again.device.state == ("shown" if stored else "idle")
    if stored:
        again.press("next")
    again.shake("222")
    rounds = [row[:1] + row[2:3] for row in again.rounds]
    assert rounds == ([[1, "3 5 4"], [2, "2 2 2"]] if stored else [[1, "2 2 2"]])


def test_a_cut_counts_among_the_tries():
    table = Desk(tries=1).filled()
    table.press("shake")
    table.run(300)
    assert table.cut().standing == ["no_result"]


# -- host


def test_a_silent_host_stops_it():
    table = Desk(host=5).filled()
    table.device.host_spoke(table.now)
    table.run(4000)
    table.device.host_spoke(table.now)
    table.run(4900)
    assert table.standing == []
    table.press("shake")
    table.run(3000)
    assert (table.standing, table.device.record["shown"]) == (["host_lost"], "")


# -- parts


@pytest.mark.parametrize(("part", "name"), [
    ("shaker", "shaker_stalled"), ("look", "reader_failed"),
])  # fmt: skip
def test_parts_that_fail_in_a_shake(table, part, name):
    table.do("break", part=part)
    assert table.shake() == ""
    assert table.standing == [name]
    table.do("mend", part=part)
    table.clear()
    assert table.shake("354") == "3 5 4"


@pytest.mark.parametrize(("part", "step"), [
    ("still", "sensors"), ("reader_above", "readers"), ("reader_below", "readers"), ("drive", "drive"),
])  # fmt: skip
def test_parts_that_fail_in_the_self_test(part, step):
    desk = Desk()
    desk.do("break", part=part)
    desk.run(2000)
    assert desk.standing == ["post_failed"]
    assert desk.device.post.failed_step() == step
    desk.do("mend", part=part)
    desk.clear()
    assert desk.device.state == "unfilled"


def test_each_condition_has_words_of_its_own():
    messages = [condition[5] for condition in CONDITIONS]
    assert len(set(messages)) == len(messages)


def test_it_is_cleared_by_the_key_alone(table):
    table.do("lock", locked=False)
    table.do("lock", locked=True)
    table.press("clear")
    assert table.standing == ["unlocked"]
    assert table.logged[-1][4:6] == ["clear_refused", "no key"]


def test_settings_are_refused_in_words(table):
    assert table.device.under_way()
    for settings in (
        {"game": "craps"},
        {"tries": 0},
        {"tries": 6},
        {"tries": "3"},
        {"table": ""},
        {"x": 1},
        {"host": 61},
    ):
        assert table.device.wrong_setting(settings)
    assert not table.device.wrong_setting({"game": "mini-dice", "tries": 5, "table": "SB-3", "host": 10})


def test_names_on_the_log_are_those_who_filled_it(table):
    assert table.device.record["filled"] == {**PEOPLE, "at": TODAY + 1}


# -- dice as the plant has them


def thrown(dice: str, count: int) -> list[tuple[int, ...]]:
    table = Desk().filled(dice)
    rows = []
    for _ in range(count):
        rows.append(tuple(int(face) for face in table.shake().split()))
        table.press("next")
    return rows


def test_a_stuck_die_lies_as_it_lay_and_a_loaded_one_shows_its_six():
    rows = thrown("sfl", 150)
    assert {row[0] for row in rows} == {1}
    sixes = [sum(row[die] == 6 for row in rows) for die in (1, 2)]
    assert sixes[1] > 1.5 * sixes[0]


def test_a_worn_die_shows_its_one_ever_oftener():
    table = Desk().filled("wff")
    ones = []
    for worn in (0, 160_000):
        table.plant.turned = worn
        shown = []
        for _ in range(60):
            shown.append(table.shake()[0])
            table.press("next")
        ones.append(shown.count("1"))
    assert ones[1] == 60
    assert ones[0] < 25


def test_an_impossible_die_stops_it_at_the_first_look():
    table = Desk().filled("ffi")
    assert table.shake() == ""
    assert table.standing == ["die_impossible"]


def test_a_hosts_patience_is_whole_when_it_is_set():
    table = Desk()
    table.run(60_000)
    table.step("configure", {"host": 5}, "technician")
    table.run(4000)
    assert table.standing == []
    table.run(2000)
    assert table.standing == ["host_lost"]
