"""Digests that the device calculates equal the PC's, over what its memory holds then (house rule)."""

from __future__ import annotations

from collections.abc import Mapping

from pitbench.image import Image
from pitbench.signature import image_crc, image_part
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_altered import Altered
from pitbench_hil.check import Check
from pitbench_hil.comparing import sha256
from pitbench_hil.marks import images, rule
from pitbench_hil.mutations import measured, one_byte_altered
from pitbench_hil.speech import Unsaid

SEEDS, WIDTHS = (0x0000, 0x1234), (16, 32)
OF_THE_START = "the wire tells the signature of the start"


def differing(bench: AcceptorBench, check: Check, files: Mapping[str, bytes]) -> int:
    """How many of the values that the board calculates differ from the PC's over the same bytes."""
    image = image_part(files)
    values = {}
    for seed in SEEDS:
        for width in WIDTHS:
            asked = bench.do("crc", seed=seed, width=width)["crc"]
            values[f"CRC-{width} seed {seed:04x}"] = (asked, f"{image_crc(image, seed, width):0{width // 4}x}")
    for path in (measured(files)[0], measured(files)[-1], "/image/crc"):
        values[f"digest of {path}"] = (bench.do("digest", path=path)["sha256"], sha256(image[path]))
    signature = bench.speech.signature() if bench.speech.signs_anew else Unsaid(OF_THE_START)
    if isinstance(signature, Unsaid):
        check.expect("signature on the wire", signature, "told")
    else:
        values["signature on the wire"] = (signature, image_crc(image, width=bench.speech.signature_bits))
    wrong = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
    check.note("values of board and PC", compared=len(values), different=wrong)
    return len(wrong)


@rule("HOUSE-signature-on-demand")
@images("bench", "release")
def test_signature_on_demand(bench: AcceptorBench, check: Check, image: Image) -> None:
    bench.start()
    check.measure("differences", differing(bench, check, image.files))


@rule("HOUSE-signature-on-demand")
@images("bench", "release")
def test_signature_on_demand_is_of_what_is_there_now(bench: AcceptorBench, check: Check, image: Image) -> None:
    bench.start()
    # What answers is loaded with the first question: afterwards the board would find the file altered, and stop.
    bench.do("crc")
    files = one_byte_altered(image.files)
    check.stimulus("one bit of the image altered while it runs")
    Altered(bench, image).write(files, sealed=False)
    check.measure("differences", differing(bench, check, files))
