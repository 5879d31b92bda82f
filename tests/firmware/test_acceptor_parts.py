"""The acceptor's parts: meters, log chain, standing conditions, settings, access."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest
from acceptor_bench import ticket
from device import bill_acceptor_meters, currency_usd
from device.access import Access, same
from device.bill_acceptor_table import CONDITIONS
from device.conditions import HOLDS, LATCHED, NAME, Standing
from device.log import Log, mask
from device.meters import Meters
from device.settings import Settings
from device.validator import Item, Validator
from hypothesis import given
from hypothesis import strategies as st

NOTE = Item("note", 0x65, 2000, 2, None)
NAMES = [condition[NAME] for condition in CONDITIONS]
LATCHES = {condition[NAME] for condition in CONDITIONS if condition[LATCHED]}

# -- meters: 13:69E-1.28C


@pytest.mark.parametrize(
    ("item", "moved"),
    [
        (NOTE, {"stacked_count": 1, "bill_in_value": 2000, "bill_20": 1}),
        (Item("coupon", 0x6F, 250, 0, "1" * 18), {"stacked_count": 1, "coupon_count": 1, "coupon_value": 250}),
        (Item("voucher", 0x6F, 0, 0, "1" * 18), {"stacked_count": 1, "voucher_count": 1}),
    ],
)
def test_one_stacked_item_moves_its_meters_and_no_other(item, moved):
    meters = Meters({"meters": bill_acceptor_meters.blank(currency_usd)})
    bill_acceptor_meters.count(meters, item)
    assert {name: value for name, value in meters.record["meters"].items() if value} == moved


def test_a_meter_of_ten_digits_starts_again_at_zero():
    meters = Meters({"meters": {"bill_in_value": 9_999_999_000}})
    meters.add("bill_in_value", 2000)
    assert meters.record["meters"]["bill_in_value"] == 1000


def test_every_denomination_has_a_meter():
    assert {f"bill_{usd}" for usd in (1, 2, 5, 10, 20, 50, 100)} < set(bill_acceptor_meters.blank(currency_usd))


# -- log


def expected_chain(before: str, fields: list) -> str:
    """As docs/link.md defines it."""
    return hashlib.sha256(before.encode() + json.dumps(fields).encode()).hexdigest()[:16]


def test_entries_are_numbered_and_chained():
    log = Log([7, "0123456789abcdef"])
    before = "0123456789abcdef"
    for n, what in ((8, "power_on"), (9, "stacked"), (10, "acceptor_door")):
        *fields, chain = json.loads(log.entry(3, 1000 + n, None, what, "x"))
        assert fields == [n, 3, 1000 + n, None, what, "x"]
        assert chain == expected_chain(before, fields)
        assert log.head == [n, chain]
        before = chain


def test_numbers_go_on_for_ever():
    assert json.loads(Log([123_456, "x"]).entry(1, 5, None, "stacked", ""))[0] == 123_457


@pytest.mark.parametrize("change", range(6))
def test_an_edited_entry_breaks_the_chain(change):
    *fields, chain = json.loads(Log([0, ""]).entry(1, 5, None, "stacked", "note 2000"))
    fields[change] = "edited"
    assert expected_chain("", fields) != chain


@pytest.mark.parametrize("digits", ["123456789012345678", "98765432", "1234"])
def test_of_a_voucher_number_the_last_four_digits_stay(digits):
    assert mask(digits) == "*" * (len(digits) - 4) + digits[-4:]


# -- standing conditions: 13:69E-1.28N(i)


@pytest.mark.parametrize("name", NAMES)
def test_a_condition_is_news_once_and_ends_with_its_cause_unless_latched(name):
    standing = Standing(CONDITIONS, [])
    assert standing.sense(name, True)
    assert not standing.sense(name, True)
    assert standing.release() == []
    standing.sense(name, False)
    assert standing.names() == ([name] if name in LATCHES else [])
    assert standing.release() == ([name] if name in LATCHES else [])
    assert standing.top() is None


@pytest.mark.parametrize("above", range(len(NAMES) - 1))
def test_the_most_severe_condition_is_on_top(above):
    standing = Standing(CONDITIONS, [])
    for name in reversed(NAMES[above:]):
        standing.sense(name, True)
    assert standing.top()[NAME] == NAMES[above]
    assert standing.names() == NAMES[above:]
    assert standing.holds() == any(condition[HOLDS] for condition in CONDITIONS[above:])


def test_what_was_latched_before_a_power_cut_stands_until_the_sensors_clear_it():
    standing = Standing(CONDITIONS, ["jam_acceptor", "no such thing"])
    assert standing.names() == ["jam_acceptor"]
    assert standing.release() == []
    standing.sense("jam_acceptor", False)
    assert standing.release() == ["jam_acceptor"]


# -- settings


@pytest.mark.parametrize(("value", "inhibited"), [(None, True), (b"\0", False), (b"\1", True), (b"\xfe", False)])
def test_inhibited_until_the_host_says_otherwise(value, inhibited):
    settings = Settings()
    if value is not None:
        settings.set("inhibit", value)
    assert (settings.known(), settings.inhibited()) == (value is not None, inhibited)


@pytest.mark.parametrize("bit", range(7))
def test_a_bit_switches_one_denomination_off(bit):
    settings = Settings()
    settings.set("enable", bytes((1 << bit, 0)))
    codes = [row[0] for row in currency_usd.DENOMINATIONS]
    allowed = [code for code in codes if settings.allows(Item("note", code, 0, 0, None), currency_usd)]
    assert allowed == codes[:bit] + codes[bit + 1 :]


@pytest.mark.parametrize("bit", range(4))
def test_a_bit_switches_one_orientation_off(bit):
    settings = Settings()
    settings.set("direction", bytes((1 << bit,)))
    allowed = [way for way in range(4) if settings.allows(Item("note", 0x65, 2000, way, None), currency_usd)]
    assert allowed == [way for way in range(4) if way != bit]


@pytest.mark.parametrize(
    ("name", "value", "kinds"),
    [
        ("barcode_inhibit", b"\1", ["coupon"]),
        ("barcode_inhibit", b"\2", ["voucher"]),
        ("barcode_inhibit", b"\3", []),
        ("barcode", b"\1\x12", ["voucher", "coupon"]),
        ("barcode", b"\1\xff", ["voucher", "coupon"]),
        ("barcode", b"\1\x10", []),
        ("enable", b"\xff\xff", ["voucher", "coupon"]),
    ],
)
def test_tickets_have_their_own_switches(name, value, kinds):
    settings = Settings()
    settings.set(name, value)
    item = Validator(currency_usd).judge(ticket())[0]
    allowed = []
    for kind in ("voucher", "coupon"):
        item.kind = kind
        if settings.allows(item, currency_usd):
            allowed.append(kind)
    assert allowed == kinds


# -- access

SECRET = "00112233445566778899aabbccddeeff"


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_same_is_equality(a, b):
    assert same(a, b) == (a == b)
    assert same(a, a)


def proof(nonce: str, role: str, asked: str, secret: str = SECRET) -> str:
    return hmac.new(bytes.fromhex(secret), f"{nonce}|{role}|{asked}".encode(), "sha256").hexdigest()


def access() -> Access:
    return Access({"auditor": SECRET}, lambda n: bytes(range(n)))


def test_a_proof_opens_once():
    door = access()
    right = proof(door.challenge(), "auditor", "clear_memory")
    assert door.proven("auditor", "clear_memory", right)
    assert not door.proven("auditor", "clear_memory", right)


@pytest.mark.parametrize(
    ("role", "asked", "secret", "nonce"),
    [
        ("auditor", "entry|x", SECRET, None),
        ("stranger", "clear_memory", SECRET, None),
        ("auditor", "clear_memory", "ff" * 16, None),
        ("auditor", "clear_memory", SECRET, "0000000000000000"),
        ("auditor", "clear_memory", "", None),
    ],
)
def test_another_role_request_secret_or_nonce_opens_nothing(role, asked, secret, nonce):
    door = access()
    given_nonce = nonce or door.challenge()
    assert not door.proven(role, "clear_memory", proof(given_nonce, role, asked, secret))
    assert door.nonce is None


def test_without_a_secret_there_is_no_proof():
    door = Access({}, lambda n: bytes(n))
    assert not door.proven("auditor", "x", proof(door.challenge(), "auditor", "x", ""))
