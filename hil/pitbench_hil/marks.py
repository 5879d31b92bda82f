"""Marks that a suite's tests carry: which rules, which capabilities, which kinds of image."""

from __future__ import annotations

from typing import Any

import pytest

from pitbench_hil.catalogue import IMAGE_KINDS

DESCRIPTIONS = (
    "rule(*ids): the rules that this test decides",
    "needs(*capabilities): what the target must have beyond what its rules need",
    "images(*kinds): kinds of image that this test runs on, bench unless said",
)


def rule(*ids: str) -> pytest.MarkDecorator:
    """Name the rules that a test decides: `@rule("NJ-1.28N(i)2/idle")`, also in `pytest.param(…, marks=rule("…"))`."""
    return pytest.mark.rule(*ids)


def needs(*capabilities: str) -> pytest.MarkDecorator:
    """Name capabilities (rules/needs.toml) that this test needs beyond those of its rules: `@needs("stacker")`."""
    return pytest.mark.needs(*capabilities)


def images(*kinds: str) -> pytest.MarkDecorator:
    """Name the kinds of image that a test runs on; it runs once on each: `@images("bench", "release")`."""
    unknown = [kind for kind in kinds if kind not in IMAGE_KINDS]
    if unknown or not kinds:
        raise ValueError(f"@images takes {' and '.join(IMAGE_KINDS)}, not {', '.join(unknown) or 'nothing'}")
    return pytest.mark.images(*kinds)


def marked(item: Any, name: str) -> list[str]:
    """Arguments of every mark of that name on a test, each once, in order."""
    return list(dict.fromkeys(arg for mark in item.iter_markers(name) for arg in mark.args))
