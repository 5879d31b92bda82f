# The event log: bounded, numbered across reboots, each entry chained to the
# one before by a digest, so that a gap or an edit shows.
import hashlib
import json
from binascii import hexlify


def mask(digits):
    # 1.40(l): the number of an unredeemed voucher is never kept whole.
    return "*" * (len(digits) - 4) + digits[-4:]


def chain(before, fields):
    digest = hashlib.sha256(before.encode() + json.dumps(fields).encode()).digest()
    return hexlify(digest[:8]).decode()


class Log:
    # head: [number of the last entry, its chain digest]; it lives in the record.
    def __init__(self, head):
        self.head = head

    # -> the line to append to the store, before the record that counts it.
    def entry(self, boot, now, calendar, what, detail):
        fields = [self.head[0] + 1, boot, now, calendar, what, detail]
        link = chain(self.head[1], fields)
        self.head = [fields[0], link]
        return json.dumps(fields + [link])
