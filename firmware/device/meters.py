# Meters: 13:69E-1.28B(l). There is no operation that sets one; only what the device did moves it.
_LIMIT = 10_000_000_000  # ten digits, then the cycle starts again at zero


class Meters:
    def __init__(self, values):
        self.values = values

    def add(self, name, amount):
        self.values[name] = (self.values.get(name, 0) + amount) % _LIMIT
