"""Items as a person names them, and the room between what they look like."""

from itertools import combinations

import pytest
from pitbench import items
from pitbench.errors import PitbenchError, UnknownName
from pitbench.link import REQUEST_LIMIT, encode_line

# Readings of one sensor that a validator may still take for another's; templates must be further apart than that.
ROOM = 24


def test_a_note_has_the_measures_of_its_kind() -> None:
    note = items.genuine(20)
    assert (note.worth, note.length, note.thickness, note.magnetic, note.uv) == (2000, 156, 110, 110, 10)
    assert note.optical == (120, 128, 60 + 25 * 5, 90 + 15 * 6)


def test_the_four_ways_are_two_faces_read_both_ways() -> None:
    ways = [items.optical_print(5, way) for way in range(4)]
    assert ways[1] == ways[0][::-1]
    assert ways[2] == tuple(255 - value for value in ways[0])
    assert ways[3] == ways[2][::-1]


def test_no_two_prints_look_alike() -> None:
    prints = {(usd, way): items.optical_print(usd, way) for usd in items.DENOMINATIONS for way in range(4)}
    others = {"voucher": items.VOUCHER_PRINT, "foreign": items.FOREIGN_PRINT, "unknown": items.UNKNOWN_PRINT}
    for one, other in combinations([*prints.items(), *others.items()], 2):
        assert max(abs(a - b) for a, b in zip(one[1], other[1], strict=True)) > ROOM, (one, other)


@pytest.mark.parametrize("name", ["usd1", "usd100@3", "counterfeit=usd5@2", "strung", "foreign", "voucher=" + "1" * 18])
def test_every_item_fits_into_a_request(name: str) -> None:
    line = encode_line({"id": 999999, "do": "insert", "item": items.item_named(name).record()})
    assert len(line) <= REQUEST_LIMIT


def test_names_mean_what_they_say() -> None:
    assert items.item_named("usd50@2") == items.genuine(50, 2)
    assert items.item_named("half=usd1") == items.half(1)
    assert items.item_named("double").thickness == 220
    assert items.item_named("coupon=" + "7" * 18).barcode == "7" * 18
    assert items.item_named("upside-down-voucher").barcode == ""
    assert items.item_named("photocopy").worth == 0
    assert items.item_named("strung").record()["string"] == 1
    assert "barcode" not in items.genuine(1).record()


@pytest.mark.parametrize("name", ["", "usd", "eur20", "usd20@x", "counterfeit=eur5", "usd-1"])
def test_an_unknown_name_gets_the_choices(name: str) -> None:
    with pytest.raises(UnknownName, match="usd20"):
        items.item_named(name)


@pytest.mark.parametrize("name", ["usd3", "usd20@4", "voucher=12", "voucher=" + "x" * 18, "coupon"])
def test_a_wrong_value_is_said(name: str) -> None:
    with pytest.raises(PitbenchError):
        items.item_named(name)
