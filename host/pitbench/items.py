"""Things that a person can push into a bill acceptor, as the bench describes them to the plant.

An item is a piece of paper with measures. What the device makes of them is the device's business:
nothing here says "counterfeit" to it. `worth` is the truth, and serves only the plant's own count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from pitbench.errors import PitbenchError, UnknownName

DENOMINATIONS = (1, 2, 5, 10, 20, 50, 100)
ORIENTATIONS = 4
NOTE_LENGTH_MM, NOTE_THICKNESS_UM, NOTE_UV = 156, 110, 10
TICKET_THICKNESS_UM, TICKET_UV = 100, 20
VOUCHER_PRINT = (245, 245, 245, 245)
COUPON_PRINT = (235, 225, 235, 225)
BARCODE_DIGITS = 18
HALF_MM, TORN_MM, FOREIGN_MM = 78, 120, 140
COUNTERFEIT_UV, COUNTERFEIT_MAGNETIC_OFF = 120, 40
# Office paper glows under ultraviolet light, and toner carries no iron pattern.
PHOTOCOPY_UV = 180
FOREIGN_PRINT, UNKNOWN_PRINT = (12, 95, 180, 33), (5, 250, 5, 250)


@dataclass(frozen=True)
class Item:
    """One piece of paper.

    Args:
        worth: cents that it is truly worth to the house; 0 for a fake or a ticket.
        length: mm; thickness: um; optical, magnetic, uv: sensor readings 0 to 255.
        barcode: digits that can be read; "" is a barcode that no scanner can read; None is no barcode.
        sticks_at: mm of travel where it jams; string: 1 when it hangs on a string.
    """

    worth: int
    length: int
    thickness: int
    optical: tuple[int, ...]
    magnetic: int
    uv: int
    barcode: str | None = None
    sticks_at: int | None = None
    string: int | None = None

    def record(self) -> dict[str, Any]:
        """What `insert` carries over the link."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return {**known, "optical": list(self.optical)}


def optical_print(usd: int, orientation: int = 0) -> tuple[int, ...]:
    """Optical readings of a genuine note fed in one of four ways. Raises PitbenchError for another note or way."""
    if usd not in DENOMINATIONS:
        raise UnknownName("US note", str(usd), [str(value) for value in DENOMINATIONS])
    if orientation not in range(ORIENTATIONS):
        raise UnknownName("orientation", str(orientation), [str(way) for way in range(ORIENTATIONS)])
    i = DENOMINATIONS.index(usd)
    face = (40 + 20 * i, 200 - 18 * i, 60 + 25 * ((i * 3) % 7), 90 + 15 * ((i * 5) % 7))
    back = tuple(255 - value for value in face)
    return (face, face[::-1], back, back[::-1])[orientation]


def genuine(usd: int, orientation: int = 0) -> Item:
    """A good note of `usd` dollars."""
    magnetic = 70 + 10 * DENOMINATIONS.index(usd) if usd in DENOMINATIONS else 0
    optical = optical_print(usd, orientation)
    return Item(usd * 100, NOTE_LENGTH_MM, NOTE_THICKNESS_UM, optical, magnetic, NOTE_UV)


def voucher(barcode: str, worth: int = 0) -> Item:
    """A cash-out voucher of 18 digits. Raises PitbenchError for another barcode."""
    return Item(worth, NOTE_LENGTH_MM, TICKET_THICKNESS_UM, VOUCHER_PRINT, 0, TICKET_UV, _barcode(barcode))


def coupon(barcode: str, worth: int = 0) -> Item:
    """A promotional coupon of 18 digits. Raises PitbenchError for another barcode."""
    return replace(voucher(barcode, worth), optical=COUPON_PRINT)


def upside_down_voucher() -> Item:
    """A voucher fed face down: its paper is right, and its barcode is where no scanner looks."""
    return replace(voucher("0" * BARCODE_DIGITS), barcode="")


def counterfeit(usd: int = 20, orientation: int = 0) -> Item:
    """Looks right, with the wrong ink on the wrong paper."""
    note = genuine(usd, orientation)
    return replace(note, worth=0, magnetic=note.magnetic + COUNTERFEIT_MAGNETIC_OFF, uv=COUNTERFEIT_UV)


def photocopy(usd: int = 20, orientation: int = 0) -> Item:
    """Looks right, on office paper."""
    return replace(genuine(usd, orientation), worth=0, magnetic=0, uv=PHOTOCOPY_UV)


def double(usd: int = 20, orientation: int = 0) -> Item:
    """Two good notes on top of each other."""
    note = genuine(usd, orientation)
    return replace(note, worth=2 * note.worth, thickness=2 * note.thickness)


def half(usd: int = 20, orientation: int = 0) -> Item:
    """One half of a good note."""
    return replace(genuine(usd, orientation), worth=0, length=HALF_MM)


def torn(usd: int = 20, orientation: int = 0) -> Item:
    """A good note with a piece torn off."""
    return replace(genuine(usd, orientation), worth=0, length=TORN_MM)


def strung(usd: int = 20, orientation: int = 0) -> Item:
    """A good note on a string, to be pulled back after the credit."""
    return replace(genuine(usd, orientation), string=1)


def foreign() -> Item:
    """A good note of another country."""
    return Item(0, FOREIGN_MM, NOTE_THICKNESS_UM, FOREIGN_PRINT, 85, NOTE_UV)


def unknown() -> Item:
    """Paper of the right size that looks like no note."""
    return Item(0, NOTE_LENGTH_MM, NOTE_THICKNESS_UM, UNKNOWN_PRINT, 0, NOTE_UV)


def _barcode(text: str) -> str:
    if len(text) != BARCODE_DIGITS or not (text.isascii() and text.isdigit()):
        raise PitbenchError(f"'{text}' is no barcode.", f"Give {BARCODE_DIGITS} digits.")
    return text


# One row a name: makers of items that are made from a note, from a barcode, or from nothing.
OF_A_NOTE: dict[str, Callable[[int, int], Item]] = {
    "counterfeit": counterfeit,
    "photocopy": photocopy,
    "double": double,
    "half": half,
    "torn": torn,
    "strung": strung,
}
OF_A_BARCODE: dict[str, Callable[[str], Item]] = {"voucher": voucher, "coupon": coupon}
OF_NOTHING: dict[str, Callable[[], Item]] = {
    "foreign": foreign,
    "unknown": unknown,
    "upside-down-voucher": upside_down_voucher,
}


def item_names() -> list[str]:
    """How a person may name an item."""
    notes = [f"usd{value}" for value in DENOMINATIONS]
    return [*notes, *OF_A_NOTE, *(f"{name}={BARCODE_DIGITS} digits" for name in OF_A_BARCODE), *OF_NOTHING]


def item_named(text: str) -> Item:
    """The item that a person typed: `usd20`, `usd20@2` (orientation), `photocopy=usd5`, `voucher=DIGITS`, `foreign`.

    Raises: PitbenchError, UnknownName with the right choices.
    """
    name, _, value = text.partition("=")
    if name in OF_A_BARCODE:
        return OF_A_BARCODE[name](value)
    if name in OF_A_NOTE:
        return OF_A_NOTE[name](*_note(value or "usd20"))
    if name in OF_NOTHING:
        return OF_NOTHING[name]()
    return genuine(*_note(text))


def _note(text: str) -> tuple[int, int]:
    name, _, orientation = text.partition("@")
    value, way = name.removeprefix("usd"), orientation or "0"
    if not name.startswith("usd") or not value.isdecimal() or not way.isdecimal():
        raise UnknownName("item", text, item_names())
    return int(value), int(way)
