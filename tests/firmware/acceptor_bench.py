"""A bill acceptor without a board: stepped by hand, or with the plant as its world."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

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


class Desk:
    """Device and plant in one time, and a store that keeps what was committed."""

    def __init__(self, record: dict[str, Any] | None = None, plant: Plant | None = None, now: int = 0) -> None:
        self.plant = plant or Plant()
        self.device = bill_acceptor.create(record, (True, ""), lambda: None, record is None)
        self.now = now
        self.commits: list[dict[str, Any]] = [] if record is None else [record]
        self.before_commit: Callable[[], None] = lambda: None
        self.verifying = False
        self.plant.step(now)
        self.step("start", self.plant.levels(), "power")

    def step(self, *event: Any) -> None:
        for effect in self.device.step(event, self.now):
            getattr(self, "_" + effect[0], lambda *_: None)(*effect[1:])

    def _commit(self, record: dict[str, Any]) -> None:
        self.before_commit()
        self.commits.append(json.loads(json.dumps(record)))

    def _motor(self, name: str, direction: int) -> None:
        self.plant.motor(name, direction)

    def _emitters(self, on: int) -> None:
        self.plant.light_emitters(on)

    def _verify(self) -> None:
        self.verifying = True

    def run(self, ms: int) -> None:
        """Time passes from one deadline to the next, as it does on a bench image."""
        until = self.now + ms
        while True:
            self.happen()
            due = [t for t in (self.device.next(), self.plant.next()) if t is not None]
            if self.now >= until:
                return
            self.now = min([until, *(max(t, self.now + 1) for t in due)])

    def happen(self) -> None:
        self.plant.step(self.now)
        self._settle()
        if self.verifying:
            self.verifying = False
            self.step("verified", True, "")
        self.step("tick")
        self._settle()

    def _settle(self) -> None:
        for _ in range(16):
            if not self.plant.changed:
                return
            self.plant.changed = False
            self.step("sensors", self.plant.levels(), self.plant.take_reading())

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
