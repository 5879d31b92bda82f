"""The card shuffler, stepped with its plant: cards in, an order, cards out, and what stops it."""

from __future__ import annotations

import json

import pytest
from bench.plant.shuffler import Plant
from desk import Source
from device.shuffler_table import CONDITIONS
from shuffler_bench import DECK, Desk

JOKER, UNREADABLE, FOREIGN, BOXED = 52, 53, 64, 128


@pytest.fixture
def table() -> Desk:
    return Desk().ready_for_cards()


def deal_all(table: Desk, ms: int = 3000) -> bytes:
    for _ in range(100):
        if table.device.state != "ready":
            break
        table.press("hand")
        table.run(ms)
    return table.tray


# -- a whole game


def test_a_deck_comes_out_whole_and_in_the_order_that_was_drawn(table):
    table.shuffle()
    order = bytes(table.device.order)
    assert (table.device.state, table.device.light()) == ("ready", "green")
    dealt = deal_all(table)
    assert bytes(dealt[place] for place in order) == DECK
    assert table.device.state == "idle"
    assert table.device.record["games"][-1][2:] == ["blackjack", 52, "dealt"]


def test_a_game_is_kept_in_its_history_and_not_told_on_the_log_that_everybody_reads(table):
    deal_all(table.shuffle())
    assert [entry[4] for entry in table.logged] == ["power_on"]
    assert table.commits[-1]["games"] == [[1, None, "blackjack", 52, "dealt"]]
    assert table.commits[-1]["flight"] is None


def test_no_two_games_have_one_order(table):
    first = deal_all(table.shuffle())
    table.do("take")
    assert deal_all(table.shuffle()) != first


def test_what_comes_out_does_not_hang_on_what_went_in():
    outputs = []
    for cards in (DECK, DECK[::-1]):
        table = Desk().ready_for_cards().shuffle(cards)
        outputs.append(bytes(cards.index(card) for card in deal_all(table)))
    assert outputs[0] == outputs[1]


def test_one_card_and_one_hand_at_a_time(table):
    table.shuffle()
    for press, out in (("deal", 1), ("hand", 6), ("deal", 7)):
        table.press(press)
        table.run(3000)
        assert (len(table.tray), table.device.state) == (out, "ready")


@pytest.mark.parametrize(("decks", "jokers"), [(1, 1), (2, 0), (8, 0), (8, 2)])
def test_shoes_and_jokers(decks, jokers):
    table = Desk(decks=decks, jokers=jokers).ready_for_cards()
    cards = (DECK + bytes([JOKER] * jokers)) * decks
    table.shuffle(cards, ms=240_000)
    assert (table.device.state, table.device.message()) == ("ready", "ready")
    assert table.device.generator.draws == len(cards) - 1
    assert sorted(deal_all(table)) == sorted(cards)


def test_in_continuous_mode_cards_come_back_into_the_rack():
    table = Desk(continuous=True).ready_for_cards().shuffle()
    table.press("hand")
    table.run(3000)
    out = table.tray
    table.do("take")
    table.do("load", cards=out.hex())
    table.press("start")
    table.run(5000)
    assert (table.device.state, table.device.inside) == ("ready", 52)
    assert sorted(deal_all(table)) == list(DECK)


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (0, "Wrong cards: Extra: AS. Clear with the key, unload."),
        (7 | FOREIGN, "Wrong cards: foreign back. Clear with the key, unload."),
    ],
)
def test_a_card_that_comes_back_must_be_one_of_the_game(card, said):
    table = Desk(continuous=True).ready_for_cards().shuffle()
    while 0 in table.tray or not table.tray:
        table.press("deal")
        table.run(2000)
        if 0 in table.tray:
            table = Desk(continuous=True, source=Source(bytes(table.tray))).ready_for_cards().shuffle()
    out = len(table.tray)
    table.do("load", cards=bytes([card]).hex())
    table.press("start")
    table.run(3000)
    assert (table.device.state, table.device.message(), len(table.tray)) == ("error", said, out)


def test_no_more_cards_come_back_than_went_out():
    table = Desk(continuous=True).ready_for_cards().shuffle()
    table.do("load", cards="05")
    table.press("start")
    table.run(3000)
    assert table.device.message() == "Wrong number of cards: more than 52 cards. Clear with the key, unload."


def test_without_recognition_it_counts_only_and_says_so():
    table = Desk(recognise=False).ready_for_cards().shuffle(b"\5" * 52)
    assert (table.device.state, table.device.message()) == ("ready", "ready, counted only")


# -- wrong cards


