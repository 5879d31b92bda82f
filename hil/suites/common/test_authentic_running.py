"""13:69E-1.28X(h), 1.28H(e): a file altered while the device runs is found before it is loaded, on demand, hourly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pitbench.image import Image
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.authentic import VICTIM, Altered
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.forgeries import marking_code
from pitbench_hil.marks import images, rule
from pitbench_hil.run import Run

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
STEP_MS = 500
STRAYS = ("/hashlib.py", "/boot/x.mpy", "/image/hashlib.py", "/image/device/json.py", "/data/x")


# -- before it is loaded --------------------------------------------------------------------------------------------


def loads_unvouched(altered: Altered, name: str, path: str) -> bool:
    """Whether the device went on after it was to load a module in whose place, or beside it, lies somebody's code."""
    altered.untilt()
    altered.running()
    altered.write({**altered.good, path: marking_code(path)})
    op, args = altered.late[name]
    altered.ask(op, **args)
    return not altered.stops(1.0)


@rule("NJ-1.28X(h)/late-load")
@images("bench", "release")
@pytest.mark.parametrize("beside", [False, True], ids=["exchanged", "beside"])
def test_nothing_is_loaded_late_that_nobody_signed(altered: Altered, check: Check, run: Run, beside: bool) -> None:
    went_on, ran = [], []
    for name in run.few(list(altered.late)):
        path = f"/image/{name}.py" if beside else f"/image/{name}.mpy"
        check.stimulus(
            "code that leaves a mark laid where the next request loads from", file=path, op=altered.late[name][0]
        )
        if loads_unvouched(altered, name, path):
            went_on.append(path)
        if altered.ran():
            ran.append(path)
            break
    check.note("files loaded late", tried=len(altered.late), went_on=went_on, ran=ran)
    check.measure("went_on", len(went_on))
    check.measure("ran", len(ran))


# -- on demand ------------------------------------------------------------------------------------------------------


@rule("HOUSE-check-on-demand")
@images("bench", "release")
def test_a_sound_board_passes_the_check_on_demand(altered: Altered, check: Check, image: Image) -> None:
    before = altered.bench.do("authenticity")
    stopped = altered.check_on_demand()
    after = altered.bench.do("authenticity")
    check.expect("stopped over it", stopped, False)
    check.expect("authentic", after["ok"], True)
    check.expect("checked anew", after["checked_at"] > before["checked_at"], True)
    check.expect("key and version", (after["key"], after["version"]), (image.key, image.head.version))
    check.measure("missed", 0)


def is_missed(altered: Altered, path: str, data: bytes | None = None) -> bool:
    """Whether a check on demand doesn't stop a board one of whose files was altered, or added, or names another."""
    altered.untilt()
    altered.running()
    if data is None:
        altered.alter(path)
    else:
        altered.write({**altered.good, path: data})
    return not (altered.check_on_demand() and (altered.tilt() or "").split(" ")[-1] in (path, "/image/manifest"))


@rule("HOUSE-check-on-demand")
@images("bench", "release")
def test_each_altered_file_is_found_on_demand(altered: Altered, check: Check, image: Image, run: Run) -> None:
    # What the bench image leaves out, the release image takes.
    paths = sorted(image.image_files)[image.kind == "release" :: 2]
    missed = []
    for path in run.few(paths):
        check.stimulus("one byte altered while it runs, check asked for", file=path)
        if is_missed(altered, path):
            missed.append(path)
            break
    check.note("missed", of=len(paths), missed=missed)
    check.measure("missed", len(missed))


@rule("HOUSE-check-on-demand")
@images("bench", "release")
def test_each_stray_file_is_found_on_demand(altered: Altered, check: Check) -> None:
    missed = []
    for path in STRAYS:
        check.stimulus("file added while it runs, check asked for", file=path)
        if is_missed(altered, path, b"x"):
            missed.append(path)
            break
    check.measure("missed", len(missed))


# -- every hour -----------------------------------------------------------------------------------------------------


def hours(altered: Altered, check: Check, before: Callable[[], None], last: Callable[[], bool]) -> None:
    """Alter a file, let device time pass up to the hour, then as `last` does, and take the time until it is found.

    Args:
        before: brings the device to where the file is altered.
        last: lets the rest of the time pass; False once the board stopped over it.
    """
    before()
    altered.alter(VICTIM)
    altered.running()
    since = int(altered.bench.status()["now"])
    check.stimulus("one byte altered while it runs; an hour passes, and nobody asks for a check", at_ms=since)
    stopped = not last()
    check.expect("stopped", stopped, True)
    check.expect("the reason", altered.tilt(), f"altered file {VICTIM}")
    check.measure("found_after", (altered.tilted_at() - since) / MINUTE_MS if stopped else 2 * HOUR_MS / MINUTE_MS)


@rule("HOUSE-hourly-check/idle")
@pytest.mark.parametrize("sound", [1, 4])
def test_hourly_check_idle(bench: AttendedBench, altered: Altered, check: Check, sound: int) -> None:
    def sound_hours() -> None:
        check.expect(f"runs on after hour {sound}", altered.passes(sound * HOUR_MS), True)
        check.expect("hourly checks so far", bench.do("authenticity")["hours"], sound)

    hours(altered, check, sound_hours, lambda: altered.passes(HOUR_MS + MINUTE_MS))


@rule("HOUSE-hourly-check/ready")
def test_hourly_check_ready(bench: AttendedBench, altered: Altered, device: Device[Any], check: Check) -> None:
    def half_an_hour() -> None:
        altered.passes(HOUR_MS // 2)
        device.work(bench)
        bench.until(*device.rests, within=device.work_ms)

    hours(altered, check, half_an_hour, lambda: altered.passes(HOUR_MS))


@rule("HOUSE-hourly-check/in-a-game", "HOUSE-hard-tilt")
def test_hourly_check_in_a_game(bench: AttendedBench, altered: Altered, device: Device[Any], check: Check) -> None:
    full = int(bench.do("authenticity")["checked_at"]) + HOUR_MS

    def almost_an_hour() -> None:
        altered.passes(full - 2 * MINUTE_MS - int(bench.status()["now"]))
        device.play(bench, lambda: None)
        altered.passes(full - device.middle_ms - int(bench.status()["now"]))

    def next_game() -> bool:
        device.work(bench)
        check.expect("at work", bench.status()["state"] in device.busy, True)
        return altered.passes(2 * device.middle_ms, min(STEP_MS, device.middle_ms))

    hours(altered, check, almost_an_hour, next_game)
    altered.moved()
    obeyed = altered.obeyed()
    check.note("requests in hard tilt", obeyed=obeyed)
    check.measure("obeyed", len(obeyed), rule="HOUSE-hard-tilt")
    check.measure("ended_by_itself", int(altered.tilt() is None), rule="HOUSE-hard-tilt")
    check.expect("motors driven after it", altered.moved(), [])


@rule("HOUSE-check-holds-nothing-up")
@images("bench", "release")
def test_the_check_goes_on_beside_what_else_is_done(fresh: AttendedBench, check: Check) -> None:
    longest, answers, clock = 0.0, 0, fresh.board.clock
    # A PC that is late may not ask while one check lasts; of many, it does.
    for _ in range(20):
        fresh.do("authenticate")
        running = True
        while running:
            start = clock()
            running = fresh.do("authenticity")["running"]
            longest = max(longest, clock() - start)
            answers += running
        if answers > 20:
            break
    check.note("longest wait for a reply while files are checked", ms=round(longest * 1000, 2), answers=answers)
    check.measure("answers_meanwhile", answers)
    check.measure("longest_pause", round(longest * 1000, 3))
