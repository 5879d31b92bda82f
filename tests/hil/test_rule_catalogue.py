import hashlib
import re

import pytest
from pitbench_hil import catalogue
from pitbench_hil.catalogue import CatalogueError, Limit

ACCEPTOR = catalogue.rules_for("bill_acceptor")
# What only a bench image can do: a rule that needs it can't be shown on a release image.
BENCH_ONLY = {"plant", "store_fault", "advance", "calendar", "bench"}
BENCH_ONLY |= {"draw", "raw_entropy", "rescaling", "idle_steps"}


def test_every_clause_text_has_the_hash_that_the_index_gives():
    assert catalogue.clauses()
    for clause in catalogue.clauses().values():
        assert hashlib.sha256(clause.text.encode()).hexdigest() == clause.sha256, clause.id


def test_every_clause_text_is_cited_and_every_file_is_in_the_index():
    files = {path.name for path in (catalogue.HERE / "clauses").glob("*.txt")}
    assert files == {catalogue.clause_file(name).name for name in catalogue.clauses()}
    assert {rule.clause.id for rule in catalogue.every_rule()} == set(catalogue.clauses())


def test_a_known_sentence_stands_in_the_clause_that_has_it():
    assert ACCEPTOR["NJ-1.28N(i)2/idle"].clause.text.endswith("2. Stacker door open;")
    assert "16 bit cyclical redundancy check" in ACCEPTOR["NJ-1.28N(h)/altered/truncated"].clause.text


def test_every_paragraph_of_1_28N_has_a_rule_and_each_error_in_every_phase():
    letters = {match[1] for name in ACCEPTOR if (match := re.match(r"NJ-1\.28N\((.)\)", name))}
    assert letters == set("abcdefghi")
    for number in (1, 2, 3, 5, 8):
        for phase in ("idle", "accepting", "escrow", "stacking", "boot", "power-cycle"):
            assert f"NJ-1.28N(i){number}/{phase}" in ACCEPTOR


def test_rules_shown_on_a_release_image_need_nothing_that_only_a_bench_image_has():
    wrong = [rule.id for rule in catalogue.every_rule() if "release" in rule.images and set(rule.needs) & BENCH_ONLY]
    assert not wrong


def test_house_rules_are_told_apart_from_clauses():
    for rule in catalogue.every_rule():
        assert (rule.basis == "HOUSE") == rule.id.startswith("HOUSE-") == (rule.jurisdiction == "HOUSE")
        assert rule.jurisdiction in rule.id


PARTS = """
[defaults]
devices = ["bill-acceptor"]
basis = "TEXT"
needs = ["wire"]
images = ["bench", "release"]
method = "Look."
limits.accepted = { max = 0, unit = "items" }

[part.cold]
reads = "Cold."
[part.watchdog]
reads = "Watchdog."
basis = "READING"
needs = ["link"]
images = ["bench"]

[[rule]]
id = "NJ-1.28N(g)/power-up"
reads = "A self-test."
limits.steps = { min = 1, unit = "steps" }
parts = ["cold", "watchdog"]

[[rule]]
id = "NJ-1.28N(g)/free"
reads = "No limit."
limits.accepted = {}
"""


@pytest.fixture
def parted(tmp_path):
    (tmp_path / "10_parts.toml").write_text(PARTS, encoding="utf-8")
    return {rule.id: rule for rule in catalogue.rules_of_file(tmp_path / "10_parts.toml")}


def test_a_part_adds_its_sentence_and_needs_and_narrows_images(parted):
    cold, watchdog = parted["NJ-1.28N(g)/power-up/cold"], parted["NJ-1.28N(g)/power-up/watchdog"]
    assert (cold.reads, watchdog.reads) == ("A self-test. Cold.", "A self-test. Watchdog.")
    assert (cold.basis, watchdog.basis) == ("TEXT", "READING")
    assert (cold.images, watchdog.images) == (("bench", "release"), ("bench",))
    assert (cold.needs, watchdog.needs) == (("wire",), ("wire", "link"))
    assert cold.clause.id == watchdog.clause.id == "NJ-1.28N(g)"


def test_limits_of_defaults_and_row_are_joined_and_an_empty_one_takes_a_limit_away(parted):
    assert parted["NJ-1.28N(g)/power-up/cold"].limits.keys() == {"accepted", "steps"}
    assert parted["NJ-1.28N(g)/free"].limits == {}


@pytest.mark.parametrize(
    ("pattern", "rule", "named"),
    [
        ("NJ-1.28N(i)2/idle", "NJ-1.28N(i)2/idle", True),
        ("NJ-1.28N(i)2", "NJ-1.28N(i)2/idle", True),
        ("NJ-1.28N(i)", "NJ-1.28N(i)2/idle", True),
        ("NJ-1.28N", "NJ-1.28N(i)2/idle", True),
        ("NJ-1.28B(s)1*", "NJ-1.28B(s)13/log", True),
        ("NJ-1.28B(s)1", "NJ-1.28B(s)13/log", False),
        ("NJ-1.28N(i)2/id", "NJ-1.28N(i)2/idle", False),
        ("NJ-1.2", "NJ-1.28N(a)/commands", False),
    ],
)
def test_a_pattern_names_a_rule_or_everything_below_a_clause(pattern, rule, named):
    assert catalogue.names(pattern, rule) is named


