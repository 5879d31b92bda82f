"""Who may do what on a card shuffler, and what it tells without asking who it is.

Written from the table of rights in docs/link.md, apart from the firmware; tests/hil holds the names of the operations
to the sources.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pitbench.link import LinkError, whole_files, whole_log, whole_table

from pitbench_hil.authority import refusal
from pitbench_hil.shuffler import RECEIPT, ROLES, SECRETS, TECHNICIAN, ShufflerBench

READERS = (TECHNICIAN, "regulator")
# A role that nobody commissioned, and the one that is let in.
STRANGER, CLERK = "stranger", "clerk"
WRONG, STRANGERS_OWN = "ee" * 16, "5f" * 16
# Of every image, without a proof: they read.
READS = (
    "status", "heap", "post", "meters", "events", "log", "table", "files", "digest", "crc", "challenge",
    "authenticate", "authenticity", "receipt",
)  # fmt: skip
# With a proof.
PROVEN = ("commission", "service", "attempt_meters", "clear_memory", "history", "configure")
# What no image should have: ways to files, passwords and settings that others have had.
GUESSED = (
    "read", "write", "get", "put", "open", "list", "delete", "remove", "rename", "copy", "format", "upload", "update",
    "exec", "eval", "shell", "secret", "secrets", "password", "passwords", "login", "roles", "set", "settings",
    "record", "reset", "factory_reset", "debug", "order", "deck", "games", "seed", "clear_tilt",
)  # fmt: skip
# Paths that lead to what the board keeps, its secrets too.
KEPT_FILES = ("/data/a", "/data/b", "/data/log0", "/image/../data/a", "/boot/../data/a", "/image/./../data/b", "data/a")


@dataclass(frozen=True)
class Request:
    """One request that takes a proof.

    Args:
        about: files, passwords or settings.
        asked: what the proof is over, behind challenge and role.
        may: the roles that have the right.
        name_of_role: the argument that says who proves.
        other: arguments to bend it to.
    """

    name: str
    op: str
    about: str
    asked: str
    may: tuple[str, ...]
    args: Mapping[str, Any] = field(default_factory=dict)
    name_of_role: str = "role"
    other: Mapping[str, Any] = field(default_factory=dict)

    def by(self, role: str, proof: str) -> dict[str, Any]:
        """All arguments of it."""
        return {**self.args, self.name_of_role: role, "proof": proof}


WHO = {"who": "R. Ruiz", "licence": "L-4711", "reason": "roller"}
HISTORY = Request("history", "history", "history", "history", READERS)
REQUESTS = (
    Request("configure", "configure", "settings", "configure|decks=2,hand=7", (TECHNICIAN,),
            {"set": {"decks": 2, "hand": 7}}, other={"set": {"decks": 8, "hand": 7}}),
    Request("commission", "commission", "passwords", f"commission|{CLERK}|{STRANGERS_OWN}", (TECHNICIAN,),
            {"role": CLERK, "secret": STRANGERS_OWN}, "by", {"secret": WRONG}),
    Request("entry", "service", "files", "entry|R. Ruiz L-4711 roller", ROLES, {"what": "entry", **WHO},
            other={"who": "A. Other", "licence": "L-1", "what": "service"}),
    Request("service", "service", "files", "service|R. Ruiz L-4711 roller", ROLES, {"what": "service", **WHO},
            other={"reason": "none"}),
    Request("attempt_meters", "attempt_meters", "files", "attempt_meters", ROLES),
    Request("clear_memory", "clear_memory", "files", "clear_memory", (TECHNICIAN,)),
)  # fmt: skip


def asked_by(bench: ShufflerBench, request: Request, role: str, secret: str | None = None) -> str:
    """The error code of a request proven by a role, with another secret than its own where one is given."""
    proof = bench.proof(role, request.asked, secret or SECRETS.get(role, STRANGERS_OWN))
    return refusal(bench.do, request.op, **request.by(role, proof))


def settings(bench: ShufflerBench) -> dict[str, Any]:
    """As the technician reads them: by setting nothing. Raises AssertionError where that is refused."""
    try:
        return bench.configure()
    except LinkError as error:
        raise AssertionError(f"the technician reads no settings: {error.why}") from error


def done(bench: ShufflerBench) -> dict[str, Any]:
    """What authorised requests change, read back: settings, roles let in, entries on the log."""
    log = bench.log()
    entries = [entry[4:6] for entry in log if entry[4] in ("entry", "service", "meters_attempt", "memory_cleared")]
    clerk = [entry[5] for entry in log if entry[4] == "commissioned" and entry[5] not in ROLES]
    return {"settings": settings(bench), "entries": entries, "let in": clerk}


def told_to_anybody(bench: ShufflerBench) -> dict[str, str]:
    """All that the link tells without a proof, as text by operation."""
    link = bench.link
    files = whole_files(link)
    told: dict[str, Any] = {name: bench.do(name) for name in ("status", "heap", "post", "meters", "challenge")}
    told |= {"hello": link.hello(), "log": whole_log(link), "table": whole_table(link), "files": files}
    told |= {"events": bench.events(), "receipt": _answer(bench, "receipt", **RECEIPT)}
    told |= {"digest": [bench.do("digest", path=path) for path, _ in files]}
    told |= {"crc": [bench.do("crc", seed=1, width=width) for width in (16, 32)]}
    return {name: json.dumps(answer) for name, answer in told.items()}


def _answer(bench: ShufflerBench, op: str, **args: Any) -> Any:
    try:
        return bench.do(op, **args)
    except LinkError as error:
        return error.why
