"""Every request of a device's bench image alone, read from the sources that the image is built of.

Operations say there what they take, a line each: `door: which=stacker|acceptor open=:bool wide?=:int`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pitbench.sources import Tree

_TABLE = re.compile(r'ARGS = """\n(.*?)"""', re.S)
# A value of each kind.
_VALUES: dict[str, Any] = {":bool": True, ":int": 1, ":str": "00", ":dict": {}, ":empty": "", ":NoneType": None}


def bench_requests(device: str) -> dict[str, dict[str, Any]]:
    """Operation -> arguments of the kinds that it takes. Raises UnknownName for a device that there isn't."""
    tree = Tree()
    texts = (tree.text(name) for name in tree.files(device, "bench") if name.startswith("bench/"))
    lines = (line for text in texts for table in _TABLE.findall(text) for line in table.splitlines())
    return {name: dict(_arguments(taken)) for name, _, taken in (line.partition(":") for line in lines)}


def _arguments(taken: str) -> Iterator[tuple[str, Any]]:
    for part in taken.split():
        name, _, kinds = part.partition("=")
        kind = kinds.split("|")[0]
        yield name.rstrip("?"), _VALUES[kind] if kind.startswith(":") else kind
