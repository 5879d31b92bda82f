# One of boot/responder_*.py: the image builder puts that of the product's wire beside the boot block.
from collections.abc import Callable
from typing import Any

NAME: str
SERIAL: tuple[int, int, str, int]

class WireResponder:
    def __init__(self, boot: Any, why: str, send: Callable[[bytes], None]) -> None: ...
    def take(self, b: bytes) -> bytes | None: ...
