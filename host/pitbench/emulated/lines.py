"""Control lines of an emulated board: which of them are pins of the chip, and which go over its rig's UART."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rp2040py.gpio_pin import GPIOPinState

from pitbench.emulated.flash import HOW, Cut, TimedFlash

Pin = dict[str, Any]
# Two pins don't move within one debouncing of the firmware, and a part needs some time to move back.
BETWEEN_PINS_NS, BETWEEN_EDGES_NS = 15_000_000, 150_000_000
# What a machine at rest shows: box and lock in place, pusher at home, scan head and battery well; doors shut, no paper.
SOUND = ("box", "lock", "home", "scanner", "battery")


AT_ONCE = "at once "


def reactions(line: str, answers: list[str]) -> list[str]:
    """What answers an output of the board, as it is told to it: parts take their time to move, light takes none."""
    return [AT_ONCE + answer for answer in answers] if line.startswith("out emitters ") else answers


class ControlLines:
    """Sends each line where it belongs.

    Args:
        facts: the board's.
        gpio: the chip's pins by number.
        clock: the chip's.
        flash: takes orders about cuts and times.
        to_rig: sends a line over the rig's UART.
        to_bench: sends a line to the bench.
    """

    def __init__(
        self,
        facts: dict[str, Any],
        gpio: Any,
        clock: Any,
        flash: TimedFlash,
        to_rig: Callable[[str], None],
        to_bench: Callable[[str], None],
    ) -> None:
        self._pins: dict[str, Pin] = facts.get("pins", {})
        self._gpio = gpio
        self._clock = clock
        self._levels: dict[str, int] = {}
        self._moved: dict[str, float] = {}
        self._waiting: deque[tuple[str, str]] = deque()
        self._next = clock.create_alarm(self._go_on)
        self._is_due = False
        self._flash = flash
        self._to_rig = to_rig
        self._to_bench = to_bench
        for name in self._pins:
            self._set(name, 1 if name in SOUND else 0)
        for name, output in facts.get("outputs", {}).items():
            self._watch(name, output)

    def from_bench(self, line: str) -> None:
        """A line that the bench wrote."""
        is_light, line = line.startswith(AT_ONCE), line.removeprefix(AT_ONCE)
        word, *rest = line.split(" ")
        if is_light and rest[0] in self._pins:
            self._set(rest[0], int(rest[1]))
        elif word == "flash" and len(rest) == 2 and rest[1] in HOW:
            self._flash.cut = Cut(int(rest[0]), rest[1])
        elif word == "erase":
            self._flash.erase_ms = float(rest[0])
        elif word == "strap":
            self._gpio[number(rest[0])].set_input_value(rest[1] != "0")
        else:
            pin = rest[0] if word == "pin" and rest[0] in self._pins else ""
            self._waiting.append((pin, line))
            if not self._is_due:
                self._go_on()

    def _go_on(self) -> None:
        """What the bench says at once happens one after the other, no faster than parts move."""
        self._is_due = False
        while self._waiting:
            pin, line = self._waiting[0]
            if pin and self._levels.get(pin) == int(line.split(" ")[2]):
                self._waiting.popleft()
                continue
            if (wait := self._rest(pin)) > 0:
                self._is_due = True
                self._next.schedule(wait)
                return
            self._waiting.popleft()
            if pin:
                self._moved[pin] = self._moved[""] = self._clock.nanos
                self._set(pin, int(line.split(" ")[2]))
            else:
                self._to_rig(line)

    def _rest(self, pin: str) -> float:
        """How long the next line has to wait, in ns."""
        now = self._clock.nanos
        any_pin = self._moved.get("", -BETWEEN_PINS_NS) + BETWEEN_PINS_NS - now
        same_pin = self._moved.get(pin, -BETWEEN_EDGES_NS) + BETWEEN_EDGES_NS - now if pin else 0.0
        return max(any_pin, same_pin)

    def _set(self, name: str, level: int) -> None:
        pin = self._pins[name]
        self._levels[name] = level
        self._gpio[number(pin["pin"])].set_input_value(bool(level) == (pin["active"] == "high"))

    def _watch(self, name: str, output: Pin) -> None:
        """Tell the bench what the pins of an output do: 1 and 0, and -1 where a motor turns back."""
        pins = [self._gpio[number(output[key])] for key in ("pin", "pin_back") if key in output]

        def changed(_state: Any, _before: Any) -> None:
            levels = [pin.value == GPIOPinState.HIGH for pin in pins]
            self._to_bench(f"out {name} {levels[0] - sum(levels[1:])}")

        for pin in pins:
            pin.add_listener(changed)


def number(pin: str) -> int:
    """The number of a pin of the RP2040: "GP17" is 17."""
    return int(pin.removeprefix("GP"))
