"""The board's USB serial port, as the host's driver sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rp2040py.usb.cdc import USBCDC

# Bytes that a host handed over and the chip hasn't taken yet: beyond this the host is kept waiting.
ROOM = 4096


class NakIdleOut:
    """The host side of a CDC port on the chip's USB controller.

    Instead of the package's empty packets, an OUT transfer that the chip has armed stays open until there are bytes.
    """

    def __init__(self, controller: Any, received: Callable[[bytes], None]) -> None:
        self._controller = controller
        self._cdc = USBCDC(controller)
        self._cdc.on_serial_data = lambda data: received(bytes(data))
        self._control = controller.on_endpoint_read
        controller.on_endpoint_read = self._armed
        self._reset = controller.on_reset
        controller.on_reset = self._forget
        self._waiting = bytearray()
        self._open: int | None = None

    @property
    def room(self) -> int:
        """How many bytes it takes now."""
        return max(0, ROOM - len(self._waiting))

    def send(self, data: bytes) -> None:
        """Bytes for the board."""
        self._waiting += data
        self._serve()

    def _armed(self, endpoint: int, size: int) -> None:
        if endpoint != self._cdc._out_endpoint:
            self._control(endpoint, size)
            return
        self._open = size
        self._serve()

    def _serve(self) -> None:
        if self._open is not None and self._waiting:
            size, self._open = self._open, None
            packet = bytes(self._waiting[:size])
            del self._waiting[:size]
            self._controller.endpoint_read_done(self._cdc._out_endpoint, packet)

    def _forget(self) -> None:
        self._waiting.clear()
        self._open = None
        self._reset()
