"""A dice shaker without a board."""

from __future__ import annotations

from typing import Any

import desk
from bench.plant.dice_shaker import Plant
from device import dice_shaker

PEOPLE = {"who": "A. Floor", "licence": "L-1", "witness": "B. Dealer", "witness_licence": "L-2", "seal": ""}
ROUND_MS = 3000
TODAY = 1_800_000_000


class Calendar:
    """A calendar that goes with the desk's time, is set, or unknown."""

    def __init__(self, second: int | None = TODAY) -> None:
        self.second = second
        self.desk: Desk | None = None

    def __call__(self) -> int | None:
        return None if self.second is None else self.second + (self.desk.now if self.desk else 0) // 1000


class Desk(desk.Attended):
    """A dice shaker and its plant."""

    module, world = dice_shaker, Plant

    def __init__(self, *left: Any, now: int = 0, calendar: Calendar | None = None, **settings: Any) -> None:
        self.calendar, self.now = calendar or Calendar(), now
        self.calendar.desk = self
        super().__init__(*left, now=now, **settings)

    def place(self, dice: str) -> None:
        self.do("lid", open=True)
        self.do("place", dice=dice)
        self.do("lid", open=False)

    def filled(self, dice: str = "fff") -> Desk:
        self.run(1000)
        self.place(dice)
        self.fill()
        assert self.device.state == "idle", (self.device.state, self.standing)
        return self

    def fill(self, **people: str) -> str:
        people = {**PEOPLE, **people}
        wrong = self.device.wrong_fill(people)
        if not wrong:
            self.step("fill", people)
            self.run(500)
        return wrong

    def shake(self, faces: str = "", **lie: Any) -> str:
        """Shake once, to come to rest as said; what is shown then."""
        if faces:
            self.do("lie", above=faces, **lie)
        self.press("shake")
        self.run(ROUND_MS)
        return self.device.record["shown"]

    @property
    def rounds(self) -> list[list[Any]]:
        return self.device.record["rounds"]

    def cut(self, hours: float = 0, **calendar: Any) -> Desk:
        """Power off and on again, so many hours later; `second` sets the calendar meanwhile, None takes it away."""
        world = self.plant.world()
        plant = Plant()
        plant.restore(world)
        calendar_then = Calendar(calendar.get("second", self.calendar.second and self.calendar() + int(hours * 3600)))
        desk = Desk(self.commits[-1], plant, calendar=calendar_then)
        desk.run(1000)
        return desk
