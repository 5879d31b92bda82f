"""13:69E-1.28X(h), second sentence: stored settings that were altered are found before they are used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pitbench.image import Image
from pitbench.link import BoardRebooted, LinkError, LinkTimeout
from pitbench_hil.access_rights import ATTEMPT, asked_by
from pitbench_hil.attended_bench import SECRETS, AttendedBench
from pitbench_hil.authentic import Altered
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.marks import images, rule
from pitbench_hil.record_file import COPIES
from pitbench_hil.run import Run

FILES = dict(zip("ab", COPIES, strict=True))


def places(record: bytes, settings: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Where a byte of each setting and each secret stands in a record, by name."""
    start = record.index(b'"settings"')
    for name in settings:
        found = re.compile(rb'"%s": "?' % name.encode()).search(record, start)
        assert found is not None, f"{name} isn't in the record"
        yield name, found.end()
    for role, secret in SECRETS.items():
        yield f"secret of {role}", record.index(secret.encode()) + 1


def changed(record: bytes, at: int) -> bytes:
    """One byte altered, so that the record can still be read."""
    other = {ord("t"): b"f", ord("f"): b"t"}.get(record[at], b"2" if record[at : at + 1] == b"1" else b"1")
    return record[:at] + other + record[at + 1 :]


def used(bench: AttendedBench) -> dict[str, Any]:
    """What it works by: settings, as a technician reads them, and whether each role's secret serves."""
    found: dict[str, Any] = {}
    try:
        found = dict(bench.configure())
    except LinkError as error:
        found["settings"] = error.code
    for role in SECRETS:
        if code := asked_by(bench, ATTEMPT, role):
            found[f"secret of {role}"] = code
    return found


@rule("NJ-1.28X(h)/settings")
@images("bench", "release")
def test_altered_settings_are_not_used(
    altered: Altered, device: Device[Any], check: Check, image: Image, run: Run
) -> None:
    altered.bench.commission()
    altered.bench.configure(**device.settings.between)
    altered.board.cut()
    sound = {path: data for path, data in altered.virtual.flash.read().items() if path.startswith("/data/")}
    tried, wrongly = 0, []
    every = list(places(sound["/data/a"], device.settings.between))
    for name, at in run.few(every[::3] if image.kind == "release" else every):
        for copies in ("a", "b", "ab"):
            check.stimulus("a byte of the stored record altered while off, power on", of=name, copies=copies)
            altered.virtual.flash.change({**sound, **{FILES[c]: changed(sound[FILES[c]], at) for c in copies}})
            altered.switch_on()
            tried += 1
            if not is_right(altered, copies, device.settings.between):
                wrongly.append(f"{name} in {copies}")
            altered.board.cut()
    check.note("used", of=tried, wrongly=wrongly)
    check.measure("mutations", tried)
    check.measure("altered_settings_used", len(wrongly))


def is_right(altered: Altered, copies: str, settings: Mapping[str, Any]) -> bool:
    """Whether the sound copy is used, or, where there is none, nothing: a memory error stands.

    A board that goes down over them, or says nothing of itself any more, has used them.
    """
    try:
        altered.board.reconnect()
        return works_by(altered, copies, settings)
    except (LinkError, LinkTimeout, BoardRebooted):
        return False


def works_by(altered: Altered, copies: str, settings: Mapping[str, Any]) -> bool:
    """Whether it works by these settings, or by none where both copies are altered."""
    if copies != "ab":
        return used(altered.bench) == settings
    status = altered.bench.status()
    return "memory_error" in status["standing"] and not status["enabled"] and status["light"] == "red"
