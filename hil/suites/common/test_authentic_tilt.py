"""1.28H(d) and (e): hard tilt stands until somebody with the right ends it, and only on a board that is authentic."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench.link import LinkError
from pitbench_hil.attended_bench import SECRETS
from pitbench_hil.authentic import VICTIM, Altered
from pitbench_hil.check import Check
from pitbench_hil.forgeries import one_byte_changed
from pitbench_hil.marks import images, rule
from pitbench_hil.record_file import COPIES

ANOTHER = "/image/hal/store.mpy"


@pytest.fixture
def tilted(altered: Altered, check: Check) -> Altered:
    """In hard tilt since it found a file altered, the file still so; all roles have their secrets."""
    altered.bench.commission()
    altered.alter(VICTIM)
    check.stimulus("one byte altered while it runs, check asked for", file=VICTIM)
    check.expect("stopped", altered.check_on_demand(), True)
    check.expect("the reason", altered.tilt(), f"altered file {VICTIM}")
    return altered


@rule("HOUSE-hard-tilt")
@images("bench", "release")
def test_hard_tilt_outlasts_restarts_and_the_file_put_right(tilted: Altered, check: Check) -> None:
    obeyed, ended = tilted.obeyed() + tilted.gat_obeyed(), 0
    for how in ("power", "watchdog", "soft", "power"):
        check.stimulus("the file is put right, and the board started again", cause=how)
        status = tilted.put_right(how)
        ended += status["state"] != "inoperable" or tilted.tilt() is None
        check.expect("the reason is told", str(tilted.tilt()) in status["message"], True)
        obeyed += tilted.obeyed() + tilted.gat_obeyed()
        check.expect("motors driven", tilted.moved(), [])
    check.note("requests in hard tilt", obeyed=obeyed)
    check.measure("obeyed", len(obeyed))
    check.measure("ended_by_itself", ended)


def tries(tilted: Altered) -> dict[str, Callable[[], str]]:
    """What gives nobody the right, by name; each tries it, and gives the code of its refusal."""
    secret = SECRETS["technician"]

    def older() -> str:
        nonce = tilted.nonce()
        tilted.nonce()
        return tilted.clears(nonce=nonce)

    def used() -> str:
        nonce = tilted.nonce()
        return tilted.clears(secret="11" * 16, nonce=nonce) and tilted.clears(nonce=nonce)

    return {
        "no challenge": lambda: tilted.clears(nonce=""),
        "no proof": lambda: tilted.refusal("technician", ""),
        "no role": lambda: tilted.clears("", secret),
        "a wrong secret": lambda: tilted.clears(secret="11" * 16),
        "a role without a secret": lambda: tilted.clears("nobody", secret),
        "another role's secret": lambda: tilted.clears("regulator", secret),
        "a proof for something else": lambda: tilted.clears(asked="clear_memory"),
        "the proof of an older challenge": older,
        "the proof of a challenge that was used": used,
    }


@rule("HOUSE-tilt-needs-an-employee")
@images("bench", "release")
def test_nobody_without_a_secret_clears_it(tilted: Altered, check: Check) -> None:
    tilted.put_right()
    obeyed = []
    for who, attempt in tries(tilted).items():
        check.stimulus("clearing asked for", by=who)
        if not attempt():
            obeyed.append(who)
            break
    check.expect("cleared by", obeyed, [])
    check.stimulus("the power goes and comes back")
    tilted.put_right()
    check.measure("cleared", len(obeyed) or int(tilted.tilt() is None))


@rule("HOUSE-tilt-needs-an-employee")
@images("bench", "release")
def test_a_secret_written_into_the_record_clears_nothing(tilted: Altered, check: Check) -> None:
    tilted.put_right()
    tilted.board.cut()
    own, new = SECRETS["technician"].encode(), b"99" * 16
    files = tilted.virtual.flash.read()
    check.stimulus("another secret laid into both copies of the record while off, their CRC as it was")
    tilted.virtual.flash.change({path: files[path].replace(own, new) for path in COPIES})
    tilted.switch_on()
    tilted.board.reconnect()
    code = tilted.clears(secret=new.decode())
    check.expect("refused", code, "auth")
    check.measure("cleared", int(not code))


@rule("HOUSE-tilt-needs-an-employee")
@images("bench", "release")
@pytest.mark.parametrize("role", ["technician", "regulator"])
def test_who_has_the_right_clears_it(tilted: Altered, check: Check, role: str) -> None:
    tilted.put_right()
    tilted.running()
    check.stimulus("cleared with proof", role=role)
    check.expect("refused", tilted.clears(role), "")
    identity = tilted.board.reconnect()
    check.expect("inoperable", identity["inoperable"], None)
    check.expect("why it started", identity["reset"], "tilt_cleared")
    logged = [entry[4:6] for entry in tilted.bench.log()]
    check.expect("what was found is on the log", ["authenticity_failed", f"altered file {VICTIM}"] in logged, True)
    check.measure("cleared", 0)


@rule("HOUSE-clear-authenticates")
@images("bench", "release")
def test_clearing_authenticates_first_and_resets_afterwards(tilted: Altered, check: Check) -> None:
    early = without_reset = 0
    check.stimulus("cleared with the file still altered")
    check.expect("not while it is altered", clear_while_altered(tilted), False)
    tilted.put_right()
    for path in (ANOTHER, "/image/manifest"):
        check.stimulus("another file altered meanwhile, cleared with proof", file=path)
        tilted.write(one_byte_changed(tilted.good, path))
        tilted.running()
        code = tilted.clears()
        check.expect("refused", code, "refused")
        early += not code or tilted.put_right()["state"] != "inoperable"
    check.stimulus("all put right, cleared with proof")
    tilted.running()
    code = tilted.clears()
    check.expect("obeyed", code, "")
    if not code:
        tilted.stops()
        without_reset += tilted.starts != 1
    check.measure("cleared_with_an_altered_file", early)
    check.measure("without_reset", without_reset)
    if tilted.starts == 1:
        check.expect("inoperable", tilted.board.identity["inoperable"], None)
        check.expect("authenticated whole", tilted.bench.do("authenticity")["ok"], True)


def clear_while_altered(tilted: Altered) -> bool:
    """Whether a board whose file is still altered takes a proof at all."""
    try:
        return not tilted.clears()
    except LinkError:
        return False
