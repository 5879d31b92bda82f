import json
from pathlib import Path

import pytest
from pitbench import cli
from pitbench_hil.catalogue import rules_for
from pitbench_hil.commands import rabbits as command
from pitbench_hil.manifest import verify_manifest
from pitbench_hil.rabbit_engine import Catch, Hunt
from pitbench_hil.rabbit_matrix import Matrix
from pitbench_hil.rabbits import RabbitError, left_out, rabbits_for

pytest_plugins = ["pytester"]

DOOR, BOOTS, REASON = "NJ-1.28N(i)2/idle", "NJ-1.28N(h)/boots", "HOUSE-reason"

# A device of three lines, and tests that look at the very line each.
FIRMWARE = "door = closed\nboots = yes\nreason = given\nidle = on\n"

CONFTEST = """
import pytest

@pytest.fixture
def board(run, image_kind):
    text = (run.image_dirs[image_kind] / "device.py").read_text() if run.image_dirs else FIRMWARE
    run.identify({"image": image_kind}, rung="unix", caps={"wire"})
    return dict(line.split(" = ") for line in text.splitlines())
"""

SUITE = f"""
import time
from pitbench_hil.marks import images, rule

@rule("{DOOR}")
def test_door(board, check):
    check.measure("accepted", int(board["door"] != "closed"))

@images("bench", "release")
@rule("{BOOTS}")
def test_boots(board, check):
    if board["boots"] == "never":
        time.sleep(60)
    check.expect("boots", board["boots"], "yes")

@rule("{REASON}")
def test_reason(board, check):
    check.expect("reason", board["reason"], "given")
"""


def build(device: str, kind: str, out: Path, *, patches: dict[str, str], board: str, wire: str) -> None:
    assert board == "unix"
    (out / "image" / kind).mkdir(parents=True)
    (out / "image" / "crc").write_bytes(b"\0\0")
    (out / "device.py").write_text(patches["device.py"])


def row(name: str, old: str, new: str, *violates: str, file: str = "device.py") -> str:
    values = {"name": name, "file": file, "old": old, "new": new, "why": "Bad."}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "[[rabbit]]\n" + "\n".join([*lines, f"violates = {json.dumps(violates)}\n"])


@pytest.fixture
def hunt(bench, tmp_path):
    bench.write("conftest.py", f"FIRMWARE = {FIRMWARE!r}\n" + CONFTEST)
    bench.write("test_good.py", SUITE)
    firmware = tmp_path / "firmware"
    firmware.mkdir()
    (firmware / "device.py").write_text(FIRMWARE)
    rules = rules_for("bill-acceptor", bench.rules)
    folder = tmp_path / "hunt"
    more = ("--rule-files", str(bench.rules))
    return Hunt(
        (bench.suite,),
        "bill-acceptor",
        "unix:",
        rules,
        folder,
        "id003",
        jobs=1,
        more=more,
        build=build,
        firmware=firmware,
    )


