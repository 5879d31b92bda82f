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
    parse_functions,
    parse_report,
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


@pytest.mark.parametrize(
    ("form", "data"),
    [
        (TEXT, f"Algorithm\tHMAC-SHA1\nSeed\t3132\nComponent\t/a\t{A}\n"),
        (TEXT, f"Report of a shuffler\r\nSeed\t3132\r\n\r\nComponent\t/a\t{A.upper()}\r\n"),
        (XML, f'<?xml version="1.0"?>\n<C algorithm="HMAC-SHA1" seed="3132"><Component id="/a" digest="{A}"/></C>'),
        (XML, f"<c><component><ID>/a</ID><Digest> {A} </Digest><Seed>3132</Seed></component></c>"),
        (XML, f'<x:C xmlns:x="urn:x"><x:Component x:id="/a" digest="{A}" seed="3132" algorithm="hmac_sha1"/></x:C>'),
    ],
)
def test_ways_to_write_one_component(form, data):
    assert parse_report(data.encode(), form) == {"/a": KEYED}
    assert parse_component(data.encode(), form, "/a") == KEYED


def test_components_of_one_report_may_differ_in_xml():
    data = f'<C><Component id="a" digest="{A}"/><Component id="b" digest="{LONG}" algorithm="SHA-256"/></C>'.encode()
    algorithms = {name: row.algorithm for name, row in parse_report(data, XML).items()}
    assert algorithms == {"a": Algorithm.SHA1, "b": Algorithm.SHA256}


@pytest.mark.parametrize(
    ("form", "data", "why"),
    [
        (TEXT, "", "it names no component"),
        (TEXT, "hello\n", "it names no component"),
        (TEXT, "\xff", "byte 0 of its text is ff, no ASCII"),
        (TEXT, "Component\t/a\n", "a component has 1 fields where id and digest belong"),
        (TEXT, f"Component\t\t{A}", "a component has no id"),
        (TEXT, f"Component\t\x1b[2J\t{A}", r"the id \x1b[2J can't be printed"),
        (TEXT, f"Component\t/a\t{A}\nComponent\t/a\t{A}", "it names /a twice"),
        (TEXT, "Component\t/a\txyz", "the digest of /a is 'xyz', no hex"),
        (TEXT, f"Component\t/a\t{A}ab", "the digest of /a has 42 digits, and SHA-1 has 40"),
        (TEXT, f"Algorithm\tMD5\nComponent\t/a\t{A}", "the algorithm 'MD5' is unknown"),
        (TEXT, f"Algorithm\tHMAC-SHA1\nComponent\t/a\t{A}", "/a has HMAC-SHA1 with no seed"),
        (TEXT, f"Algorithm\tSHA-1\nSeed\t31\nComponent\t/a\t{A}", "/a has SHA-1 with seed 31"),
        (TEXT, f"Seed\t3\nComponent\t/a\t{A}", "the seed of /a is '3', no hex"),
        (XML, "", "it is no XML (no element found: line 1, column 0)"),
        (XML, "<C>", "it is no XML (no element found: line 1, column 3)"),
        (XML, "<C></D>", "it is no XML (mismatched tag: line 1, column 5)"),
        (XML, '<?xml version="1.0" encoding="klingon"?><C/>', "it is no XML ("),
        (XML, '<!DOCTYPE C [<!ENTITY a "b">]><C>&a;</C>', "its XML declares a document type (C)"),
        (XML, '<!DOCTYPE C SYSTEM "file:///etc/passwd"><C/>', "its XML declares a document type (C)"),
        (XML, "<C/>", "it names no component"),
        (XML, f'<C><Component digest="{A}"/></C>', "a component has no id"),
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


@pytest.mark.parametrize("parse", [parse_report, parse_functions])
@given(data=st.binary(max_size=80) | st.text(alphabet='<>/="&; !CDacomponentid\t\n', max_size=80).map(str.encode))
def test_whatever_it_is_it_is_understood_or_garbage(parse, data):
    assert [complaint(parse, data, form).isprintable() for form in (TEXT, XML)] == [True, True]


def complaint(parse, data, form) -> str:
    try:
        parse(data, form)
    except GarbageInResult as error:
        return str(error)
    return "none"


@pytest.mark.parametrize(
    ("form", "data"),
    [
        (TEXT, "Get Special Functions\nGet File\tpath\n"),
        (
            XML,
            '<F><Function name="Get Special Functions"/>'
            "<Function><Name>Get File</Name><Parameter>path</Parameter></Function></F>",
        ),
    ],
)
def test_special_functions(form, data):
    expected = [SpecialFunction("Get Special Functions"), SpecialFunction("Get File", ("path",))]
    assert parse_functions(data.encode(), form) == expected


def test_functions_that_are_garbage():
    for data, why in ((b"<F/>", "it names no function"), (b"<F><Function/></F>", "a function has no name")):
        with pytest.raises(GarbageInResult, match=why):
            parse_functions(data, XML)


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
