import json
import re

import pytest
from pitbench_hil import report
from pitbench_hil.catalogue import rules_for
from pitbench_hil.durable import to_json, write_whole
from pitbench_hil.evidence import assemble, new_run
from pitbench_hil.records import Record
from pitbench_hil.verdict import Expectation, Measurement
from pitbench_hil.wire_names import frame_names

RULES = rules_for("bill-acceptor")
DOOR, LATE, HOUSE = "NJ-1.28N(i)2/escrow", "NJ-1.28N(a)/response-time", "HOUSE-reject-reason"
IDENTITY = {"device": "bill-acceptor", "image": "bench", "digest": "ab" * 32, "boot_block": "filesystem", "boot": 4}
IDENTITY |= {"version": "3.7.1", "revision": "c0ffee123456", "crc": "88d3", "uid": "4309a05acf34e43b"}


@pytest.fixture
def folder(tmp_path):
    about = {
        "profiles": ["nj"],
        "tool": {"version": "0.1.0", "sources": "t00l", "commit": ""},
        "suite": {"sources": "5u17e"},
    }
    folder = new_run(tmp_path, "bill-acceptor", "unix:", timing_uncertainty_ms=5.0, rule_ids=None, **about)
    tests = {"t0": [DOOR], "t1": [LATE], "t2": [HOUSE]}
    write_whole(folder / "collection.json", to_json({"tests": tests, "problems": [], "narrowed": False}))
    for n, names in enumerate(tests.values()):
        record = Record(
            folder, f"main-{n}", {"test": f"t{n}", "rules": names, "image": "bench", "worker": "main", "needs": []}
        )
        record.add("identity", identity=IDENTITY, rung="unix", pc={"digest": "ab" * 32})
        record.add("stimulus", text="<b>door</b> opened", data={"which": "stacker"})
        record.trace(record.rows[0]["mono"] + 0.1, "wire", "to_board", bytes.fromhex("fc05112756"))
        _facts(record, names[0])
        record.close(outcome="passed")
    assemble(folder, list(RULES.values()))
    return folder


def _facts(record, name):
    if name == DOOR:
        record.measure(Measurement("accepted", 1, "items"), None)
        record.measure(Measurement("credited_minus_stacked", 0, "cents"), None)
    elif name == LATE:
        record.measure(Measurement("slowest_reply", 49.0, "ms", 5.0), None)
    else:
        record.expect(Expectation("reason", 1, 2), None)


@pytest.fixture
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_is_one_file_that_asks_nobody_for_anything(page):
    assert not re.search(r"(src|href)=[\"'](https?:)?//", page)
    assert not re.search(r"@import|url\(", page)
    assert re.search(r"<script>\s*//", page)


