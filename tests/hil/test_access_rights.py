"""The operations that the access suite knows are those of the sources: a new one is asked about, or this fails."""

import re

import pytest
from pitbench.devices import BUILT
from pitbench.sources import Tree
from pitbench_hil.access_rights import GUESSED, READS, REQUESTS
from pitbench_hil.bench_requests import bench_requests
from pitbench_hil.common_device import Device, described, has_description

LINE = re.compile(r"^(\w+):", re.M)
ARGS = re.compile(r'ARGS = """\n(.*?)"""', re.S)


@pytest.fixture(params=[name for name in BUILT if has_description(name)])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def device(name: str) -> Device:
    return described(name)


def operations(device: str) -> set[str]:
    """Of the link, in every image of the device."""
    tree = Tree()
    texts = [tree.text(file) for file in tree.files(device, "release") if file.startswith("link/")]
    return {op for text in texts for lines in ARGS.findall(text) for op in LINE.findall(lines)}


def proven(device: Device) -> set[str]:
    return {request.op for request in (device.configure, *REQUESTS, *device.proven)}


def test_every_operation_of_the_image_is_known_to_read_or_to_take_a_proof(name, device):
    assert operations(name) == {*READS, *device.reads} | proven(device)
    assert not {*READS, *device.reads} & proven(device)


def test_what_is_guessed_is_no_operation_of_any_image(name):
    assert not {*GUESSED} & (operations(name) | bench_requests(name).keys())
