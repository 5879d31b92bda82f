"""What a kiosk takes and sends back, and what it says: denominations, inhibits, errors, silence, a failing disk."""

import errno

import pytest
from acceptor_model import Acceptor, Paper
from kiosk_bench import Bench, kinds, texts
from pitbench.kiosk import journal as journal_module
from pitbench.kiosk.events import EventKind
from pitbench.kiosk.journal import Journal, JournalError
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.policy import Policy
from pitbench.protocols.acceptor_host import host_module
from pitbench.protocols.id003 import Command, Frame, Status, encode
from pitbench.protocols.id003_host import HostSettings

TWENTY, FIVE = Paper(0x65), Paper(0x63)


def test_only_accepted_denominations_are_enabled_and_taken(tmp_path):
    bench = Bench(tmp_path / "j", Policy(denominations=frozenset({500, 2000}))).ready()
    bench.run(500)
    assert bench.acceptor.settings[0xC0] == bytes([0b11101011, 0])
    bench.acceptor.settings[0xC0] = b"\0\0"
    bench.insert(Paper(0x67))
    bench.run(3000)
    bench.pay(TWENTY)
    assert bench.acceptor.returned == [Paper(0x67)]
    assert bench.kiosk.credits == [(2, 2000, "note")]
    assert "goes back: the denomination isn't taken" in texts(bench)


