"""Commands on a run's folder that isn't as a run left it: one sentence each, and nothing that isn't true."""

import json
from pathlib import Path

import pytest
from pitbench import cli
from pitbench_hil.durable import EvidenceError
from pitbench_hil.run_lock import lock_run, refuse_while_written

pytest_plugins = ["pytester"]

RECORD, TRACE, RULE = "records/main-0000.jsonl", "traces/main-0000.jsonl", "rules/NJ_1.28N_i_2_idle.json"


@pytest.fixture
def run(bench):
    bench.run()
    return bench.folder


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = cli.main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def put(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text or not old
    (folder / name).write_text(text.replace(old, new, 1) if old else new, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("run.json", "", "[]", "run.json is malformed: it is no JSON object."),
        ("run.json", "", "{", "run.json can't be read as a run's record"),
        ("run.json", '"profiles"', '"profile"', "run.json is malformed: 'profiles' is missing."),
        ("run.json", '"device": "bill-acceptor"', '"device": 7', "run.json is malformed: 'device' is 7."),
        ("collection.json", "", "[]", "collection.json is malformed: it is no JSON object."),
        ("collection.json", '"tests"', '"test"', "collection.json is malformed: 'tests' is missing."),
        (RECORD, '"kind": "measure"', '"kind": "guess"', "a line of kind 'guess' can't stand there"),
        (RECORD, '"kind": "start"', '"kind": "note", "text": "x"', "line 1 is malformed"),
        (RECORD, '"name": "accepted", ', "", "line 4 is malformed: 'name' is missing."),
        (RECORD, '"uncertainty": 0.0', '"uncertainty": "none"', "line 4 is malformed: 'uncertainty' is 'none'."),
        (RECORD, '"limit": {"max": 0', '"limit": {"most": 3', "line 4 is malformed: 'limit' is {'most': 3"),
        (RECORD, '"limit": {"max": 0', '"limit": {"max": "3"', "line 4 is malformed: 'limit' is {'max': '3'"),
        (RECORD, '{"kind": "stimulus"', '{"kind" "stimulus"', "line 3 is damaged."),
        (RECORD, "", "7\n", "line 1 is malformed: it is no JSON object."),
        (RULE, '"label"', '"lable"', "idle.json is malformed: 'label' is missing."),
        (RULE, "", '"PASS"', "idle.json is malformed: it is no JSON object."),
    ],
)
def test_rejudge_says_what_is_malformed(run, capsys, name, old, new, sentence):
    put(run, name, old, new)
    code, _, err = said(capsys, "rejudge", str(run))
    assert code == 2
    assert err.startswith("pitbench: ")
    assert err.count("\n") == 1
    assert sentence in err


@pytest.mark.parametrize(
    ("old", "new"),
    [('"wall"', '"well"'), ('"observed"', '"seen"'), ('"limits"', '"limit"')],
)
def test_a_report_of_malformed_evidence_is_one_sentence(run, capsys, old, new):
    put(run, RULE, old, new)
    code, _, err = said(capsys, "report", "--render", str(run))
    assert (code, err.count("\n")) == (2, 1)
    assert "malformed" in err


@pytest.mark.parametrize("line", ['{"t": 0}', '{"t": 0, "port": "wire", "dir": "to_board", "hex": "xy"}', "[]"])
def test_a_malformed_trace_of_a_run_that_is_closed_later_is_one_sentence(run, capsys, line):
    (run / "manifest.sha256").unlink()
    (run / TRACE).write_text(line + "\n")
    code, _, err = said(capsys, "report", str(run))
    assert (code, err.count("\n")) == (2, 1)
    assert "main-0000.jsonl is malformed" in err


def test_a_record_whose_last_line_was_cut_off_is_judged(run, capsys):
    text = (run / RECORD).read_text()
    (run / RECORD).write_text(text[:-20])
    code, out, _ = said(capsys, "rejudge", str(run))
    assert code == 2
    assert "NJ-1.28N(i)2/idle: PASS (bench image) then, NOT TESTED now" in out


# -- report


def test_a_whole_folder_has_no_banner_and_its_path_is_printed(run, capsys):
    assert said(capsys, "report", str(run)) == (0, f"{run / 'report.html'}\n", "")
    assert said(capsys, "report", "--render", str(run))[0] == 0
    assert "not as the run left it" not in (run / "report.html").read_text()


def test_a_report_on_altered_evidence_bears_a_banner_here_and_there(run, capsys):
    put(run, RECORD, '"value": 0', '"value": 1')
    code, out, _ = said(capsys, "report", "--render", str(run))
    assert code == 1
    assert f"{RECORD} was altered since the run was closed." in out
    assert "THE EVIDENCE IS NOT AS THE RUN LEFT IT: 1 of its files differ from manifest.sha256." in out
    page = (run / "report.html").read_text()
    assert "This evidence is not as the run left it." in page
    assert f"{RECORD} was altered since the run was closed" in page


def test_a_page_that_is_gone_is_not_printed_and_can_be_made_again(run, capsys):
    (run / "report.html").unlink()
    code, out, _ = said(capsys, "report", str(run))
    assert code == 1
    assert str(run / "report.html") not in out
    assert "`pitbench report --render FOLDER` makes it" in out
    code, out, _ = said(capsys, "report", "--render", str(run))
    assert "NOT AS THE RUN LEFT IT" not in out
    assert out.endswith(f"{run / 'report.html'}\n")
    assert said(capsys, "report", str(run))[0] == 0


@pytest.mark.parametrize("command", ["report", "rejudge"])
def test_a_hunt_of_rabbits_is_no_run(run, capsys, command):
    put(run, "run.json", '"device"', '"hunt": true, "device"')
    (run / "report.html").unlink()
    (run / "manifest.sha256").unlink()
    code, _, err = said(capsys, command, str(run))
    assert code == 2
    assert "is a hunt of rabbits" in err


# -- the lock of a run


def test_a_folder_is_locked_until_it_is_released(tmp_path):
    refuse_while_written(tmp_path)
    lock = lock_run(tmp_path)
    with pytest.raises(EvidenceError, match=r"is still being written \(process \d+\)"):
        refuse_while_written(tmp_path)
    with pytest.raises(EvidenceError, match="is still being written"):
        lock_run(tmp_path)
    lock.release()
    lock.release()
    refuse_while_written(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_nobody_holds_is_stale(tmp_path):
    (tmp_path / "running").write_text("1\n")
    refuse_while_written(tmp_path)
    lock_run(tmp_path).release()


def test_a_finished_run_leaves_no_lock(run):
    assert not (run / "running").exists()
    assert "running" not in json.dumps([path.name for path in run.iterdir()])
