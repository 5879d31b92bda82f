"""No altered image runs, and none hangs or crashes the boot block: N.J.A.C. 13:69E-1.28N(h)."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pitbench.deadline import Deadline
from pitbench.image import install
from pitbench.signature import embedded_crc, image_crc, image_files

MUTATIONS: dict[str, Callable[[Path], object]] = {}
# Told from a good image by something else than the CRC of its files.
NOT_BY_CRC = {"extra", "crc file", "special", "boot"}


def mutation(kind: str) -> Callable:
    def register(function: Callable[[Path], object]) -> Callable[[Path], object]:
        MUTATIONS[f"{kind}: {function.__name__.replace('_', ' ')}"] = function
        return function

    return register


def files(root: Path) -> list[Path]:
    return sorted(p for p in (root / "image").rglob("*.mpy"))


def edit(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def flip(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


for number, (place, bit) in enumerate([(0, 0), (4, 7), (-1, 3)]):
    for which in (0, 7, -1):
        MUTATIONS[f"bytes: flip {number} in file {which}"] = lambda root, place=place, bit=bit, which=which: edit(
            files(root)[which], lambda data: flip(data, place % len(data), bit)
        )


@mutation("bytes")
def truncated_by_one(root):
    edit(files(root)[2], lambda data: data[:-1])


@mutation("bytes")
def truncated_to_nothing(root):
    edit(files(root)[2], lambda data: b"")


@mutation("bytes")
def one_byte_appended(root):
    edit(files(root)[-1], lambda data: data + b"\0")


@mutation("bytes")
def leading_zeros(root):
    edit(files(root)[0], lambda data: bytes(4) + data)


@mutation("bytes")
def a_megabyte_appended(root):
    edit(files(root)[3], lambda data: data + bytes(1 << 20))


@mutation("bytes")
def renamed(root):
    files(root)[1].rename(files(root)[1].with_name("zz.mpy"))


@mutation("bytes")
def swapped(root):
    a, b = files(root)[0], files(root)[1]
    one, other = a.read_bytes(), b.read_bytes()
    a.write_bytes(other)
    b.write_bytes(one)


@mutation("bytes")
def moved_across_a_boundary(root):
    a, b = files(root)[0], files(root)[1]
    moved = a.read_bytes()[-7:]
    edit(a, lambda data: data[:-7])
    edit(b, lambda data: moved + data)


@mutation("bytes")
def removed(root):
    files(root)[4].unlink()


@mutation("bytes")
def all_removed(root):
    shutil.rmtree(root / "image")


@mutation("bytes")
def main_is_noise(root):
    (root / "image" / "main.mpy").write_bytes(os.urandom(3000))


@mutation("bytes")
def added(root):
    (root / "image" / "device" / "more.mpy").write_bytes(b"more")


@mutation("bytes")
def a_source_beside_its_bytecode(root):
    (root / "image" / "main.py").write_text("def run(boot):\n    pass\n")


@mutation("bytes")
def a_name_that_isnt_utf_8(root):
    Path(os.fsdecode(bytes(root / "image") + b"/\xff\xfe.mpy")).write_bytes(b"x")


@mutation("bytes")
def two_thousand_files(root):
    for n in range(2000):
        (root / "image" / f"a_file_with_a_long_name_that_fills_the_memory_{n}").write_bytes(b"x")


@mutation("bytes")
def long_names_in_many_folders(root):
    for n in range(40):
        folder = root / "image" / f"{n}{'n' * 200}"
        folder.mkdir()
        for k in range(20):
            (folder / f"{k}{'n' * 200}").write_bytes(b"x")


@mutation("bytes")
def a_hundred_folders_deep(root):
    deep = root / "image" / Path(*["d"] * 100)
    deep.mkdir(parents=True)
    (deep / "x").write_bytes(b"x")


@mutation("crc file")
def embedded_altered(root):
    edit(root / "image" / "crc", lambda data: flip(data, 1, 0))


@mutation("crc file")
def embedded_missing(root):
    (root / "image" / "crc").unlink()


@mutation("crc file")
def embedded_one_byte(root):
    edit(root / "image" / "crc", lambda data: data[:1])


@mutation("crc file")
def embedded_followed_by_another(root):
    edit(root / "image" / "crc", lambda data: data + b"\0")


@mutation("crc file")
def embedded_is_empty(root):
    edit(root / "image" / "crc", lambda data: b"")


@mutation("crc file")
def embedded_is_a_folder(root):
    (root / "image" / "crc").unlink()
    (root / "image" / "crc").mkdir()


@mutation("extra")
def in_the_root(root):
    (root / "hashlib.py").write_text("raise SystemExit\n")


@mutation("extra")
def folder_in_the_root(root):
    (root / "lib").mkdir()


@mutation("extra")
def in_data(root):
    (root / "data" / "x.py").write_text("")


@mutation("extra")
def folder_named_as_a_record(root):
    (root / "data" / "a").mkdir()


@mutation("extra")
def in_boot(root):
    (root / "boot" / "ustruct.py").write_text("raise SystemExit\n")


@mutation("extra")
def empty_folder_in_the_image(root):
    (root / "image" / "device" / "none").mkdir()


@mutation("special")
def a_pipe(root):
    os.mkfifo(root / "image" / "pipe.mpy")


@mutation("special")
def a_link_to_itself(root):
    (root / "image" / "loop.mpy").symlink_to("loop.mpy")


@mutation("special")
def a_folder_in_place_of_a_file(root):
    (root / "image" / "main.mpy").unlink()
    (root / "image" / "main.mpy").mkdir()


@mutation("special")
def a_file_in_place_of_the_image(root):
    shutil.rmtree(root / "image")
    (root / "image").write_bytes(b"x")


@pytest.mark.parametrize("name", MUTATIONS)
def test_an_altered_image_never_runs(start, root, name):
    MUTATIONS[name](root)
    if name.split(":")[0] not in NOT_BY_CRC:
        altered = image_files(root)
        assert image_crc(altered) != embedded_crc(altered), "the mutation doesn't change the reference CRC"
    check_refusal(start(), name)


@pytest.mark.parametrize("stray", ["verify.py", "block.py", "crc/__init__.py", "responder.py"])
def test_a_source_beside_the_boot_block_leaves_the_board_mute_and_is_not_run(start, root, stray):
    place = root / "boot" / stray
    place.parent.mkdir(exist_ok=True)
    place.write_text("open('/data/ran', 'w').close()\n")
    bench = start()
    deadline = Deadline(5)
    while "ImportError" not in bench.board.console.read_text() and not deadline.passed:
        assert bench.frame(bytes.fromhex("fc05112756"), 0.02) == b""
    assert f"extra file /boot/{stray.split('/')[0]}" in bench.board.console.read_text()
    assert not (root / "data" / "ran").exists()


@pytest.mark.parametrize("cause", ["watchdog", "soft", "host", "crash"])
def test_the_signature_is_checked_after_every_kind_of_reset(start, root, cause):
    MUTATIONS["bytes: truncated by one"](root)
    check_refusal(start(cause), cause)


def check_refusal(bench, name: str) -> None:
    hello = bench.ask(do="hello", session=7)
    assert hello["ok"]["inoperable"], name
    assert hello["ok"]["session"] == 7
    assert bench.ask(do="status")["ok"]["state"] == "inoperable"
    assert bench.ask(do="insert", item={})["err"]["code"] == "inoperable"
    assert bench.frame(bytes.fromhex("fc05112756"))[:4] == bytes.fromhex("fc0649b0")
    assert (bench.board.boots, bench.board.crashes) == (1, 0), bench.board.console.read_text()


def test_an_image_put_right_again_boots(start, root, image):
    MUTATIONS["bytes: removed"](root)
    bench = start()
    check_refusal(bench, "removed")
    bench.board.cut()
    install(image, root)
    bench.board.power_on()
    assert bench.line() == b"READY power\n"
