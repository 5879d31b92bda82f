"""The hash manifest of a run folder, in the format that `sha256sum -c manifest.sha256` reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pitbench_hil.durable import EvidenceError, write_whole
from pitbench_hil.run_lock import NAME as LOCK

NAME = "manifest.sha256"


def write_manifest(folder: Path) -> None:
    """Hash every file of the folder but the manifest itself and the writer's lock. Raises EvidenceError."""
    write_whole(folder / NAME, _text(_hashes(folder)))


def renew_entry(folder: Path, name: str) -> None:
    """Hash one file again and keep every other line, so that an alteration of another file stays visible."""
    write_whole(folder / NAME, _text(read_manifest(folder) | {name: _sha256(folder / name)}))


def read_manifest(folder: Path) -> dict[str, str]:
    """Path -> SHA-256. Raises EvidenceError when there is no manifest."""
    try:
        lines = (folder / NAME).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise EvidenceError(
            f"{folder} has no {NAME}.", "The run was cut short; `pitbench report` closes it."
        ) from error
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines if line)}


def verify_manifest(folder: Path) -> list[str]:
    """What differs from the manifest, a sentence each; nothing when the folder is as it was closed."""
    listed, found = read_manifest(folder), _hashes(folder)
    problems = [f"{name} is missing" for name in sorted(listed.keys() - found.keys())]
    problems += [f"{name} was added" for name in sorted(found.keys() - listed.keys())]
    return problems + [
        f"{name} was altered" for name in sorted(listed) if name in found and found[name] != listed[name]
    ]


def _hashes(folder: Path) -> dict[str, str]:
    left_out = (folder / NAME, folder / LOCK)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path not in left_out)
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in files}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _text(hashes: dict[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(hashes.items()))