def test_every_link_within_the_page_has_its_place(page):
    places = set(re.findall(r'id="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links
    assert links <= places
    assert set(RULES) <= places


def test_every_link_to_a_file_has_its_file(page, folder):
    files = set(re.findall(r'href="((?:rules|traces)/[^"]+)"', page))
    assert len(files) > len(RULES)
    assert all((folder / name).exists() for name in files)


def test_the_header_says_what_was_judged(page):
    header = page[: page.index("</header>")]
    for said in ("bench image, unix", "3.7.1", "c0ffee123456", "88d3", ("ab" * 32)[:16], "of its own for each test"):
        assert said in header


def test_a_real_board_is_named_in_the_header(folder):
    head = json.loads((folder / "run.json").read_text())
    head["identities"][0]["identity"]["uid"] = "e660583883724a32"
    (folder / "run.json").write_text(json.dumps(head))
    page = report.report_again(folder).read_text(encoding="utf-8")
    assert "e660583883724a32" in page[: page.index("</header>")]


def test_a_trace_is_on_the_page_where_something_failed_and_in_its_file_elsewhere(page, folder):
    assert "fc 05 11 27 56" in _section(page, DOOR)
    evidence = json.loads((folder / "rules" / "NJ_1.28N_i_2_escrow.json").read_text())
    evidence |= {"verdict": "PASS", "label": "PASS"}
    (folder / "rules" / "NJ_1.28N_i_2_escrow.json").write_text(json.dumps(evidence))
    section = _section(report.report_again(folder).read_text(encoding="utf-8"), DOOR)
    assert "fc 05 11 27 56" not in section
    assert 'href="traces/main-0.jsonl"' in section
    assert "fc 05 11 27 56" in (folder / "traces" / "main-0.jsonl").read_text()


def test_text_from_a_test_is_escaped(page):
    assert "<b>door</b>" not in page
    assert "&lt;b&gt;door&lt;/b&gt; opened" in page


def test_a_failing_rule_stands_at_the_top_with_what_was_seen_and_its_clause(page):
    top = page[: page.index('id="group-')]
    assert "bill-acceptor: 1 rule FAIL" in top
    assert f'<a href="#{DOOR}">{DOOR}</a> accepted 1 items' in top
    section = _section(page, DOOR)
    assert "2. Stacker door open;" in section
    assert RULES[DOOR].clause.sha256[:16] in section
    assert "accepted = <b>1</b> items" in section
    assert "status request" in section
    assert ("ab" * 32)[:16] in section


def test_a_measurement_beyond_its_limit_is_marked_and_one_within_is_not(page):
    rows = re.findall(r'<tr class="measure( unmet)?"', _section(page, DOOR))
    assert rows == [" unmet", ""]


def test_house_rules_and_other_states_are_shown_apart(page):
    house = page[page.index('id="group-house"') :]
    assert "FAIL (doesn&#39;t count)" in house[: house.index("</table>")]
    apart = page[page.index('id="group-apart"') :]
    assert "NY-5321.12(f)" in apart[: apart.index("</table>")]
    clauses = page[page.index('id="group-rules"') :]
    assert "HOUSE-" not in clauses[: clauses.index("</table>")]


def test_sources_limits_and_bases_are_stated(page):
    for said in ("partial summary", "stops inside 1.40(q)", "November 2021 and March 2022", "official text"):
        assert said in page
    assert "The boot block lies on the file system" in page
    assert "what the board holds, not what it runs" in page
    assert "Times carry ± 5 ms" in page


def test_the_same_digest_of_board_and_pc_is_said_to_be_the_same(page, folder):
    assert "= the board&#39;s" in page or "= the board's" in page
    head = json.loads((folder / "run.json").read_text())
    head["identities"][0]["pc"]["digest"] = "cd" * 32
    (folder / "run.json").write_text(json.dumps(head))
    assert "DIFFERS from the board" in report.report_again(folder).read_text(encoding="utf-8")


def test_an_incomplete_run_is_not_shown_as_a_success(folder):
    head = json.loads((folder / "run.json").read_text())
    head["broken"] = {"cause": "OSError: cable out.", "test": "t1", "wall": "now"}
    (folder / "run.json").write_text(json.dumps(head))
    (folder / "rules" / "NJ_1.28N_i_2_escrow.json").unlink()
    page = report.report_again(folder).read_text(encoding="utf-8")
    assert "Incomplete: no rule failed, and not every rule was tested" in page
    assert "OSError: cable out." in page


def _section(page: str, rule: str) -> str:
    start = page.index(f'id="{rule}"')
    end = page.find('<details class="rule', start)
    return page[start:end]


@pytest.mark.parametrize(
    ("wire", "sent", "name"),
    [("id003", "fc 05 11 27 56", "status request"), ("gat", "01 04 5f fc", "status?"), ("", "01 04 5f fc", "")],
)
def test_frames_of_a_trace_are_named_by_the_wires_own_protocol(wire, sent, name):
    assert frame_names({"port": "wire", "dir": "to_board", "hex": sent}, wire) == name
    assert frame_names({"port": "link", "dir": "to_board", "text": "{}"}, wire) == ""
