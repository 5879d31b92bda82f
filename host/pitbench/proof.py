"""Requests that take a role's proof: HMAC-SHA256 with its secret over `nonce|role|asked`, as docs/link.md has it."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pitbench.errors import PitbenchError
from pitbench.link import LinkClient


def proof(secret: bytes, nonce: str, role: str, asked: str) -> str:
    """Return the proof in hex."""
    return hmac.new(secret, f"{nonce}|{role}|{asked}".encode(), "sha256").hexdigest()


def asked(op: str, args: Mapping[str, Any]) -> str:
    """Return what a proof for this request covers beside nonce and role."""
    if op == "service":
        return f"{args.get('what')}|{args.get('who')} {args.get('licence')} {args.get('reason')}"
    if op == "configure":
        return "configure|" + _words(args.get("set"))
    if op == "commission":
        return f"commission|{args.get('role')}|{args.get('secret')}"
    if op == "fill":
        people = args.get("people")
        return "|".join(["fill", *map(str, people if isinstance(people, (list, tuple)) else [])])
    if op == "inspect":
        return f"inspect|{args.get('who')}|{args.get('licence')}|{args.get('found')}"
    return op


def _words(values: object) -> str:
    """Each value by its name, as JSON, in order of name."""
    words = values if isinstance(values, dict) else {}
    return ",".join(f"{name}={json.dumps(words[name], ensure_ascii=False)}" for name in sorted(words))


def with_proof(link: LinkClient, op: str, args: Mapping[str, Any], role: str, secret: bytes) -> dict[str, Any]:
    """Return the request's arguments with role and proof; asks the board for a challenge. Raises LinkError."""
    nonce = str(link.do("challenge")["nonce"])
    who = "by" if op == "commission" else "role"
    return {**args, who: role, "proof": proof(secret, nonce, role, asked(op, args))}


def secret_in(path: Path) -> bytes:
    """Return the secret that a file holds in hex. Raises PitbenchError."""
    try:
        return bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as error:
        raise PitbenchError(f"{path} can't be read: {error.strerror}.", "Name a file that holds the secret.") from error
    except ValueError as error:
        raise PitbenchError(f"{path} holds no hex.", "It has the secret as it was commissioned, in hex.") from error
