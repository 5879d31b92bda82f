"""A GAT terminal that looks into a device from outside, and what it compares."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from pitbench.addresses import EMULATED
from pitbench.image import Image
from pitbench.protocols import gat
from pitbench.protocols.gat import Decoder, Frame, GatError
from pitbench.protocols.gat_host import GatHost, GatSettings, Result
from pitbench.protocols.gat_report import Component, differences, parse_facts, parse_report

from pitbench_hil.board_bench import BoardBench
from pitbench_hil.check import SILENCE, Check
from pitbench_hil.comparing import different_files

DATA = "/data/"
BUSY = (gat.State.REQUESTED, gat.State.CALCULATING)
POLL_S = 0.02
# A line that is silent for so long has nothing more to say: what a frame may pause for, and a busy PC.
SILENT_S = 0.12
ANSWER_S = 2.0
_UNDERSTOOD = "gives a {} report that is understood"
T = TypeVar("T")


def answer(frame: Frame | None) -> str:
    """Words for an answer, as evidence."""
    return gat.frame_text(frame) if frame else "silence"


class Terminal:
    """The host of one board's GAT port.

    Args:
        bench: the board's bench.
        image: what it should hold.
        check: where differences are noted; a device that gives no sound answer fails the test's rules.
    """

    def __init__(self, bench: BoardBench, image: Image, check: Check) -> None:
        self.image = image
        self.host = GatHost(bench.board.wire, GatSettings(poll_s=POLL_S), bench.board.clock)
        self._bench, self._check = bench, check

    # -- reports -------------------------------------------------------------------------------

    def result(self, how: str, seed: bytes | None = None) -> Result:
        """A whole report as "text" or "xml". Raises RuleBroken where the device gives none."""
        host = self.host
        return self._kept(
            f"gives a {how} report",
            lambda: host.xml_result(seed) if how == "xml" else host.calculate(gat.REPORT_LEVEL, seed or b""),
        )

    def report(self, how: str = "text", seed: bytes | None = None) -> dict[str, Component]:
        """Every component by path. Raises RuleBroken."""
        result = self.result(how, seed)
        return self._kept(_UNDERSTOOD.format(how), lambda: parse_report(result.data, result.format))

    def facts(self, how: str) -> dict[str, str]:
        """What a report says beside its components. Raises RuleBroken."""
        result = self.result(how)
        return self._kept(_UNDERSTOOD.format(how), lambda: parse_facts(result.data, result.format))

    def component(self, path: str, seed: bytes | None) -> dict[str, Component]:
        """One component by its special function. Raises RuleBroken."""
        return {path: self._kept(f"validates {path}", lambda: self.host.component(path, seed))}

    def components_offered(self) -> set[str]:
        """The components that its special functions name. Raises RuleBroken."""
        functions = self._kept("lists its special functions", self.host.functions)
        return {f.parameters[0] for f in functions if f.name == "Component" and f.parameters}

    def last_result(self) -> bytes:
        """The last result, a text, as it comes. Raises RuleBroken."""
        return self._kept("hands out its last result", lambda: self.host.results(gat.Format.TEXT, self.host.deadline()))

    def state(self) -> str:
        """Word for its status. Raises RuleBroken."""
        return gat.state_text(self._kept("tells its status", self.host.status).state)

    def _kept(self, duty: str, do: Callable[[], T]) -> T:
        """What comes of a duty. Raises RuleBroken where the device is silent, or answers what GAT doesn't know."""
        with self._check.duty(duty, GatError, *SILENCE):
            return do()
        raise AssertionError("a duty that isn't kept ends the test")

    def wrong(
        self, report: Mapping[str, Component], seed: bytes | None, files: Mapping[str, bytes] | None = None
    ) -> int:
        """How many digests aren't those of the files (the image's, unless said); what is left out isn't counted."""
        found = differences(report, self.image.files if files is None else files, seed, whole=False)
        self._check.note("digests of board and PC", compared=len(report), seeded=bool(seed), different=found[:5])
        return len(found)

    def wrong_in(self, data: bytes, seed: bytes) -> int:
        """The same of a text report as it came, and of what it leaves out. Raises RuleBroken."""
        report = self._kept(_UNDERSTOOD.format("text"), lambda: parse_report(data, gat.Format.TEXT))
        return self.wrong(report, seed) + len(set(self.image.files) - set(report))

    # -- frames --------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Put bytes on the line as they are."""
        self._bench.board.wire.write(data)

    def heard(self, seconds: float = SILENT_S) -> list[Frame]:
        """All sound frames until the line is silent for that long."""
        decoder, frames = Decoder(), []
        while data := self._bench.board.wire.read(seconds):
            frames += decoder.feed(data)
        return frames + decoder.gap()

    def ask(self, command: int, data: bytes = b"") -> Frame | None:
        """The answer to one request, None where there is none."""
        return self.answer_to(gat.encode(command, data))

    def answer_to(self, *pieces: bytes) -> Frame | None:
        """The first answer to a frame that is sent in pieces."""
        self._bench.board.wire.flush_input()
        for piece in pieces:
            self.send(piece)
        decoder = Decoder()
        while data := self._bench.board.wire.read(ANSWER_S):
            for frame in decoder.feed(data):
                return frame
        return None

    def rest(self) -> None:
        """Wait until no calculation runs. Raises RuleBroken."""
        self._kept("ends its calculation", self._wait)

    def _wait(self) -> None:
        until = self.host.deadline()
        while self.host.status(until).state in BUSY:
            self._bench.board.wire.read(POLL_S)

    # -- what was altered ----------------------------------------------------------------------

    def altered(self) -> int:
        """How many files aren't as the image has them: by digest, and in the flash where the rig reads it."""
        seed = new_seed()
        report = self.report(seed=seed)
        found = set(differences(report, self.image.files, seed))
        found |= {f"{path} in the flash" for path in self._altered_in_flash()}
        self._check.note("files altered", different=sorted(found)[:5])
        return len(found)

    def _altered_in_flash(self) -> Iterable[str]:
        virtual = self._bench.board.virtual
        if virtual is None or self._bench.board.rung == EMULATED:
            return ()
        there = {path: data for path, data in virtual.flash.read().items() if not path.startswith(DATA)}
        return different_files(there, self.image.files)


def new_seed() -> bytes:
    """A seed that nobody could have been ready for."""
    return secrets.token_bytes(8)


def critical_files(files: Iterable[str], critical: Iterable[str]) -> list[str]:
    """Those on which the outcome hangs, by their names below /image."""
    return sorted({f"/image/{name}.mpy" for name in critical} & set(files))


def boot_block(files: Iterable[str]) -> list[str]:
    """Those that lie outside the image: the boot block's, and what starts it."""
    return sorted(path for path in files if not path.startswith("/image/"))
