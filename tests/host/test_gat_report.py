"""Results of a GAT device: text and XML, garbage named for what it is, and digests that others published."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitbench.protocols.gat_report import (
    Algorithm,
    Component,
    GarbageInResult,
    SpecialFunction,
    algorithm_for,
    differences,
    digest_of,
    expected_digests,
    parse_component,
    parse_facts,
    parse_file,
    parse_functions,
    parse_report,
    reason_of,
)

DIGESTS = json.loads((Path(__file__).parents[1] / "vectors" / "gat.json").read_text("utf-8"))["digests"]
TEXT, XML = 1, 2
A, B, LONG = "ab" * 20, "cd" * 20, "ef" * 32
KEYED = Component("/a", A, Algorithm.HMAC_SHA1, b"12")


# -- Digests


@pytest.mark.parametrize("row", DIGESTS, ids=lambda row: row["algorithm"])
def test_published_digests(row):
    content, key = bytes.fromhex(row["data"]), bytes.fromhex(row["key"]) or None
    algorithm = Algorithm(row["algorithm"])
    assert digest_of(content, algorithm, key) == row["digest"]
    assert expected_digests({"f": content}, key, algorithm) == {"f": row["digest"]}
    assert algorithm.size == len(row["digest"]) // 2


def test_no_seed_is_sha1_and_a_seed_is_hmac_sha1_keyed_by_it():
    assert algorithm_for(None) == algorithm_for(b"") == Algorithm.SHA1
    assert algorithm_for(b"x") == Algorithm.HMAC_SHA1
    plain, keyed = DIGESTS[0], DIGESTS[1]
    assert expected_digests({"f": bytes.fromhex(plain["data"])}) == {"f": plain["digest"]}
    assert expected_digests({"f": bytes.fromhex(keyed["data"])}, b"Jefe") == {"f": keyed["digest"]}


@pytest.mark.parametrize(
    ("algorithm", "seed", "why"),
    [(Algorithm.HMAC_SHA1, None, "HMAC-SHA1 needs seed"), (Algorithm.SHA256, b"x", "SHA-256 takes no seed")],
)
def test_a_seed_goes_with_a_keyed_algorithm(algorithm, seed, why):
    with pytest.raises(ValueError, match=why):
        digest_of(b"", algorithm, seed)


# -- Reports


def text(row: str = f"{A}  /a", head: str = "Algorithm: HMAC-SHA1\nSeed: 3132", files: str = "\nFiles: 1") -> str:
    return f"Level: 1\n{head}\n\n{row}\n{files}\n".replace("\n", "\r\n")


def xml(row: str = f'<Component Name="/a" Checksum="{A}"/>', game: str = 'Algorithm="HMAC-SHA1" Seed="3132"') -> str:
    return f'<?xml version="1.0"?>\r\n<Components GatExec="default">\r\n<Game {game}>\r\n{row}</Game>\r\n</Components>'


@pytest.mark.parametrize(
    ("form", "data"),
    [(TEXT, text()), (TEXT, text().replace("\r", "")), (TEXT, text(f"{A.upper()}  /a")), (XML, xml())],
)
def test_ways_to_write_one_component(form, data):
    assert parse_report(data.encode(), form) == {"/a": KEYED}
    assert parse_component(data.encode(), form, "/a") == KEYED


def test_a_board_without_sha_1_says_so():
    data = text(f"{LONG}  /a path  with spaces", "Algorithm: SHA-256\nSeed: ").encode()
    name = "/a path  with spaces"
    assert parse_report(data, TEXT) == {name: Component(name, LONG, Algorithm.SHA256)}


def test_facts_of_a_report():
    facts = {"NotDigested": "interpreter 3.4.0; MicroPython", "Algorithm": "SHA-1", "Seed": ""}
    head = "".join(f"{name}: {value}\n" for name, value in facts.items())
    assert parse_facts(text(head=head).encode(), TEXT) == {"Level": "1", "Files": "1"} | facts
    game = " ".join(f'{name}="{value}"' for name, value in facts.items())
    assert parse_facts(xml(game=game).encode(), XML) == facts


@pytest.mark.parametrize(
    ("form", "data", "why"),
    [
        (TEXT, "", "it counts no files, and names 0"),
        (TEXT, "hello\n", "it counts no files, and names 0"),
        (TEXT, "\xff", "byte 0 of its text is ff, no UTF-8"),
        (TEXT, text(files=""), "it counts no files, and names 1"),
        (TEXT, text(files="Files: 2"), "it counts 2 files, and names 1"),
        (TEXT, text("", files="Files: 0"), "it names no component"),
        (TEXT, "Error: /boot.py can't be read\r\n", "it is an error: /boot.py can't be read"),
        (TEXT, text(f"{A}  /\x1b[2J"), r"the name /\x1b[2J can't be printed"),
        (TEXT, text(f"{A}  /a\n{A}  /a", files="Files: 2"), "it names /a twice"),
        (TEXT, text("xyz  /a"), "the digest of /a is 'xyz', no hex"),
        (TEXT, text(f"{A}ab  /a"), "the digest of /a has 42 digits, and HMAC-SHA1 has 40"),
        (TEXT, text(head="Algorithm: MD5"), "the algorithm 'MD5' is unknown"),
        (TEXT, text(head="Seed: 31"), "the algorithm '' is unknown"),
        (TEXT, text(head="Algorithm: HMAC-SHA1\nSeed: "), "it has HMAC-SHA1 with no seed"),
        (TEXT, text(head="Algorithm: SHA-1\nSeed: 31"), "it has SHA-1 with seed 31"),
        (TEXT, text(head="Algorithm: SHA-1\nSeed: 3"), "its seed is '3', no hex"),
        (XML, "", "it is no XML (no element found: line 1, column 0)"),
        (XML, "<C>", "it is no XML (no element found: line 1, column 3)"),
        (XML, "<C></D>", "it is no XML (mismatched tag: line 1, column 5)"),
        (XML, '<?xml version="1.0" encoding="klingon"?><C/>', "it is no XML ("),
        (XML, '<!DOCTYPE C [<!ENTITY a "b">]><C>&a;</C>', "its XML declares a document type (C)"),
        (XML, '<!DOCTYPE C SYSTEM "file:///etc/passwd"><C/>', "its XML declares a document type (C)"),
        (XML, "<C/>", "it is a C, and no Components"),
        (XML, "<Error>no component /a</Error>", "it is an error: no component /a"),
        (XML, "<Components/>", "it has no Game"),
        (XML, xml(""), "it names no component"),
        (XML, xml(f'<Component Checksum="{A}"/>'), "a component has no name"),
        (7, "", "its format is 07, neither 01 (text) nor 02 (XML)"),
    ],
)
def test_garbage_is_named(form, data, why):
    with pytest.raises(GarbageInResult) as error:
        parse_report(data.encode("latin-1"), form)
    assert str(error.value).startswith(f"The device's result is garbage: {why}")
    assert error.value.remedy == "Print it as it came, with --raw, and look there."


def test_a_billion_laughs_are_not_laughed():
    rows = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    with pytest.raises(GarbageInResult, match="declares a document type"):
        parse_report(f'<!DOCTYPE C [<!ENTITY l0 "ha">{rows}]><C>&l9;</C>'.encode(), XML)


def parse_any_file(data, form):
    return parse_file(data, form, "f")


@pytest.mark.parametrize("parse", [parse_report, parse_functions, parse_any_file, reason_of])
@given(
    data=st.binary(max_size=80) | st.text(alphabet='<>/="&; !CDErorGamecomponentid\t\n', max_size=80).map(str.encode)
)
def test_whatever_it_is_it_is_understood_or_garbage(parse, data):
    assert [complaint(parse, data, form).isprintable() for form in (TEXT, XML)] == [True, True]


def complaint(parse, data, form) -> str:
    try:
        parse(data, form)
    except GarbageInResult as error:
        return str(error)
    return "none"


def test_special_functions():
    get_file = "<Function><Feature>Get File</Feature><Parameter>a</Parameter><Parameter>%%PATH%%</Parameter></Function>"
    first = "<Function><Feature>Get Special Functions</Feature></Function>"
    expected = [SpecialFunction("Get Special Functions"), SpecialFunction("Get File", ("a", "%%PATH%%"))]
    assert parse_functions(f"<SpecialFunctions>{first}{get_file}</SpecialFunctions>".encode(), XML) == expected


@pytest.mark.parametrize(
    ("form", "data", "why"),
    [
        (XML, b"<SpecialFunctions/>", "it names no function"),
        (XML, b"<SpecialFunctions><Function/></SpecialFunctions>", "a function has no name"),
        (XML, b"<Error>out of memory</Error>", "it is an error: out of memory"),
        (TEXT, b"Get File", "it is text, and SpecialFunctions is XML"),
    ],
)
def test_functions_that_are_garbage(form, data, why):
    with pytest.raises(GarbageInResult, match=why):
        parse_functions(data, form)


def test_a_file_is_base64():
    data = b'<?xml version="1.0"?>\r\n<File Name="/a" Encoding="base64">\r\nYWJj\nZA==\n</File>\r\n'
    assert parse_file(data, XML, "/a") == b"abcd"
    for wrong, why in (
        (data.replace(b"YWJj", b"YW!j"), "the content of /a is no base64"),
        (data.replace(b"base64", b"hex"), "the encoding of /a is hex, and base64 is understood"),
        (data.replace(b"/a", b"/b"), "/a was asked for, and it gives /b"),
        (b"<Error>no component /a</Error>", "it is an error: no component /a"),
    ):
        with pytest.raises(GarbageInResult, match=why):
            parse_file(wrong, XML, "/a")


def test_the_reason_of_an_error():
    assert reason_of(b"Error: /a can't be read\r\n", TEXT) == "/a can't be read"
    assert reason_of(b"OUT OF SERVICE: CRC is 1234\r\n", TEXT) == "OUT OF SERVICE: CRC is 1234"
    assert reason_of(b"<Error>no \x3c\x21[CDATA[\x41]]\x3e</Error>", XML) == "no A"
    assert reason_of(b"Error: \x1b[2J", TEXT) == r"\x1b[2J"
    assert (reason_of(b"", TEXT), reason_of(b"<C/>", XML)) == ("", "")


# -- Against files

FILES = {"/a": b"abc", "/b": b""}


def report(seed=None, **changed):
    made = {path: Component(path, digest, algorithm_for(seed), seed) for path, digest in reported(seed).items()}
    return made | {f"/{name}": component for name, component in changed.items()}


def reported(seed):
    return expected_digests(FILES, seed)


def test_a_good_device_differs_in_nothing():
    assert differences(report(), FILES) == []
    assert differences(report(b"12"), FILES, b"12") == []


def test_each_difference_is_a_sentence():
    sha1 = digest_of(b"abc", Algorithm.SHA1)
    wrong = report(a=Component("/a", A, Algorithm.SHA1), x=Component("/x", A, Algorithm.SHA1))
    assert differences(wrong, FILES) == [
        f"/a has {A}, and should have {sha1}.",
        "/x is on the device and not among the files.",
    ]
    assert differences({"/a": report()["/a"]}, FILES) == ["/b is left out by the device."]
    assert differences({"/a": report()["/a"]}, FILES, whole=False) == []


def test_a_canned_answer_for_another_seed_is_a_difference():
    assert differences(report(b"12"), FILES, b"34") == [
        "/a is answered by HMAC-SHA1 with seed 3132.",
        "/b is answered by HMAC-SHA1 with seed 3132.",
    ]
    assert differences(report(), FILES, b"12")[0] == "/a is answered by SHA-1 with no seed."
    relabelled = {path: Component(path, row.digest, row.algorithm, b"34") for path, row in report(b"12").items()}
    assert all(" and should have " in sentence for sentence in differences(relabelled, FILES, b"34"))
    assert len(differences(relabelled, FILES, b"34")) == 2
