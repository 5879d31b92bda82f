"""13:69E-1.28N(h), second sentence: an inoperable device says so, and does nothing else, whatever it is sent."""

from __future__ import annotations

import random
from typing import Any

from pitbench import items
from pitbench.image import Image
from pitbench.link import LinkError
from pitbench.protocols.id003 import Command
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_altered import Altered, is_inoperable
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.mutations import one_byte_altered
from pitbench_hil.speech import LATE_S

# Everything that a host may ask for on the link, of either kind of image, but hello and status.
OPS: dict[str, dict[str, Any]] = {
    "insert": {"item": items.genuine(20).record()},
    "advance": {"ms": 100},
    "restart": {"how": "soft"},
    "door": {"which": "stacker", "open": True},
    "post": {},
    "meters": {},
    "log": {"from": 0},
    "files": {},
    "crc": {"seed": 0},
    "challenge": {},
    "commission": {"role": "technician", "secret": "00" * 16},
    "clear_memory": {"role": "technician", "proof": ""},
    "nonsense": {},
}
RANDOM_FRAMES, SEED = 200, 1328
LONGEST_LEN = 255


@rule("NJ-1.28N(h)/inoperable-answers")
@images("bench", "release")
def test_inoperable_is_visible(bench: AcceptorBench, check: Check, image: Image) -> None:
    altered = Altered(bench, image)
    check.stimulus("one bit of the image altered while off, power on")
    altered.start(one_byte_altered(image.files))
    for frame in (
        altered.first_answer(),
        bench.exchange(Command.STATUS_REQUEST),
        bench.exchange(Command.STATUS_REQUEST),
    ):
        check.expect("poll answered with failure, ROM", is_inoperable(frame), True)
    check.expect("version answered", bench.speech.version() != "", True)
    identity = bench.reconnect()
    check.expect("hello gives the reason", "CRC" in str(identity["inoperable"]), True)
    check.expect("hello claims no capability", identity["caps"], [])
    state = bench.state()
    check.expect("state", state["state"], "inoperable")
    check.expect("light", state["light"], "red")
    check.expect("enabled", state["enabled"], False)
    check.expect("message gives the reason", str(identity["inoperable"]) in state["message"], True)


def everything(bench: AcceptorBench) -> list[str]:
    """Send every command, with several data; returns those after which the device wasn't inoperable any more, and those
    that it obeyed, where the wire tells of a refusal."""
    obeyed = []
    for frame in bench.speech.every():
        bench.send(frame)
        answer = bench.receive(LATE_S)
        if bench.speech.obeyed(answer) or not is_inoperable(bench.exchange(Command.STATUS_REQUEST)):
            obeyed.append(frame.hex())
    return obeyed


def noise(bench: AcceptorBench) -> None:
    """Random frames, good and damaged, cut and joined."""
    rng, every = random.Random(SEED), list(bench.speech.every())
    for _ in range(RANDOM_FRAMES):
        frame = bytearray(rng.choice(every))
        if rng.random() < 0.5:
            frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
        bench.send(bytes(frame[: rng.randrange(1, len(frame) + 1)]))
    # More than any frame is long: an unfinished one ends here, and swallows nothing that follows.
    bench.send(bytes(LONGEST_LEN))


def calm(bench: AcceptorBench) -> bool:
    """Whether it is still inoperable, once it has answered all that was sent."""
    # Twice: the noise may have held a version request.
    still = bench.speech.quiet() and bench.speech.quiet()
    return still and is_inoperable(bench.exchange(Command.STATUS_REQUEST))


def obeyed_ops(bench: AcceptorBench) -> list[str]:
    """Requests on the link that aren't refused as inoperable."""
    obeyed = []
    for op, args in OPS.items():
        try:
            bench.do(op, **args)
            obeyed.append(op)
        except LinkError as error:
            if error.code != "inoperable":
                obeyed.append(f"{op}: {error.code}")
    return obeyed


@rule("NJ-1.28N(h)/inoperable-refuses")
@images("bench", "release")
def test_inoperable_accepts_nothing_and_changes_nothing(bench: AcceptorBench, check: Check, image: Image) -> None:
    altered = Altered(bench, image)
    altered.offer()
    check.stimulus("a note at the mouth; one bit of the image altered while off, power on")
    altered.start(one_byte_altered(image.files))
    check.expect("inoperable", altered.becomes_inoperable()[0], True)
    before, crashes = altered.virtual.flash.read(), altered.virtual.crashes
    check.stimulus("every command with several data, then random frames, then every request on the link", seed=SEED)
    check.expect("commands obeyed", everything(bench), [])
    noise(bench)
    check.expect("still inoperable", calm(bench), True)
    bench.reconnect()
    check.expect("requests obeyed", obeyed_ops(bench), [])
    check.expect("still inoperable at the end", calm(bench), True)
    check.expect("files are as they were", altered.virtual.flash.read() == before, True)
    check.expect("crashes", altered.virtual.crashes - crashes, 0)
    altered.restore()
    check.measure("accepted", altered.accepted())
