"""13:69E-1.28B(o) and (p): the signals that a slot machine's control program needs of its bill acceptor."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, FailureCode, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule

MAIN = "/image/main.mpy"

LOW_MV, GOOD_MV = 2000, 3000
SILENCE_MS = 5500
IN_REACH_MM, OUT_OF_REACH_MM = 100, 300
SENSOR_FAILED = 0xA8
FAILURES = {
    "transport_motor": FailureCode.TRANSPORT_MOTOR,
    "stack_motor": FailureCode.STACK_MOTOR,
    "entry": SENSOR_FAILED,
    "centre": SENSOR_FAILED,
    "exit": SENSOR_FAILED,
    "lever": SENSOR_FAILED,
    "scanner": SENSOR_FAILED,
}


@rule("NJ-1.28B(o)1/signal")
def test_low_battery_is_told(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.expect("message before", bench.state()["message"], "idle")
    check.stimulus("battery lowered", mv=LOW_MV)
    bench.do("battery", mv=LOW_MV)
    check.expect("message", bench.state()["message"], "Battery low: replace it")
    bench.power_cycle()
    check.expect("message after a restart", bench.state()["message"], "Battery low: replace it")
    check.stimulus("battery replaced", mv=GOOD_MV)
    bench.do("battery", mv=GOOD_MV)
    check.expect("message afterwards", "Battery" in bench.state()["message"], False)


@rule("NJ-1.28B(o)2/signal")
def test_communication_interruption_is_told(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("host silent", ms=SILENCE_MS)
    bench.advance(SILENCE_MS)
    state = bench.state()
    check.expect("standing meanwhile", state["standing"], ["comm_error"])
    check.expect("light meanwhile", state["light"], "red")
    check.expect("message meanwhile", state["message"].startswith("Communication error"), True)
    bench.until(Status.IDLE)
    told = [entry for entry in bench.logged() if entry.startswith("comm_error")]
    check.expect("on the log", told, ["comm_error", "comm_error_cleared"])


@pytest.mark.parametrize(
    ("at", "status"), [(IN_REACH_MM, Status.JAM_IN_ACCEPTOR), (OUT_OF_REACH_MM, Status.JAM_IN_STACKER)]
)
@rule("NJ-1.28B(o)3/signal")
def test_jam_is_told_until_it_was_heard(bench: AcceptorBench, check: Check, at: int, status: Status) -> None:
    bench.start()
    check.stimulus("an item that sticks", mm=at)
    bench.attempt(replace(items.genuine(20), sticks_at=at), ms=3000)
    check.stimulus("a reply lost")
    bench.exchange(Command.STATUS_REQUEST)
    for poll in range(3):
        check.expect(f"status, poll {poll + 1} later", bench.status().cmd, status)
        bench.advance()


@pytest.mark.parametrize("part", FAILURES)
@rule("NJ-1.28B(o)4/signal")
def test_malfunction_is_told_with_its_code(bench: AcceptorBench, check: Check, part: str) -> None:
    bench.start()
    check.stimulus("part broken, then a self-test", part=part)
    bench.do("break", part=part, how="stuck_0")
    bench.command(Command.RESET)
    bench.advance(2000)
    frame = bench.status()
    check.expect("status", frame.cmd, Status.FAILURE)
    check.expect("code", frame.data, bytes([FAILURES[part]]))


@rule("NJ-1.28B(o)6/signal")
def test_power_restoration_tells_where_the_item_is(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    seen = {}
    for place, statuses in {
        "nowhere": (Status.IDLE,),
        "acceptor": (Status.ESCROW,),
        "stacker": (Status.VEND_VALID,),
    }.items():
        if place != "nowhere":
            bench.escrow(items.genuine(20))
        if place == "stacker":
            bench.command(Command.STACK_1)
        bench.until(*statuses)
        check.stimulus("power cut and restored", item=place)
        bench.power_cycle()
        seen[place] = bench.status().cmd
        bench.start()
    check.expect("path empty", seen["nowhere"], Status.POWER_UP)
    check.expect("note in the acceptor", seen["acceptor"], Status.POWER_UP_BILL_IN_ACCEPTOR)
    check.expect("note in the stacker", seen["stacker"], Status.POWER_UP_BILL_IN_STACKER)


@pytest.mark.parametrize("kind", ["note", "coupon", "voucher"])
@rule("NJ-1.28B(o)6/signal")
def test_a_settled_item_is_told_once(bench: AcceptorBench, check: Check, kind: str) -> None:
    number = "500000001500000001"
    paper = {"note": items.genuine(20), "coupon": items.coupon(number), "voucher": items.voucher(number)}
    bench.start()
    bench.escrow(paper[kind])
    bench.command(Command.STACK_1)
    bench.until(Status.VEND_VALID)
    check.stimulus("power cut in vend valid; polled, reset; another power cut", kind=kind)
    bench.power_cycle()
    check.expect("first start", bench.status().cmd, Status.POWER_UP_BILL_IN_STACKER)
    bench.start()
    bench.power_cycle()
    check.expect("next start", bench.status().cmd, Status.POWER_UP)


@rule("NJ-1.28B(p)1/signal")
def test_memory_malfunction_is_told(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("both copies of the record damaged")
    bench.do("damage", copy="a")
    bench.do("damage", copy="b")
    bench.power_cycle()
    bench.advance(2000)
    bench.command(Command.RESET)
    frame = bench.until(Status.FAILURE)
    check.expect("code on the wire", frame.data, bytes([FailureCode.ROM]))
    check.expect("standing on the link", "memory_error" in bench.state()["standing"], True)


@rule("NJ-1.28B(p)1/signal")
def test_full_store_is_told(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("the file system is full from now on")
    bench.do("store_fault", at=1, how="full")
    bench.escrow(items.genuine(20))
    bench.exchange(Command.STACK_1)
    frame = bench.until(Status.FAILURE)
    check.expect("code on the wire", frame.data, bytes([FailureCode.ROM]))
    check.expect("stacked", bench.truth()["stacked"], 0)


@images("bench", "release")
@rule("NJ-1.28B(p)2/signal")
def test_authentication_mismatch_is_told(bench: AcceptorBench, check: Check) -> None:
    bench.cut()
    check.stimulus("one byte of the image altered")
    flash = bench.board.supervisor.flash
    data = bytearray(flash.read()[MAIN])
    data[-1] ^= 1
    flash.change({MAIN: bytes(data)})
    bench.power_on()
    frame = bench.status()
    check.expect("status", (frame.cmd, frame.data), (Status.FAILURE, bytes([FailureCode.BOOT_ROM])))
    check.expect("state on the link", bench.state()["state"], "inoperable")
    check.expect("reason on the link", "CRC" in bench.board.identity["inoperable"], True)


@pytest.mark.parametrize(
    ("raising", "clearing", "status"),
    [
        pytest.param(("door", {"which": "stacker", "open": True}), ("door", {"which": "stacker", "open": False}),
                     Status.STACKER_OPEN, marks=rule("NJ-1.28B(p)4/signal")),
        pytest.param(("box", {"present": False}), ("box", {"present": True}),
                     Status.STACKER_OPEN, marks=rule("NJ-1.28B(p)5/signal")),
        pytest.param(("door", {"which": "acceptor", "open": True}), ("door", {"which": "acceptor", "open": False}),
                     Status.FAILURE, marks=rule("NJ-1.28B(p)6/signal")),
    ],
)  # fmt: skip
def test_opening_is_told(
    bench: AcceptorBench, check: Check, raising: tuple[str, dict[str, object]], clearing: tuple[str, dict[str, object]],
    status: Status,
) -> None:  # fmt: skip
    bench.start()
    check.stimulus(raising[0], **raising[1])
    bench.do(raising[0], **raising[1])
    check.expect("status", bench.status().cmd, status)
    bench.do(clearing[0], **clearing[1])
    bench.until(Status.IDLE)
    check.expect("status afterwards", bench.status().cmd, Status.IDLE)


@images("bench", "release")
@rule("NJ-1.28B(p)7/signal")
def test_power_outage_is_told_after_it(bench: AcceptorBench, check: Check) -> None:
    before = bench.board.identity["boot"]
    check.stimulus("power cut and restored")
    identity = bench.power_cycle()
    check.expect("boots since", identity["boot"] - before, 1)
    check.expect("reset cause", identity["reset"], "power")
    check.expect("on the log", bench.log()[-1][4:6], ["power_on", "power"])
