"""The data of a board on FRAM: MicroPython's own littlefs on our block device, over a chip that is a double."""

import json
import subprocess
from pathlib import Path

import pytest
from board_stdio import FIRMWARE
from pitbench.virtual.interpreter import find_interpreter

HEAD = f"""
import json, os, sys, vfs
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(FIRMWARE / "boot")!r}]
from fram_chip import FACTS, SIZE, PowerCut, chip
import fram

def put(data):
    with open("/data/a", "wb") as f:
        f.write(data)

def get():
    with open("/data/a", "rb") as f:
        return f.read().decode()

def power_cycle():
    vfs.umount("/data")
    chip.left = None
    chip.power_up()
    return fram.mount(FACTS, "/data")

"""


def run(folder: Path, script: str) -> object:
    """Run a script in MicroPython with the chip and our module; return what it leaves in `result`."""
    path = folder / "script.py"
    path.write_text(HEAD + script + "\nprint(json.dumps(result))\n")
    command = [*find_interpreter("unix").bare, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_new_chip_is_formatted_and_keeps_files_through_a_power_cycle(tmp_path):
    result = run(
        tmp_path,
        """
result = [fram.mount(FACTS, "/data")]
put(b"x" * 3000)
result += [power_cycle(), len(get()), os.statvfs("/data")[0] * os.statvfs("/data")[2] == SIZE]
""",
    )
    assert result == ["", "", 3000, True]


@pytest.mark.parametrize("maker", ["b'\\xff\\xff'", "b'\\x00\\x00'"], ids=["nothing there", "shorted"])
def test_a_chip_that_doesnt_answer_is_named(tmp_path, maker):
    result = run(tmp_path, f"chip.maker = {maker}\nresult = fram.mount(FACTS, '/data')")
    assert result == "no FRAM answers on SPI 2"


def test_a_cut_at_any_byte_leaves_the_old_file_or_the_new(tmp_path):
    result = run(
        tmp_path,
        """
fram.mount(FACTS, "/data")
result, cut = {}, 0
old, new = "o" * 600, "n" * 700
done = False
while not done:
    put(old.encode())
    chip.left = cut
    try:
        put(new.encode())
        done = True
    except PowerCut:
        pass
    power_cycle()
    found = get()
    kind = "old" if found == old else "new" if found == new else "torn"
    result[kind] = result.get(kind, 0) + 1
    cut += 13
""",
    )
    assert isinstance(result, dict)
    assert set(result) == {"old", "new"}
    assert result["old"] > 20
