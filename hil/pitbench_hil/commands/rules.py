"""Print the rule catalogue: ids, citations, bases, how each is decided, and the clause texts."""

from __future__ import annotations

import argparse

from pitbench_hil.catalogue import Rule, every_rule, rules_for, selected, sources
from pitbench_hil.durable import to_json
from pitbench_hil.terminal import fit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("pattern", nargs="*", help="ids, clauses with all their parts, or patterns; then in full")
    parser.add_argument("--device", help="only the rules that bind this device")
    parser.add_argument("--json", action="store_true", help="as JSON, every field")


def run(args: argparse.Namespace) -> int:
    """Print; always 0 unless a name is unknown."""
    rules = list(rules_for(args.device).values()) if args.device else list(every_rule())
    rules = selected(rules, args.pattern) if args.pattern else rules
    if args.json:
        print(to_json([rule.as_dict() for rule in rules], indent=1))
    elif args.pattern:
        print("\n\n".join(in_full(rule) for rule in rules))
    else:
        print("\n".join([*(in_a_line(rule) for rule in rules), "", *_footer(rules)]))
    return 0


def in_a_line(rule: Rule) -> str:
    """Id, basis, how it is answered, interpretation."""
    images = "" if rule.instead else "+".join(rule.images)
    return f"{fit(rule.id, 46)} {fit(rule.basis, 8)} {fit(rule.instead or images, 15)} {rule.reads}"


def in_full(rule: Rule) -> str:
    """Everything about a rule, for a person."""
    clause = rule.clause.text.replace("\n", "\n      ")
    lines = [
        f"{rule.id}  ({rule.citation}, {rule.basis})",
        f"      {clause}",
        f"  SHA-256 of the text: {rule.clause.sha256}",
    ]
    lines += [f"  reads:    {rule.reads}"]
    if rule.instead:
        return "\n".join([*lines, f"  {rule.instead}: {rule.condition}"])
    needs = ", ".join(rule.needs) or "nothing"
    lines += [f"  method:   {rule.method}", f"  decision: {rule.decision}", f"  needs:    {needs}"]
    return "\n".join([*lines, f"  images:   {', '.join(rule.images)}", f"  devices:  {', '.join(rule.devices)}"])


def _footer(rules: list[Rule]) -> list[str]:
    by_source = [f"{source['title']}: {source['state']}." for source in sources().values()]
    return [f"{len(rules)} rules. Check clause texts against the official ones; the copies here:", *by_source]
