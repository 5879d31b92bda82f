"""What a release image is asked for, and refuses, is all that a bench image obeys beside it."""

import re
from pathlib import Path

import pytest
from pitbench.devices import BUILT
from pitbench.sources import FIRMWARE, Tree
from pitbench_hil.prototype import BENCH_REQUESTS

ARGS = re.compile(r'ARGS = """\n(.*?)"""', re.S)


@pytest.mark.parametrize("device", BUILT)
def test_every_request_of_a_bench_image_is_made_with_its_arguments(device):
    names = [name for name in Tree().files(device, "bench") if name.startswith("bench/")]
    texts = [Path(FIRMWARE / name).read_text(encoding="utf-8") for name in names]
    lines = [line for text in texts for block in ARGS.findall(text) for line in block.splitlines()]
    taken = {line.partition(":")[0]: dict(re.findall(r"(\w+)(\??)=", line)) for line in lines}
    assert BENCH_REQUESTS[device].keys() == taken.keys()
    for op, args in BENCH_REQUESTS[device].items():
        needed = {name for name, optional in taken[op].items() if not optional}
        assert needed <= args.keys() <= taken[op].keys(), op
