import errno
import json
import signal
import subprocess
import sys
import textwrap
import time
from xml.etree import ElementTree as ET

import pytest
from fabricated import CONFTEST, GOOD
from pitbench_hil.durable import unwritable
from pitbench_hil.manifest import verify_manifest

pytest_plugins = ["pytester"]

DOOR = "NJ-1.28N(i)2/idle"
BOOTS = "NJ-1.28N(h)/boots"


def test_a_good_device_passes_and_the_folder_is_whole(bench):
    result = bench.run()
    assert result.ret == 0
    assert bench.verdicts() == {
        DOOR: "PASS (bench image)",
        BOOTS: "PASS",
        "HOUSE-reason": "PASS (bench image)",
        "NJ-1.28N(e)/wiring": "INSPECT",
    }
    assert verify_manifest(bench.folder) == []
    head = json.loads((bench.folder / "run.json").read_text())
    assert head["status"] == "finished"
    assert {i["identity"]["image"]: i["tests"] for i in head["identities"]} == {"bench": 3, "release": 1}
    result.stdout.fnmatch_lines(["*PASS*NJ-1.28N(i)2/idle*accepted 0 items*", "*INSPECT*Look at the cables.*"])


def test_evidence_of_a_rule_is_complete_and_masked(bench):
    bench.run()
    evidence = json.loads((bench.folder / "rules" / "NJ_1.28N_i_2_idle.json").read_text())
    (record,) = evidence["records"]
    kinds = [row["kind"] for row in record["rows"]]
    assert kinds == ["identity", "stimulus", "measure", "end"]
    assert record["rows"][1]["data"]["number"].startswith("*")
    assert record["trace_excerpt"]["start"][0]["hex"] == "fc 05 11 27 56"
    assert evidence["rule"]["clause"]["text"].endswith("2. Stacker door open;")
    assert record["wall"].startswith("20")
    assert record["mono"] > 0


REBOOTED = """
    from pitbench.link import BoardRebooted
    raise BoardRebooted("advance", 3, {{"boot": 4, "reset": "{}"}})
"""


def test_a_device_that_fails_by_a_program_error_fails_the_rules_of_its_test(bench):
    bench.write("test_good.py", GOOD.replace('    check.measure("accepted", 0)', REBOOTED.format("crash")))
    assert bench.run().ret == 1
    assert bench.verdicts()[DOOR] == "FAIL"
    assert "program error: The board rebooted (crash) before 'advance' was answered" in bench.why(DOOR)
    assert bench.verdicts()[BOOTS] == "PASS"


@pytest.mark.parametrize(("rung", "verdict"), [("unix", "FAIL"), ("emu", "FAIL"), ("board", "NOT TESTED")])
def test_a_device_that_hangs_is_at_fault_where_no_cable_can_be_out(bench, rung, verdict):
    hangs = 'from pitbench.link import LinkTimeout\n    raise LinkTimeout("No reply in 5 s.", "Look at it.")'
    bench.write("conftest.py", CONFTEST.replace('rung="unix"', f'rung="{rung}"'))
    bench.write("test_good.py", GOOD.replace('check.measure("accepted", 0)', hangs))
    assert bench.run().ret == (1 if verdict == "FAIL" else 2)
    assert bench.verdicts()[DOOR] == verdict
    assert "No reply in 5 s." in bench.why(DOOR)


def test_a_program_error_in_a_fixture_is_the_devices_too(bench):
    bench.write("conftest.py", CONFTEST.replace("    return {", REBOOTED.format("crash") + "    return {"))
    assert bench.run().ret == 1
    assert bench.verdicts()[DOOR] == "FAIL"
    assert bench.verdicts()["HOUSE-reason"] == "FAIL (doesn't count)"


@pytest.mark.parametrize("reset", ["died", "power", "watchdog"])
def test_a_board_that_something_else_restarted_breaks_the_rig(bench, reset):
    bench.write("test_good.py", GOOD.replace('    check.measure("accepted", 0)', REBOOTED.format(reset)))
    assert bench.run().ret == 2
    assert f"BoardRebooted: The board rebooted ({reset})" in bench.why(DOOR)


