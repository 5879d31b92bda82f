"""Which tool, suite and catalogue made a run: digests of their sources, so that a report can be traced to them."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pitbench

from pitbench_hil import catalogue

_HIL = Path(__file__).parent


def tool() -> dict[str, str]:
    """Version, source digest and (in a git checkout) commit of pitbench itself."""
    sources = [*Path(pitbench.__file__).parent.rglob("*.py"), *_HIL.rglob("*.py")]
    return {"version": version("pitbench"), "sources": sources_digest(sources), "commit": commit_of(_HIL)}


def suite(folders: Iterable[Path]) -> dict[str, str]:
    """Source digest of the suites in these folders; empty where there are none."""
    sources = [path for folder in folders for path in folder.rglob("*.py")]
    return {"sources": sources_digest(sources) if sources else ""}


def rules(which: Iterable[catalogue.Rule]) -> dict[str, Any]:
    """Digest and number of the rules that a run was judged by."""
    which = list(which)
    return {"sha256": catalogue.digest(which), "rules": len(which)}


def machine() -> dict[str, str]:
    """The PC that ran the bench."""
    return {"system": platform.platform(), "python": platform.python_version()}


def sources_digest(paths: Iterable[Path]) -> str:
    """Twelve hex digits of the SHA-256 over names and contents."""
    whole = hashlib.sha256()
    for path in sorted(path for path in paths if "__pycache__" not in path.parts):
        data = path.read_bytes()
        whole.update(f"{path.name}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()[:12]


def commit_of(folder: Path) -> str:
    """Commit of the checkout, with a plus when files differ from it; empty outside a checkout."""
    commit, changes = _git(folder, "rev-parse", "--short=12", "HEAD"), _git(folder, "status", "--porcelain")
    return commit + ("+" if commit and changes else "")


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
