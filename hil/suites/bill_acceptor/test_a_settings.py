"""13:69E-1.28N(a), host to device: settings are echoed, can be read back, and take effect."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_outcome import feed
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.speech import Unsaid

SETTINGS = rule("NJ-1.28N(a)/settings")
NUMBER = "000000012345678901"
SET_TO_GET = Command.SET_ENABLE - Command.GET_ENABLE
# Two values each, none of them a value that a device starts with: a constant or a neighbour's value can't pass.
VALUES = {
    Command.SET_ENABLE: (b"\x81\x02", b"\x7e\x01"),
    Command.SET_SECURITY: (b"\x11\x00", b"\x22\x03"),
    Command.SET_COMMUNICATION_MODE: (b"\x01", b"\x00"),
    Command.SET_INHIBIT: (b"\x01", b"\x00"),
    Command.SET_DIRECTION: (b"\x05", b"\x0a"),
    Command.SET_OPTIONS: (b"\x04\x01", b"\x08\x02"),
    Command.SET_BARCODE: (b"\x01\x12", b"\x01\xff"),
    Command.SET_BARCODE_INHIBIT: (b"\x01", b"\x02"),
}
# Setting that stops an item, setting that lets it in, the item.
EFFECTS = {
    "enable": (Command.SET_ENABLE, b"\x10\x00", b"\xef\x00", items.genuine(20)),
    "inhibit-of-vouchers": (Command.SET_BARCODE_INHIBIT, b"\x01", b"\x02", items.voucher(NUMBER)),
    "inhibit-of-coupons": (Command.SET_BARCODE_INHIBIT, b"\x02", b"\x01", items.coupon(NUMBER)),
    "face-down": (Command.SET_DIRECTION, b"\x0c", b"\x00", items.genuine(5, 2)),
    "direction": (Command.SET_DIRECTION, b"\x04", b"\x0b", items.genuine(5, 2)),
    "barcode-length": (Command.SET_BARCODE, b"\x01\x10", b"\x01\x12", items.voucher(NUMBER)),
    "any-barcode-length": (Command.SET_BARCODE, b"\x01\x06", b"\x01\xff", items.voucher(NUMBER)),
}


def reply(bench: AcceptorBench, command: int, data: bytes = b"") -> list[object]:
    frame = bench.exchange(command, data)
    return [frame.cmd if isinstance(frame.cmd, Unsaid) else f"{frame.cmd:02x}", frame.data.hex()] if frame else []


def read_back(bench: AcceptorBench, check: Check, wanted: Iterable[tuple[Command, bytes]]) -> None:
    for command, data in wanted:
        get = command - SET_TO_GET
        check.expect(f"{command.name} read back", reply(bench, get), [f"{get:02x}", data.hex()])


@SETTINGS
@images("bench", "release")
def test_settings_are_echoed_and_read_back(bench: AcceptorBench, check: Check) -> None:
    for turn in (0, 1):
        wanted = [(command, values[turn]) for command, values in VALUES.items()]
        for command, data in wanted:
            check.stimulus("setting written", command=command.name, data=data.hex())
            # Interrupt mode may announce something between any two replies; `exchange` counts ENQs apart.
            check.expect(f"{command.name} echoed", reply(bench, command, data), [f"{command:02x}", data.hex()])
        read_back(bench, check, wanted)


@SETTINGS
def test_settings_are_gone_after_a_reset(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("reset by the host: 1B stands until settings are sent")
    bench.command(Command.RESET)
    bench.advance(3000)
    if bench.speech.starts_once:
        # The reset itself, which is told by the first answer.
        bench.status()
    check.expect("status", bench.status().cmd, bench.speech.unset[-1])
    bench.configure()
    bench.until(Status.IDLE)


@SETTINGS
@pytest.mark.parametrize("effect", EFFECTS)
def test_setting_takes_effect(bench: AcceptorBench, check: Check, effect: str) -> None:
    command, shut, opened, item = EFFECTS[effect]
    bench.start()
    for data, said in ((shut, "rejected"), (opened, "validated"), (shut, "rejected")):
        check.stimulus("setting written, item inserted", command=command.name, data=data.hex())
        bench.command(command, data)
        check.expect(f"with {data.hex()}", feed(bench, item).said, said)


@SETTINGS
def test_inhibit_and_communication_mode_take_effect(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    for data, status in ((b"\x01", Status.DISABLED), (b"\x00", Status.IDLE)):
        check.stimulus("inhibit written", data=data.hex())
        bench.command(Command.SET_INHIBIT, data)
        check.expect("status", bench.status().cmd, status)
    for data, is_announced in ((b"\x01", True), (b"\x00", False)):
        check.stimulus("communication mode written, stacker's door moved", data=data.hex())
        bench.command(Command.SET_COMMUNICATION_MODE, data)
        bench.status()
        bench.do("door", which="stacker", open=is_announced)
        bench.advance()
        check.expect("announced", bench.announced(), is_announced)