def test_some_rabbits_say_nothing_about_the_rules_that_others_violate(hunt, tmp_path, capfd):
    (tmp_path / "rabbits.toml").write_text(row("door_ignored", "door = closed", "door = open", DOOR))
    assert command.hunt_all(hunt, rabbits_for("bill-acceptor", tmp_path / "rabbits.toml"), [DOOR]) == 0
    assert "violated by no rabbit" not in capfd.readouterr().out
    assert json.loads((hunt.folder / "matrix.json").read_text())["unproven_rules"] == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--target", "/dev/ttyX"], "/dev/ttyX is a real board, and a rabbit is a firmware that cheats"),
        (["--target", "usb:1,wire=usb:2"], "is a real board"),
        (["--target", "moon"], "There is no target 'moon'."),
        (["--jobs", "0"], "0 is no number of boards. Write --jobs 1, or more."),
        (["nobody"], "There is no rabbit 'nobody'."),
    ],
)
def test_what_rabbits_cannot_run_on_is_said_at_once(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["rabbits", "bill-acceptor", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def go(hunt: Hunt, tmp_path: Path, *rows: str) -> tuple[int, dict]:
    (tmp_path / "rabbits.toml").write_text("\n".join(rows))
    code = command.hunt_all(hunt, rabbits_for("bill-acceptor", tmp_path / "rabbits.toml"), [])
    return code, json.loads((hunt.folder / "matrix.json").read_text())


def test_rabbits_caught_by_the_rules_that_they_violate(hunt, tmp_path, capfd):
    rows = [
        row("door_ignored", "door = closed", "door = open", "NJ-1.28N(i)2"),
        row("never_boots", "boots = yes", "boots = no", BOOTS),
    ]
    code, matrix = go(hunt, tmp_path, *rows)
    assert code == 0
    assert matrix["good"] == {DOOR: "PASS", BOOTS: "PASS", REASON: "PASS"}
    assert [rabbit["caught_by"] for rabbit in matrix["rabbits"]] == [[DOOR], [BOOTS]]
    # Only what a rabbit violates is run on it.
    assert [set(rabbit["verdicts"]) for rabbit in matrix["rabbits"]] == [{DOOR}, {BOOTS}]
    assert matrix["unproven_rules"] == [REASON]
    assert verify_manifest(hunt.folder) == []
    assert "door_ignored: caught by NJ-1.28N(i)2/idle" in capfd.readouterr().out


def test_a_rabbit_that_nobody_catches_fails_the_command(hunt, tmp_path):
    code, matrix = go(hunt, tmp_path, row("harmless", "idle = on", "idle = off", DOOR))
    assert code == 1
    assert matrix["problems"] == [f"Rabbit harmless is not caught by {DOOR}: caught by nobody."]
    assert set(matrix["rabbits"][0]["verdicts"]) == {DOOR, BOOTS, REASON}


def test_a_rabbit_caught_only_by_rules_that_it_does_not_violate_fails_the_command(hunt, tmp_path):
    code, matrix = go(hunt, tmp_path, row("mislabelled", "reason = given", "reason = none", DOOR))
    assert code == 1
    said = f"Rabbit mislabelled is not caught by {DOOR}: caught only by rules that it doesn't violate: {REASON}."
    assert matrix["problems"] == [said]


def test_a_rule_that_fails_the_good_device_fails_the_command(hunt, tmp_path):
    text = (hunt.suites[0] / "test_good.py").read_text()
    (hunt.suites[0] / "test_good.py").write_text(text.replace('"given")', '"told")'))
    code, matrix = go(hunt, tmp_path, row("door_ignored", "door = closed", "door = open", DOOR))
    assert code == 1
    assert matrix["problems"] == [f"{REASON} fails the good device."]


def test_full_runs_every_rule_on_every_rabbit_two_at_a_time(hunt, tmp_path):
    full = Hunt(**{**hunt.__dict__, "full": True, "jobs": 2})
    doors = [row(f"door_{way}", "door = closed", f"door = {way}", DOOR) for way in ("open", "ajar", "gone")]
    code, matrix = go(full, tmp_path, *doors)
    assert code == 0
    assert [rabbit["name"] for rabbit in matrix["rabbits"]] == ["door_open", "door_ajar", "door_gone"]
    for rabbit in matrix["rabbits"]:
        assert rabbit["verdicts"] == {DOOR: "FAIL", BOOTS: "PASS", REASON: "PASS"}


def test_a_suite_that_hangs_on_a_rabbit_is_ended_and_named(hunt, tmp_path):
    short = Hunt(**{**hunt.__dict__, "timeout": 2.5})
    code, matrix = go(short, tmp_path, row("hangs", "boots = yes", "boots = never", BOOTS))
    assert code == 1
    assert "its suite didn't end within 2.5 s" in matrix["problems"][0]


def test_a_row_must_match_exactly_once(tmp_path):
    (tmp_path / "device.py").write_text("a\na\n")
    path = tmp_path / "r.toml"
    path.write_text(row("twice", "a", "b", DOOR) + row("never", "x", "b", DOOR) + row("once", "a\na", "b", DOOR))
    twice, never, once = rabbits_for("bill-acceptor", path)
    with pytest.raises(RabbitError, match="twice matches device.py 2 times"):
        twice.patch(tmp_path)
    with pytest.raises(RabbitError, match="never matches device.py 0 times"):
        never.patch(tmp_path)
    assert once.patch(tmp_path) == {"device.py": "b\n"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "There is no rabbit in"),
        (row("a", "x", "y", DOOR) * 2, "Two rabbits are named a"),
        (row("a", "x", "x", DOOR), "a change"),
        (row("a", "x", "y"), "violates"),
        (row("a", "x", "y", DOOR).replace("why", "reason"), "reason, why"),
    ],
)
def test_a_bad_file_of_rabbits_is_refused_by_name(tmp_path, text, complaint):
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(RabbitError, match=complaint):
        rabbits_for("bill-acceptor", tmp_path / "r.toml")


