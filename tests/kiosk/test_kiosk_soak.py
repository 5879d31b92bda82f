"""Ten thousand notes, one after the other, over a line that is not quite clean."""

import random
import time

from acceptor_model import Acceptor, Paper, Times
from kiosk_bench import Bench, Noise
from pitbench.kiosk import journal as journal_module


def test_ten_thousand_notes(tmp_path, monkeypatch):
    # What fsync does is tested elsewhere; here its time would be most of the test.
    monkeypatch.setattr(journal_module.os, "fsync", lambda fd: None)
    bench = Bench(tmp_path / "j", acceptor=Acceptor(times=Times(100, 100, 50, 100, 100)), fault=Noise(1, 0.002)).ready()
    draw = random.Random(2)
    start = time.monotonic()
    while len(bench.acceptor.stacked) < 10_000:
        bench.acceptor.insert(Paper(draw.choice((0x61, 0x63, 0x64, 0x65, 0x66, 0x67))))
        bench.step(50)
    assert time.monotonic() - start < 60
    bench.come_to_rest()
    assert bench.credited_cents() == bench.stacked_cents()
    assert bench.kiosk.disputes == []
    bench.crash_host()
    assert bench.credited_cents() == bench.stacked_cents()