def test_an_unknown_pattern_and_an_unknown_device_are_refused_by_name():
    with pytest.raises(CatalogueError, match="'NJ-9'"):
        catalogue.selected(ACCEPTOR.values(), ["NJ-9"])
    with pytest.raises(CatalogueError, match="bill-acceptor"):
        catalogue.rules_for("roulette")


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ('basis = "RUMOUR"', "basis 'RUMOUR'"),
        ('needs = ["luck"]', "unknown need 'luck'"),
        ('images = ["alpha"]', "unknown image kind 'alpha'"),
        ('colour = "red"', "unknown key 'colour'"),
        ('instead = "INSPECT"', "'instead' without a 'condition'"),
        ('parts = ["nowhere"]', "no \\[part.nowhere\\]"),
        ('clause = "NJ-0"', "unknown clause 'NJ-0'"),
    ],
)
def test_a_bad_row_is_refused_with_its_name(tmp_path, row, complaint):
    good = {"basis": 'basis = "TEXT"', "id": 'id = "NJ-1.28N(a)/x"', "reads": 'reads = "r"', "method": 'method = "m"'}
    good["devices"] = 'devices = ["bill-acceptor"]'
    lines = [line for key, line in good.items() if key != row.split(" ")[0]]
    path = tmp_path / "10_bad.toml"
    path.write_text("[[rule]]\n" + "\n".join([*lines, row]), encoding="utf-8")
    with pytest.raises(CatalogueError, match=complaint) as caught:
        catalogue.rules_of_file(path)
    assert "NJ-1.28N(a)/x" in str(caught.value)


def test_two_rules_of_one_name_are_refused(tmp_path):
    row = '[[rule]]\nid = "NJ-1.28N(a)/x"\nbasis = "TEXT"\nreads = "r"\nmethod = "m"\ndevices = ["d"]\n'
    (tmp_path / "1.toml").write_text(row * 2, encoding="utf-8")
    with pytest.raises(CatalogueError, match="Two rules"):
        catalogue.every_rule(tmp_path)


def test_the_digest_changes_with_a_limit():
    rules = [ACCEPTOR["NJ-1.28N(a)/response-time"]]
    before = catalogue.digest(rules)
    changed = [type(rules[0])(**{**rules[0].__dict__, "limits": {"slowest_reply": Limit(max=51, unit="ms")}})]
    assert catalogue.digest(rules) == before
    assert catalogue.digest(changed) != before


ELSEWHERE = """
[defaults]
devices = ["shuffler"]
basis = "TEXT"
method = "Look."
elsewhere = { devices = ["dice-shaker"], clause = "NJ-1.28N(a)", basis = "READING" }

[part.code]
reads = "Code."

[[rule]]
id = "NJ-1.28X(h)/altered"
citation = "N.J.A.C. 13:69E-1.28X(h), first sentence"
reads = "Found."
parts = ["code"]

[[rule]]
id = "HOUSE-older-version"
clause = "NJ-1.28X(h)"
basis = "HOUSE"
reads = "Refused."

[[rule]]
id = "NJ-1.28X(d)/refused"
reads = "Nothing is done."
elsewhere = { devices = ["dice-shaker"], clause = "NJ-1.28N(b)", basis = "HOUSE", id = "HOUSE-access" }
"""


@pytest.fixture
def twofold(tmp_path):
    (tmp_path / "10_two.toml").write_text(ELSEWHERE, encoding="utf-8")
    return {device: catalogue.rules_for(device, tmp_path) for device in ("shuffler", "dice-shaker")}


def test_a_row_binds_other_devices_by_another_clause(twofold):
    assert list(twofold["shuffler"]) == ["NJ-1.28X(h)/altered/code", "HOUSE-older-version", "NJ-1.28X(d)/refused"]
    assert list(twofold["dice-shaker"]) == ["NJ-1.28N(a)/altered/code", "HOUSE-older-version", "HOUSE-access/refused"]
    altered, older, refused = twofold["dice-shaker"].values()
    assert [rule.basis for rule in (altered, older, refused)] == ["READING", "HOUSE", "HOUSE"]
    assert (altered.clause.id, altered.citation) == ("NJ-1.28N(a)", "N.J.A.C. 13:69E-1.28N(a)")
    assert twofold["shuffler"]["NJ-1.28X(h)/altered/code"].citation.endswith("first sentence")


def test_a_row_is_named_by_its_own_id_whatever_the_device(twofold):
    name = "NJ-1.28X(h)/altered/code"
    assert catalogue.ids_of(name, twofold["shuffler"]) == [name]
    assert catalogue.ids_of(name, twofold["dice-shaker"]) == ["NJ-1.28N(a)/altered/code"]
    (found,) = catalogue.selected(twofold["dice-shaker"].values(), ["NJ-1.28X(h)/altered"])
    assert found.id == "NJ-1.28N(a)/altered/code"


def test_elsewhere_without_a_clause_is_refused(tmp_path):
    path = tmp_path / "10_two.toml"
    path.write_text(ELSEWHERE.replace('clause = "NJ-1.28N(a)", ', 'colour = "red", '), encoding="utf-8")
    with pytest.raises(CatalogueError, match="'elsewhere' has a wrong or missing clause, colour"):
        catalogue.rules_of_file(path)