def test_a_rabbit_can_violate_only_rules_that_are_tested(tmp_path):
    (tmp_path / "r.toml").write_text(row("a", "x", "y", "NJ-1.28N(e)/wiring"))
    (rabbit,) = rabbits_for("bill-acceptor", tmp_path / "r.toml")
    with pytest.raises(RabbitError, match="can't be tested"):
        rabbit.violated(rules_for("bill-acceptor").values())


def test_the_table_tells_the_five_cases_apart(tmp_path):
    (tmp_path / "r.toml").write_text(row("one", "x", "y", DOOR) + row("two", "x", "y", BOOTS))
    one, two = rabbits_for("bill-acceptor", tmp_path / "r.toml")
    caught = Catch(one, [DOOR], {DOOR: "FAIL", REASON: "FAIL", BOOTS: "PASS"})
    missed = Catch(two, [BOOTS], {BOOTS: "PASS", DOOR: "NOT TESTED"})
    rules = {name: rules_for("bill-acceptor")["NJ-1.28N(a)/settings"] for name in (DOOR, BOOTS, REASON)}
    matrix = Matrix(rules, {DOOR: "PASS", BOOTS: "PASS", REASON: "FAIL"}, [caught, missed])
    assert [matrix.cell(name, caught) for name in (DOOR, BOOTS, REASON)] == ["●", "·", "x"]
    assert [matrix.cell(name, missed) for name in (DOOR, BOOTS, REASON)] == ["?", "○", " "]
    lines = matrix.text().splitlines()
    assert lines[1].split() == ["rule", "good", "1", "2"]
    assert lines[2].split() == [DOOR, "·", "●", "?"]
    assert lines[4].split() == [REASON, "x", "x"]


@pytest.fixture
def shared(tmp_path, monkeypatch):
    folder = tmp_path / "common"
    folder.mkdir()
    rows = (
        ("everybodys", "link/ops.py", "NJ-1.28(c)/release-has-no-bench"),
        ("of_who_signs", "boot/verify.py", "NJ-1.28X(h)/altered"),
        ("of_who_has_gat", "wire/gat.py", "NJ-1.28(c)/release-has-no-bench"),
        ("currency_table_overstates", "link/ops.py", "NJ-1.28(h)/as-represented"),
    )
    (folder / "r.toml").write_text("".join(row(name, "x", "y", rule, file=file) for name, file, rule in rows))
    monkeypatch.setattr("pitbench_hil.rabbits.COMMON", folder)
    return {row[0] for row in rows}


def test_common_rabbits_are_hunted_where_a_rule_binds_and_the_file_is_there(shared):
    acceptor = {rabbit.name: rabbit.file for rabbit in rabbits_for("bill-acceptor")}
    assert shared & acceptor.keys() == {"everybodys", "currency_table_overstates"}
    assert acceptor["currency_table_overstates"] == "device/currency_usd.py"  # its own row
    assert shared <= {rabbit.name for rabbit in rabbits_for("shuffler")}
    assert (left_out("bill-acceptor"), left_out("shuffler")) == (["of_who_has_gat"], [])


def test_a_common_rabbit_of_no_rule_is_refused(shared, tmp_path):
    (tmp_path / "common" / "r.toml").write_text(row("lost", "x", "y", "NJ-9"))
    with pytest.raises(RabbitError, match="lost violates a rule that can't be tested"):
        rabbits_for("shuffler")