def test_a_denomination_switched_off_in_escrow_is_settled_and_the_next_refused(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.kiosk.take_denominations(frozenset({500}))
    bench.come_to_rest()
    bench.insert(TWENTY)
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.acceptor.returned == [TWENTY]


def test_a_code_outside_the_table_goes_back(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.acceptor.settings[0xC0] = b"\0\0"
    bench.insert(Paper(0x62))
    bench.run(3000)
    assert bench.acceptor.returned == [Paper(0x62)]
    assert "code 62 isn't in the currency table" in texts(bench)


def test_a_device_without_currency_table_gets_its_note_sent_back_in_time(tmp_path):
    bench = Bench(tmp_path / "j", acceptor=Acceptor(refuses=frozenset({0x8A}))).ready()
    bench.run(500)
    bench.acceptor.settings[0xC0] = b"\0\0"
    bench.insert(TWENTY)
    bench.run(12_000)
    assert bench.acceptor.returned == [TWENTY]
    assert "returning" in bench.acceptor.trail
    assert "there was no decision in time" in texts(bench)
    assert bench.kiosk.credits == bench.kiosk.disputes == []


def test_inhibit_reaches_the_device_and_is_taken_back_only_with_its_last_reason(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.run(500)
    bench.kiosk.inhibit("tournament")
    bench.kiosk.inhibit("drop")
    bench.run(500)
    assert bench.acceptor.state == "disabled"
    bench.kiosk.allow("drop")
    bench.run(500)
    assert bench.acceptor.state == "disabled"
    bench.kiosk.allow("tournament")
    bench.run(500)
    assert bench.acceptor.state == "idle"
    assert kinds(bench)[-2:] == [EventKind.INHIBITED, EventKind.ACCEPTING]


def test_a_tournament_finishes_the_note_that_is_decided_and_refuses_the_one_that_is_not(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.kiosk.inhibit("tournament")
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    bench.kiosk.allow("tournament")
    bench.insert(FIVE)
    bench.run_until(lambda: bench.kiosk.host.status == Status.ACCEPTING)
    bench.kiosk.inhibit("tournament")
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.acceptor.returned == [FIVE]


@pytest.mark.parametrize("status", [0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A])
def test_errors_are_told_once_and_their_end_too(tmp_path, status):
    bench = Bench(tmp_path / "j").ready()
    bench.run(500)
    bench.acceptor.fail(status)
    bench.run(1000)
    bench.kiosk.reset()
    bench.run(2000)
    assert kinds(bench).count(EventKind.ERROR) == kinds(bench).count(EventKind.ERROR_OVER) == 1
    assert bench.acceptor.state == "idle"
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]


@pytest.mark.parametrize(("first", "then"), [("ebds", "cctalk"), ("cctalk", "ebds")])
def test_a_journal_of_another_wire_is_refused(tmp_path, first, then):
    path = tmp_path / "j"
    kiosk = Kiosk(Journal(path), host=host_module(first).Host())
    kiosk.books.write("heard", mark={"ebds": "1", "cctalk": "0701010000000000000000"}[first])
    kiosk.books.journal.close()
    with pytest.raises(JournalError, match="kept on another wire"):
        Kiosk(Journal(path), host=host_module(then).Host())


SAID = {Status.VEND_VALID: "vend valid", Status.POWER_UP_BILL_IN_STACKER: "power-up with bill in stacker"}


@pytest.mark.parametrize("status", SAID)
@pytest.mark.parametrize(("code", "credited"), [(0x65, [(1, 2000, "note")]), (0x67, [])])
def test_a_device_that_names_what_it_stacked_has_to_name_what_was_in_escrow(tmp_path, status, code, credited):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.kiosk.received(Frame(status, bytes((code,))), bench.now)
    assert bench.kiosk.credits == credited
    assert [note.why for note in bench.kiosk.disputes] == [
        f"{SAID[status]} names code 67, and code 65 was in escrow" for _ in range(1 - len(credited))
    ]


def test_a_jam_in_the_stacker_past_the_lever_keeps_the_credit(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.to_host.fault = lambda frame: [] if frame[2] == Status.VEND_VALID else [(0, frame)]
    bench.run_until(lambda: bench.acceptor.state == "vend valid")
    bench.acceptor.fail(Status.JAM_IN_STACKER)
    bench.run(1000)
    assert bench.kiosk.credits == []
    bench.quiet_line()
    bench.acceptor._go("vend valid")
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_an_unknown_status_is_an_error_and_does_no_harm(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.run(500)
    bench.kiosk.feed(encode(0x3F, b"\x01"), bench.now)
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_silence_is_told_once_and_so_is_its_end(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.run(500)
    bench.cut()
    bench.run(6000)
    bench.acceptor.power_on()
    bench.come_to_rest()
    assert kinds(bench).count(EventKind.SILENT) == kinds(bench).count(EventKind.HEARD) == 1


def test_a_length_damaged_on_the_line_costs_one_reply_and_no_more(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.run(500)
    bench.kiosk.feed(b"\xfc\x80", bench.now)
    heard = bench.kiosk.host.decoder.good
    bench.run(600)
    assert bench.kiosk.host.decoder.good >= heard + 2


def test_a_torn_journal_is_told(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.kiosk.books.journal.close()
    with (tmp_path / "j").open("ab") as file:
        file.write(b'{"n":2,"at"')
    bench.kiosk = bench._new_kiosk()
    bench.run(100)
    assert "The journal ended in 11 torn bytes, which were cut off." in texts(bench)


# A disk that fails


@pytest.fixture
def disk(monkeypatch):
    """Full while `disk["full"]`."""
    state = {"full": False}
    real = journal_module.os.write

    def write(fd: int, data: bytes) -> int:
        if state["full"]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(journal_module.os, "write", write)
    return state


def test_with_a_full_disk_nothing_is_stacked(tmp_path, disk):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    disk["full"] = True
    bench.run(12_000)
    assert encode(Command.STACK_1) not in bench.sent
    assert bench.acceptor.returned == [TWENTY]
    assert kinds(bench).count(EventKind.JOURNAL_FAILED) == 1
    assert bench.acceptor.state == "disabled"
    disk["full"] = False
    bench.run(6000)
    bench.pay(FIVE)
    assert [c.cents for c in bench.kiosk.credits] == [500]
    assert bench.kiosk.disputes == []


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("host_settings", [HostSettings(), HostSettings(interrupt=True)], ids=["polling", "interrupt"])
def test_with_a_full_disk_no_vend_valid_is_acknowledged_and_no_power_up_reset(tmp_path, disk, cut, host_settings):
    bench = Bench(tmp_path / "j", settings=host_settings).ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    disk["full"] = True
    bench.run_until(lambda: bench.acceptor.state == "vend valid")
    if cut:
        bench.cut()
        bench.acceptor.power_on()
    for _ in range(50):
        bench.to_host.put(encode(0x05), bench.now)  # an ENQ must not loosen anything
        bench.run(100)
    assert bench.acceptor.pending == TWENTY
    assert bench.kiosk.credits == []
    disk["full"] = False
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []
