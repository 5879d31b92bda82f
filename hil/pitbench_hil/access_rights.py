"""Who may do what on an attended device: requests that take a proof, and what a device tells without one.

Written from the table of rights in docs/link.md, apart from the firmware; tests/hil holds the names of the operations
to the sources.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pitbench.link import LinkError, whole_files, whole_log, whole_table

from pitbench_hil.acts import Act, nothing
from pitbench_hil.attended_bench import ROLES, SECRETS, TECHNICIAN, AttendedBench
from pitbench_hil.authority import refusal

# A role that nobody commissioned, and the one that is let in.
STRANGER, CLERK = "stranger", "clerk"
WRONG, STRANGERS_OWN = "ee" * 16, "5f" * 16
# Of every image, without a proof: they read.
READS: Mapping[str, Mapping[str, Any]] = {
    "status": {}, "heap": {}, "post": {}, "meters": {}, "events": {}, "log": {"from": 0}, "table": {}, "files": {},
    "digest": {"path": "/image/main.mpy"}, "crc": {"seed": 0}, "challenge": {}, "authenticate": {}, "authenticity": {},
}  # fmt: skip
# What no image should have: ways to files, passwords and settings that others have had.
GUESSED = (
    "read", "write", "get", "put", "open", "list", "delete", "remove", "rename", "copy", "format", "upload", "update",
    "exec", "eval", "shell", "secret", "secrets", "password", "passwords", "login", "roles", "set", "settings",
    "record", "reset", "factory_reset", "debug", "order", "deck", "games", "seed", "clear_tilt",
)  # fmt: skip
# Paths that lead to what the board keeps, its secrets too.
KEPT_FILES = ("/data/a", "/data/b", "/data/log0", "/image/../data/a", "/boot/../data/a", "/image/./../data/b", "data/a")
NAMES_ON_THE_LOG = ("entry", "service", "meters_attempt", "memory_cleared")


@dataclass(frozen=True)
class Request:
    """One request that takes a proof.

    Args:
        about: files, passwords or settings; anything else has rules of its own.
        asked: what the proof is over, behind challenge and role.
        may: the roles that have the right.
        name_of_role: the argument that says who proves.
        other: arguments to bend it to.
        before: brings the device to where it can be done, before it is commissioned.
        seen: reads back what it did, the same at once and after a power cut; expected: what it should be.
    """

    name: str
    op: str
    about: str
    asked: str
    may: tuple[str, ...]
    args: Mapping[str, Any] = field(default_factory=dict)
    name_of_role: str = "role"
    other: Mapping[str, Any] = field(default_factory=dict)
    before: Act = nothing
    seen: Callable[[Any], Any] = nothing
    expected: Any = None

    def by(self, role: str, proof: str) -> dict[str, Any]:
        """All arguments of it."""
        return {**self.args, self.name_of_role: role, "proof": proof}


def asked_by(bench: AttendedBench, request: Request, role: str, secret: str | None = None) -> str:
    """The error code of a request proven by a role, with another secret than its own where one is given."""
    proof = bench.proof(role, request.asked, secret or SECRETS.get(role, STRANGERS_OWN))
    return refusal(bench.do, request.op, **request.by(role, proof))


def on_the_log(what: str) -> Callable[[AttendedBench], list[str]]:
    """The details of the entries of that name."""
    return lambda bench: [entry[5] for entry in bench.log() if entry[4] == what]


def _let_in(bench: AttendedBench) -> str:
    return asked_by(bench, ENTRY, CLERK, STRANGERS_OWN)


WHO = {"who": "R. Ruiz", "licence": "L-4711", "reason": "roller"}
_WHO = "R. Ruiz L-4711 roller"
ENTRY = Request(
    "entry", "service", "files", f"entry|{_WHO}", ROLES, {"what": "entry", **WHO},
    other={"who": "A. Other", "licence": "L-1", "what": "service"}, seen=on_the_log("entry"), expected=[_WHO] * 3,
)  # fmt: skip
COMMISSION = Request(
    "commission", "commission", "passwords", f"commission|{CLERK}|{STRANGERS_OWN}", (TECHNICIAN,),
    {"role": CLERK, "secret": STRANGERS_OWN}, "by", {"secret": WRONG}, seen=_let_in, expected="",
)  # fmt: skip
SERVICE = Request(
    "service", "service", "files", f"service|{_WHO}", ROLES, {"what": "service", **WHO}, other={"reason": "none"},
    seen=on_the_log("service"), expected=[_WHO] * 3,
)  # fmt: skip
ATTEMPT = Request(
    "attempt_meters", "attempt_meters", "files", "attempt_meters", ROLES,
    seen=on_the_log("meters_attempt"), expected=list(ROLES),
)  # fmt: skip
CLEAR = Request(
    "clear_memory", "clear_memory", "files", "clear_memory", (TECHNICIAN,),
    seen=on_the_log("memory_cleared"), expected=[TECHNICIAN],
)  # fmt: skip
# Those of every attended device, but `configure`, whose arguments are the device's own.
REQUESTS = (COMMISSION, ENTRY, SERVICE, ATTEMPT, CLEAR)


def settings(bench: AttendedBench) -> dict[str, Any]:
    """As the technician reads them: by setting nothing. Raises AssertionError where that is refused."""
    try:
        return bench.configure()
    except LinkError as error:
        raise AssertionError(f"the technician reads no settings: {error.why}") from error


def done(bench: AttendedBench) -> dict[str, Any]:
    """What authorised requests change, read back: settings, roles let in, entries on the log."""
    log = bench.log()
    entries = [entry[4:6] for entry in log if entry[4] in NAMES_ON_THE_LOG]
    clerk = [entry[5] for entry in log if entry[4] == "commissioned" and entry[5] not in ROLES]
    return {"settings": settings(bench), "entries": entries, "let in": clerk}


def told_to_anybody(bench: AttendedBench, reads: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """All that the link tells without a proof, as text by operation; `reads` are the device's own."""
    link = bench.link
    files = whole_files(link)
    told: dict[str, Any] = {name: bench.do(name) for name in ("status", "heap", "post", "meters", "challenge")}
    told |= {"hello": link.hello(), "log": whole_log(link), "table": whole_table(link), "files": files}
    told |= {"events": bench.events(), **{op: _answer(bench, op, **args) for op, args in reads.items()}}
    told |= {"digest": [bench.do("digest", path=path) for path, _ in files]}
    told |= {"crc": [bench.do("crc", seed=1, width=width) for width in (16, 32)]}
    return {name: json.dumps(answer) for name, answer in told.items()}


def _answer(bench: AttendedBench, op: str, **args: Any) -> Any:
    try:
        return bench.do(op, **args)
    except LinkError as error:
        return error.why
