"""Virtual boards with a stand-in for main.py: they say READY when the boot block let them run."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from boot_bench import Bench
from pitbench.image import Image, build_image, install
from pitbench.sources import FIRMWARE

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def image(tmp_path_factory) -> Image:
    folder = tmp_path_factory.mktemp("firmware")
    sources = folder / "firmware"
    shutil.copytree(FIRMWARE, sources, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "stand_in_main.py", sources / "main.py")
    return build_image("bill-acceptor", "bench", folder / "out", sources=sources)


@pytest.fixture
def root(image, tmp_path) -> Path:
    install(image, tmp_path / "board")
    return tmp_path / "board"


@pytest.fixture
def start(root) -> Iterator[Callable[..., Bench]]:
    benches = []

    def start(cause: str = "power") -> Bench:
        benches.append(Bench(root, cause))
        return benches[-1]

    yield start
    for bench in benches:
        bench.close()
