"""A run's folder while it is being written: the writer holds its lock, and nobody reports on it yet."""

from __future__ import annotations

from pathlib import Path

from pitbench.folder_lock import FolderLock, HeldByAnother, refuse_while_held

from pitbench_hil.durable import EvidenceError, unwritable

NAME = "running"


def lock_run(folder: Path) -> FolderLock:
    """The lock of the process that writes a run in `folder`, from its start until `release`.

    Raises EvidenceError when another process writes there.
    """
    try:
        return FolderLock(folder / NAME)
    except HeldByAnother as error:
        raise _still_written(folder, error) from error
    except OSError as error:
        raise unwritable(folder / NAME, error) from error


def refuse_while_written(folder: Path) -> None:
    """Raises EvidenceError while a process writes the run in this folder."""
    try:
        refuse_while_held(folder / NAME)
    except HeldByAnother as error:
        raise _still_written(folder, error) from error


def _still_written(folder: Path, error: HeldByAnother) -> EvidenceError:
    return EvidenceError(
        f"The run in {folder} is still being written (process {error.process}).", "Ask again when it has ended."
    )
