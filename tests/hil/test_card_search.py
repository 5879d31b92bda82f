import pytest
from pitbench_hil.card_search import card_name, orders_told, runs_told

ORDER = bytes([26, 11, 51, 0, 38, 7, 13])
NAMES = ["AD", "QS", "KC", "AS", "KD", "8S", "AH"]


def test_cards_are_named_as_people_name_them():
    assert [card_name(face) for face in ORDER] == NAMES
    assert card_name(52) == "joker"


@pytest.mark.parametrize(
    "text",
    [
        ORDER[:5].hex(),
        "x" + ORDER[2:].hex().upper(),
        "[1, 26, 11, 51, 0, 38, 9]",
        "next: AD QS KC AS KD",
        "kc-as-kd-8s-ah.",
        '"' + "".join(NAMES) + '"',
        "26;11;51;0;38",
    ],
)
def test_a_run_is_found_however_it_is_written(text):
    assert runs_told(text, ORDER) >= 1


@pytest.mark.parametrize("text", ["", "[26, 11, 51, 0]", "AD QS KC AS", "a26b11c51d0e38", "261151038", "xADQSKCASKDx"])
def test_less_than_a_run_or_a_part_of_a_word_is_none(text):
    assert runs_told(text, ORDER) == 0


def test_a_ten_and_a_joker_have_names_too():
    assert runs_told("10H joker 10S TC 2S", bytes([22, 52, 9, 48, 1])) == 1


def test_runs_of_every_order_in_every_text_count():
    assert orders_told([ORDER.hex(), "nothing"], [ORDER, ORDER[::-1]]) == 3
