"""All that a shuffler tells while a game goes its way, collected in small equal steps of device time.

The clock stands but for those steps, raw words are fixed, and every run starts from a new board: what differs between
two runs differs by what was done to them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pitbench.link import LinkError

from pitbench_hil.acts import Act, in_turn
from pitbench_hil.attended_bench import OWN_NOISE, ROLES
from pitbench_hil.comparing import differing
from pitbench_hil.shuffler import RECEIPT, ShufflerBench
from pitbench_hil.shuffler_errors import broken
from pitbench_hil.shuffler_moves import attend

STEP_MS = 50
UNLOAD_STEP_MS = 1000
_NOTHING = 0.0
# Its name, its device time, the step between two looks, what it begins with.
Phase = tuple[str, int, int, Act]


@dataclass(frozen=True)
class Output:
    """One thing told: by which operation, its text without times, and the times in it."""

    op: str
    text: str
    times: tuple[Any, ...] = ()


@dataclass
class Told:
    """What a run told, phase by phase, in order; `rights` is what roles were given, by role and moment."""

    phases: dict[str, list[Output]] = field(default_factory=lambda: defaultdict(list))
    rights: dict[str, str] = field(default_factory=dict)

    def sequence(self, op: str, phases: Iterable[str]) -> list[str]:
        """Texts of an operation, each repetition left out."""
        texts = [output.text for phase in phases for output in self.phases[phase] if output.op == op]
        return [text for at, text in enumerate(texts) if at == 0 or texts[at - 1] != text]


class Listener:
    """Asks a board for everything that it tells without a proof, again and again."""

    def __init__(self, bench: ShufflerBench) -> None:
        self.bench = bench
        self.told = Told()
        self._event = self._entry = 0

    def listen(self, phase: str, ms: int, step: int = STEP_MS) -> None:
        """Let time pass, and ask after each step."""
        for _ in range(ms // step):
            self.bench.advance(step)
            self.told.phases[phase] += self._all()

    def ask_with_rights(self, moment: str) -> None:
        """Have every role prove itself, and ask for what a proof opens."""
        for role in ROLES:
            try:
                given = json.dumps(self.bench.history(role))
            except LinkError as error:
                given = f"{error.code}: {error.why}"
            self.told.rights[f"{role}, {moment}"] = given

    def _all(self) -> Iterator[Output]:
        status = self.bench.status()
        times = (status.pop("now"), status.pop("calendar"))
        yield Output("status", json.dumps(status), times)
        for op in ("post", "meters"):
            yield Output(op, json.dumps(self.bench.do(op)))
        yield self._receipt()
        for number, ms, *event in self.bench.do("events", after=self._event)["events"]:
            self._event = number
            yield Output("events", json.dumps(event), (number, ms))
        # Its chain covers the times, and is made of what stands before it.
        for number, boot, ms, second, what, detail, chain in self._entries():
            self._entry = number
            yield Output("log", json.dumps([number, boot, what, detail]), (ms, second, chain))
        yield Output("wire", self.bench.board.wire.read(_NOTHING).hex())

    def _entries(self) -> list[list[Any]]:
        return list(self.bench.do("log", **{"from": self._entry + 1})["entries"])

    def _receipt(self) -> Output:
        try:
            made = self.bench.do("receipt", **RECEIPT)
        except LinkError as error:
            return Output("receipt", error.why)
        return Output("receipt", json.dumps(made), (made.pop("when"),))


def play(bench: ShufflerBench, cards: bytes, words: str, *, unload: bool = True) -> Told:
    """One game on a clock that stands, the same in all but the cards' order and the raw words. Raises Unreached."""
    return _tell(bench, words, _script(cards)[: None if unload else -1])


def recycle(bench: ShufflerBench, cards: bytes, words: str) -> Told:
    """The same in the mode in which dealt cards come back. Raises Unreached."""
    return _tell(bench, words, _recycling(cards), continuous=True)


def jam(bench: ShufflerBench, cards: bytes, words: str) -> Told:
    """The same in that mode, with a card stuck on its way in, on its way out, and on its way back. Raises Unreached."""
    return _tell(bench, words, _jams(cards), continuous=True)


def _tell(bench: ShufflerBench, words: str, script: Iterable[Phase], **settings: Any) -> Told:
    rig = bench.board.rig
    rig.entropy_at_start("fixed", words)
    try:
        bench.board.start_over()
    finally:
        rig.entropy_at_start(OWN_NOISE)
    bench.start()
    bench.commission(*ROLES)
    if settings:
        bench.configure(**settings)
    listener = Listener(bench)
    for phase, ms, step, act in script:
        act(bench)
        listener.listen(phase, ms, step)
        listener.ask_with_rights(phase)
    return listener.told


def _load_and_start(cards: bytes) -> Act:
    def act(bench: ShufflerBench) -> None:
        bench.load(cards)
        bench.do("press", button="start")

    return act


def press(button: str) -> Act:
    """Press, and let no time pass."""
    return lambda bench: bench.do("press", button=button)


def take(bench: ShufflerBench) -> None:
    """What lies in the tray."""
    bench.do("take")


def _back(bench: ShufflerBench) -> None:
    cards = bench.tray()
    bench.do("take")
    _load_and_start(cards)(bench)


def _script(cards: bytes) -> tuple[Phase, ...]:
    return (
        ("shuffling", 8000, STEP_MS, _load_and_start(cards)),
        ("ready", 1000, STEP_MS, lambda bench: None),
        ("dealt-face-down", 2000, STEP_MS, press("hand")),
        ("rest", 500, STEP_MS, take),
        ("rest", 1500, STEP_MS, press("hand")),
        ("rest", 1000, STEP_MS, take),
        ("unloading", 64_000, UNLOAD_STEP_MS, press("unload")),
    )


def _recycling(cards: bytes) -> tuple[Phase, ...]:
    return (
        ("shuffling", 15_000, UNLOAD_STEP_MS, _load_and_start(cards)),
        ("recycling", 2000, STEP_MS, press("hand")),
        ("recycling", 3000, STEP_MS, _back),
        ("recycling", 2000, STEP_MS, press("hand")),
        ("recycling", 3000, STEP_MS, _back),
    )


def _jams(cards: bytes) -> tuple[Phase, ...]:
    def again(bench: ShufflerBench) -> None:
        """Mended, whatever is inside unloaded, the whole deck fed anew."""
        attend(bench, ("insert", "eject"))
        bench.clear()
        bench.unload()
        _load_and_start(cards)(bench)

    return (
        ("fault", 1000, STEP_MS, _load_and_start(cards)),
        ("fault", 3000, STEP_MS, broken("insert")),
        ("shuffling", 15_000, UNLOAD_STEP_MS, again),
        ("fault", 2000, STEP_MS, press("hand")),
        ("fault", 1000, STEP_MS, _back),
        ("fault", 3000, STEP_MS, in_turn(broken("insert"), press("hand"), _back)),
        ("shuffling", 15_000, UNLOAD_STEP_MS, again),
        ("fault", 3000, STEP_MS, in_turn(broken("eject"), press("hand"))),
    )


def different(one: list[Output], other: list[Output]) -> int:
    """Outputs that aren't the same byte for byte, times left out."""
    return differing(*([(output.op, output.text) for output in outputs] for outputs in (one, other)))


def at_other_times(one: list[Output], other: list[Output]) -> int:
    """Outputs whose times aren't the same."""
    return sum(a.times != b.times for a, b in zip(one, other, strict=False))
