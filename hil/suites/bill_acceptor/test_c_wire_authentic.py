"""9 NYCRR 5321.12(c), .15(c) on the wire: under eSSP a frame counts once, and from one who has the key."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from pitbench import items
from pitbench.protocols.ssp import STEX, Command, Decoder, Reply
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.acceptor_money import agrees
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.ssp_key import COUNTS, Key, KeyHolder, altered

BOTH_GAMES = rule("NY-5321.12(c)/wire", "NY-5321.15(c)/wire")
NOTE = items.genuine(20)
POLL, HOLD = Command.POLL_WITH_ACK, Command.HOLD
# Every channel, its notes and no tickets.
OPEN = ((Command.SET_INHIBITS, 0xFF, 0xFF), (Command.ENABLE,))
STEPS, STEP_MS = 50, 100
# A note is out of the path by then, and a silent host isn't missed yet.
RETURN_MS = 3000
# What moves money if it is acted on: in escrow it is stacked or given back, in vend valid the credit is forgotten.
DEEDS = {
    "escrow": (Command.POLL, Command.POLL_WITH_ACK, Command.REJECT),
    "vend_valid": (Command.POLL, Command.POLL_WITH_ACK, Command.EVENT_ACK),
}
STATES = pytest.mark.parametrize("state", DEEDS)


def opened(bench: AcceptorBench) -> KeyHolder:
    """A host with a key, on a device that is open for business."""
    host = KeyHolder(bench)
    host.agree()
    host.ask(POLL)
    for command in OPEN:
        host.ask(*command)
    reach(bench, host, "idle")
    return host


def reach(bench: AcceptorBench, host: KeyHolder, state: str) -> None:
    """Poll under the key until the device is there. Raises Unreached."""
    for _ in range(STEPS):
        if bench.state()["state"] == state:
            return
        bench.advance(STEP_MS)
        host.ask(POLL)
    raise Unreached(f"{state} not reached: {bench.state()['state']} instead")


def brought(bench: AcceptorBench, host: KeyHolder, state: str) -> None:
    """A note in escrow, or past the lever, and told to the host."""
    bench.insert(NOTE)
    reach(bench, host, "escrow")
    # Told of the note by now, where it was there when the host polled.
    if host.ask(HOLD)[0] != Reply.OK:
        host.ask(POLL)
        host.ask(HOLD)
    if state == "vend_valid":
        host.ask(POLL)
        reach(bench, host, state)
        host.ask(POLL)


def scene(bench: AcceptorBench) -> list[object]:
    """What an intruder could have moved: paper, credit, meters, and whether items are taken."""
    state, truth = bench.state(), bench.truth()
    shown = {"holding": "escrow"}.get(state["state"], state["state"])
    places = [truth[name] for name in ("stacked", "returned", "in_path", "position")]
    return [shown, state["enabled"], *places, bench.meters()["bill_in_value"]]


def acted_on(bench: AcceptorBench, check: Check, host: KeyHolder, payloads: Iterable[bytes]) -> None:
    """Push the payloads at the device until one of them moves anything."""
    before, acted = scene(bench), 0
    for payload in payloads:
        host.push(payload)
        if scene(bench) != before:
            acted += 1
            check.note("acted on", payload=payload.hex(), before=before, after=scene(bench))
            break
    check.measure("acted_on", acted)


def serves(bench: AcceptorBench, check: Check, host: KeyHolder, state: str) -> None:
    """The host with the key is served as if nothing had been: the note is stacked, its credit acknowledged."""
    with check.duty("goes on with the host that has the key", Unreached):
        if state == "escrow":
            host.ask(POLL)
            reach(bench, host, "vend_valid")
            host.ask(POLL)
        check.expect("credit acknowledged", host.ask(Command.EVENT_ACK)[0], int(Reply.OK))
        reach(bench, host, "idle")
    check.expect("stacked", bench.truth()["values"], {"2000": bench.truth()["stacked"]})


@BOTH_GAMES
@STATES
def test_a_request_that_was_obeyed_is_obeyed_once(bench: AcceptorBench, check: Check, state: str) -> None:
    host = opened(bench)
    for _ in range(2):
        brought(bench, host, "vend_valid")
        serves(bench, check, host, "vend_valid")
    host.ask(Command.DISABLE)
    host.ask(Command.ENABLE)
    brought(bench, host, state)
    check.stimulus("every good request of this key sent again under a new sequence", state=state, frames=len(host.said))
    acted_on(bench, check, host, host.said)
    serves(bench, check, host, state)


@BOTH_GAMES
@STATES
@pytest.mark.parametrize("blocks", [1, 2])
def test_an_altered_request_is_not_obeyed(bench: AcceptorBench, check: Check, state: str, blocks: int) -> None:
    host = opened(bench)
    brought(bench, host, state)
    payloads = [
        one for deed in DEEDS[state] for one in altered(host.key.packet(bytes((deed,)), host.count, blocks=blocks))
    ]
    check.stimulus("good requests that weren't sent yet, each byte altered", state=state, frames=len(payloads))
    acted_on(bench, check, host, payloads)
    serves(bench, check, host, state)


@BOTH_GAMES
@STATES
def test_a_request_with_a_wrong_sum_inside_is_not_obeyed(bench: AcceptorBench, check: Check, state: str) -> None:
    host = opened(bench)
    brought(bench, host, state)
    wrongs = (0x0001, 0x0100, 0x00FF, 0xFF00, 0x8000, 0xFFFF)
    check.stimulus("requests under the key and in count, their inner CRC wrong", state=state)
    acted_on(
        bench, check, host,
        [host.key.packet(bytes((deed,)), host.count, wrong=wrong) for deed in DEEDS[state] for wrong in wrongs],
    )  # fmt: skip
    serves(bench, check, host, state)


@BOTH_GAMES
@STATES
def test_a_request_out_of_count_is_not_obeyed(bench: AcceptorBench, check: Check, state: str) -> None:
    host = opened(bench)
    brought(bench, host, state)
    counts = [host.count + off for off in (-2, -1, 1, 2, 0x100, 0x10000, 0x1000000)] + [0, COUNTS - 1]
    check.stimulus("requests under the key with another count", state=state, counts=counts)
    payloads = [host.key.packet(bytes((deed,)), count) for deed in DEEDS[state] for count in counts]
    acted_on(bench, check, host, payloads)
    serves(bench, check, host, state)


@BOTH_GAMES
@STATES
def test_a_request_under_another_key_is_not_obeyed(bench: AcceptorBench, check: Check, state: str) -> None:
    host = opened(bench)
    check.stimulus("agreed on another key since", state=state)
    host.agree()
    brought(bench, host, state)
    keys = [*host.old, Key(0), Key(0, 0), Key(1), Key(2**63)]
    check.stimulus("requests under the key before this one and under guessed ones", keys=len(keys))
    payloads = [key.packet(bytes((deed,)), host.count) for key in keys for deed in DEEDS[state]]
    acted_on(bench, check, host, payloads)
    serves(bench, check, host, state)


@BOTH_GAMES
@STATES
def test_an_unencrypted_request_about_money_is_not_obeyed(bench: AcceptorBench, check: Check, state: str) -> None:
    host = opened(bench)
    brought(bench, host, state)
    check.stimulus("unencrypted requests once a key stands", state=state)
    acted_on(bench, check, host, [bytes((deed,)) for deed in DEEDS[state]])
    for deed in DEEDS[state]:
        host.align()
        check.expect(f"{deed:02x} answered", host.plain(bytes((deed,)))[:1].hex(), f"{Reply.KEY_NOT_SET:02x}")
    serves(bench, check, host, state)


@BOTH_GAMES
@STATES
def test_without_any_key_nothing_under_one_is_obeyed(bench: AcceptorBench, check: Check, state: str) -> None:
    host = opened(bench)
    brought(bench, host, state)
    host.align()
    check.stimulus("reset: the key is gone; requests under it sent on", state=state)
    host.plain(bytes((Command.RESET,)))
    bench.advance(RETURN_MS)
    payloads = [
        host.key.packet(bytes((deed,)), count) for deed in (*DEEDS[state], Command.ENABLE) for count in range(3)
    ]
    acted_on(bench, check, host, payloads)


def recorded(till: Till) -> list[bytes]:
    """What the kiosk says from now on, as an ear on the line hears it: the payloads of its frames, once each."""
    heard: list[bytes] = []
    put = till.to_device.put

    def listen(frame: bytes, now_ms: int) -> None:
        heard.extend(each.data for each in Decoder().feed(frame) if each.data not in heard)
        put(frame, now_ms)

    till.to_device.put = listen  # type: ignore[method-assign]
    return heard


@BOTH_GAMES
def test_a_kiosk_s_recorded_traffic_moves_nothing_and_the_kiosk_is_served(till: Till, check: Check) -> None:
    check.expect("encrypted", till.kiosk.host.encrypted, True)
    heard = recorded(till)
    for usd in (20, 5):
        till.take(till.note(usd))
    sealed = [payload for payload in heard if payload[0] == STEX]
    check.expect("everything it said was encrypted", len(sealed), len(heard))
    check.stimulus("all that it said sent again under a new sequence", frames=len(sealed))
    acted_on(till.bench, check, KeyHolder(till.bench), sealed)
    agrees(check, till, "after the recording")
    till.take(till.note(10))
    agrees(check, till, "the next note")
    check.expect("stacked", till.bench.stacked_cents(), 3500)
