"""What sound parts answer on the sensor pins of a virtual board whose image has no plant.

A release image drives pins and reads pins. On a real board parts are wired to them; here they answer by themselves,
just enough for a self-test: emitters, encoder, pusher, rack.
"""

from __future__ import annotations

OPTICAL = ("entry", "centre", "gate", "exit", "lever", "chute")


class PinResponder:
    """Parts in working order: an output changes, and these pins change with it.

    `broken` holds the names of pins that don't follow any more; `held` the levels that somebody set from outside;
    `driven` every output that the board ever drove, with its level.
    """

    def __init__(self) -> None:
        self.broken: set[str] = set()
        self.held: dict[str, int] = {}
        self.driven: list[tuple[str, int]] = []

    def react(self, output: str, level: int) -> list[tuple[str, int]]:
        """Return the (pin, level) pairs that follow an output, in order."""
        self.driven.append((output, level))
        follows = self._follow(output, level)
        return [(pin, value) for pin, value in follows if pin not in self.broken]

    def at_start(self) -> list[str]:
        """Control lines that tell a board that starts how things stand: all as it was, but its emitters are dark."""
        dark = {pin: 1 for pin in OPTICAL if pin not in self.broken}
        return [f"pin {pin} {level}" for pin, level in {**self.held, **dark}.items()]

    def _follow(self, output: str, level: int) -> list[tuple[str, int]]:
        if output == "emitters":
            return [(pin, self.held.get(pin, 0) if level else 1) for pin in OPTICAL]
        if output == "rack_motor" and level:
            return [("aligned", 0), ("aligned", 1)]
        if output == "transport_motor":
            return [("moving", 1 if level else 0)]
        if output == "stack_motor" and level:
            # A push and back: the device takes edges one by one, so no time has to pass between them.
            self.held["chute"] = 0
            return [("home", 0), ("chute", 0), ("home", 1)]
        return []
