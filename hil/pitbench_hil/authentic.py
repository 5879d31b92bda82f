"""An attended device whose files are altered, off or running: looked at, tempted, and put right again.

An altered board counts as found when, at its first start, it says that it is inoperable, drives no motor and obeys
nothing; as booted on when it says or does anything else. Silence is counted apart.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.image import Image
from pitbench.link import LinkError, LinkTimeout
from pitbench.proof import proof
from pitbench.protocols.gat import GatError, State
from pitbench.protocols.gat_host import GatHost, GatSettings

from pitbench_hil.access_rights import READS
from pitbench_hil.altered_board import AlteredBoard
from pitbench_hil.attended_bench import SECRETS, AttendedBench
from pitbench_hil.authority import refusal
from pitbench_hil.bench_requests import bench_requests
from pitbench_hil.board_bench import ADVANCE_MAX_MS
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device, Op
from pitbench_hil.forgeries import one_byte_changed
from pitbench_hil.mutations import Files, Mutation

PROOF = {"role": "technician", "proof": "00" * 32}
# Far from a file's start or end, and not loaded twice: what the bench alters while the device runs.
VICTIM = "/image/device/conditions.mpy"
# A board in hard tilt refuses these two by their own word.
REFUSALS = ("inoperable", "auth")
LOOK_S = 5.0
# A board that stops over a request gives no reply to it; the next try finds it stopped.
TRY_S, ADVANCE_S = 0.2, 1.0
POLL_S = 0.002
LEVELS = (1, 2, 3, 4, 0x15)
# What every device loads after its start: a path below /image -> the request that loads it.
LATE: Mapping[str, Op] = {
    "link/audit": ("files", {}),
    "link/service": ("challenge", {}),
    "device/access": ("challenge", {}),
    "link/settings": ("configure", {**PROOF, "set": {}}),
    "link/args_words": ("log", {"from": -1}),
    "bench/rare": ("store", {}),
    "bench/faults": ("damage", {"copy": "a"}),
    "bench/chance": ("entropy", {"how": "stuck"}),
}


def requests(name: str, device: Device[Any]) -> list[Op]:
    """What nobody's authority stands behind: everything on the link, of either kind of image.

    Hello, status and a challenge are given by a board that stands still, too.
    """
    told = {op: args for op, args in {**READS, **device.reads}.items() if op not in ("status", "challenge")}
    proven = {each.op: {**each.args, **PROOF} for each in device.requests}
    pressed = [("press", {"button": button}) for button in (*device.buttons, "clear")]
    every = {**bench_requests(name), **told, **proven, "clear_tilt": PROOF, "nonsense": {}}
    return [*pressed, *every.items()]


@dataclass
class Look:
    """What a board showed."""

    stopped: bool
    said: str
    obeyed: list[str] = field(default_factory=list)


@dataclass
class Count:
    """What a series of altered boards came to."""

    mutations: int = 0
    booted_on: int = 0
    obeyed: int = 0
    unnamed: list[str] = field(default_factory=list)


class Altered(AlteredBoard):
    """One device's board.

    Args:
        bench: the board's bench.
        image: what the board holds.
        device: what it is.
    """

    def __init__(self, bench: AttendedBench, image: Image, device: Device[Any]) -> None:
        super().__init__(bench.board, image)
        self.bench = bench
        self.requests = requests(image.device, device)
        self.late = {name: op for name, op in {**LATE, **device.late}.items() if f"/image/{name}.mpy" in image.files}
        self._temptation: tuple[Op, ...] = (("press", {"button": device.buttons[0]}), ("authenticity", {}))
        self._driven = len(self.virtual.responder.driven)

    def deadline(self, seconds: float = LOOK_S) -> Deadline:
        """So long from now, by the board's own clock."""
        return Deadline(seconds, self.board.clock)

    def rest(self) -> None:
        """Between two looks at something that comes without a word on a port."""
        time.sleep(POLL_S)

    # -- looked at ---------------------------------------------------------------------------------

    def moved(self) -> list[str]:
        """Outputs driven since it was switched on, or since it was last asked."""
        driven, self._driven = self.virtual.responder.driven[self._driven :], len(self.virtual.responder.driven)
        return [f"{name} {level}" for name, level in driven]

    def looks(self, requests: Iterable[Op] | None = None) -> Look:
        """Whether it stands inoperable at its first start, and what it says and obeys of these, or of a temptation."""
        try:
            identity = self.board.reconnect(LOOK_S)
        except LinkTimeout:
            return Look(False, "nothing")
        why = identity["inoperable"]
        obeyed = self.obeyed(self._temptation if requests is None else requests) if why else []
        moved = self.moved()
        if why and self.starts == 1 and not moved:
            return Look(True, str(why), obeyed)
        return Look(
            False, f"{why or 'works'} after {self.starts} starts, driven: {', '.join(moved) or 'nothing'}", obeyed
        )

    def obeyed(self, requests: Iterable[Op] | None = None) -> list[str]:
        """Those of these requests, or of all, that aren't refused because it is inoperable, or for want of a proof."""
        obeyed = []
        for op, args in self.requests if requests is None else requests:
            try:
                self.bench.do(op, **args)
                obeyed.append(op)
            except LinkError as error:
                if error.code not in REFUSALS:
                    obeyed.append(f"{op}: {error.code}")
        return obeyed

    def status(self) -> dict[str, Any]:
        """What it says once it answers again."""
        self.board.reconnect(LOOK_S)
        return self.bench.status()

    def gat_told(self, why: str) -> bool:
        """Whether GAT's status is an error, and its last result says why."""
        host = self._gat()
        text = host.results(1, host.deadline())
        return host.status().state == State.ERROR and why in text.decode(errors="replace")

    def gat_obeyed(self) -> list[str]:
        """Levels of GAT that are calculated."""
        obeyed = []
        for level in LEVELS:
            try:
                self._gat().calculate(level)
                obeyed.append(f"GAT level {level}")
            except GatError:
                continue
        return obeyed

    def _gat(self) -> GatHost:
        return GatHost(self.board.wire, GatSettings(reply_s=1.0, tries=2, patience_s=2.0), self.board.clock)

    # -- altered while it runs -------------------------------------------------------------------------

    def alter(self, path: str) -> None:
        """One byte of a file changes under the running board."""
        self.write(one_byte_changed(self.good, path))

    def ask(self, op: str, seconds: float = TRY_S, **args: Any) -> str:
        """What comes of a request to a board that may stop over it: "" if it was carried out."""
        try:
            self.bench.link.do_within(seconds, op, **args)
            return ""
        except PitbenchError as error:
            return str(error)

    def running(self) -> None:
        """Count starts and motors from here, without switching it on."""
        super().running()
        self._driven = len(self.virtual.responder.driven)

    def stops(self, seconds: float = LOOK_S) -> bool:
        """Wait for the restart of a board that found something; whether it came, and left it inoperable."""
        deadline = self.deadline(seconds)
        while not self.starts and not deadline.passed:
            self.rest()
        return bool(self.starts) and bool(self.board.reconnect(LOOK_S)["inoperable"])

    def check_on_demand(self) -> bool:
        """Ask for the check, and see it through; whether the board stopped over it."""
        if not self.ask("authenticate"):
            deadline = self.deadline()
            while not self.starts and not deadline.passed and self._is_checking():
                self.rest()
        return bool(self.starts) and self.stops()

    def _is_checking(self) -> bool:
        try:
            return bool(self.bench.link.do_within(TRY_S, "authenticity")["running"])
        except PitbenchError:
            return True

    def passes(self, ms: int, step: int = ADVANCE_MAX_MS) -> bool:
        """Let device time pass; False as soon as the board stopped over it."""
        while ms > 0:
            failed = self.ask("advance", ADVANCE_S, ms=min(step, ms))
            if failed or self.starts:
                if self.stops():
                    return False
                raise LinkTimeout(failed, "Look whether the board still runs.")
            ms -= step
        return True

    # -- in its data ---------------------------------------------------------------------------------

    def tilt(self) -> str | None:
        """Why it stands in hard tilt, by its own mark; None where it doesn't."""
        found = self.virtual.flash.read().get("/data/tilt")
        return None if found is None else found.decode(errors="replace")

    def tilted_at(self) -> int:
        """The device time at which its log says that it found something, in ms."""
        data = self.virtual.flash.read()
        lines = [line for name in ("/data/log0", "/data/log1") for line in data.get(name, b"").splitlines() if line]
        return max(entry[2] for entry in map(json.loads, lines) if entry[4] == "authenticity_failed")

    def untilt(self) -> None:
        """Put everything right from outside, the mark of the tilt too, as no person at the device could."""
        self.board.cut()
        self.write(self.good)
        if self.tilt() is not None:
            self.virtual.flash.change({}, ["/data/tilt"])
        self.switch_on()
        self.board.reconnect(LOOK_S)

    def put_right(self, how: str = "power") -> dict[str, Any]:
        """The file is as it was, and the board starts again; returns its status."""
        if how == "power":
            self.start(self.good)
        else:
            self.write(self.good)
            self.running()
            self.virtual.reset(how)
        return self.status()

    def nonce(self) -> str:
        """A new challenge."""
        return str(self.bench.do("challenge")["nonce"])

    def clears(
        self, role: str = "technician", secret: str = "", nonce: str | None = None, asked: str = "clear_tilt"
    ) -> str:
        """Clear the tilt with a role's proof; "" if it was obeyed, else the refusal's code.

        Args:
            secret: another than the role's own; nonce: another than that of a new challenge, "" for none; asked: what
                the proof is for.
        """
        key = bytes.fromhex(secret or SECRETS[role])
        return self.refusal(role, proof(key, self.nonce() if nonce is None else nonce, role, asked))

    def refusal(self, role: str, proof: str) -> str:
        """The code with which clearing is refused, "" if it was obeyed."""
        return refusal(self.bench.do, "clear_tilt", role=role, proof=proof)