@pytest.mark.parametrize(
    ("cards", "said"),
    [
        (DECK[:-1], "Wrong number of cards: 51 cards, 52 are right. Missing: KC. Clear with the key, unload."),
        (DECK + b"\0", "Wrong number of cards: 53 cards, 52 are right. Extra: AS. Clear with the key, unload."),
        (
            DECK + bytes([JOKER]),
            "Wrong number of cards: 53 cards, 52 are right. Extra: joker. Clear with the key, unload.",
        ),
        (DECK[:-1] + b"\0", "Wrong cards: Missing: KC. Extra: AS. Clear with the key, unload."),
        (DECK[:-1] + bytes([51 | FOREIGN]), "Wrong cards: foreign back. Clear with the key, unload."),
        (DECK[:-1] + bytes([51 | BOXED]), "Wrong cards: boxed card. Clear with the key, unload."),
        (DECK[:-2] + b"\0\0", "Wrong cards: Missing: QC KC. Extra: AS x2. Clear with the key, unload."),
        (
            DECK[:44],
            "Wrong number of cards: 44 cards, 52 are right. Missing: 6C 7C 8C 9C TC JC ... Clear with the key, unload.",
        ),
        (DECK[:-1] + bytes([UNREADABLE]), "Damaged card: replace it, clear with the key"),
    ],
)
def test_a_wrong_deck_is_named_and_not_released(table, cards, said):
    table.shuffle(cards)
    assert (table.device.state, table.device.message(), table.tray) == ("error", said, b"")
    for press in ("deal", "hand", "start"):
        table.press(press)
        table.run(3000)
    assert table.tray == b""


def test_a_receipt_has_room_for_all_that_is_missing(table):
    table.shuffle(DECK[:39])
    assert table.device.inspected[-1].endswith("Missing: AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC.")


def test_a_shuffle_that_is_aborted_gives_no_receipt_not_even_the_last_one(table):
    deal_all(table.shuffle())
    assert table.device.inspected[2:] == (1, 52, "")
    table.do("take")
    table.shuffle(ms=1000)
    table.do("door", which="service", open=True)
    assert table.device.inspected is None


def test_after_a_wrong_deck_all_comes_out_and_the_next_is_shuffled(table):
    table.shuffle(DECK[:-1])
    table.clear()
    assert table.device.message() == "Cards inside are not shuffled: unload"
    table.press("unload")
    table.run(120_000)
    assert (sorted(table.tray), table.device.state) == (list(DECK[:-1]), "idle")
    table.do("take")
    assert table.shuffle().device.state == "ready"


# -- doors, jams, and whatever else stops it


@pytest.mark.parametrize("which", ["service", "shroud"])
def test_not_one_more_card_after_a_door(table, which):
    table.shuffle()
    for ms in range(0, 160, 7):
        table = Desk().ready_for_cards().shuffle()
        table.press("hand")
        table.run(ms)
        out = len(table.tray)
        table.do("door", which=which, open=True)
        table.run(5000)
        assert (len(table.tray), table.device.state) == (out, "error")


def test_a_door_in_mid_shuffle_spoils_the_deck_for_good(table):
    table.do("load", cards=DECK.hex())
    table.press("start")
    table.run(1000)
    table.do("door", which="shroud", open=True)
    table.do("door", which="shroud", open=False)
    table.run(5000)
    assert (table.device.state, table.standing) == ("error", ["shroud"])
    table.press("clear")
    assert table.standing == ["shroud"]  # without the key
    table.clear()
    assert table.device.state == "spoiled"
    table.press("deal")
    table.run(5000)
    assert table.tray == b""
    table.press("unload")
    table.run(120_000)
    assert table.device.state == "idle"
    assert sorted(table.tray + bytes(table.plant.hopper)) == list(DECK)


def test_each_opening_and_closing_is_logged_with_the_state_that_it_met(table):
    before = len(table.logged)
    for _ in range(2):
        table.do("door", which="shroud", open=True)
        table.do("door", which="shroud", open=False)
    told = [(entry[4], entry[5]) for entry in table.logged[before:]]
    assert told == [
        ("shroud", "idle"),
        ("shroud_closed", "error"),
        ("shroud", "error"),
        ("shroud_closed", "error"),
    ]


def test_a_low_battery_is_shown_and_stops_nothing(table):
    table.do("battery", mv=2000)
    assert (table.device.light(), table.device.message()) == ("amber", "Battery low: replace it")
    assert table.shuffle().device.state == "ready"


def test_a_program_error_is_told_after_the_start_until_someone_clears_it(table):
    table.step("service", "software_error", "RuntimeError")
    assert (table.device.state, table.device.light()) == ("error", "red")
    assert table.device.message() == "Program error: call a technician"
    table.clear()
    assert table.device.state == "idle"


