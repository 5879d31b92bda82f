"""13:69E-1.28X(h): the check is made at each start; what it found is told, and stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench.errors import PitbenchError
from pitbench.image import Image
from pitbench.link import LinkTimeout
from pitbench_hil.authentic import VICTIM, Altered, named, of_each_kind
from pitbench_hil.check import Check
from pitbench_hil.forgeries import KEY_FILE, forgeries, one_byte_changed, with_fitting_crc
from pitbench_hil.marks import images, rule
from pitbench_hil.mutations import Files
from pitbench_hil.run import Run

RULE = "NJ-1.28X(h)"
AT = f"{RULE}/checked-at"


def works(altered: Altered) -> bool:
    """Whether it came up with its own image."""
    try:
        return altered.board.reconnect()["inoperable"] is None
    except LinkTimeout:
        return False


def found(check: Check, altered: Altered) -> None:
    """It has to be inoperable; put right, it has to run again."""
    look = altered.looks()
    check.note("then", said=look.said)
    check.measure("booted_on", int(not look.stopped))
    check.stimulus("put right while off, power on")
    altered.start(altered.good)
    check.expect("runs again", works(altered), True)


@rule(f"{AT}/power-cycle")
@images("bench", "release")
def test_power_cycle(altered: Altered, check: Check, image: Image) -> None:
    check.stimulus("power off, one byte altered, power on")
    altered.start(one_byte_changed(image.files, VICTIM))
    found(check, altered)


@rule(f"{AT}/watchdog")
@images("bench", "release")
def test_watchdog(altered: Altered, check: Check) -> None:
    check.stimulus("one byte altered while it runs, watchdog reset")
    altered.alter(VICTIM)
    altered.running()
    altered.virtual.reset("watchdog")
    found(check, altered)


@rule(f"{AT}/commanded")
@pytest.mark.parametrize("op", ["restart", "crash"])
def test_restart_by_its_own_decision(altered: Altered, check: Check, op: str) -> None:
    # Modules that are loaded late are there: it is the restart that has to find it.
    altered.bench.do("store")
    altered.alter(VICTIM)
    altered.running()
    check.stimulus("one byte altered while it runs, and it restarts by itself", op=op)
    altered.bench.do(op, **({"how": "soft"} if op == "restart" else {}))
    altered.stops()
    found(check, altered)


@rule(f"{RULE}/good-image-works")
@images("bench", "release")
@pytest.mark.parametrize("cause", ["power", "watchdog"])
def test_good_image_works(altered: Altered, check: Check, image: Image, cause: str) -> None:
    refused = 0
    for was_altered in (False, True, False):
        if was_altered:
            altered.start(one_byte_changed(image.files, VICTIM))
            check.expect("altered: runs", works(altered), False)
        check.stimulus("the image as it was signed", cause=cause, altered_before=was_altered)
        if cause == "power":
            altered.start(altered.good)
        else:
            altered.write(altered.good)
            altered.virtual.reset(cause)
        refused += not works(altered)
    check.measure("refused_starts", refused)
    if "plant" in altered.bench.link.identity["caps"]:
        altered.bench.start()
        check.expect("idle", altered.bench.status()["state"] in altered.bench.idle, True)


@rule(f"{RULE}/stays-stopped")
@images("bench", "release")
def test_stopped_it_obeys_nothing_and_stays_so(altered: Altered, check: Check, image: Image) -> None:
    check.stimulus("one byte altered while off, power on")
    altered.start(one_byte_changed(image.files, VICTIM))
    obeyed, cleared = [], 0
    for how in ("power", "watchdog", "power"):
        look = altered.looks(altered.requests)
        obeyed += look.obeyed + altered.gat_obeyed()
        cleared += not look.stopped
        check.stimulus("asked for everything, then started again with the file still altered", cause=how)
        if how == "power":
            altered.board.cut()
            altered.switch_on()
        else:
            altered.running()
            altered.virtual.reset(how)
    cleared += not altered.looks().stopped
    check.note("requests", on_the_link=len(altered.requests), obeyed=obeyed)
    check.measure("obeyed", len(obeyed))
    check.measure("cleared_by_itself", cleared)
    check.expect("motors driven", altered.moved(), [])


def is_told(altered: Altered, names: Callable[[str], bool]) -> bool:
    """Whether hello, status, light, message and GAT say that it stands still, and why."""
    try:
        why = str(altered.board.reconnect()["inoperable"])
        status = altered.bench.status()
        shown = (status["state"], status["light"], status["enabled"]) == ("inoperable", "red", False)
        return names(why) and shown and why in status["message"] and altered.gat_told(why)
    except (PitbenchError, KeyError):
        return False


def names_file(path: str) -> Callable[[str], bool]:
    """Of manifest and signature either may be named: one without the other is nothing."""
    if path.startswith("/image/manifest"):
        return lambda why: "/image/manifest" in why
    return lambda why: named(why, path)


@rule(f"{RULE}/told")
@images("bench", "release")
def test_the_board_says_what_is_wrong(altered: Altered, check: Check, image: Image, run: Run) -> None:
    cases: dict[str, tuple[Files, Callable[[str], bool]]] = {
        path: (one_byte_changed(image.files, path), names_file(path)) for path in run.few(of_each_kind(image.files))
    }
    torn = {**image.files, VICTIM: image.files[VICTIM][:-1]}
    cases["a file cut short, its CRC as it was"] = (torn, lambda why: "CRC" in why and named(why, VICTIM))
    cases["the same, its CRC made to fit"] = (with_fitting_crc(torn), names_file(VICTIM))
    key = forgeries(image.files, "key")[0].files
    cases[KEY_FILE] = (key, lambda why: " by key " in why and image.key not in why)
    untold = []
    for case, (files, names) in cases.items():
        check.stimulus("altered while off, power on", what=case)
        altered.start(files)
        if not is_told(altered, names):
            untold.append(case)
    check.note("told wrongly, or not", of=len(cases), untold=untold)
    check.measure("untold", len(untold))
