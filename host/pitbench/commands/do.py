"""Ask a board one thing over its link, and print the answer as JSON.

pitbench do --link PORT status
pitbench do --link PORT insert usd20
pitbench do --link PORT insert voucher=123456789012345678
pitbench do --link PORT door which=stacker open=true
pitbench do --link PORT --as technician --secret-file tech.hex configure set='{"decks": 6}'
pitbench do --link PORT load cards=deck
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pitbench.addresses import port_of
from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.items import item_named, item_names
from pitbench.link import LinkClient
from pitbench.patience import open_when_free
from pitbench.proof import secret_in, with_proof

# `pitbench sim --events` looks into the board now and then through the same port: it is free again at once.
BUSY_S = 3.0
# The 52 cards of a new deck, as a shuffler's plant has them.
DECK = bytes(range(52)).hex()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.epilog = (
        f"insert takes: {', '.join(item_names())}; a note fed another way is usd20@1 to usd20@3; load takes: cards=deck"
    )
    parser.add_argument("--link", required=True, metavar="PORT", help="the board's link: path, usb:SERIAL or URL")
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds for each reply (default: 2)")
    parser.add_argument("--as", dest="role", metavar="ROLE", help="prove this role: for what takes a proof")
    parser.add_argument("--secret-file", type=Path, metavar="FILE", help="that role's secret in hex, for --as")
    parser.add_argument("op", help="hello, status, meters, events, insert, …")
    parser.add_argument(
        "args", nargs="*", metavar="key=value", help="values are JSON where they can be; seal='\"12\"' is text"
    )


def run(args: argparse.Namespace) -> int:
    asked = arguments(args.op, args.args)
    secret = _secret(args)
    with open_when_free(port_of(args.link), Deadline(BUSY_S)) as transport:
        link = LinkClient(transport, args.timeout)
        identity = link.hello()
        if secret is not None:
            asked = with_proof(link, args.op, asked, args.role, secret)
        answer = identity if args.op == "hello" else link.do(args.op, **asked)
    print(json.dumps(answer, indent=2))
    return 0


def _secret(args: argparse.Namespace) -> bytes | None:
    if (args.role is None) != (args.secret_file is None):
        raise PitbenchError("A proof takes a role and its secret.", "Give both --as ROLE and --secret-file FILE.")
    return None if args.secret_file is None else secret_in(args.secret_file)


def arguments(op: str, words: list[str]) -> dict[str, Any]:
    """Arguments of a link operation from `key=value` words. Raises PitbenchError."""
    if op == "insert" and len(words) == 1 and not words[0].startswith("item="):
        return {"item": item_named(words[0]).record()}
    if op == "load" and words == ["cards=deck"]:
        return {"cards": DECK}
    if op == "events" and not words:
        return {"after": 0}
    return dict(_pair(word) for word in words)


def _pair(word: str) -> tuple[str, Any]:
    key, equals, value = word.partition("=")
    if not equals or not key.isidentifier() or key in ("id", "do"):
        raise PitbenchError(f"'{word}' is no argument.", "Write key=value, as in open=true.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
