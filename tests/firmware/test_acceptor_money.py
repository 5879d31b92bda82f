"""Money is conserved through any order of what hosts, people, breakdowns and power cuts do."""

from __future__ import annotations

import json
from typing import Any

from acceptor_bench import ACCEPT, INHIBIT, Desk, note
from bench.plant.bill_acceptor import Plant
from device import currency_usd
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

VALUES = [currency_usd.cents(n) // 100 for n in range(len(currency_usd.DENOMINATIONS))]
GENUINE = st.builds(note, st.integers(0, 6), st.integers(0, 3))
PAPER = st.one_of(
    GENUINE,
    st.builds(note, st.integers(0, 6), sticks_at=st.sampled_from([90, 200, 280, 380])),
    st.builds(lambda: {**note(uv=200), "worth": 0}),
    st.builds(lambda: {**note(length=78), "worth": 0}),
)
# What people and parts may do, as the bench's operations name it.
TROUBLE = st.one_of(
    st.tuples(st.sampled_from(["pull", "clear_path"]), st.just({})),
    st.tuples(st.just("door"), st.fixed_dictionaries({"which": st.just("stacker"), "open": st.booleans()})),
    st.tuples(st.just("door"), st.fixed_dictionaries({"which": st.just("acceptor"), "open": st.booleans()})),
    st.tuples(st.just("box"), st.fixed_dictionaries({"present": st.booleans()})),
    st.tuples(
        st.sampled_from(["break", "mend"]), st.sampled_from([{"part": "transport_motor"}, {"part": "stack_motor"}])
    ),
    st.tuples(st.just("insert"), st.fixed_dictionaries({"item": PAPER})),
)
COMMANDS = st.sampled_from(["stack", "return", "hold", "ack", "host_reset"])


class Till(RuleBasedStateMachine):
    """A device on the plant, a host that polls, and everyone who may touch either."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk().open_for_business()

    @rule(mend=st.booleans())
    @precondition(lambda self: self.desk.device.state not in ("idle", "escrow", "stacking"))
    def all_is_put_right(self, mend: bool) -> None:
        if mend:
            self.put_right()
        self.desk.poll()
        self.desk.step("host", "host_reset", None)
        self.desk.step("setting", "inhibit", ACCEPT)
        self.poll_for(2500)

    def put_right(self) -> None:
        for part in list(self.desk.plant.broken):
            self.person("mend", part=part)
        self.person("clear_path")
        for which in ("acceptor", "stacker"):
            self.person("door", which=which, open=False)
        self.person("box", present=True)

    @rule(item=st.one_of(GENUINE, PAPER), how=st.sampled_from([1, 2]), ms=st.integers(0, 1500))
    @precondition(lambda self: self.desk.device.state == "idle" and not self.desk.plant.item)
    def a_sale_begins(self, item: dict, how: int, ms: int) -> None:
        self.person("insert", item=item)
        self.poll_for(900)
        self.desk.step("host", "stack", how)
        self.desk.run(ms)

    @rule()
    @precondition(lambda self: self.desk.device.state == "vend_valid")
    def a_sale_ends(self) -> None:
        self.desk.poll()
        self.desk.step("host", "ack", None)

    @rule(ms=st.sampled_from([50, 700, 3000, 12000]), polled=st.booleans())
    def time_passes(self, ms: int, polled: bool) -> None:
        if polled:
            self.poll_for(ms)
        else:
            self.desk.run(ms)

    def poll_for(self, ms: int) -> None:
        for _ in range(ms // 100 + 1):
            self.desk.poll()
            self.desk.run(100)

    @rule(command=COMMANDS, setting=st.sampled_from([None, None, ACCEPT, INHIBIT]))
    def the_host_asks(self, command: str, setting: bytes | None) -> None:
        if setting is None:
            self.desk.step("host", command, 1 if command == "stack" else None)
        else:
            self.desk.step("setting", "inhibit", setting)

    @rule(trouble=TROUBLE)
    def something_happens(self, trouble: tuple[str, dict]) -> None:
        self.person(trouble[0], **trouble[1])

    def person(self, op: str, **request: Any) -> None:
        try:
            getattr(self.desk.plant, "_op_" + op)(request)
        except ValueError:
            return  # no person could do that now
        self.desk.happen()

    @rule(commit=st.integers(0, 2))
    def the_power_is_cut_at_once_or_before_a_commit(self, commit: int) -> None:
        left = [commit]

        def cut() -> None:
            left[0] -= 1
            if left[0] == 0:
                raise PowerError

        self.desk.before_commit = cut
        try:
            if commit:
                self.poll_for(1000)
        except PowerError:
            pass
        self.restart()

    def restart(self) -> None:
        plant = Plant()
        plant.restore(json.loads(json.dumps(self.desk.plant.world())))
        self.desk = Desk(self.desk.commits[-1], plant, self.desk.now + 1000)

    @invariant()
    def paper_is_neither_made_nor_lost(self) -> None:
        t = self.desk.plant.truth()
        assert t["inserted"] == t["returned"] + t["stacked"] + t["removed"] + t["in_path"]

    @invariant()
    def nothing_is_credited_that_is_not_past_the_lever(self) -> None:
        meters, truth = self.desk.device.record["meters"], self.desk.plant.truth()
        assert meters["stacked_count"] <= truth["stacked"]

    @invariant()
    def at_rest_the_meters_are_what_was_stacked(self) -> None:
        if self.desk.device.state not in ("idle", "disabled", "stacked", "vend_valid"):
            return
        meters, truth = self.desk.device.record["meters"], self.desk.plant.truth()
        assert meters["bill_in_value"] == sum(int(worth) * n for worth, n in truth["values"].items())
        assert meters["bill_in_value"] == 100 * sum(usd * meters[f"bill_{usd}"] for usd in VALUES)

    @invariant()
    def vend_valid_is_shown_only_for_what_is_durable(self) -> None:
        if self.desk.device.shown()[0] in ("vend_valid", "power_up_stacker"):
            flight = self.desk.commits[-1]["flight"]
            assert flight is not None
            assert flight["stage"] == "stacked"


class PowerError(Exception):
    """The power is gone."""


Till.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestTill = Till.TestCase
