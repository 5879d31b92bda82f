# What the sensors measured against the templates: validated, or rejected with
# a reason (13:69E-1.28N(b)). Reasons are ID-003 reject codes.
from micropython import const

_OPTICAL = const(12)
_MAGNETIC = const(15)
_UV = const(60)
_LENGTH = const(4)
_THICKNESS = const(30)
_DIGITS = const(18)

REJECT_INSERTION = const(0x71)
REJECT_MAGNETIC = const(0x72)
REJECT_PATTERN = const(0x76)
REJECT_INHIBITED = const(0x79)
REJECT_OPERATION = const(0x7B)
REJECT_LENGTH = const(0x7D)
REJECT_FEATURE = const(0x7F)
REJECT_NUMBER = const(0x92)
REJECT_DOUBLE = const(0x98)
REJECT_UPSIDE_DOWN = const(0x9B)

_VOUCHER = (245, 245, 245, 245)
_COUPON = (235, 225, 235, 225)
# A coupon's number carries its value: six digits, in cents.
_VALUE_FROM = const(6)
_VALUE_TO = const(12)


class Item:
    def __init__(self, kind, code, cents, orientation, digits):
        self.kind = kind
        self.code = code
        self.cents = cents
        self.orientation = orientation
        self.digits = digits


def near(measured, template, tolerance):
    for a, b in zip(measured, template):
        if abs(a - b) > tolerance:
            return False
    return True


class Validator:
    def __init__(self, currency):
        self.currency = currency

    # -> (Item, 0) or (None, reason)
    def judge(self, reading):
        if abs(reading["length"] - self.currency.LENGTH) > _LENGTH:
            return None, REJECT_LENGTH
        paper = self._paper(reading["optical"])
        if reading["thickness"] > self.currency.THICKNESS + _THICKNESS:
            return None, REJECT_DOUBLE if paper else REJECT_INSERTION
        if reading["thickness"] < self.currency.THICKNESS - _THICKNESS:
            return None, REJECT_INSERTION
        if paper:
            return self._barcode(paper, reading.get("barcode"))
        return self._note(reading)

    def _paper(self, optical):
        if near(optical, _VOUCHER, 3):
            return "voucher"
        return "coupon" if near(optical, _COUPON, 3) else None

    def _barcode(self, kind, digits):
        if not digits:
            return None, REJECT_UPSIDE_DOWN
        if len(digits) != _DIGITS or not digits.isdigit():
            return None, REJECT_NUMBER
        cents = int(digits[_VALUE_FROM:_VALUE_TO]) if kind == "coupon" else 0
        return Item(kind, 0x6F, cents, 0, digits), 0

    def _note(self, reading):
        for index in range(len(self.currency.DENOMINATIONS)):
            for orientation in range(4):
                if near(reading["optical"], self.currency.optical(index, orientation), _OPTICAL):
                    return self._features(reading, index, orientation)
        return None, REJECT_PATTERN

    def _features(self, reading, index, orientation):
        if abs(reading["magnetic"] - self.currency.magnetic(index)) > _MAGNETIC:
            return None, REJECT_MAGNETIC
        if reading["uv"] > _UV:
            return None, REJECT_FEATURE
        code = self.currency.DENOMINATIONS[index][0]
        return Item("note", code, self.currency.cents(index), orientation, None), 0
