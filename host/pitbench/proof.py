"""Requests that take a role's proof: HMAC-SHA256 with its secret over `nonce|role|asked`, as docs/link.md has it."""

from __future__ import annotations

import hmac
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pitbench.errors import PitbenchError
from pitbench.link import LinkClient


def proof(secret: bytes, nonce: str, role: str, asked: str) -> str:
    """Return the proof in hex."""
    return hmac.new(secret, f"{nonce}|{role}|{asked}".encode(), "sha256").hexdigest()


def asked(op: str, args: Mapping[str, Any]) -> str:
    """Return what a proof for this request covers beside nonce and role."""
    return _ASKED[op](defaultdict(lambda: None, args)) if op in _ASKED else op


def _settings(values: object) -> str:
    """Each value by its name, as JSON, in order of name."""
    words = values if isinstance(values, dict) else {}
    return ",".join(f"{name}={json.dumps(words[name], ensure_ascii=False)}" for name in sorted(words))


def _people(words: object) -> list[str]:
    return [str(word) for word in words] if isinstance(words, (list, tuple)) else []


# Requests whose proof covers what they say; an argument that isn't there is None.
_ASKED: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "service": lambda args: "{what}|{who} {licence} {reason}".format_map(args),
    "configure": lambda args: "configure|" + _settings(args["set"]),
    "commission": lambda args: "commission|{role}|{secret}".format_map(args),
    "fill": lambda args: "|".join(["fill", *_people(args["people"])]),
    "inspect": lambda args: "inspect|{who}|{licence}|{found}".format_map(args),
}


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
