"""A board's folder with a small double of the firmware."""

import shutil
from pathlib import Path

DOUBLE = Path(__file__).parent / "double"


def lay_root(folder: Path, main: str | None = None) -> Path:
    root = folder / "board"
    shutil.copytree(DOUBLE, root)
    (root / "data").mkdir()
    if main is not None:
        (root / "main.py").write_text(main)
    return root
