"""13:69E-1.28N(h): the signature is compared at each start and at each reset that the host commands, in any state."""

from __future__ import annotations

import pytest
from pitbench.image import Image
from pitbench.link import BoardRebooted, LinkError, LinkTimeout
from pitbench.protocols.id003 import Command, Status
from pitbench_hil import acceptor_drives
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_altered import Altered
from pitbench_hil.acceptor_drives import Drive
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.mutations import one_byte_altered

AT = "NJ-1.28N(h)/checked-at"
NOT_READY = (Unreached, LinkError, LinkTimeout, BoardRebooted)
STATES = (*acceptor_drives.WORKING, *acceptor_drives.STANDING)


def found(check: Check, altered: Altered) -> None:
    """The board has to become inoperable; put right, it has to boot to ready."""
    inoperable, said = altered.becomes_inoperable()
    check.note("then", wire=said)
    check.measure("booted_on", 0 if inoperable else 1)


def ready_again(check: Check, altered: Altered) -> None:
    """With its image put right, and power, it becomes ready."""
    check.stimulus("image put right while off, power on")
    with check.duty("boots to ready", *NOT_READY):
        altered.restore()
        altered.bench.start()
    check.expect("status", Status(altered.bench.status().cmd).name, "IDLE")


@rule(f"{AT}/power-cycle")
@images("bench", "release")
def test_power_cycle(bench: AcceptorBench, check: Check, image: Image) -> None:
    altered = Altered(bench, image)
    bench.start()
    check.stimulus("power off, one bit of the image altered, power on")
    altered.start(one_byte_altered(image.files))
    found(check, altered)
    ready_again(check, altered)


@rule(f"{AT}/watchdog")
@images("bench", "release")
def test_watchdog(bench: AcceptorBench, check: Check, image: Image) -> None:
    altered = Altered(bench, image)
    bench.start()
    check.stimulus("one bit of the image altered while it runs, watchdog reset")
    altered.write(one_byte_altered(image.files))
    altered.virtual.reset("watchdog")
    bench.forget()
    found(check, altered)
    ready_again(check, altered)


@rule(f"{AT}/host-reset")
@images("bench", "release")
@pytest.mark.parametrize("which", [0, -1])
def test_host_reset(bench: AcceptorBench, check: Check, image: Image, which: int) -> None:
    altered = Altered(bench, image)
    bench.start()
    check.stimulus("one bit of the image altered while it runs, reset by the host", file=which)
    altered.write(one_byte_altered(image.files, which))
    bench.exchange(Command.RESET)
    found(check, altered)
    ready_again(check, altered)


@rule(f"{AT}/host-reset")
@pytest.mark.parametrize("drive", [pytest.param(drive, id=drive.__name__) for drive in STATES])
def test_host_reset_in_every_state(bench: AcceptorBench, check: Check, image: Image, drive: Drive) -> None:
    altered = Altered(bench, image)
    bench.start()
    drive(bench)
    check.stimulus("one bit of the image altered while it runs, reset by the host", state=drive.__name__)
    altered.write(one_byte_altered(image.files))
    bench.exchange(Command.RESET)
    found(check, altered)


@rule(f"{AT}/host-reset")
@images("bench", "release")
def test_host_reset_right_after_power_up(bench: AcceptorBench, check: Check, image: Image) -> None:
    altered = Altered(bench, image)
    check.stimulus("one bit of the image altered after the start, reset by the host")
    altered.write(one_byte_altered(image.files))
    bench.exchange(Command.RESET)
    found(check, altered)


@rule("NJ-1.28N(h)/good-image-boots")
@images("bench", "release")
def test_good_image_boots_to_ready(bench: AcceptorBench, check: Check) -> None:
    for how in ("first start", "power cycle", "host reset"):
        check.stimulus(how)
        with check.duty("boots to ready", *NOT_READY):
            if how == "power cycle":
                bench.power_cycle()
            if how == "host reset":
                bench.command(Command.RESET)
                bench.ready()
            else:
                bench.start()
        check.expect("status", Status(bench.status().cmd).name, "IDLE")
        check.expect("inoperable", bench.link.hello()["inoperable"], None)
