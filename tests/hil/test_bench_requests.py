"""What a release image is asked for, and refuses, is all that a bench image obeys beside it."""

import re

import pytest
from pitbench.devices import BUILT
from pitbench.sources import Tree
from pitbench_hil.bench_requests import bench_requests

# The method that carries an operation out.
BASES = ("bench/plant/base.py", "bench/plant/attended.py")
METHOD = re.compile(r"def _(?:op_)?(\w+)\(self, request\)")


@pytest.mark.parametrize("device", BUILT)
def test_every_request_of_a_bench_image_is_made(device):
    tree, requests = Tree(), bench_requests(device).keys()
    texts = {name: tree.text(name) for name in tree.files(device, "bench") if name.startswith("bench/")}
    found = {name: set(METHOD.findall(text)) for name, text in texts.items()}
    assert requests <= set().union(*found.values())
    # A plant takes of these what it has in its ARGS.
    assert set().union(*(names for file, names in found.items() if file not in BASES)) <= requests


def test_it_is_made_with_arguments_that_a_bench_image_takes():
    requests = bench_requests("shuffler")
    assert requests["advance"] == {"ms": 1}
    assert requests["press"] == {"button": "start"}
    assert requests["calendar"] == {"set": 1}
    assert requests["plant"] == {}
