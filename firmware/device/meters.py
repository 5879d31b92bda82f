# Accounting meters: 13:69E-1.28B(l) and 1.28C 8, 9, 10, 12, 21. Values in
# cents. There is no operation that sets a meter; only a stacked item moves it.
_LIMIT = 10_000_000_000  # ten digits, then the cycle starts again at zero


class Meters:
    def __init__(self, values):
        self.values = values

    def add(self, name, amount):
        self.values[name] = (self.values.get(name, 0) + amount) % _LIMIT

    def stacked(self, item):
        self.add("stacked_count", 1)
        if item.kind == "note":
            self.add("bill_in_value", item.cents)
            self.add("bill_%d" % (item.cents // 100), 1)
        elif item.kind == "coupon":
            self.add("coupon_count", 1)
            self.add("coupon_value", item.cents)
        else:
            # What a voucher is worth is the voucher system's knowledge.
            self.add("voucher_count", 1)


def blank(currency):
    values = {"bill_in_value": 0, "stacked_count": 0, "coupon_count": 0, "coupon_value": 0, "voucher_count": 0}
    for index in range(len(currency.DENOMINATIONS)):
        values["bill_%d" % (currency.cents(index) // 100)] = 0
    return values
