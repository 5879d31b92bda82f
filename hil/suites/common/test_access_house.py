"""Good practice of access control (house): challenges, lockout, no default secret, an access log."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pitbench.image import Image
from pitbench_hil.access_rights import (
    ATTEMPT,
    CLEAR,
    CLERK,
    COMMISSION,
    ENTRY,
    SERVICE,
    STRANGER,
    STRANGERS_OWN,
    WRONG,
    asked_by,
    told_to_anybody,
)
from pitbench_hil.attended_bench import ROLES, SECRETS, TECHNICIAN, AttendedBench
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.marks import images, rule

CHALLENGES, TRIES_MOST, MINUTE_MS, LONGEST_MIN = 32, 12, 60_000, 90
LOCKED = "locked"


class Listening:
    """A transport that keeps what crosses it."""

    def __init__(self, bench: AttendedBench) -> None:
        self._inner = bench.link.transport
        self.heard = b""

    def write(self, data: bytes) -> None:
        self.heard += data
        self._inner.write(data)

    def read(self, timeout: float) -> bytes:
        data = self._inner.read(timeout)
        self.heard += data
        return data

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


@pytest.fixture
def listening(staffed: AttendedBench, monkeypatch: pytest.MonkeyPatch) -> Listening:
    """Hears the link of a commissioned board from now on."""
    ear = Listening(staffed)
    monkeypatch.setattr(staffed.link, "transport", ear)
    return ear


@rule("HOUSE-challenge-response")
@images("bench", "release")
def test_no_challenge_comes_twice(staffed: AttendedBench, check: Check) -> None:
    seen: list[str] = []
    for when in ("before a restart", "after it"):
        check.stimulus("challenges asked for", count=CHALLENGES, when=when)
        seen += [staffed.do("challenge")["nonce"] for _ in range(CHALLENGES)]
        staffed.power_cycle()
    check.measure("repeated", len(seen) - len(set(seen)))
    check.measure("challenge_bits", min(len(bytes.fromhex(nonce)) * 8 for nonce in seen))
    check.measure("secrets_on_the_link", sum(secret in json.dumps(seen) for secret in SECRETS.values()))


@rule("HOUSE-challenge-response")
@images("bench", "release")
def test_no_secret_crosses_the_link_with_a_proof(
    staffed: AttendedBench, device: Device[Any], check: Check, listening: Listening
) -> None:
    check.stimulus("each request proven, by every role; and everything read")
    for request in (*device.proven, device.configure, ENTRY, SERVICE, ATTEMPT, CLEAR):
        for role in ROLES:
            asked_by(staffed, request, role)
    told_to_anybody(staffed, device.reads)
    heard = listening.heard.lower()
    check.expect("requests heard", heard.count(b'"do":"challenge"') >= len(ROLES), True)
    forms = {role: (secret.encode(), bytes.fromhex(secret)) for role, secret in SECRETS.items()}
    check.measure("secrets_on_the_link", sum(any(form in heard for form in both) for both in forms.values()))
    nonces = [staffed.do("challenge")["nonce"] for _ in range(2)]
    check.measure("repeated", len(nonces) - len(set(nonces)))
    check.measure("challenge_bits", min(len(bytes.fromhex(nonce)) * 8 for nonce in nonces))


# -- lockout


def tries_until_locked(bench: AttendedBench, role: str) -> int:
    """Wrong proofs that were looked at before the role was locked out; TRIES_MOST where it never was."""
    for tries in range(TRIES_MOST):
        if asked_by(bench, ENTRY, role, WRONG) == LOCKED:
            return tries
    return TRIES_MOST


@rule("HOUSE-lockout")
@images("bench", "release")
@pytest.mark.parametrize("role", ROLES)
def test_wrong_proofs_lock_a_role_out(staffed: AttendedBench, check: Check, role: str) -> None:
    check.stimulus("wrong proofs in a row", role=role)
    check.measure("tries_before_lockout", tries_until_locked(staffed, role))
    accepted = 0
    for when in ("at once", "after a restart", "after another restart"):
        check.stimulus("a right proof", when=when)
        answer = asked_by(staffed, ENTRY, role)
        check.expect(f"the right proof, {when}", answer, LOCKED)
        accepted += not answer
        others = [asked_by(staffed, ENTRY, other) for other in ROLES if other != role]
        check.expect(f"other roles, {when}", others, ["", ""])
        staffed.power_cycle()
    check.measure("accepted_while_locked_out", accepted)


@rule("HOUSE-lockout")
@images("bench", "release")
def test_wrong_proofs_are_counted_through_restarts_and_over_every_request(
    staffed: AttendedBench, device: Device[Any], check: Check
) -> None:
    check.stimulus("wrong proofs, each for another request, with a restart after each")
    tries = 0
    for request in device.requests * 2:
        if asked_by(staffed, request, TECHNICIAN, WRONG) == LOCKED:
            break
        tries += 1
        staffed.power_cycle()
    check.measure("tries_before_lockout", tries)
    answer = asked_by(staffed, device.configure, TECHNICIAN)
    check.expect("the right proof", answer, LOCKED)
    check.measure("accepted_while_locked_out", int(not answer))


@rule("HOUSE-lockout")
@images("bench", "release")
def test_a_right_proof_begins_the_count_anew(staffed: AttendedBench, check: Check) -> None:
    """Somebody who mistypes now and then isn't locked out."""
    answers = []
    for _ in range(3):
        answers += [asked_by(staffed, ENTRY, TECHNICIAN, WRONG) for _ in range(2)]
        answers.append(asked_by(staffed, ENTRY, TECHNICIAN))
    check.expect("answers", answers, ["auth", "auth", ""] * 3)
    check.measure("tries_before_lockout", tries_until_locked(staffed, TECHNICIAN))
    check.measure("accepted_while_locked_out", int(not asked_by(staffed, ENTRY, TECHNICIAN)))


