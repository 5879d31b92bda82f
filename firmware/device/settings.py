# What the host may set. Lost at reset, so that a host must set it again.
_ANY_LENGTH = b"\xff"


class Settings:
    def __init__(self):
        self.values = {}

    def set(self, name, value):
        self.values[name] = value

    # The host has spoken its mind once it has said whether to accept.
    def known(self):
        return "inhibit" in self.values

    def inhibited(self):
        inhibit = self.values.get("inhibit")
        return inhibit is None or bool(inhibit[0] & 1)

    # A bit that is set switches something off.
    def _off(self, name, bit):
        value = self.values.get(name, b"")
        return bit // 8 < len(value) and bool(value[bit // 8] >> (bit % 8) & 1)

    def allows(self, item, currency):
        if item.digits and self.values.get("barcode", b"\1\xff")[1:2] not in (bytes((len(item.digits),)), _ANY_LENGTH):
            return False
        if item.kind == "voucher":
            return not self._off("barcode_inhibit", 0)
        if item.kind == "coupon":
            return not self._off("barcode_inhibit", 1)
        index = [row[0] for row in currency.DENOMINATIONS].index(item.code)
        return not (self._off("enable", index) or self._off("direction", item.orientation))
