"""Known answers of randomness, each from a public source or its own definition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "randomness.json").read_text("utf-8"))
FAIR = VECTORS["uniform_52"]
