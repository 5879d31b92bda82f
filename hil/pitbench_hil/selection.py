"""Which tests of a suite run, which rules they decide, and what is wrong with the suite: pure functions on items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pitbench_hil.catalogue import Rule, known_needs, normal_device
from pitbench_hil.marks import marked

SUITES = "suites"


def suite_folder(path: Path, device: str) -> Path | None:
    """The folder `suites/<device>` that a path lies in, or None."""
    for folder in (path, *path.parents):
        if folder.parent.name == SUITES and normal_device(folder.name) == normal_device(device):
            return folder
    return None


def foreign_suite(path: Path, device: str) -> bool:
    """Whether a folder is the suite of another device."""
    return path.parent.name == SUITES and path.is_dir() and normal_device(path.name) != normal_device(device)


def image_of(item: Any) -> str:
    """The kind of image that this very test runs on."""
    spec = getattr(item, "callspec", None)
    if spec is not None and "image_kind" in spec.params:
        return str(spec.params["image_kind"])
    return (marked(item, "images") or ["bench"])[0]


def needs_of(item: Any, rules: Mapping[str, Rule]) -> set[str]:
    """Capabilities that a test needs: its own, and those of the rules that it decides."""
    of_rules = {need for name in marked(item, "rule") if name in rules for need in rules[name].needs}
    return of_rules | set(marked(item, "needs"))


def trouble_of(item: Any, rules: Mapping[str, Rule]) -> str | None:
    """Why a test can't be run as it is written, or None."""
    named = marked(item, "rule")
    if not named:
        return f"{item.nodeid} names no rule: mark it with @rule(…)."
    for name in named:
        if name not in rules:
            near = get_close_matches(name, rules, n=1)
            return (
                f"{item.nodeid} names rule '{name}', which isn't in the catalogue{f'; {near[0]} is' if near else ''}."
            )
        if rules[name].instead:
            return f"{item.nodeid} tests {name}, which is {rules[name].instead} in the catalogue."
    unknown = sorted(set(marked(item, "needs")) - known_needs().keys())
    return f"{item.nodeid} needs {unknown[0]!r}, which rules/needs.toml doesn't know." if unknown else None


def wanted(item: Any, chosen: Iterable[str], kinds: Iterable[str]) -> bool:
    """Whether a test decides one of the chosen rules on one of the kinds of image."""
    return bool(set(marked(item, "rule")) & set(chosen)) and image_of(item) in kinds


def sampled(items: Sequence[Any], chosen: Iterable[str], most: int) -> list[Any]:
    """The items to run where each of the chosen rules gets at most `most` tests on each kind of image, in order."""
    rules, counts = set(chosen), Counter[tuple[str, str]]()
    keep = []
    for item in items:
        decides = [(name, image_of(item)) for name in marked(item, "rule") if name in rules]
        if any(counts[key] < most for key in decides) or not decides:
            counts.update(decides)
            keep.append(item)
    return keep


def narrowed(option: Any, args: Iterable[str], folder: Path | None) -> bool:
    """Whether the command line leaves out a part of the suite, so that a rule without a test proves nothing."""
    by_option = any(getattr(option, name, None) for name in ("keyword", "markexpr", "lf", "deselect", "rules"))
    paths = [Path(str(arg).split("::")[0]).resolve() for arg in args]
    by_path = folder is not None and not any(path == folder or path in folder.parents for path in paths)
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
