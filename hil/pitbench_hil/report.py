"""The HTML report of a run: one file, nothing from elsewhere, made from run.json and rules/*.json alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from pitbench_hil import catalogue
from pitbench_hil.durable import EvidenceError, slug, write_whole
from pitbench_hil.pages import pages
from pitbench_hil.row_shapes import judged, run_head
from pitbench_hil.verdict import Measurement, Verdict, judge_measurement
from pitbench_hil.wire_names import frame_names

NAME = "report.html"
VERDICTS = ("FAIL", "INCONCLUSIVE", "NOT TESTED", "PASS", "INSPECT", "DOCUMENT", "NOT APPLICABLE")
BASIS_TEXT = {
    "TEXT": "the clause says it",
    "READING": "our interpretation of the clause",
    "HOUSE": "good practice; not required by the clause",
}
_MEANING = {
    "PASS": "measured and kept",
    "FAIL": "measured and not kept",
    "INCONCLUSIVE": "inside the rig's uncertainty",
    "NOT TESTED": "no measurement; the reason is given",
    "INSPECT": "a person looks",
    "DOCUMENT": "a paper answers it",
    "NOT APPLICABLE": "its condition isn't met",
}
_LIMITS_BY_RUNG = {
    "unix": "Virtual board: the real MicroPython interpreter on a PC. Timing, flash and sensors are modelled.",
    "wasm": "Virtual board: MicroPython as a WebAssembly module on a PC. Timing, flash and sensors are modelled.",
    "emu": "Emulated RP2040: flash operations are counted and charged with time; analogue behaviour isn't modelled.",
}
# A pass rests on its measurements: its trace stays in its own file, or the page would be four times as big.
_TRACE_SHOWN = ("FAIL", "INCONCLUSIVE")
_ALWAYS = (
    "A digest calculated by the board shows what the board holds, not what it runs.",
    "The signature is a 16-bit CRC: a collision engineered for it isn't found (a limit of the clause's own method).",
    "INSPECT and DOCUMENT rows wait for a person: this bench doesn't answer them.",
)


def write_report(
    folder: Path, head: dict[str, Any], evidences: list[dict[str, Any]], problems: Iterable[str] = ()
) -> Path:
    """Put report.html into a run folder. Returns its path. Raises EvidenceError."""
    write_whole(folder / NAME, render(head, evidences, problems), sync=False)
    return folder / NAME


def report_again(folder: Path, problems: Iterable[str] = ()) -> Path:
    """Render the report from run.json and rules/*.json, with a banner for what the manifest says was altered.

    Returns its path. Raises EvidenceError.
    """
    head = run_head(folder)
    try:
        return write_report(folder, head, _evidences(folder, head), problems)
    except (KeyError, TypeError, ValueError, AttributeError, UndefinedError) as error:
        # Deep inside files that anybody may have written: which field is all that can be said.
        said = f"The evidence in {folder} is malformed ({type(error).__name__}: {error})."
        raise EvidenceError(said, "Take the folder as the run left it.") from error


def altered(problems: Iterable[str]) -> list[str]:
    """What of the evidence differs from the manifest: the page itself is made from it, and is no evidence."""
    return [problem for problem in problems if not problem.startswith(f"{NAME} ")]


def render(head: dict[str, Any], evidences: list[dict[str, Any]], problems: Iterable[str] = ()) -> str:
    """The HTML text, from what run.json and rules/*.json hold."""
    rows = [_row(evidence) for evidence in evidences]
    house = [row for row in rows if row["rule"]["basis"] == "HOUSE"]
    apart = [row for row in rows if not row["counts"] and row not in house]
    counted = [row for row in rows if row not in house and row not in apart]
    groups = _groups(head, counted, apart, house)
    return _template().render(
        head=head, rows=rows, groups=groups, failing=_failing(rows), tiles=_tiles(rows), limits=rig_limits(head),
        sources=catalogue.sources(), basis_text=BASIS_TEXT, verdict_order=VERDICTS, outcome=_outcome(head, rows),
        altered=altered(problems)
    )  # fmt: skip


def rig_limits(head: dict[str, Any]) -> list[str]:
    """What this run can't show, a sentence each."""
    identities = head.get("identities", [])
    said = [_LIMITS_BY_RUNG[rung] for rung in sorted({i["rung"] for i in identities}) if rung in _LIMITS_BY_RUNG]
    if any(i["identity"].get("boot_block") == "filesystem" for i in identities):
        said.append(
            "The boot block lies on the file system, not in the board's firmware: who can write files can replace it."
        )
    timing = head.get("timing_uncertainty_ms")
    said += [f"Times carry ± {timing:g} ms, and as much more as the PC itself was late."] if timing is not None else []
    return said + list(_ALWAYS) + list(head.get("rig_limits", []))


def _groups(head: dict[str, Any], counted: list[Any], apart: list[Any], house: list[Any]) -> list[dict[str, Any]]:
    profiles = ", ".join(head["profiles"])
    house_counts = "A FAIL counts under the house profile, which this run has." if "house" in head["profiles"] else ""
    groups = [
        ("rules", f"Clauses (profile {profiles})", "A FAIL here fails the device.", counted),
        ("apart", "Other jurisdictions", "Shown for information: a FAIL doesn't count under this profile.", apart),
        ("house", "House rules", house_counts or "Good practice, shown apart: a FAIL doesn't fail the device.", house),
    ]
    return [{"id": key, "title": title, "about": about, "rows": rows} for key, title, about, rows in groups if rows]


def _evidences(folder: Path, head: dict[str, Any]) -> list[dict[str, Any]]:
    found = {evidence["rule"]["id"]: evidence for evidence in map(judged, (folder / "rules").glob("*.json"))}
    return [found[name] for name in head["rule_order"] if name in found]


def _row(evidence: dict[str, Any]) -> dict[str, Any]:
    """The evidence with what the page adds: anchor, basis text, readable trace."""
    for record in evidence["records"]:
        record["identity"] = next((row for row in record["rows"] if row["kind"] == "identity"), None)
        record["trace_lines"] = _trace_lines(record) if evidence["verdict"] in _TRACE_SHOWN else []
        for row in record["rows"]:
            row["unmet"], row["limit_text"] = _unmet(row, evidence["rule"]["limits"])
    return evidence | {"anchor": _anchor(evidence["rule"]["id"]), "file": f"{slug(evidence['rule']['id'])}.json"}


def _unmet(row: dict[str, Any], limits: dict[str, Any]) -> tuple[bool, str]:
    """Whether a recorded row fails its rule, and the limit that it was held to."""
    if row["kind"] != "measure":
        return row["kind"] == "expect" and not row["met"], ""
    limit = catalogue.Limit(**(limits.get(row["name"]) or row["limit"] or {}))
    measurement = Measurement(row["name"], row["value"], row["unit"], row["uncertainty"])
    return limit.decides and judge_measurement(measurement, limit) is Verdict.FAIL, str(limit)


def _anchor(rule_id: str) -> str:
    """The rule's id as it stands: valid in a URL fragment, and typed by a person."""
    return rule_id.replace(" ", "_")


def _trace_lines(record: dict[str, Any]) -> list[dict[str, Any]]:
    excerpt, start = record["trace_excerpt"], record.get("mono", 0)
    identity = (record["identity"] or {}).get("identity", {})
    wire = str(identity.get("wire", "id003"))
    lines = [_trace_line(row, start, wire) for row in excerpt["start"]]
    lines += [{"gap": excerpt["left_out"]}] if excerpt["left_out"] else []
    return lines + [_trace_line(row, start, wire) for row in excerpt["end"]]


def _trace_line(row: dict[str, Any], start: float, wire: str) -> dict[str, Any]:
    shown = row["text"].rstrip() if "text" in row else row["hex"]
    arrow = "→" if row["dir"] == "to_board" else "←"
    return {"t": row["t"] - start, "port": row["port"], "arrow": arrow, "shown": shown, "name": frame_names(row, wire)}


def _failing(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["verdict"] == "FAIL" and row["counts"]]


def _outcome(head: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[str, str]:
    """Class and sentence of the banner."""
    failing = len(_failing(rows))
    if failing:
        return "fail", f"{failing} rule{'s' if failing > 1 else ''} FAIL"
    if head.get("broken") or head["status"] != "finished":
        return "open", "Incomplete: no rule failed, and not every rule was tested"
    untested = sum(row["verdict"] in ("NOT TESTED", "INCONCLUSIVE") for row in rows if row["counts"])
    return (
        ("open", f"No rule failed; {untested} not tested or inconclusive") if untested else ("pass", "No rule failed")
    )


def _tiles(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One tile a verdict; house rules and others that don't count are in the tables, not in the tiles' failures."""
    return [_tile(verdict, [row for row in rows if row["verdict"] == verdict]) for verdict in VERDICTS]


def _tile(verdict: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    bench = sum("bench image" in row["label"] for row in rows)
    apart = sum(not row["counts"] for row in rows) if verdict == "FAIL" else 0
    note = f"{bench} on a bench image" if bench else f"{apart} don't count" if apart else _MEANING[verdict]
    return {"verdict": verdict, "count": len(rows), "note": note}


def _template() -> Any:
    environment = pages()
    environment.globals["css_class"] = lambda verdict: verdict.lower().replace(" ", "-")
    return environment.get_template("report.html.j2")