def test_codes_of_the_wire_are_recorded_with_their_names(bench):
    named = 'from pitbench.protocols.id003 import Status\n    check.expect("status", 0x46, Status.JAM_IN_ACCEPTOR)'
    more = '\n    check.expect("set", {0x46, 0x15}, {Status.VEND_VALID, Status.JAM_IN_STACKER})'
    more += '\n    check.expect("none", None, Status.IDLE)\n    check.expect("number", 0x46, 0x46)'
    bench.write("test_good.py", GOOD.replace('check.expect("reason", 0x71, 0x71)', named + more))
    bench.run()
    evidence = json.loads((bench.folder / "rules" / "HOUSE_reason.json").read_text())
    rows = [row for row in evidence["records"][0]["rows"] if row["kind"] == "expect"]
    seen = [(row["observed"], row["expected"], row["met"]) for row in rows]
    assert seen == [
        ("46 (jam in stacker)", "45 (jam in acceptor)", False),
        (["15 (vend valid)", "46 (jam in stacker)"], ["15 (vend valid)", "46 (jam in stacker)"], True),
        (None, "11 (idle)", False),
        (0x46, 0x46, True),
    ]


def test_a_measurement_beyond_its_limit_fails_test_run_and_junit(bench):
    bench.write("test_good.py", GOOD.replace('"accepted", 0', '"accepted", 2'))
    result = bench.run()
    assert result.ret == 1
    assert bench.verdicts()[DOOR] == "FAIL"
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["FAIL NJ-1.28N(i)2/idle (N.J.A.C. 13:69E-1.28N(i)2): accepted 2 items"])
    suite = ET.parse(bench.folder / "junit.xml").getroot()[0]
    assert suite.attrib["failures"] == "1"
    assert suite.find("./testcase/failure").attrib["message"] == "FAIL: accepted 2 items"


def test_a_plugin_that_forgives_a_failed_test_does_not_forgive_a_fail(bench):
    forgiving = """
        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_runtest_makereport(item, call):
            report = yield
            report.outcome = "passed"
            return report
        """
    bench.write("conftest.py", CONFTEST + textwrap.dedent(forgiving))
    bench.write("test_good.py", GOOD.replace('"accepted", 0', '"accepted", 2'))
    result = bench.run()
    result.assert_outcomes(passed=4)
    assert result.ret == 1


def test_a_plain_assert_is_a_rule_assertion(bench):
    bench.write("test_good.py", GOOD.replace('check.measure("accepted", 0)', 'assert 1 == 2, "took a note"'))
    assert bench.run().ret == 1
    assert bench.verdicts()[DOOR] == "FAIL"
    assert "took a note" in bench.why(DOOR)


def test_any_other_exception_leaves_its_rules_untested_and_others_go_on(bench):
    bench.write("test_good.py", GOOD.replace('check.measure("accepted", 0)', 'raise OSError("cable out")'))
    result = bench.run()
    assert result.ret == 2
    assert bench.verdicts()[DOOR] == "NOT TESTED"
    assert bench.why(DOOR) == "OSError: cable out"
    assert bench.verdicts()[BOOTS] == "PASS"
    result.stdout.fnmatch_lines(["The rig broke in suites/bill_acceptor/test_good.py::test_door: OSError: cable out"])


def test_what_breaks_again_and_again_is_the_rig_and_later_rules_name_it(bench):
    broken = textwrap.dedent(
        """
        @pytest.mark.parametrize("number", range(3))
        @rule("NJ-1.28N(i)2/idle")
        def test_again(board, number):
            raise OSError("cable out")
        """
    )
    bench.write("test_again.py", "import pytest\nfrom pitbench_hil.marks import rule\n" + broken)
    result = bench.run()
    assert result.ret == 2
    assert set(bench.verdicts().values()) == {"NOT TESTED", "INSPECT"}
    assert bench.why(BOOTS) == "the rig broke: OSError: cable out"
    result.stdout.fnmatch_lines(["The rig broke in suites/bill_acceptor/test_again.py::test_again*"])


def test_a_board_that_does_not_start_breaks_the_rig(bench):
    bench.write("conftest.py", "import pytest\n@pytest.fixture\ndef board(run):\n    assert 0, 'no board'\n")
    assert bench.run().ret == 2
    assert "no board" in bench.why(DOOR)


def test_silence_where_the_device_has_to_answer_is_its_fault(bench):
    silent = (
        'check.measure("accepted", 0)\n    with check.duty("answers"):\n        raise TimeoutError("3 s of silence")'
    )
    bench.write("test_good.py", GOOD.replace('check.measure("accepted", 0)', silent))
    assert bench.run().ret == 1
    assert bench.verdicts()[DOOR] == "FAIL"
    assert bench.verdicts()[BOOTS] == "PASS"


