"""Any wire's line to a device that is stepped by hand."""

from __future__ import annotations

from types import SimpleNamespace

from fake_port import Port
from kermit import crc16


class HandLine:
    """A wire on a device that is stepped by hand; every event that the wire gives it is noted.

    Args:
        wire: the wire's class.
        hand: the device.
        boot: what the wire asks of the board.
    """

    def __init__(self, wire, hand, boot: SimpleNamespace) -> None:
        self.hand, self.port, self.events, self.now = hand, Port(), [], 0
        self.wire = wire(hand.device, self.port, crc16, self.step, boot, 0)

    def step(self, event) -> None:
        self.events.append(event)
        self.hand.step(*event)

    def send(self, data: bytes, after_ms: int = 1) -> bytes:
        """Bytes on the line as the answer to `data`, heard after so many ms."""
        patience = self.wire.patience(self.now)
        self.now += after_ms
        self.hand.now = self.now
        if patience <= after_ms:
            self.wire.poll(self.now)
        self.port.sent, self.port.incoming = b"", data
        self.wire.poll(self.now)
        return self.port.sent

    def stand(self, data: bytes) -> bytes:
        """Bytes on the line while the device stores."""
        self.port.sent, self.port.incoming = b"", data
        self.wire.stand(self.now)
        return self.port.sent

    def wait(self, ms: int) -> bytes:
        """Bytes on the line while the host is silent."""
        self.port.sent = b""
        end = self.now + ms
        while self.now < end:
            self.now += 10
            self.wire.tick(self.now)
        return self.port.sent
