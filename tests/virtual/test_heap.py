"""192 KB of heap: 40 KB are free after the start on every wire, 48 KB on ID-003, and a busy board keeps them."""

import pytest
from pitbench import items
from pitbench.link import LinkClient
from pitbench.sources import wires_of
from pitbench.targets import open_target
from pitbench_hil.acceptor import AcceptorBench

FREE = 48 * 1024
# The other wires translate ID-003's words, and SSP has its encryption.
FREE_ON_ANY_WIRE = 40 * 1024
# Room that the first insertions take for good: settings, the first item, the last reply.
ONCE = 2 * 1024


def free(link: LinkClient) -> int:
    return int(link.do("heap")["free"])


def serve(bench: AcceptorBench, rounds: int) -> None:
    for _ in range(rounds):
        bench.stack(items.genuine(20))
        bench.attempt(items.counterfeit(), ms=2000)


def test_the_acceptor_leaves_48_kb_and_does_not_grow() -> None:
    with open_target("unix:") as board:
        bench = AcceptorBench(board)
        bench.start()
        started = free(board.link)
        serve(bench, 5)
        warm = free(board.link)
        serve(bench, 30)
        busy = free(board.link)
    assert started >= FREE
    assert busy >= FREE
    assert started - warm <= ONCE
    assert warm - busy <= 128


@pytest.mark.parametrize("wire", wires_of("bill-acceptor"))
def test_every_wire_leaves_40_kb(wire: str) -> None:
    with open_target("unix:", wire=wire) as board:
        assert free(board.link) >= FREE_ON_ANY_WIRE
