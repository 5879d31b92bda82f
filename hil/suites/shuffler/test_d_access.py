"""13:69E-1.28X(d): files, passwords and settings are for who proves a role with the right; one proof, one request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.shuffler import SECRETS, TECHNICIAN, ShufflerBench
from pitbench_hil.shuffler_access import (
    CLERK,
    GUESSED,
    HISTORY,
    KEPT_FILES,
    REQUESTS,
    ROLES,
    STRANGER,
    STRANGERS_OWN,
    WRONG,
    Request,
    asked_by,
    done,
    settings,
)

EACH = [
    pytest.param(request, marks=rule(f"NJ-1.28X(d)/refused/{request.about}"), id=request.name) for request in REQUESTS
]
MAY = [
    pytest.param(request, marks=rule(f"NJ-1.28X(d)/permitted/{request.about}"), id=request.name) for request in REQUESTS
]
# For a proof that is bent, any request will do that leaves something to see.
CONFIGURE, COMMISSION, ENTRY = REQUESTS[:3]


@pytest.fixture
def staffed(staffed: ShufflerBench) -> ShufflerBench:
    """Every role has its secret, and the meters were read: a memory clear lacks nothing but the right."""
    staffed.do("meters")
    return staffed


# -- the table of rights, every request by everybody


@pytest.mark.parametrize("request_", EACH)
@images("bench", "release")
def test_refused_to_who_has_not_the_right(staffed: ShufflerBench, check: Check, request_: Request) -> None:
    before, answers = done(staffed), {}
    for role in ROLES:
        if role not in request_.may:
            check.stimulus(f"{request_.name} asked for", role=role)
            answers[role] = (asked_by(staffed, request_, role), "right")
    for role, code in ((STRANGER, "auth"), (CLERK, "auth"), ("nobody", "auth")):
        check.stimulus(f"{request_.name} asked for by a role never commissioned", role=role)
        answers[role] = (asked_by(staffed, request_, role), code)
    for how, proof in (("an empty proof", ""), ("zeros", "00" * 32), ("the secret", SECRETS[TECHNICIAN])):
        check.stimulus(f"{request_.name} asked for as technician", proof=how)
        staffed.do("challenge")
        answers[how] = (refusal(staffed.do, request_.op, **request_.by(TECHNICIAN, proof)), "auth")
    answers["another secret"] = (asked_by(staffed, request_, TECHNICIAN, WRONG), "auth")
    expect_refused(staffed, check, answers, before)


def expect_refused(
    bench: ShufflerBench, check: Check, answers: dict[str, tuple[str, str]], before: dict[str, Any]
) -> None:
    for who, (answer, code) in answers.items():
        check.expect(f"answer, {who}", answer, code)
    check.expect("read back", done(bench), before)
    check.measure("obeyed", sum(not answer for answer, _ in answers.values()))


@pytest.mark.parametrize("request_", EACH)
@images("bench", "release")
def test_refused_on_a_board_that_nobody_commissioned(fresh: ShufflerBench, check: Check, request_: Request) -> None:
    if request_ is COMMISSION:
        # The first secret is set on the new board; from then on nobody lets himself in.
        fresh.do("commission", role=TECHNICIAN, secret=SECRETS[TECHNICIAN])
    answers = {}
    for role in (*ROLES, STRANGER):
        if role != TECHNICIAN or request_ is not COMMISSION:
            answers[role] = asked_by(fresh, request_, role)
    for who, answer in answers.items():
        check.expect(f"answer, {who}", answer, "auth")
    check.expect(
        "entries on the log", [e[4] for e in fresh.log() if e[4] in ("entry", "service", "meters_attempt")], []
    )
    check.measure("obeyed", list(answers.values()).count(""))


@rule("NJ-1.28X(d)/refused/passwords")
@images("bench", "release")
def test_nobody_lets_himself_in(fresh: ShufflerBench, check: Check) -> None:
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
def test_no_other_operation_leads_to_them(staffed: ShufflerBench, check: Check) -> None:
    before = done(staffed)
    check.stimulus("operations that no image should have", count=len(GUESSED))
    answers = {op: (refusal(staffed.do, op), "unknown_op") for op in GUESSED}
    answers |= {f"{op} with a path": (refusal(staffed.do, op, path="/data/a"), "unknown_op") for op in ("read", "put")}
    expect_refused(staffed, check, answers, before)


@rule("NJ-1.28X(d)/refused/files")
@images("bench", "release")
def test_what_the_board_keeps_is_no_file_of_its_image(staffed: ShufflerBench, check: Check) -> None:
    before = done(staffed)
    check.stimulus("digests asked for of what the board keeps, its secrets too")
    answers = {path: (refusal(staffed.do, "digest", path=path), "refused") for path in KEPT_FILES}
    expect_refused(staffed, check, answers, before)


# -- and what the right opens


@pytest.mark.parametrize("request_", MAY)
@images("bench", "release")
def test_done_for_who_has_the_right(staffed: ShufflerBench, check: Check, request_: Request) -> None:
    refused = 0
    for role in request_.may:
        check.stimulus(f"{request_.name} asked for", role=role)
        answer = asked_by(staffed, request_, role)
        check.expect(f"answer, {role}", answer, "")
        refused += answer != ""
    EFFECTS[request_.name](staffed, check, "at once")
    staffed.cut()
    staffed.power_on()
    EFFECTS[request_.name](staffed, check, "after a power cut")
    check.measure("refused", refused)


def configured(bench: ShufflerBench, check: Check, when: str) -> None:
    now = settings(bench)
    check.expect(f"settings, {when}", {name: now[name] for name in ("decks", "hand")}, {"decks": 2, "hand": 7})


def let_in(bench: ShufflerBench, check: Check, when: str) -> None:
    check.expect(f"who was let in proves himself, {when}", asked_by(bench, ENTRY, CLERK, STRANGERS_OWN), "")
    check.expect(f"and has no right of others, {when}", asked_by(bench, CONFIGURE, CLERK, STRANGERS_OWN), "right")


def cleared(bench: ShufflerBench, check: Check, when: str) -> None:
    check.expect(f"cleared, {when}", [e[5] for e in bench.log() if e[4] == "memory_cleared"], [TECHNICIAN])
    check.expect(f"secrets stay, {when}", asked_by(bench, HISTORY, "regulator"), "")


def logged_as(what: str, detail: str | None) -> Callable[[ShufflerBench, Check, str], None]:
    def look(bench: ShufflerBench, check: Check, when: str) -> None:
        found = [entry[5] for entry in bench.log() if entry[4] == what]
        check.expect(f"on the log, {when}", found, [detail or role for role in ROLES])

    return look


EFFECTS: dict[str, Callable[[ShufflerBench, Check, str], None]] = {
    "configure": configured,
    "commission": let_in,
    "entry": logged_as("entry", "R. Ruiz L-4711 roller"),
    "service": logged_as("service", "R. Ruiz L-4711 roller"),
    "attempt_meters": logged_as("meters_attempt", None),
    "clear_memory": cleared,
}


# -- one proof, one request

BENT = [pytest.param(request, id=request.name) for request in (CONFIGURE, COMMISSION, ENTRY)]
ONE = "NJ-1.28X(d)/one-proof-one-request"


def expect_bent_refused(
    bench: ShufflerBench, check: Check, request: Request, how: str, prove: Callable[[], str], **changed: Any
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
@pytest.mark.parametrize("request_", [*BENT, pytest.param(HISTORY, id="history")])
def test_a_proof_serves_once(staffed: ShufflerBench, check: Check, request_: Request) -> None:
    proof = staffed.proof(TECHNICIAN, request_.asked)
    check.expect("the request itself", refusal(staffed.do, request_.op, **request_.by(TECHNICIAN, proof)), "")
    check.expect(
        "sent again at once", refusal(staffed.do, request_.op, **request_.by(TECHNICIAN, proof)), AGAIN[request_.op]
    )
    if request_ is CONFIGURE:
        staffed.configure(decks=1, hand=5)
    if request_ is not COMMISSION:
        expect_bent_refused(staffed, check, request_, "again", lambda: proof)
    else:
        check.measure("obeyed", done(staffed)["let in"].count(CLERK) - 1)


# Who has a secret keeps it, whatever is proven.
AGAIN = {"configure": "auth", "commission": "refused", "service": "auth", "history": "auth"}


@rule(f"{ONE}/twice")
@images("bench", "release")
def test_a_proof_that_was_refused_serves_no_more(staffed: ShufflerBench, check: Check) -> None:
    """A wrong try takes its challenge with it: nobody tries proof after proof on one."""

    def prove() -> str:
        right = staffed.proof(TECHNICIAN, CONFIGURE.asked)
        wrong = CONFIGURE.by(TECHNICIAN, "00" * 32)
        check.expect("a wrong one first", refusal(staffed.do, "configure", **wrong), "auth")
        return right

    expect_bent_refused(staffed, check, CONFIGURE, "the right one, after a wrong one", prove)


@rule(f"{ONE}/another-request")
@images("bench", "release")
@pytest.mark.parametrize("request_", BENT)
def test_a_proof_is_for_its_request(staffed: ShufflerBench, check: Check, request_: Request) -> None:
    for other in (HISTORY, *REQUESTS):
        if other is not request_:
            made_for = partial(staffed.proof, TECHNICIAN, other.asked)
            expect_bent_refused(staffed, check, request_, f"made for {other.name}", made_for)


@rule(f"{ONE}/other-arguments")
@images("bench", "release")
@pytest.mark.parametrize("request_", BENT)
def test_a_proof_covers_every_argument(staffed: ShufflerBench, check: Check, request_: Request) -> None:
    for name, value in request_.other.items():
        prove = partial(staffed.proof, TECHNICIAN, request_.asked)
        expect_bent_refused(staffed, check, request_, f"{name} altered", prove, **{name: value})


@rule(f"{ONE}/other-arguments")
@images("bench", "release")
@pytest.mark.parametrize("changed", [{"decks": 2}, {"decks": 2, "hand": 7, "jokers": 2}, {"hand": 7, "game": "x"}, {}])
def test_a_proof_covers_which_settings(staffed: ShufflerBench, check: Check, changed: dict[str, Any]) -> None:
    prove = partial(staffed.proof, TECHNICIAN, CONFIGURE.asked)
    expect_bent_refused(staffed, check, CONFIGURE, f"{sorted(changed)} instead", prove, set=changed)


@rule(f"{ONE}/another-role")
@images("bench", "release")
@pytest.mark.parametrize(
    ("role", "made_by"), [("regulator", "attendant"), ("regulator", TECHNICIAN), (TECHNICIAN, "regulator")]
)
def test_a_proof_is_for_its_role(staffed: ShufflerBench, check: Check, role: str, made_by: str) -> None:
    prove = partial(staffed.proof, made_by, ENTRY.asked)
    expect_bent_refused(staffed, check, ENTRY, f"{made_by}'s as {role}", prove, role=role)


@rule(f"{ONE}/another-challenge")
@images("bench", "release")
@pytest.mark.parametrize("request_", BENT)
def test_a_proof_is_for_its_challenge(staffed: ShufflerBench, check: Check, request_: Request) -> None:
    def prove() -> str:
        proof = staffed.proof(TECHNICIAN, request_.asked)
        staffed.do("challenge")
        return proof

    expect_bent_refused(staffed, check, request_, "after another challenge", prove)


@rule(f"{ONE}/after-restart")
@images("bench", "release")
@pytest.mark.parametrize("then", ["at once", "after its first challenge"])
@pytest.mark.parametrize("request_", BENT)
def test_a_proof_dies_with_a_restart(staffed: ShufflerBench, check: Check, request_: Request, then: str) -> None:
    """Made over the first challenge of one start, it is sent in the next one: there its challenge may come again."""

    def restarted() -> None:
        staffed.cut()
        staffed.power_on()

    def prove() -> str:
        restarted()
        proof = staffed.proof(TECHNICIAN, request_.asked)
        restarted()
        if then != "at once":
            staffed.do("challenge")
        return proof

    expect_bent_refused(staffed, check, request_, f"after a restart, {then}", prove)