def test_a_wrong_image_is_said_first(bench):
    bench.write("conftest.py", CONFTEST.replace('pc={"digest": "aa11"}', 'pc={"digest": "bb22"}'))
    assert bench.run().ret == 2
    assert "its digest is aa11, the image's is bb22" in bench.why(DOOR)


def test_a_rule_whose_needs_the_target_lacks_is_not_tested_by_name(bench):
    bench.write("test_good.py", GOOD.replace('@rule("HOUSE-reason")', '@needs("lock")\n@rule("HOUSE-reason")'))
    result = bench.run()
    assert result.ret == 0
    assert bench.why("HOUSE-reason") == "needs lock: the target doesn't have it"


def test_house_fails_under_the_house_profile_only(bench):
    bench.write("test_good.py", GOOD.replace("0x71, 0x71", "0x72, 0x71"))
    assert bench.run().ret == 0
    assert bench.verdicts()["HOUSE-reason"] == "FAIL (doesn't count)"
    bench.folder = bench.folder.with_name("house")
    assert bench.run("--profile", "house").ret == 1
    assert bench.verdicts()["HOUSE-reason"] == "FAIL"


def test_a_release_image_that_fails_is_not_hidden_by_the_bench_image(bench):
    bench.write("test_good.py", GOOD.replace('"ready", "ready"', 'board["kind"], "bench"'))
    assert bench.run().ret == 1
    assert bench.verdicts()[BOOTS] == "FAIL"


def test_one_kind_of_image_can_be_asked_for(bench):
    assert bench.run("--image-kind", "bench").ret == 0
    assert bench.verdicts()[BOOTS] == "PASS (bench image)"
    bench.folder = bench.folder.with_name("release")
    assert bench.run("--image-kind", "release").ret == 0
    assert bench.verdicts()[BOOTS] == "PASS"
    assert bench.why(DOOR) == "not selected in this run"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('@rule("HOUSE-reason")', ""), "test_reason names no rule"),
        (("HOUSE-reason", "HOUSE-raeson"), "HOUSE-reason is"),
        (('@rule("HOUSE-reason")', '@needs("luck")\n@rule("HOUSE-reason")'), "needs 'luck'"),
        (('"HOUSE-reason"', '"NJ-1.28N(e)/wiring"'), "which is INSPECT in the catalogue"),
        (('@images("bench", "release")', ""), "NJ-1.28N(h)/boots has no test on a release image."),
        (("def test_reason", "def no_test_reason"), "HOUSE-reason has no test."),
    ],
)
def test_a_suite_in_trouble_says_which_test_or_rule_and_never_exits_0(bench, change, complaint):
    bench.write("test_good.py", GOOD.replace(*change))
    result = bench.run()
    assert result.ret == 2
    assert complaint in result.stdout.str()
    assert bench.verdicts()[DOOR] == "PASS (bench image)"


def test_a_narrowed_run_asks_for_no_other_rule(bench):
    assert bench.run("--rules", "NJ-1.28N(i)").ret == 0
    assert bench.verdicts() == {DOOR: "PASS (bench image)"}
    bench.folder = bench.folder.with_name("k")
    assert bench.run("-k", "door").ret == 0
    assert bench.why(BOOTS) == "not selected in this run"


def test_a_run_of_rules_that_only_a_person_answers_is_no_trouble(bench):
    assert bench.run("--rules", "NJ-1.28N(e)/wiring").ret == 0
    assert bench.verdicts() == {"NJ-1.28N(e)/wiring": "INSPECT"}


def test_two_workers_write_one_run(bench):
    result = bench.run("-n", "2")
    assert result.ret == 0
    assert bench.verdicts()[BOOTS] == "PASS"
    assert {path.name[:3] for path in (bench.folder / "records").iterdir()} == {"gw0", "gw1"}
    result.stdout.fnmatch_lines(["*PASS*NJ-1.28N(i)2/idle*"])


def test_what_breaks_in_one_worker_is_said_and_the_other_goes_on(bench):
    bench.write("test_good.py", GOOD.replace('check.measure("accepted", 0)', 'raise OSError("cable out")'))
    assert bench.run("-n", "2").ret == 2
    assert bench.verdicts()[BOOTS] == "PASS"
    assert json.loads((bench.folder / "broken.json").read_text())["cause"] == "OSError: cable out"


