"""A bill acceptor without a board: stepped by hand, or with the plant as its world."""

from __future__ import annotations

import json
from typing import Any

import desk
from bench.plant.bill_acceptor import Plant
from device import bill_acceptor, currency_usd

Effect = tuple[Any, ...]
OPTICAL = ("entry", "centre", "exit", "lever", "chute")
PULLED_UP = {"scanner": 1, "home": 1, "box": 1, "lock": 1, "battery": 1}
CLEAR = {**dict.fromkeys((*OPTICAL, "moving", "full", "acceptor_door", "stacker_door"), 0), **PULLED_UP}
ACCEPT, INHIBIT = b"\0", b"\1"
VOUCHER, COUPON = (245, 245, 245, 245), (235, 225, 235, 225)


def note(index: int = 4, orientation: int = 0, **changes: Any) -> dict[str, Any]:
    """Paper as the plant takes it: the genuine note of that row of the currency table, with changes."""
    return {
        "worth": currency_usd.cents(index),
        "length": currency_usd.LENGTH,
        "thickness": currency_usd.THICKNESS,
        "optical": currency_usd.optical(index, orientation),
        "magnetic": currency_usd.magnetic(index),
        "uv": 10,
        "barcode": None,
        **changes,
    }


def ticket(print_: tuple[int, ...] = VOUCHER, barcode: str | None = "123456000250345678", **changes: Any) -> dict:
    return note(optical=list(print_), thickness=100, magnetic=0, uv=20, barcode=barcode, worth=0, **changes)


def stored(flight: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A record as a store gives it back."""
    return json.loads(json.dumps({**bill_acceptor.blank_record(currency_usd), "flight": flight, **changes}))


class Hand:
    """A device stepped by hand. The encoder turns with the motor; all else happens when a test says so."""

    def __init__(self, record: dict[str, Any] | None = None, *, new: bool = True, **levels: int) -> None:
        self.device = bill_acceptor.create(record, (True, ""), lambda: None, new and record is None)
        self.levels = {**CLEAR, **levels}
        self.now = 0
        self.effects: list[Effect] = []
        self.steps: list[list[Effect]] = []
        self.step("start", dict(self.levels), "power")

    def step(self, *event: Any) -> list[Effect]:
        self.effects = self.device.step(event, self.now)
        self.steps.append(list(self.effects))
        for effect in self.effects:
            if effect[:2] == ("motor", "transport"):
                self.levels["moving"] = 1 if effect[2] else 0
        if ("verify",) in self.effects:
            self.step("verified", True, "")
        return self.effects

    def sensors(self, reading: dict[str, Any] | None = None, **levels: int) -> list[Effect]:
        self.levels.update(levels)
        return self.step("sensors", dict(self.levels), reading)

    def wait(self, ms: int) -> list[Effect]:
        self.now += ms
        return self.step("tick")

    def host(self, command: str, how: int | None = None) -> list[Effect]:
        return self.step("host", command, how)

    def setting(self, name: str, value: bytes) -> list[Effect]:
        return self.step("setting", name, value)

    def pass_post(self) -> None:
        """Every step of the self-test sees what a sound machine shows; paper in the path stays there."""
        paper = {name: self.levels[name] for name in OPTICAL}
        assert self.device.post.running(), self.device.post.steps
        self.sensors(**dict.fromkeys(OPTICAL, 1))
        self.sensors(**{**paper, "chute": 0})
        self.sensors()
        self.sensors(home=0)
        self.sensors(home=1)
        assert self.device.post.ok, self.device.post.steps


class Desk(desk.Desk):
    """A bill acceptor and its plant."""

    def __init__(self, record: dict[str, Any] | None = None, plant: Plant | None = None, now: int = 0) -> None:
        device = bill_acceptor.create(record, (True, ""), lambda: None, record is None)
        super().__init__(device, plant or Plant(), [] if record is None else [record], now)

    def poll(self) -> str:
        """What a host's status request hears; it counts as told."""
        self.step("heard")
        shown = self.device.shown()[0]
        self.step("told")
        return str(shown)

    def open_for_business(self) -> Desk:
        self.poll()
        self.step("host", "host_reset", None)
        self.step("setting", "inhibit", ACCEPT)
        self.run(2000)
        assert self.device.state == "idle", (self.device.state, self.device.post.steps)
        return self

    def until(self, state: str, ms: int = 5000) -> None:
        """Poll ten times a second until the device shows `state`."""
        end = self.now + ms
        while self.poll() != state:
            assert self.now < end, f"{self.device.state} instead of {state}"
            self.run(100)
