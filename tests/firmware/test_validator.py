"""What is validated, in which orientation, how far off it may be, and every reason to reject."""

from __future__ import annotations

import pytest
from acceptor_bench import COUPON, VOUCHER, note, ticket
from device import currency_usd, validator
from device.validator import Validator

NOTES = range(len(currency_usd.DENOMINATIONS))
# Escrow codes and values as the ID-003 currency table for US dollars has them.
USD = [(0x61, 100), (0x62, 200), (0x63, 500), (0x64, 1000), (0x65, 2000), (0x66, 5000), (0x67, 10000)]


def judge(item: dict):
    return Validator(currency_usd).judge(item)


def reason(item: dict) -> int:
    found, why = judge(item)
    assert (found is None) == bool(why)
    return why


@pytest.mark.parametrize("orientation", range(4))
@pytest.mark.parametrize("index", NOTES)
def test_every_genuine_note_is_known_in_four_orientations(index, orientation):
    item, why = judge(note(index, orientation))
    assert why == 0
    assert (item.kind, item.code, item.cents, item.orientation) == ("note", *USD[index], orientation)


@pytest.mark.parametrize("orientation", range(4))
@pytest.mark.parametrize("index", NOTES)
def test_no_two_templates_are_within_one_tolerance(index, orientation):
    mine = currency_usd.optical(index, orientation)
    others = [currency_usd.optical(i, o) for i in NOTES for o in range(4) if (i, o) != (index, orientation)]
    assert not [other for other in others if max(abs(a - b) for a, b in zip(mine, other, strict=True)) <= 12]


@pytest.mark.parametrize("index", NOTES)
@pytest.mark.parametrize(
    ("name", "middle", "below", "above", "why"),
    [
        ("length", 156, 4, 4, validator.REJECT_LENGTH),
        ("thickness", 110, 30, 30, validator.REJECT_INSERTION),
        ("magnetic", None, 15, 15, validator.REJECT_MAGNETIC),
        ("uv", 0, 0, 60, validator.REJECT_FEATURE),
    ],
)
def test_a_measure_passes_up_to_its_tolerance_and_no_further(index, name, middle, below, above, why):
    middle = currency_usd.magnetic(index) if middle is None else middle
    for value in (middle - below, middle + above):
        assert reason(note(index, **{name: value})) == 0
    assert reason(note(index, **{name: middle + above + 1})) == why
    if below:
        assert reason(note(index, **{name: middle - below - 1})) == why


@pytest.mark.parametrize("orientation", range(4))
@pytest.mark.parametrize(("wrong", "why"), [({"magnetic": 0}, 0x72), ({"uv": 180}, 0x7F)])
def test_ink_and_paper_are_judged_in_every_orientation(orientation, wrong, why):
    assert reason(note(4, orientation, **wrong)) == why


@pytest.mark.parametrize("spot", range(4))
@pytest.mark.parametrize("sign", [1, -1])
def test_each_spot_passes_up_to_its_tolerance_and_no_further(spot, sign):
    optical = currency_usd.optical(4, 0)
    optical[spot] += 12 * sign
    assert reason(note(optical=optical)) == 0
    optical[spot] += sign
    assert reason(note(optical=optical)) == validator.REJECT_PATTERN


GOOD = "123456000250345678"
REASONS = {
    "another country": (note(optical=[12, 95, 180, 33]), 0x76),
    "photocopy": (note(magnetic=0, uv=180), 0x72),
    "wrong ink": (note(magnetic=0), 0x72),
    "office paper": (note(uv=180), 0x7F),
    "half": (note(length=78), 0x7D),
    "too long": (note(length=170), 0x7D),
    "double note": (note(thickness=220), 0x71),
    "tissue": (note(thickness=20), 0x71),
    "double voucher": ({**ticket(), "thickness": 200}, 0x98),
    "double coupon": ({**ticket(COUPON), "thickness": 200}, 0x98),
    "voucher face down": (ticket(barcode=None), 0x9B),
    "voucher nobody can read": (ticket(barcode=""), 0x9B),
    "17 digits": (ticket(barcode=GOOD[:17]), 0x92),
    "19 digits": (ticket(barcode=GOOD + "0"), 0x92),
    "a letter": (ticket(barcode="A" + GOOD[1:]), 0x92),
    "coupon of 17 digits": (ticket(COUPON, barcode=GOOD[:17]), 0x92),
}


@pytest.mark.parametrize("name", REASONS)
def test_what_is_not_genuine_is_rejected_with_its_reason(name):
    item, why = REASONS[name]
    assert reason(item) == why


@pytest.mark.parametrize(("paper", "kind", "cents"), [(VOUCHER, "voucher", 0), (COUPON, "coupon", 250)])
def test_a_ticket_is_known_by_its_print_and_its_number(paper, kind, cents):
    item, why = judge(ticket(paper))
    assert (why, item.kind, item.code, item.cents, item.digits) == (0, kind, 0x6F, cents, GOOD)


@pytest.mark.parametrize("paper", [VOUCHER, COUPON])
def test_a_tickets_print_may_be_three_off(paper):
    assert reason(ticket([spot - 3 for spot in paper])) == 0
    assert reason(ticket([paper[0] - 4, *paper[1:]])) == validator.REJECT_PATTERN