def test_ctrl_c_ends_quietly_keeps_what_was_recorded_and_closes_the_folder(bench):
    bench.write("test_good.py", GOOD.replace('"ready", "ready")', '"ready", "ready")\n    raise KeyboardInterrupt'))
    result = bench.run()
    assert result.ret == 130
    assert "!!!" not in result.stdout.str() + result.stderr.str()
    assert bench.verdicts()[DOOR] == "PASS (bench image)"
    assert "interrupted" in bench.why(BOOTS) or "KeyboardInterrupt" in bench.why(BOOTS)
    assert json.loads((bench.folder / "run.json").read_text())["status"] == "interrupted"
    assert verify_manifest(bench.folder) == []


def test_a_killed_run_can_be_closed_later(bench):
    slow = "import time\n" + GOOD.replace('"ready", "ready")', '"ready", "ready")\n    time.sleep(60)')
    bench.write("test_good.py", slow)
    words = ["--device", "bill-acceptor", "--rule-files", str(bench.rules), "--run-dir", str(bench.folder)]
    process = subprocess.Popen([sys.executable, "-m", "pytest", "suites", *words], cwd=bench.pytester.path)
    until = time.monotonic() + 20
    while len(list((bench.folder / "records").glob("*"))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    for command in ("report", "rejudge"):
        early = subprocess.run(
            [sys.executable, "-m", "pitbench", command, str(bench.folder)], capture_output=True, text=True
        )
        assert early.returncode == 2
        assert f"is still being written (process {process.pid}). Ask again when it has ended." in early.stderr
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (bench.folder / "running").exists(), "a lock that is stale"
    done = subprocess.run(
        [sys.executable, "-m", "pitbench", "report", str(bench.folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "cut short" in done.stdout
    assert bench.verdicts()[DOOR] == "PASS (bench image)"
    assert bench.verdicts()[BOOTS] == "NOT TESTED"


def test_a_full_disk_ends_the_run_with_one_sentence(bench):
    full = 'run.record._lines._file = open("/dev/full", "w")\n    check.note("lost")'
    text = GOOD.replace("(board, check):\n    check.expect", f"(run, board, check):\n    {full}\n    check.expect")
    bench.write("test_good.py", text)
    result = bench.run()
    assert result.ret == 2
    assert "The disk is full" in result.stdout.str()
    assert "INTERNALERROR" not in result.stdout.str()
    assert bench.verdicts()[DOOR] == "PASS (bench image)"
    assert bench.verdicts()["HOUSE-reason"] == "NOT TESTED"


def test_a_disk_full_at_the_end_is_one_sentence_and_keeps_the_records(bench, monkeypatch):
    def full(folder, *_):
        raise unwritable(folder / "report.html", OSError(errno.ENOSPC, "No space left on device"))

    monkeypatch.setattr("pitbench_hil.evidence.write_report", full)
    result = bench.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["The disk is full: */report.html could not be written. Free some space*"])
    assert "Traceback" not in result.stdout.str()
    assert len(list((bench.folder / "records").iterdir())) == 4


def test_a_second_run_in_one_folder_is_refused(bench):
    assert bench.run().ret == 0
    result = bench.run()
    assert result.ret == 2
    assert "holds a run already" in result.stderr.str()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--device", "roulette"), "There is no device 'roulette'. Choose from: bill-acceptor,"),
        (("--rules", "NJ-9"), "No rule is named 'NJ-9'."),
        (("--profile", "nv"), "There is no profile 'nv'. Choose from: nj, ny, house."),
        (("--rules", ","), "--rules ',' names nothing."),
        (("--image", "bench"), "Write --image bench=FOLDER"),
        (("--image", "bench=suites"), "suites holds no built image. Build one with `pitbench image`"),
        (("--target", "roulette"), "There is no target 'roulette'. Choose from: virtual,"),
        (("--target", "/dev/nobody,wire=/dev/none"), "There is no port /dev/nobody."),
        (("--target", "/dev/one,wire=/dev/one"), "names one port twice."),
        (("--timing-uncertainty", "-1"), "A timing uncertainty of -1 ms can't be."),
        (("--timing-uncertainty", "nan"), "A timing uncertainty of nan ms can't be."),
        (("-n", "-3"), "-3 is no number of boards."),
        (("--rule-files", "nowhere"), "nowhere is no folder."),
    ],
)
def test_a_wrong_word_on_the_command_line_is_one_sentence_before_anything_is_collected(bench, words, sentence):
    bench.write("test_good.py", "raise RuntimeError('collected')")
    result = bench.run(*words)
    assert result.ret == 2
    assert [line for line in result.outlines if line] == []
    assert [line for line in result.errlines if line.startswith("pitbench: ")] == result.errlines
    assert sentence in result.errlines[0]
    assert not bench.folder.exists()


def test_a_target_without_a_device_says_what_to_add(bench):
    result = bench.inprocess("suites", "--target", "unix:")
    assert result.ret == 2
    assert result.errlines == ["pitbench: --target and --rules need a device. Add --device bill-acceptor."]


@pytest.mark.parametrize("kind", ["bench", "release"])
def test_an_image_of_the_other_kind_is_refused(bench, kind):
    image = bench.pytester.path / "image-folder"
    (image / "image" / ("hal" if kind == "bench" else "bench")).mkdir(parents=True)
    (image / "image" / "crc").write_bytes(b"\0\0")
    result = bench.run("--image", f"{kind}={image}")
    assert result.ret == 2
    assert f"Name a folder with a {kind} image." in result.errlines[0]


def test_suites_of_other_devices_are_not_imported(bench):
    other = bench.pytester.path / "suites" / "shuffler"
    other.mkdir()
    (other / "test_other.py").write_text("raise RuntimeError('imported')\n")
    assert bench.run().ret == 0


def test_without_a_device_a_suite_says_what_to_type(bench):
    result = bench.pytester.runpytest_subprocess("suites", "-p", "no:cacheprovider")
    assert result.ret == 1
    assert "pytest hil --target unix: --device bill-acceptor" in result.stdout.str()


def test_a_multi_rule_test_tells_its_rules_apart(bench):
    bench.write(
        "test_good.py",
        GOOD.replace('@rule("HOUSE-reason")', f'@rule("HOUSE-reason", "{DOOR}")').replace(
            '"reason", 0x71, 0x71)', '"reason", 1, 2, rule="HOUSE-reason")\n    check.measure("accepted", 0)'
        ),
    )  # fmt: skip
    assert bench.run().ret == 0
    assert bench.verdicts()["HOUSE-reason"] == "FAIL (doesn't count)"
    assert bench.verdicts()[DOOR] == "PASS (bench image)"


def test_rejudge_applies_todays_limit_to_yesterdays_measurement(bench):
    bench.run()
    rejudge = [sys.executable, "-m", "pitbench", "rejudge", str(bench.folder)]
    same = subprocess.run(rejudge, capture_output=True, text=True)
    assert same.returncode == 0, same.stdout + same.stderr
    rules = bench.rules / "10_some.toml"
    rules.write_text(rules.read_text().replace("max = 0", "max = -1"))
    changed = subprocess.run(rejudge, capture_output=True, text=True)
    assert changed.returncode == 1
    assert f"{DOOR}: PASS (bench image) then, FAIL now" in changed.stdout
    (bench.folder / "traces" / "main-0000.jsonl").write_text("")
    damaged = subprocess.run(rejudge, capture_output=True, text=True)
    assert damaged.returncode == 2
    assert "traces/main-0000.jsonl was altered" in damaged.stdout


SHARED = """
from pitbench_hil.marks import rule

@rule("NJ-1.28N(i)2/idle")
def test_shared(board, check):
    check.measure("accepted", 0)

@rule("NJ-1.28X(h)/altered/code")
def test_of_another_device():
    raise AssertionError("not this device's")
"""


@pytest.fixture
def common(bench):
    folder = bench.suite.parent / "common"
    folder.mkdir()
    (folder / "conftest.py").write_text(textwrap.dedent(CONFTEST))
    (folder / "test_shared.py").write_text(SHARED)
    return folder


def test_the_common_suite_runs_for_a_device_as_far_as_its_rules_bind_it(bench, common):
    result = bench.run()
    assert result.ret == 0
    result.assert_outcomes(passed=5)
    collected = json.loads((bench.folder / "collection.json").read_text())
    assert [rules for name, rules in collected["tests"].items() if "common" in name] == [[DOOR]]
    assert not collected["narrowed"]


def test_a_rule_that_no_device_has_is_an_error_in_the_common_suite_too(bench, common):
    (common / "test_shared.py").write_text(SHARED.replace("NJ-1.28X(h)/altered/code", "NJ-9"))
    assert bench.run().ret == 2
    assert "names rule 'NJ-9'" in (bench.folder / "collection.json").read_text()


def test_a_run_without_the_common_suite_is_narrowed(bench, common):
    bench.inprocess(
        "suites/bill_acceptor",
        "--device=bill-acceptor",
        f"--run-dir={bench.folder}",
        "-p",
        "no:cacheprovider",
        f"--rule-files={bench.rules}",
    )
    assert json.loads((bench.folder / "collection.json").read_text())["narrowed"]
