"""13:69E-1.28X(d): files, passwords and settings are for who proves a role with the right; one proof, one request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from pitbench_hil.access_rights import (
    CLEAR,
    CLERK,
    COMMISSION,
    ENTRY,
    GUESSED,
    KEPT_FILES,
    STRANGER,
    STRANGERS_OWN,
    WRONG,
    Request,
    asked_by,
    done,
    settings,
)
from pitbench_hil.attended_bench import ROLES, SECRETS, TECHNICIAN, AttendedBench
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.marks import images, rule


@pytest.fixture
def staffed(staffed: AttendedBench) -> AttendedBench:
    """Every role has its secret, and the meters were read: a memory clear lacks nothing but the right."""
    staffed.do("meters")
    return staffed


# -- the table of rights, every request by everybody


@images("bench", "release")
def test_refused_to_who_has_not_the_right(staffed: AttendedBench, check: Check, refused_request: Request) -> None:
    before, answers = done(staffed), {}
    for role in ROLES:
        if role not in refused_request.may:
            check.stimulus(f"{refused_request.name} asked for", role=role)
            answers[role] = (asked_by(staffed, refused_request, role), "right")
    for role, code in ((STRANGER, "auth"), (CLERK, "auth"), ("nobody", "auth")):
        check.stimulus(f"{refused_request.name} asked for by a role never commissioned", role=role)
        answers[role] = (asked_by(staffed, refused_request, role), code)
    for how, proof in (("an empty proof", ""), ("zeros", "00" * 32), ("the secret", SECRETS[TECHNICIAN])):
        check.stimulus(f"{refused_request.name} asked for as technician", proof=how)
        staffed.do("challenge")
        answers[how] = (refusal(staffed.do, refused_request.op, **refused_request.by(TECHNICIAN, proof)), "auth")
    answers["another secret"] = (asked_by(staffed, refused_request, TECHNICIAN, WRONG), "auth")
    expect_refused(staffed, check, answers, before)


def expect_refused(
    bench: AttendedBench, check: Check, answers: dict[str, tuple[str, str]], before: dict[str, Any]
) -> None:
    for who, (answer, code) in answers.items():
        check.expect(f"answer, {who}", answer, code)
    check.expect("read back", done(bench), before)
    check.measure("obeyed", sum(not answer for answer, _ in answers.values()))


@images("bench", "release")
def test_refused_on_a_board_that_nobody_commissioned(
    fresh: AttendedBench, check: Check, refused_request: Request
) -> None:
    if refused_request is COMMISSION:
        # The first secret is set on the new board; from then on nobody lets himself in.
        fresh.do("commission", role=TECHNICIAN, secret=SECRETS[TECHNICIAN])
    answers = {}
    for role in (*ROLES, STRANGER):
        if role != TECHNICIAN or refused_request is not COMMISSION:
            answers[role] = asked_by(fresh, refused_request, role)
    for who, answer in answers.items():
        check.expect(f"answer, {who}", answer, "auth")
    check.expect(
        "entries on the log", [e[4] for e in fresh.log() if e[4] in ("entry", "service", "meters_attempt")], []
    )
    check.measure("obeyed", list(answers.values()).count(""))


@rule("NJ-1.28X(d)/refused/passwords")
@images("bench", "release")
def test_nobody_lets_himself_in(fresh: AttendedBench, check: Check) -> None:
    fresh.commission(TECHNICIAN)
    tries: dict[str, Callable[[], str]] = {
        "without a proof": lambda: refusal(fresh.do, "commission", role="regulator", secret=STRANGERS_OWN),
        "by himself": lambda: asked_by(fresh, COMMISSION, CLERK),
        "over the technician": lambda: refusal(fresh.do, "commission", role=TECHNICIAN, secret=STRANGERS_OWN),
    }
    codes = {"without a proof": "auth", "by himself": "auth", "over the technician": "refused"}
    answers = {}
    for how, attempt in tries.items():
        check.stimulus("a role let in", how=how)
        answers[how] = (attempt(), codes[how])
    for role in ("regulator", CLERK, TECHNICIAN):
        answers[f"entry as {role}"] = (asked_by(fresh, ENTRY, role, STRANGERS_OWN), "auth")
    expect_refused(fresh, check, answers, {"settings": settings(fresh), "entries": [], "let in": []})


@rule("NJ-1.28X(d)/refused/files", "NJ-1.28X(d)/refused/passwords", "NJ-1.28X(d)/refused/settings")
@images("bench", "release")
def test_no_other_operation_leads_to_them(staffed: AttendedBench, check: Check) -> None:
    before = done(staffed)
    check.stimulus("operations that no image should have", count=len(GUESSED))
    answers = {op: (refusal(staffed.do, op), "unknown_op") for op in GUESSED}
    answers |= {f"{op} with a path": (refusal(staffed.do, op, path="/data/a"), "unknown_op") for op in ("read", "put")}
    expect_refused(staffed, check, answers, before)


@rule("NJ-1.28X(d)/refused/files")
@images("bench", "release")
def test_what_the_board_keeps_is_no_file_of_its_image(staffed: AttendedBench, check: Check) -> None:
    before = done(staffed)
    check.stimulus("digests asked for of what the board keeps, its secrets too")
    answers = {path: (refusal(staffed.do, "digest", path=path), "refused") for path in KEPT_FILES}
    expect_refused(staffed, check, answers, before)


# -- and what the right opens


@images("bench", "release")
def test_done_for_who_has_the_right(
    staffed: AttendedBench, device: Device[Any], check: Check, permitted_request: Request
) -> None:
    done_by_each(staffed, device, check, permitted_request)


def test_done_in_its_place_for_who_has_the_right(
    bench: AttendedBench, device: Device[Any], check: Check, placed_request: Request
) -> None:
    bench.commission()
    done_by_each(bench, device, check, placed_request)


def done_by_each(bench: AttendedBench, device: Device[Any], check: Check, request: Request) -> None:
    """Every role that may asks for it; it takes effect, and the effect outlives a power cut."""
    refused = 0
    for role in request.may:
        request.before(bench)
        check.stimulus(f"{request.name} asked for", role=role)
        answer = asked_by(bench, request, role)
        check.expect(f"answer, {role}", answer, "")
        refused += answer != ""
    expect_done(bench, device, check, request, "at once")
    bench.power_cycle()
    expect_done(bench, device, check, request, "after a power cut")
    check.measure("refused", refused)


def expect_done(bench: AttendedBench, device: Device[Any], check: Check, request: Request, when: str) -> None:
    check.expect(f"done, {when}", request.seen(bench), request.expected)
    if request is COMMISSION:
        answer = asked_by(bench, device.configure, CLERK, STRANGERS_OWN)
        check.expect(f"who was let in has no right of others, {when}", answer, "right")
    elif request is CLEAR:
        check.expect(f"secrets stay, {when}", asked_by(bench, ENTRY, "regulator"), "")


# -- one proof, one request

ONE = "NJ-1.28X(d)/one-proof-one-request"


def expect_bent_refused(
    bench: AttendedBench, check: Check, request: Request, how: str, prove: Callable[[], str], **changed: Any
) -> None:
    """A request whose proof was made for something else is refused as unproven, and leaves nothing behind.

    Args:
        prove: makes the proof; only after what stood before was read, which takes a challenge of its own.
        changed: arguments, the role too, that differ from the request's.
    """
    before = done(bench)
    check.stimulus("proof sent", how=how, op=request.op)
    answer = refusal(bench.do, request.op, **(request.by(TECHNICIAN, prove()) | changed))
    check.expect("answer", answer, "auth")
    check.expect("read back", done(bench), before)
    check.measure("obeyed", int(not answer))


@rule(f"{ONE}/twice")
@images("bench", "release")
def test_a_proof_serves_once(
    staffed: AttendedBench, device: Device[Any], check: Check, served_request: Request
) -> None:
    proof = staffed.proof(TECHNICIAN, served_request.asked)
    sent = served_request.by(TECHNICIAN, proof)
    check.expect("the request itself", refusal(staffed.do, served_request.op, **sent), "")
    again = refusal(staffed.do, served_request.op, **sent)
    check.expect("sent again at once", again, AGAIN.get(served_request.op, "auth"))
    if served_request is device.configure:
        staffed.configure(**served_request.other["set"])
    if served_request is not COMMISSION:
        expect_bent_refused(staffed, check, served_request, "again", lambda: proof)
    else:
        check.measure("obeyed", done(staffed)["let in"].count(CLERK) - 1)


# Who has a secret keeps it, whatever is proven.
AGAIN = {"commission": "refused"}


@rule(f"{ONE}/twice")
@images("bench", "release")
def test_a_proof_that_was_refused_serves_no_more(staffed: AttendedBench, device: Device[Any], check: Check) -> None:
    """A wrong try takes its challenge with it: nobody tries proof after proof on one."""

    def prove() -> str:
        right = staffed.proof(TECHNICIAN, device.configure.asked)
        wrong = device.configure.by(TECHNICIAN, "00" * 32)
        check.expect("a wrong one first", refusal(staffed.do, "configure", **wrong), "auth")
        return right

    expect_bent_refused(staffed, check, device.configure, "the right one, after a wrong one", prove)


@rule(f"{ONE}/another-request")
@images("bench", "release")
def test_a_proof_is_for_its_request(
    staffed: AttendedBench, device: Device[Any], check: Check, bent_request: Request
) -> None:
    for other in device.requests:
        if other is not bent_request:
            made_for = partial(staffed.proof, TECHNICIAN, other.asked)
            expect_bent_refused(staffed, check, bent_request, f"made for {other.name}", made_for)


@rule(f"{ONE}/other-arguments")
@images("bench", "release")
def test_a_proof_covers_every_argument(staffed: AttendedBench, check: Check, bent_request: Request) -> None:
    for name, value in bent_request.other.items():
        prove = partial(staffed.proof, TECHNICIAN, bent_request.asked)
        expect_bent_refused(staffed, check, bent_request, f"{name} altered", prove, **{name: value})


@rule(f"{ONE}/other-arguments")
@images("bench", "release")
def test_a_proof_covers_which_settings(
    staffed: AttendedBench, device: Device[Any], check: Check, changed: Mapping[str, Any]
) -> None:
    prove = partial(staffed.proof, TECHNICIAN, device.configure.asked)
    expect_bent_refused(staffed, check, device.configure, f"{sorted(changed)} instead", prove, set=dict(changed))


@rule(f"{ONE}/another-role")
@images("bench", "release")
@pytest.mark.parametrize(
    ("role", "made_by"), [("regulator", "attendant"), ("regulator", TECHNICIAN), (TECHNICIAN, "regulator")]
)
def test_a_proof_is_for_its_role(staffed: AttendedBench, check: Check, role: str, made_by: str) -> None:
    prove = partial(staffed.proof, made_by, ENTRY.asked)
    expect_bent_refused(staffed, check, ENTRY, f"{made_by}'s as {role}", prove, role=role)


@rule(f"{ONE}/another-challenge")
@images("bench", "release")
def test_a_proof_is_for_its_challenge(staffed: AttendedBench, check: Check, bent_request: Request) -> None:
    def prove() -> str:
        proof = staffed.proof(TECHNICIAN, bent_request.asked)
        staffed.do("challenge")
        return proof

    expect_bent_refused(staffed, check, bent_request, "after another challenge", prove)


@rule(f"{ONE}/after-restart")
@images("bench", "release")
@pytest.mark.parametrize("then", ["at once", "after its first challenge"])
def test_a_proof_dies_with_a_restart(staffed: AttendedBench, check: Check, bent_request: Request, then: str) -> None:
    """Made over the first challenge of one start, it is sent in the next one: there its challenge may come again."""

    def prove() -> str:
        staffed.power_cycle()
        proof = staffed.proof(TECHNICIAN, bent_request.asked)
        staffed.power_cycle()
        if then != "at once":
            staffed.do("challenge")
        return proof

    expect_bent_refused(staffed, check, bent_request, f"after a restart, {then}", prove)
