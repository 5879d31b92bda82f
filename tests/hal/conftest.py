"""A board without a board."""

import pytest
from board_stdio import Board


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Board:
    return Board(monkeypatch)
