"""Which tests of a suite run, which rules they decide, and what is wrong with the suite: pure functions on items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pitbench_hil.catalogue import Rule, every_rule, ids_of, is_known, known_needs, normal_device
from pitbench_hil.common_device import DESCRIPTION, has_description
from pitbench_hil.marks import marked

SUITES = "suites"
# The suite of what devices share, beside each device's own.
COMMON = "common"


def suite_folder(path: Path, device: str) -> Path | None:
    """The folder that a path lies in, `suites/<device>` or `suites/common`; None where it lies in neither."""
    for folder in (path, *path.parents):
        if folder.parent.name == SUITES and normal_device(folder.name) in (COMMON, normal_device(device)):
            return folder
    return None


def foreign_suite(path: Path, device: str) -> bool:
    """Whether a folder is the suite of another device."""
    return path.parent.name == SUITES and path.is_dir() and suite_folder(path, device) is None


def both_suites(folder: Path, device: str) -> list[Path]:
    """A device's own suite and the common one, as far as they are there, from the folder of either."""
    return [other for other in sorted(folder.parent.glob("*/")) if suite_folder(other, device) == other]


def decided(item: Any, rules: Mapping[str, Rule]) -> list[str]:
    """Ids of the device's rules that a test decides, by the names of their rows.

    In the common suite a name may be that of other devices' rules. Elsewhere, and where nobody has it, it stays in the
    list: trouble_of complains of it.
    """
    found = [(name, ids_of(name, rules)) for name in marked(item, "rule")]
    return [known for name, ids in found for known in ids or ([] if _is_of_others(item, name) else [name])]


def _is_of_others(item: Any, name: str) -> bool:
    return suite_folder(item.path, COMMON) is not None and is_known(name, every_rule())


def binds(item: Any, device: str, rules: Mapping[str, Rule]) -> bool:
    """Whether a test is one of the device's: all are but those of the common suite that are about others.

    One that works a device by its description is for devices that have one.
    """
    if not has_description(device) and DESCRIPTION in getattr(item, "fixturenames", ()):
        return False
    return bool(decided(item, rules)) or not marked(item, "rule")


def image_of(item: Any) -> str:
    """The kind of image that this very test runs on."""
    spec = getattr(item, "callspec", None)
    if spec is not None and "image_kind" in spec.params:
        return str(spec.params["image_kind"])
    return (marked(item, "images") or ["bench"])[0]


def needs_of(item: Any, rules: Mapping[str, Rule]) -> set[str]:
    """Capabilities that a test needs: its own, and those of the rules that it decides."""
    of_rules = {need for name in decided(item, rules) if name in rules for need in rules[name].needs}
    return of_rules | set(marked(item, "needs"))


def trouble_of(item: Any, rules: Mapping[str, Rule]) -> str | None:
    """Why a test can't be run as it is written, or None."""
    named = decided(item, rules)
    if not marked(item, "rule"):
        return f"{item.nodeid} names no rule: mark it with @rule(…)."
    for name in named:
        if name not in rules:
            near = get_close_matches(name, rules, n=1)
            return (
                f"{item.nodeid} names rule '{name}', which isn't in the catalogue{f'; {near[0]} is' if near else ''}."
            )
        if rules[name].instead and not rules[name].wires:
            return f"{item.nodeid} tests {name}, which is {rules[name].instead} in the catalogue."
    unknown = sorted(set(marked(item, "needs")) - known_needs().keys())
    return f"{item.nodeid} needs {unknown[0]!r}, which rules/needs.toml doesn't know." if unknown else None


def not_asked(item: Any, rules: Mapping[str, Rule]) -> str:
    """Why none of a test's rules can be asked on this wire, "" where one can."""
    named = [rules[name] for name in decided(item, rules) if name in rules]
    return named[0].condition if named and all(rule.instead for rule in named) else ""


def wanted(item: Any, chosen: Mapping[str, Rule], kinds: Iterable[str]) -> bool:
    """Whether a test decides one of the chosen rules on one of the kinds of image."""
    return bool(set(decided(item, chosen)) & set(chosen)) and image_of(item) in kinds


def sampled(items: Sequence[Any], chosen: Mapping[str, Rule], most: int) -> list[Any]:
    """The items to run where each of the chosen rules gets at most `most` tests on each kind of image, in order."""
    counts = Counter[tuple[str, str]]()
    keep = []
    for item in items:
        decides = [(name, image_of(item)) for name in decided(item, chosen) if name in chosen]
        if any(counts[key] < most for key in decides) or not decides:
            counts.update(decides)
            keep.append(item)
    return keep


def narrowed(option: Any, args: Iterable[str], folders: Iterable[Path]) -> bool:
    """Whether the command line leaves out a part of the suites, so that a rule without a test proves nothing."""
    by_option = any(getattr(option, name, None) for name in ("keyword", "markexpr", "lf", "deselect", "rules"))
    paths = [Path(str(arg).split("::")[0]).resolve() for arg in args]
    by_path = any(not any(path == folder or path in folder.parents for path in paths) for folder in folders)
    return bool(by_option) or by_path or getattr(option, "image_kind", "both") != "both"


def gaps(rules: Iterable[Rule], tests: Mapping[str, tuple[Sequence[str], str]]) -> list[str]:
    """Rules that no test decides, or none on a kind of image that could show them; `tests`: id -> (rules, image)."""
    shown = {(name, image) for named, image in tests.values() for name in named}
    problems = []
    for rule in rules:
        if rule.instead:
            continue
        missing = [kind for kind in rule.images if (rule.id, kind) not in shown]
        if len(missing) == len(rule.images):
            problems.append(f"{rule.id} has no test.")
        else:
            problems += [f"{rule.id} has no test on a {kind} image." for kind in missing]
    return problems