@rule("HOUSE-lockout-ends")
def test_a_lockout_ends_by_itself(bench: AttendedBench, check: Check) -> None:
    bench.commission()
    for when in ("at once", "from a restart on"):
        tries_until_locked(bench, TECHNICIAN)
        if when != "at once":
            bench.advance(5 * MINUTE_MS)
            bench.power_cycle()
            bench.start()
        check.stimulus("a right proof each minute", lockout_counted=when)
        check.measure("lasts", minutes_until_accepted(bench))
        check.expect("and once more", asked_by(bench, ENTRY, TECHNICIAN), "")


def minutes_until_accepted(bench: AttendedBench) -> int:
    for minutes in range(LONGEST_MIN):
        if not asked_by(bench, ENTRY, TECHNICIAN):
            return minutes
        bench.advance(MINUTE_MS)
    return LONGEST_MIN


# -- secrets


@rule("HOUSE-no-default-secret")
@images("bench", "release")
def test_a_new_board_has_no_secret(fresh: AttendedBench, check: Check, image: Image) -> None:
    identity = fresh.link.identity
    words = (b"", b"1234", b"0000", b"12345678", b"admin", b"password", b"pitbench", image.device.encode())
    known = [*words, identity["uid"].encode(), identity["revision"].encode(), bytes.fromhex(identity["uid"])]
    known += [bytes(length) for length in (8, 16, 32)] + [b"\xff" * 16]
    accepted = 0
    for role in (*ROLES, "admin", "root", "service"):
        check.stimulus("known secrets tried", role=role, count=len(known) + 1)
        answers = [asked_by(fresh, ENTRY, role, (secret or b"\0").hex()) for secret in known]
        answers += [asked_by(fresh, ENTRY, role, role.encode().hex())]
        check.expect(f"answers, {role}", sorted(set(answers)), ["auth"])
        accepted += answers.count("")
    check.measure("accepted", accepted)


@rule("HOUSE-no-default-secret")
@images("bench", "release")
def test_a_short_secret_is_not_taken_and_none_is_replaced(fresh: AttendedBench, check: Check) -> None:
    answers = {}
    for length in (1, 2, 4, 8, 15):
        check.stimulus("a short secret set", bytes=length)
        answers[f"{length} bytes"] = refusal(fresh.do, "commission", role=TECHNICIAN, secret="ab" * length)
    for text in ("z" * 32, "ab" * 15 + "a", "ab" + " " * 40, "ab " * 15):
        answers[f"{text!r}"] = refusal(fresh.do, "commission", role=TECHNICIAN, secret=text)
    for how, answer in answers.items():
        check.expect(how, answer, "bad_args")
    fresh.commission()
    check.stimulus("another secret set over the first")
    over = refusal(fresh.do, "commission", role=TECHNICIAN, secret=WRONG)
    check.expect("over the first", over, "refused")
    check.expect("the first one serves", asked_by(fresh, ENTRY, TECHNICIAN), "")
    check.measure("accepted", [*answers.values(), over, asked_by(fresh, ENTRY, TECHNICIAN, WRONG)].count(""))


# -- the log


@rule("HOUSE-access-log")
@images("bench", "release")
def test_who_did_or_tried_what_is_on_the_log(staffed: AttendedBench, device: Device[Any], check: Check) -> None:
    staffed.do("meters")
    check.stimulus("each thing done or tried once")
    read = [asked_by(staffed, device.reading, "regulator")] if device.reading else []
    answers = [
        asked_by(staffed, COMMISSION, TECHNICIAN),
        asked_by(staffed, device.configure, TECHNICIAN),
        *read,
        asked_by(staffed, ENTRY, "attendant"),
        asked_by(staffed, device.configure, "attendant"),
        asked_by(staffed, device.configure, STRANGER),
        asked_by(staffed, CLEAR, TECHNICIAN),
    ]
    check.expect("answers", answers, ["", "", *([""] if device.reading else []), "", "right", "auth", ""])
    tries = tries_until_locked(staffed, "regulator")
    staffed.power_cycle()
    expected = [("commissioned", role) for role in (TECHNICIAN, "attendant", "regulator", CLERK)]
    expected += [("configured", TECHNICIAN), ("entry", ENTRY.asked.partition("|")[2])]
    expected += [(f"{device.reading.op}_read", "regulator")] if device.reading else []
    expected += [
        ("access_refused", "attendant configure"),
        ("access_refused", STRANGER),
        ("memory_cleared", TECHNICIAN),
    ]
    expected += [("access_refused", "regulator")] * tries + [("locked_out", "regulator")]
    log = staffed.log()
    logged = [(entry[4], entry[5]) for entry in log]
    missing = [entry for entry in expected if logged.count(entry) < expected.count(entry)]
    check.note("missing", entries=missing)
    check.measure("missing_entries", len(missing))
    secrets = (*SECRETS.values(), STRANGERS_OWN, WRONG)
    check.measure("secrets_on_the_log", sum(secret in json.dumps(log) for secret in secrets))