def find_all(check: Check, altered: Altered, mutations: Iterable[Mutation]) -> Count:
    """Start the board once with each; stops at the first that isn't found."""
    count, crashes, silent = Count(), altered.virtual.crashes, 0
    for mutation in mutations:
        check.stimulus("altered while off, power on", mutation=mutation.name)
        altered.start(mutation.files)
        count.mutations += 1
        look = altered.looks()
        count.obeyed += len(look.obeyed)
        if mutation.extra and not named(look.said, mutation.extra):
            count.unnamed.append(mutation.name)
        if not look.stopped or look.obeyed:
            check.note("not found", mutation=mutation.name, said=look.said, obeyed=look.obeyed)
            silent += look.said == "nothing"
            count.booted_on += not look.stopped and look.said != "nothing"
            break
    check.expect("mutations that crash the board or leave it silent", altered.virtual.crashes - crashes + silent, 0)
    return count


def named(why: str, path: str) -> bool:
    """Whether a reason names a path, or the folder that it came with."""
    words = why.rpartition(" file ")[2].split()
    return bool(words) and path.startswith(words[0])


def of_each_kind(files: Files) -> list[str]:
    """A file of each folder of the image, and the seals."""
    folders = {path.rsplit("/", 1)[0]: path for path in sorted(files) if path.startswith("/image/")}
    return sorted({*folders.values(), "/image/main.mpy", "/image/manifest", "/image/manifest.sig", "/image/crc"})
