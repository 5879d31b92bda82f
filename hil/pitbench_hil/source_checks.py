"""A generator without a sound source gives nothing, and says so: 13:69E-1.28G(b)2.

The same for every device that draws; each suite has the tests, with what it looks at then, and these are what they do.
"""

from __future__ import annotations

from pitbench.link import LinkError

from pitbench_hil.attended_bench import START_MS
from pitbench_hil.check import Check
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.fed import newly_fed

# How a source fails → draws by which the alarm must have come: eight windows of 128 bytes, 32 bytes a draw.
LATEST = {"stuck": 0, "slow": 0, "biased": 32}


def fails_between_games(bench: DrawingBench, check: Check, how: str) -> None:
    """A sound source fails in this way; draw until the device says so."""
    newly_fed(bench, "sound")
    check.stimulus("the source fails", how=how)
    bench.do("entropy", how=how, seed="failing")
    drawn = 0
    try:
        while drawn <= LATEST[how]:
            bench.draws(1)
            drawn += 1
    except LinkError as refused:
        check.note("the board refuses", why=str(refused))
    check.note("draws before the alarm", draws=drawn)
    check.expect("the alarm came in time", drawn <= LATEST[how], True)


def fails_at_the_start(bench: DrawingBench, check: Check, how: str) -> None:
    """A start with a source that fails in this way: its self-test doesn't pass."""
    check.stimulus("a start with a source that fails", how=how)
    bench.start_over_with(how, "failing")
    bench.advance(START_MS)
    check.expect("self-test passed", bench.status()["post"]["ok"], False)


def said_to_be_unavailable(bench: DrawingBench, check: Check) -> None:
    """State, light, message and log of a device whose generator is unavailable."""
    status = bench.status()
    check.expect("state", status["state"], "error")
    check.expect("light", status["light"], "red")
    check.expect("the message names the generator", "random number" in status["message"].lower(), True)
    check.expect("logged", "entropy_failed" in bench.logged(), True)


def spoiled(bench: DrawingBench, check: Check) -> None:
    """The generator computes wrongly when the self-test of an opened door looks at it: it fails at that step."""
    passed = {name: ok for name, ok, _ in bench.do("post")["steps"]}
    check.expect("the self-test has a step of the generator", passed.get("generator"), True)
    check.stimulus("one bit wrong in each HMAC; the service door opened and closed, cleared with the key")
    bench.do("spoil")
    bench.do("door", which="service", open=True)
    bench.do("door", which="service", open=False)
    bench.clear()
    post = bench.do("post")
    check.expect("self-test passed", post["ok"], False)
    check.expect("the step that failed", post["steps"][-1][:2], ["generator", False])
