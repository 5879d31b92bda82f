# Accounting meters of a bill acceptor: 13:69E-1.28C 8, 9, 10, 12, 21. Values in cents.


def blank(currency):
    values = {"bill_in_value": 0, "stacked_count": 0, "coupon_count": 0, "coupon_value": 0, "voucher_count": 0}
    for index in range(len(currency.DENOMINATIONS)):
        values["bill_%d" % (currency.cents(index) // 100)] = 0
    return values


def count(meters, item):
    meters.add("stacked_count", 1)
    if item.kind == "note":
        meters.add("bill_in_value", item.cents)
        meters.add("bill_%d" % (item.cents // 100), 1)
    elif item.kind == "coupon":
        meters.add("coupon_count", 1)
        meters.add("coupon_value", item.cents)
    else:
        # What a voucher is worth is the voucher system's knowledge.
        meters.add("voucher_count", 1)
