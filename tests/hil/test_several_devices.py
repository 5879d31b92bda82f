"""Commands over several devices: each in its own process and folder, one summary, one exit code, one Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fabricated import CONFTEST, GOOD, RULES
from pitbench.cli import main
from pitbench.devices import BUILT
from pitbench.sources import wires_of
from pitbench_hil import several
from pitbench_hil.commands import verify
from pitbench_hil.manifest import verify_manifest
from pitbench_hil.several import Ended, Part, exit_code, run_parts, summary

DOOR = "NJ-1.28N(i)2/idle"


def fabricated(root: Path, device: str, test: str = GOOD) -> Part:
    """A suite of its own for a device, and what runs it."""
    suite, rules, folder = root / "suites" / device.replace("-", "_"), root / f"rules-{device}", root / "runs" / device
    suite.mkdir(parents=True)
    rules.mkdir()
    (suite / "conftest.py").write_text(CONFTEST)
    (suite / "test_good.py").write_text(test)
    (rules / "10_some.toml").write_text(RULES.replace("bill-acceptor", device))
    words = ["--device", device, "--rule-files", str(rules), "--run-dir", str(folder)]
    plain = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    return Part(device, (sys.executable, "-m", "pytest", str(suite), *plain, *words), folder)


verdicts = verify._verdicts


def test_each_device_has_its_folder_and_the_worst_of_them_counts(tmp_path, capfd):
    bad = GOOD.replace('check.measure("accepted", 0)', 'check.measure("accepted", 1)')
    parts = [fabricated(tmp_path, "bill-acceptor", bad), fabricated(tmp_path, "shuffler")]
    ended = run_parts(parts)
    assert [one.code for one in ended] == [1, 0]
    assert exit_code(ended) == 1
    assert [verify_manifest(part.folder) for part in parts] == [[], []]
    head, *lines, total = summary(ended, verdicts)[1:]
    assert head.split() == ["device", "PASS", "FAIL", "INSPECT", "exit", "code", "time", "evidence"]
    assert [line.split()[:4] for line in lines] == [["bill-acceptor", "2", "1", "1"], ["shuffler", "3", "1", "0"]]
    assert [line.split()[-1] for line in lines] == [str(part.folder) for part in parts]
    assert total.startswith("2 runs in ")
    assert total.endswith(" s, exit code 1")
    said = capfd.readouterr().out
    assert said.index("bill-acceptor (1 of 2)") < said.index(f"FAIL          {DOOR}") < said.index("shuffler (2 of 2)")


@pytest.mark.parametrize(("codes", "worst"), [((0, 0), 0), ((0, 1), 1), ((2, 1), 2), ((130, None), 130), ((), 0)])
def test_trouble_is_worse_than_a_fail(tmp_path, codes, worst):
    assert exit_code([Ended(Part("d", (), tmp_path), code) for code in codes]) == worst


def test_a_process_that_dies_is_trouble_and_the_next_device_is_run(tmp_path):
    dies = (sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    ended = run_parts(
        [Part("one", dies, tmp_path), Part("other", (sys.executable, "-c", ""), tmp_path)], lambda _: None
    )
    assert [one.code for one in ended] == [2, 0]


# -- Ctrl-C

BOTH = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from test_several_devices import fabricated, verdicts
from pitbench_hil.several import exit_code, run_parts, summary
slow = Path({root!r}, "slow.py").read_text()
ended = run_parts([fabricated(Path({root!r}), "bill-acceptor", slow), fabricated(Path({root!r}), "shuffler")])
print("\\n".join(summary(ended, verdicts)))
sys.exit(exit_code(ended))
"""
SLOW = "import os, time\n" + GOOD.replace(
    '"ready", "ready")', '"ready", "ready")\n    (run.folder / "pid").write_text(str(os.getpid()))\n    time.sleep(60)'
).replace("def test_boots(board, check)", "def test_boots(run, board, check)")


def wait_for(path: Path) -> None:
    until = time.monotonic() + 30
    while not (path.exists() and path.read_text()) and time.monotonic() < until:
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_the_command_ends_the_suite_under_way_and_begins_no_other(tmp_path, number):
    (tmp_path / "slow.py").write_text(SLOW)
    script = BOTH.format(here=str(Path(__file__).parent), root=str(tmp_path))
    command = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pid = tmp_path / "runs/bill-acceptor/pid"
    wait_for(pid)
    command.send_signal(number)
    said, _ = command.communicate(timeout=300)
    assert command.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    head = json.loads((tmp_path / "runs/bill-acceptor/run.json").read_text())
    assert head["status"] == "interrupted"
    assert verify_manifest(tmp_path / "runs/bill-acceptor") == []
    assert not (tmp_path / "runs/shuffler").exists()
    *_, acceptor, shuffler, total = said.splitlines()
    assert acceptor.split()[:2] == ["bill-acceptor", "1"]
    assert shuffler.split() == ["shuffler", "not", "run"]
    assert total.endswith("exit code 130")


