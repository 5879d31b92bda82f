"""A voucher book in a JSON file, for demonstrations: number → cents, kind, status, claim."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pitbench.errors import PitbenchError
from pitbench.kiosk.voucher import Authorised, Refused, VoucherBook, VoucherKind, VoucherStatus


class VoucherFile(VoucherBook):
    """Reads the file once, and writes it anew after every call. A bare number as value means cents, active.

    Raises PitbenchError if it can't be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        try:
            for number, entry in json.loads(path.read_text("utf-8")).items():
                self._load(number, {"cents": entry} if isinstance(entry, int) else entry)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise PitbenchError(
                f"Voucher file {path} can't be read: {error}.", 'Write it as {"number": cents}.'
            ) from error

    def validate(self, number: str, claim: str) -> Authorised | Refused:
        answer = super().validate(number, claim)
        self._save()
        return answer

    def redeem(self, claim: str) -> Refused | None:
        answer = super().redeem(claim)
        self._save()
        return answer

    def release(self, claim: str) -> None:
        super().release(claim)
        self._save()

    def _load(self, number: str, entry: dict[str, object]) -> None:
        self.issue(number, int(str(entry["cents"])), VoucherKind(entry.get("kind", "voucher")))
        self.mark(number, VoucherStatus(entry.get("status", "active")))
        claim = entry.get("claim")
        self._vouchers[number].claim = None if claim is None else str(claim)

    def _save(self) -> None:
        entries = {
            number: {"cents": v.cents, "kind": v.kind.value, "status": v.status.value, "claim": v.claim}
            for number, v in self._vouchers.items()
        }
        fresh = self._path.with_name(self._path.name + ".new")
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(entries, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
