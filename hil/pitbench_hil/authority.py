"""Authorised requests on the link, written on their own from the link's description.

A proof is HMAC-SHA256 with the role's secret over `nonce|role|asked`, in hex; a nonce serves once.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

import pytest
from pitbench.link import LinkError

Do = Callable[..., dict[str, Any]]


def challenge(do: Do) -> str:
    """A challenge for one proof.

    A board whose entropy failed its health test gives none, and is right: the test is skipped by that reason. A sound
    source fails it too, once in some 15,000 starts.
    """
    try:
        return str(do("challenge")["nonce"])
    except LinkError as error:
        if error.code == "entropy":
            pytest.skip(f"needs entropy: {error.why}")
        raise


def refusal(do: Do, op: str, **args: Any) -> str:
    """The error code of a request, "" when it was obeyed."""
    try:
        do(op, **args)
    except LinkError as error:
        return error.code
    return ""


class Officer:
    """Somebody with a role and its secret.

    Args:
        do: the link's `do`.
        role: any name, "technician" or "regulator" say.
        secret: at least 16 bytes.
    """

    def __init__(self, do: Do, role: str = "technician", secret: bytes = b"a secret of the bench only") -> None:
        self.do = do
        self.role = role
        self.secret = secret

    def commission(self) -> None:
        """Set the role's secret. Raises LinkError when it has one."""
        self.do("commission", role=self.role, secret=self.secret.hex())

    def proof(self, asked: str, nonce: str | None = None) -> str:
        """The proof for a request; asks for a new challenge unless a nonce is given."""
        nonce = nonce or challenge(self.do)
        return hmac.new(self.secret, f"{nonce}|{self.role}|{asked}".encode(), "sha256").hexdigest()

    def ask(self, op: str) -> dict[str, Any]:
        """`attempt_meters` or `clear_memory`, with proof. Raises LinkError."""
        return self.do(op, role=self.role, proof=self.proof(op))

    def record(self, what: str, who: str, licence: str, reason: str) -> dict[str, Any]:
        """An entry of the entry or service log, with proof. Raises LinkError."""
        request = self.entry(what, who, licence, reason)
        return self.do("service", **request)

    def entry(self, what: str, who: str, licence: str, reason: str) -> dict[str, Any]:
        """The request that `record` sends."""
        proof = self.proof(f"{what}|{who} {licence} {reason}")
        return {"role": self.role, "what": what, "who": who, "licence": licence, "reason": reason, "proof": proof}