def test_a_store_that_fails_in_a_game_leaves_a_way_out(table):
    table.shuffle(ms=1000)
    table.step("store_error", "full")
    assert (table.device.state, table.device.under_way()) == ("error", "")


def test_a_motor_that_breaks_while_it_runs_stands_at_once(table):
    table.shuffle()
    table.press("deal")
    while not table.plant.exit:
        table.run(1)
    table.do("break", part="eject", how="stall")
    table.run(3000)
    assert (table.standing, table.tray) == (["jam_exit"], b"")


@pytest.mark.parametrize(
    ("part", "how", "condition"),
    [
        ("feed", "stall", "jam_feed"),
        ("feed", "double", "jam_feed"),
        ("insert", "stall", "jam_insert"),
        ("rack", "stall", "rack_stalled"),
        ("camera", "dead", "camera_failed"),
    ],
)
def test_a_broken_part_stops_the_shuffle_by_its_name(table, part, how, condition):
    table.do("break", part=part, how=how)
    table.shuffle(ms=10_000)
    assert (table.standing, table.device.state, table.device.light()) == ([condition], "error", "red")
    assert [name for name in ("feed", "insert", "eject") if name in table.plant.due] == []


def test_a_jam_at_the_exit_stops_dealing(table):
    table.shuffle()
    table.do("break", part="eject", how="stall")
    table.press("deal")
    table.run(5000)
    assert table.standing == ["jam_exit"]


def test_every_condition_has_words_of_its_own():
    messages = [condition[5] for condition in CONDITIONS]
    assert len(set(messages)) == len(messages)


# -- randomness


def test_a_dead_source_stops_it_before_the_next_game(table):
    table.device.generator.entropy.healthy = False
    table.shuffle()
    assert (table.standing, table.tray, bytes(table.plant.hopper)) == (["entropy_failed"], b"", DECK)


def test_a_machine_that_came_to_rest_asks_to_be_woken_for_its_next_cycle():
    idle = Desk().ready_for_cards()
    assert idle.device.cycle is not None
    assert idle.device.next() == idle.device.cycle


def test_it_cycles_while_nobody_plays():
    orders = []
    for idle in (0, 5000):
        table = Desk(source=Source(b"same")).ready_for_cards()
        table.run(idle)
        table.shuffle()
        orders.append(bytes(table.device.order))
    assert orders[0] != orders[1]


# -- power


def again(table: Desk) -> Desk:
    """The same machine after a power cut: what was committed, and cards where they were."""
    plant = Plant()
    plant.restore(json.loads(json.dumps(table.plant.world())))
    return Desk(table.commits[-1], plant, source=Source(b"another"))


def test_a_cut_in_a_game_never_makes_a_shuffled_deck():
    for ms in (100, 3000, 9000):
        table = Desk().ready_for_cards()
        table.shuffle(ms=ms)
        after = again(table)
        after.run(3000)
        assert (after.device.state, after.standing) == ("error", ["power_interrupted"])
        after.clear()
        assert after.device.state == "spoiled"
        after.press("unload")
        after.run(120_000)
        assert (after.device.state, after.device.inside) == ("idle", 0)


def test_a_cut_forgets_no_card_that_was_dealt():
    table = Desk().ready_for_cards().shuffle()
    for press in ("hand", "deal"):
        table.press(press)
        table.run(3000)
    after = again(table)
    assert after.device.record["games"] == [[1, None, "blackjack", 6, "aborted"]]
    assert after.device.record["meters"]["cards_dealt"] == 6


def test_after_a_cut_nobody_says_how_many_cards_are_inside_until_they_are_out():
    after = again(Desk().ready_for_cards().shuffle())
    after.run(3000)
    after.clear()
    assert after.device.status()["inside"] is None
    after.press("unload")
    after.run(120_000)
    assert after.device.status()["inside"] == 0


def test_what_is_wrong_with_the_cards_is_said_after_a_restart_too():
    table = Desk().ready_for_cards().shuffle(DECK[:-1])
    said = table.device.message()
    assert again(table).device.message() == said


def test_a_record_of_an_older_image_lacks_nothing():
    table = Desk().ready_for_cards()
    old = {name: value for name, value in table.commits[-1].items() if name not in ("dealt", "detail", "refused")}
    assert Desk(old).ready_for_cards().shuffle().device.state == "ready"


def test_the_saved_seed_is_another_after_each_start():
    table = Desk().ready_for_cards()
    first = table.commits[-1]["seed"]
    second = again(table)
    assert second.commits[-1]["seed"] not in ("", first)
