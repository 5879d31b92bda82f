"""Boards on trial, and the judges' packages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from installed import MISSING, NotInstalled, essp6, has_npm, node_modules
from judged import Judge, Trial
from pitbench.image import Image, build_image
from pitbench.targets import board_of, open_target

HERE = Path(__file__).parent
TARGET = "virtual"
DEVICE = "bill-acceptor"


@pytest.fixture(scope="session")
def npm() -> Path:
    if not has_npm():
        # A skip shows its reason to nobody; a warning stands in the summary.
        warnings.warn(MISSING, stacklevel=2)
        pytest.skip(MISSING)
    return _got(node_modules)


@pytest.fixture(scope="session")
def pip() -> Path:
    return _got(essp6)


def _got(install: Callable[[], Path]) -> Path:
    try:
        return install()
    except NotInstalled as error:
        why = str(error)
    pytest.fail(why, pytrace=False)


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Image]:
    """The bench image with a wire."""

    @cache
    def built(wire: str) -> Image:
        return build_image(DEVICE, "bench", tmp_path_factory.mktemp(wire) / "image", board=board_of(TARGET), wire=wire)

    return built


@pytest.fixture
def trial_of(image, tmp_path, record_property) -> Iterator[Callable[..., Trial]]:
    """Opens a board with a wire and starts a judge on it: trial_of(wire, command, **environment)."""
    trials: list[Trial] = []

    def open_trial(wire: str, *command: str | Path, **environment: str) -> Trial:
        board = open_target(TARGET, device=DEVICE, image=image(wire), root=tmp_path / "board")
        board.wire.close()
        judge = Judge([*command, board.supervisor.wire_path], environment)
        trials.append(Trial(board, judge))
        return trials[-1]

    yield open_trial
    for trial in trials:
        trial.close()
        for line in trial.judge.saw():
            record_property("shown", line)


@pytest.fixture
def node_trial(trial_of, npm) -> Callable[[str, str], Trial]:
    """The same with a judge from npm: node_trial(wire, script)."""
    return lambda wire, script: trial_of(wire, "node", "--no-deprecation", HERE / script, NODE_PATH=str(npm))
