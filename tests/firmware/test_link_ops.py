"""Operations of every image, the event ring behind them, and requests that need proof."""

from __future__ import annotations

import hmac
import inspect
import re
from types import SimpleNamespace
from typing import Any

import pytest
from acceptor_bench import Hand, stored
from device.access import Access
from hal.entropy import Entropy
from link import audit, service
from link.args import check
from link.events import Events
from link.frame import Refused
from link.ops import Late, Ops, ops
from test_acceptor_table import escrow_told

SECRET = "00112233445566778899aabbccddeeff"


class Machine:
    """What operations see of the board."""

    def __init__(self, hand: Hand | None = None) -> None:
        self.hand = hand or Hand()
        self.device, self.now, self.events = self.hand.device, 0, Events()
        self.clock = SimpleNamespace(calendar=lambda: None)
        self.wire = SimpleNamespace(frames=3, mode=lambda: "polling")
        self.log = SimpleNamespace(lines=lambda first: iter(()))
        self.asked: list[tuple[int, int]] = []
        self.boot = SimpleNamespace(checksum=self.compute)
        self.checksum = SimpleNamespace(crc=0xBEEF, step=lambda: (True, ""))
        source = Entropy()
        proofs = Access(self.device.record["secrets"], source.read)
        self.entropy, self.access = lambda: source, lambda: proofs

    def compute(self, seed: int, width: int) -> SimpleNamespace:
        self.asked.append((seed, width))
        return self.checksum

    def step(self, event: tuple) -> None:
        self.hand.step(*event)


# -- the ring of 64


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
def test_the_ring_keeps_the_last_64_and_says_what_is_missing(count):
    events = Events()
    for n in range(1, count + 1):
        events.add(n * 10, f"e{n}", n)
    kept = list(events.after(0))
    assert kept == [(n, n * 10, f"e{n}", n) for n in range(max(1, count - 63), count + 1)]
    assert [events.gap(n) for n in (0, count - 64, count)] == [count > 64, False, False]


def test_the_ring_is_read_on_from_where_a_reader_was():
    events = Events()
    for n in range(70):
        events.add(n, "e", "")
    assert [row[0] for row in events.after(68)] == [69, 70]
    assert list(events.after(70)) == list(events.after(999)) == []
    assert events.gap(5)
    assert not events.gap(6)


def test_the_ring_takes_times_beyond_32_bits():
    events = Events()
    events.add(1 << 40, "late", "")
    assert next(events.after(0))[1] == 1 << 40


# -- reading


def do(machine: Machine, request: dict) -> dict:
    """Carry out a request as the server does. Raises Refused."""
    kind, spec = next((kind, spec) for kind in ops(machine, ()) if (spec := kind.takes(request["do"])) is not None)
    check({"id": 1, **request}, spec)
    return kind.carry_out(request)


@pytest.mark.parametrize("kind", [Ops, audit.Ops, service.Ops])
def test_every_operation_has_its_line_of_arguments(kind):
    taken = re.findall(r"^(\w+):", kind.ARGS, re.M)
    methods = re.findall(r"^    def _(\w+)\(self, request\):", inspect.getsource(kind), re.M)
    assert sorted(taken) == sorted(methods)


@pytest.mark.parametrize(
    "request_",
    [{"do": "log", "from": -1}, {"do": "events", "after": "0"}, {"do": "files", "from": 1.5}, {"do": "digest"}]
    + [{"do": "service", "role": "a", "what": "theft", "who": "b", "licence": "c", "reason": "d", "proof": "e"}],
)
def test_arguments_are_checked(request_):
    with pytest.raises(Refused):
        do(Machine(), request_)


def test_every_operation_that_is_loaded_late_is_named():
    late = {kind.module: set(kind.names.split()) for kind in ops(Machine(), ()) if isinstance(kind, Late)}
    assert late == {module.__name__: set(re.findall(r"^(\w+):", module.Ops.ARGS, re.M)) for module in (audit, service)}


@pytest.mark.parametrize("name", ["insert", "", "tab", "able", "late", "loaded", "machine", 5, None, [], "heap:"])
def test_nothing_else_is_an_operation(name):
    assert [kind.takes(name) for kind in ops(Machine(), ())] == [None] * 3


def test_two_lines_are_no_name():
    with pytest.raises(AttributeError):
        do(Machine(), {"do": "heap:\npost"})


def test_reading_moves_no_meter_and_is_remembered():
    machine = Machine()
    before = dict(machine.device.record["meters"])
    assert do(machine, {"do": "meters"}) == before
    assert machine.device.record["meters_read"]
    status = do(machine, {"do": "status"})
    assert (status["state"], status["light"], status["frames"], status["enabled"]) == ("power_up", "amber", 3, False)
    assert do(machine, {"do": "post"})["why"] == "power_up"
    assert do(machine, {"do": "log"}) == {"last": 1, "entries": []}


