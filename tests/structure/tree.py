"""The tree as files: sources, what they import, and texts that people read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRMWARE = ROOT / "firmware"
# Made by tools, or by a run: never part of the tree.
MADE = {".git", ".venv", "runs", "build", "__pycache__"}
MADE |= {".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if not MADE & set(path.parts))


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of the tree that is text."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and not MADE & set(parts) and not any(part.endswith(".egg-info") for part in parts):
            try:
                yield path, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> set[str]:
    """Dotted names of the modules that a source imports; `from a import b` gives a and, where b is a file, a.b."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if is_module(node.module, alias.name)}
    return found


def is_module(package: str | None, name: str) -> bool:
    return (FIRMWARE / (package or "").replace(".", "/") / f"{name}.py").is_file()


def root(name: str) -> str:
    return name.partition(".")[0]
