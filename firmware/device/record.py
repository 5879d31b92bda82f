# What a device that takes money keeps through a power cut, all in one record.
from device.meters import blank


def blank_record(currency):
    return {
        "boot": 0,
        "meters": blank(currency),
        "flight": None,
        "log": [0, ""],
        "latched": [],
        "secrets": {},
        "meters_read": False,
        "lost": False,
    }