def test_a_second_ctrl_c_ends_it_by_force(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW.replace("time.sleep(60)", STUBBORN))
    script = BOTH.format(here=str(Path(__file__).parent), root=str(tmp_path))
    command = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pid = tmp_path / "runs/bill-acceptor/pid"
    wait_for(pid)
    command.send_signal(signal.SIGINT)
    time.sleep(0.3)
    command.send_signal(signal.SIGINT)
    command.communicate(timeout=300)
    assert command.returncode == 130


STUBBORN = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"


# -- what the commands make of their words


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """The parts that a command would run, none of them run."""
    parts: list[Part] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(several, "run_parts", lambda given: parts.extend(given) or [])
    return parts


def words(part: Part, option: str) -> str:
    return part.command[part.command.index(option) + 1]


def test_without_a_device_every_device_is_held_to_its_rules_with_all_jobs(begun, tmp_path):
    assert main(["verify", "--jobs", "3", "--profile", "house", "--pytest=-x"]) == 0
    assert [part.device for part in begun] == list(BUILT)
    for part in begun:
        assert list(part.command[:5]) == [sys.executable, "-m", "pitbench", "verify", part.device]
        assert (words(part, "--jobs"), words(part, "--profile"), part.command[-1]) == ("3", "house", "--pytest=-x")
        assert words(part, "--run-dir") == str(part.folder)
        assert part.folder.parent == tmp_path / "runs"
        assert part.device in part.folder.name


def test_a_folder_for_several_devices_has_one_for_each(begun, tmp_path):
    assert main(["verify", "shuffler", "bill_acceptor", "--run-dir", str(tmp_path / "here")]) == 0
    assert [part.folder for part in begun] == [tmp_path / "here/shuffler", tmp_path / "here/bill-acceptor"]


def test_each_device_is_asked_for_the_rules_that_it_has(begun, monkeypatch, capsys):
    assert main(["verify", "--rules", "NJ-1.28(h)*,NJ-1.28X(d),NJ-1.28N(c)"]) == 0
    asked = {part.device: words(part, "--rules") for part in begun}
    assert asked == dict.fromkeys(BUILT, "NJ-1.28(h)*") | {
        "bill-acceptor": "NJ-1.28(h)*,NJ-1.28N(c)",
        "shuffler": "NJ-1.28(h)*,NJ-1.28X(d)",
    }
    begun.clear()
    alone: list[list[str]] = []
    monkeypatch.setattr(verify, "run_pytest", lambda words: alone.append(words) or 0)
    assert main(["verify", "--rules", "NJ-1.28X(d)"]) == 0
    assert begun == []
    assert "--device shuffler" in " ".join(alone[0])
    assert "bill-acceptor is left out: it has no such rule." in capsys.readouterr().out


def test_every_device_is_hunted_by_its_rabbits(begun, tmp_path):
    assert main(["rabbits", "--full", "--jobs", "3"]) == 0
    hunted = [(part.command[4], words(part, "--wire")) for part in begun]
    assert [part.command[3] for part in begun] == ["rabbits"] * len(hunted)
    assert sorted(hunted) == sorted((d, w) for d in BUILT for w in wires_of(d) if (d, w) != ("bill-acceptor", "gat"))
    assert all(words(part, "--jobs") == "3" and part.command[-1] == "--full" for part in begun)


def test_every_device_has_its_rabbits_listed(begun, capsys):
    assert main(["rabbits", "--list"]) == 0
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if line.endswith(":") and " " not in line] == [f"{d}:" for d in BUILT]
    assert begun == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["verify", "roulette"], f"There is no device 'roulette'. Choose from: {', '.join(BUILT)}."),
        (["verify", "--rules", "NJ-9"], "No rule is named 'NJ-9'."),
        (
            ["verify", "--image", "bench=x"],
            f"A built image is one device's, with one wire. Name its device: {' or '.join(BUILT)}.",
        ),
        (
            ["verify", "bill-acceptor", "shuffler", "--target", "/dev/a,wire=/dev/b"],
            "/dev/a,wire=/dev/b is one board, and bill-acceptor and shuffler were named.",
        ),
        (["verify", "--target", "/dev/nobody,wire=/dev/none"], "There is no port /dev/nobody."),
        (["rabbits", "nobody"], f"'nobody' is a rabbit of which device? Name one of: {', '.join(BUILT)}."),
    ],
)
def test_what_does_not_fit_several_devices_is_one_sentence(begun, capsys, line, sentence):
    assert main(line) == 2
    assert sentence in capsys.readouterr().err
    assert begun == []


def test_a_real_board_without_a_name_is_what_it_says_it_is(begun, monkeypatch):
    class Opened:
        identity = {"device": "shuffler"}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(several, "open_target", lambda target: Opened())
    assert several.devices_meant([], "usb:1,wire=usb:2") == ["shuffler"]
    assert several.devices_meant(["bill_acceptor"], "usb:1,wire=usb:2") == ["bill-acceptor"]
