"""A run as JUnit XML, one test case a rule, for CI systems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from pitbench_hil.evidence import Outcome


def junit_xml(outcomes: Iterable[Outcome], head: dict[str, Any]) -> str:
    """The XML text; what is neither PASS nor a FAIL that counts is `skipped`, with the verdict and its reason."""
    outcomes = list(outcomes)
    suite = ET.Element("testsuite", name=f"{head['device']} on {head['target']}", timestamp=head["started"])
    for outcome in outcomes:
        _case(suite, outcome)
    failures, skipped = (len(suite.findall(f"./testcase/{kind}")) for kind in ("failure", "skipped"))
    suite.attrib |= {"tests": str(len(outcomes)), "failures": str(failures), "skipped": str(skipped)}
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, outcome: Outcome) -> None:
    rule, judgement = outcome.rule, outcome.judgement
    seconds = sum(row.get("seconds", 0) for rows in outcome.records for row in rows if row["kind"] == "end")
    case = ET.SubElement(suite, "testcase", classname=rule.citation, name=rule.id, time=f"{seconds:.3f}")
    text = _printable(f"{outcome.label}: {judgement.why}".removesuffix(": "))
    if outcome.fails:
        ET.SubElement(case, "failure", message=text).text = _printable(
            f"{judgement.observed} against {judgement.limit}"
        )
    elif judgement.verdict != "PASS":
        ET.SubElement(case, "skipped", message=text)


def _printable(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(char if char.isprintable() else " " for char in text)