def test_the_table_is_read_a_page_at_a_time():
    ops, rows = audit.Ops(Machine()), []
    while True:
        reply = ops._table({"from": len(rows)})
        rows += reply["rows"]
        if len(rows) == reply["total"]:
            break
    assert rows[0] == ["power_up", "host_reset", None, "initialize"]


@pytest.mark.parametrize(
    "path", ["/data/a", "/etc/passwd", "image/main.mpy", "/imagex", "/image/../data/a", "/boot/../data/a", "/boot/.."]
)
def test_only_the_image_and_the_boot_block_are_digested(path):
    with pytest.raises(Refused):
        audit.Ops(Machine())._digest({"path": path})


def test_an_unreadable_image_has_no_crc():
    machine = Machine()
    ops = audit.Ops(machine)
    assert ops._crc({"seed": 1}) == {"crc": "beef"}
    assert ops._crc({"width": 32}) == {"crc": "0000beef"}
    assert machine.asked == [(1, 16), (0, 32)]
    machine.checksum = SimpleNamespace(crc=0xBEEF, step=lambda: (False, "image can't be read"))
    with pytest.raises(Refused, match="can't be read"):
        ops._crc({})
    with pytest.raises(Refused):
        ops._crc({"width": 8})


# -- with proof


class Door:
    """Authorised requests on a machine."""

    def __init__(self, hand: Hand | None = None) -> None:
        self.machine = Machine(hand)
        self.ops = service.Ops(self.machine)

    def ask(self, op: str, **request: Any) -> dict:
        return getattr(self.ops, "_" + op)({"do": op, **request})

    def ask_checked(self, op: str, **request: Any) -> dict:
        check({"id": 1, "do": op, **request}, self.ops.takes(op))
        return self.ask(op, **request)

    def prove(self, op: str, asked: str, role: str = "auditor", secret: str = SECRET, **request: Any) -> dict:
        text = f"{self.ask('challenge')['nonce']}|{role}|{asked}"
        proof = hmac.new(bytes.fromhex(secret), text.encode(), "sha256").hexdigest()
        return self.ask(op, role=role, proof=proof, **request)

    def commissioned(self) -> Door:
        self.ask("commission", role="auditor", secret=SECRET)
        return self

    def logged(self) -> list[str]:
        return [effect[1] for effect in self.machine.hand.effects if effect[0] == "event"]


@pytest.mark.parametrize(
    ("role", "secret"),
    [(5, SECRET), (None, SECRET), (["a"], SECRET), ("", SECRET)]
    + [("a", SECRET[:30]), ("a", "x" * 32), ("a", 5), ("a", [1] * 40), ("a", ""), ("a", "ab" + " " * 40)],
)
def test_a_role_is_a_name_and_a_secret_is_hex_of_16_bytes(role, secret):
    door, request = Door(), {"role": role, "secret": secret}
    with pytest.raises((Refused, ValueError)):
        door.ask_checked("commission", **request)
    assert door.machine.device.record["secrets"] == {}


def test_no_challenge_from_a_source_that_is_not_random():
    door = Door().commissioned()
    door.ops.entropy.source = lambda n: b"*" * n
    with pytest.raises(Refused, match="health test") as refused:
        door.ask("challenge")
    assert refused.value.args[0] == "entropy"
    assert door.ops.access.nonce is None
    assert "entropy_failed" in door.logged()


def test_a_secret_is_set_once_and_not_over():
    door = Door().commissioned()
    with pytest.raises(Refused, match="has a secret already"):
        door.ask("commission", role="auditor", secret="ff" * 16)
    assert door.machine.device.record["secrets"] == {"auditor": SECRET}


def test_nobody_can_fill_the_record_with_roles():
    door = Door().commissioned()
    for n in range(7):
        let_in(door, f"r{n}")
    with pytest.raises(Refused, match="8 roles have a secret"):
        let_in(door, "one more")
    assert len(door.machine.device.record["secrets"]) == 8


def let_in(door: Door, role: str, by: str = "auditor", secret: str = SECRET) -> None:
    """Commission a role with the proof of one that has a secret."""
    text = f"{door.ask('challenge')['nonce']}|{by}|commission|{role}|{SECRET}"
    proof = hmac.new(bytes.fromhex(secret), text.encode(), "sha256").hexdigest()
    door.ask_checked("commission", role=role, secret=SECRET, by=by, proof=proof)


