# Meters: 13:69E-1.28B(l). There is no operation that sets one; only what the device did moves it, and no
# reading from before is valid any more then (NY 5321.11).
_LIMIT = 10_000_000_000  # ten digits, then the cycle starts again at zero


# Of a device's record.
class Meters:
    def __init__(self, record):
        self.record = record

    def add(self, name, amount):
        values = self.record["meters"]
        values[name] = (values.get(name, 0) + amount) % _LIMIT
        self.record["meters_read"] = False
