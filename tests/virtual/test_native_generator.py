"""The generator as MicroPython runs it: known answers, NIST's vectors, and the orders that CPython draws."""

from __future__ import annotations

import json
import subprocess
from array import array
from pathlib import Path
from random import Random

from device.generator import Generator
from hal.entropy import Entropy
from pitbench.sources import FIRMWARE
from pitbench.virtual import find_interpreter

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "hmac_drbg.json").read_text("utf-8"))["vectors"]
SIZES = (1, 52, 256, 312)
RAW = Random(52).randbytes(4096)
UNIQUE = b"a board"
ASK = """
import json, sys
sys.path[:] = [sys.argv[1]]
from array import array
from binascii import hexlify, unhexlify
from device.drbg import HmacDrbg, known_answer
from device.generator import DeadSource, Generator
from hal.entropy import Entropy

with open(sys.argv[2]) as f:
    asked = json.load(f)


def vector(row):
    drbg = HmacDrbg(*[unhexlify(row[name]) for name in ("entropy", "nonce", "personalisation")])
    for name, *words in row["calls"]:
        words = [unhexlify(word) for word in words]
        out = drbg.generate(128, *words) if name == "generate" else drbg.reseed(*words)
    return hexlify(out).decode()


class Tape:
    def __init__(self, data):
        self.data = data

    def __call__(self, n):
        data, self.data = self.data[:n], self.data[n:]
        return data


def stuck():
    try:
        Generator(Entropy("stuck", lambda n: bytes(n)), b"").restore(b"")
    except DeadSource as e:
        return e.args[0]


generator = Generator(Entropy("tape", Tape(unhexlify(asked["raw"]))), unhexlify(asked["unique"]))
saved = generator.restore(b"")
orders = [list(generator.permutation(array("H", bytes(2 * n)))) for n in asked["sizes"]]
generator.background()
last = generator.below(65536)
print(json.dumps({
    "known_answer": known_answer(),
    "vectors": [vector(row) for row in asked["vectors"]],
    "stuck": stuck(),
    "drawn": [hexlify(saved).decode(), orders, last, generator.bits, generator.draws, generator.rejected],
}))
"""


def drawn_here() -> list:
    """What the script draws, on CPython."""
    raw = iter(RAW)
    generator = Generator(Entropy("tape", lambda n: bytes(next(raw) for _ in range(n))), UNIQUE)
    saved = generator.restore(b"")
    orders = [list(generator.permutation(array("H", bytes(2 * n)))) for n in SIZES]
    generator.background()
    last = generator.below(65536)
    return [saved.hex(), orders, last, generator.bits, generator.draws, generator.rejected]


def test_micropython_draws_what_cpython_draws(tmp_path: Path) -> None:
    script, asked = tmp_path / "ask.py", tmp_path / "asked.json"
    script.write_text(ASK)
    asked.write_text(json.dumps({"raw": RAW.hex(), "unique": UNIQUE.hex(), "sizes": SIZES, "vectors": VECTORS}))
    command = [*find_interpreter("unix").bare, str(script), str(FIRMWARE), str(asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == {
        "known_answer": True,
        "vectors": [row["returned"] for row in VECTORS],
        "stuck": "stuck",
        "drawn": drawn_here(),
    }