def test_on_a_commissioned_board_nobody_lets_himself_in():
    door = Door().commissioned()
    with pytest.raises(Refused, match="does not fit"):
        door.ask_checked("commission", role="stranger", secret=SECRET)
    with pytest.raises(Refused, match="does not fit"):
        let_in(door, "stranger", secret="ff" * 16)
    assert list(door.machine.device.record["secrets"]) == ["auditor"]
    assert door.logged() == ["access_refused"]
    let_in(door, "technician")
    assert door.logged() == ["commissioned"]


def test_where_a_device_says_who_may_others_let_nobody_in():
    door = Door()
    door.machine.device.rights = {"commission": ("technician",)}
    for role in ("auditor", "technician"):
        door.ask("commission", role=role, secret=SECRET)
    with pytest.raises(Refused, match="auditor may not: ask technician"):
        let_in(door, "clerk")
    let_in(door, "clerk", by="technician")
    assert "clerk" in door.machine.device.record["secrets"]


@pytest.mark.parametrize("what", ["entry", "service"])
def test_who_entered_is_logged_with_licence_and_reason(what):
    door = Door().commissioned()
    who = {"who": "A. Smith", "licence": "NJ 1", "reason": "jam"}
    door.prove("service", f"{what}|A. Smith NJ 1 jam", what=what, **who)
    assert ("event", what, "A. Smith NJ 1 jam") in door.machine.hand.effects
    with pytest.raises(Refused):
        door.ask("service", role="auditor", proof="00" * 32, what=what, **who)
    assert door.logged() == ["access_refused"]


@pytest.mark.parametrize(("role", "secret"), [("auditor", "ff" * 16), ("stranger", SECRET)])
def test_a_wrong_proof_is_refused_and_logged(role, secret):
    door = Door().commissioned()
    with pytest.raises(Refused):
        door.prove("clear_memory", "clear_memory", role, secret)
    assert door.logged() == ["access_refused"]


def locked_out() -> Door:
    door = Door().commissioned()
    for _ in range(5):
        with pytest.raises(Refused, match="does not fit"):
            door.prove("service", "wrong", what="entry", who="a", licence="b", reason="c")
    return door


def test_a_lockout_is_on_the_log_and_so_is_each_wrong_proof_before_it():
    door = Door().commissioned()
    logged = []
    for _ in range(6):
        with pytest.raises(Refused):
            door.prove("service", "wrong", what="entry", who="a", licence="b", reason="c")
        logged += door.logged()
        door.machine.hand.effects.clear()
    assert logged == ["access_refused"] * 5 + ["locked_out"]


def enter(door: Door) -> None:
    door.prove("service", "entry|a b c", what="entry", who="a", licence="b", reason="c")


def test_five_wrong_proofs_lock_a_role_out_for_a_while_and_through_a_restart():
    door = locked_out()
    with pytest.raises(Refused, match="locked out for 900 s"):
        enter(door)
    again = Door(Hand(stored(**door.machine.device.record), new=False))
    with pytest.raises(Refused, match="locked out"):
        enter(again)
    again.machine.now = 900_000
    enter(again)
    assert again.machine.device.record["refused"] == {}


def test_a_right_proof_ends_the_count_of_wrong_ones():
    door = Door().commissioned()
    for _ in range(3):
        for _ in range(4):
            with pytest.raises(Refused, match="does not fit"):
                door.prove("service", "wrong", what="entry", who="a", licence="b", reason="c")
        enter(door)


def test_memory_is_cleared_only_after_the_meters_were_read_or_the_attempt_recorded():
    door = Door().commissioned()
    door.machine.device.meters.add("bill_in_value", 2000)
    with pytest.raises(Refused, match="read the meters first"):
        door.prove("clear_memory", "clear_memory")
    door.prove("attempt_meters", "attempt_meters")
    door.prove("clear_memory", "clear_memory")
    record = door.machine.device.record
    assert (record["meters"]["bill_in_value"], record["meters_read"], record["secrets"]) == (
        0,
        False,
        {"auditor": SECRET},
    )
    assert record["log"][0] > 3


@pytest.mark.parametrize("reading", ["meters", "attempt_meters"])
def test_a_meter_that_moved_makes_a_reading_from_before_invalid(reading):
    door = Door().commissioned()
    if reading == "meters":
        do(door.machine, {"do": "meters"})
    else:
        door.prove("attempt_meters", "attempt_meters")
    door.machine.device.meters.add("stacked_count", 1)
    with pytest.raises(Refused, match="read the meters first"):
        door.prove("clear_memory", "clear_memory")


def test_memory_is_not_cleared_under_an_item_in_flight():
    door = Door(escrow_told()).commissioned()
    door.prove("attempt_meters", "attempt_meters")
    door.machine.hand.host("stack", 1)
    with pytest.raises(Refused, match="in flight"):
        door.prove("clear_memory", "clear_memory")
    assert door.machine.device.record["flight"]["stage"] == "stacking"
