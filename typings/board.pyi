# Facts of one board, as the image builder writes them from boards/*.toml.
from typing import Any

NAME: str
ENTROPY: str
STRAP: str | int | None
WATCHDOG_MS: int
DEBOUNCE_MS: int
# uart, tx, rx; of the rig its baud too.
WIRE: dict[str, Any]
RIG: dict[str, Any] | None
# spi, cs, bytes of the chip that the data lie on, if not in flash.
FRAM: dict[str, Any] | None
# Sensor → pin, pull, active level; output → pin, and that of the other direction.
PINS: dict[str, tuple[str | int, str, int]]
OUTPUTS: dict[str, tuple[str | int, ...]]
# Whether the wire goes over the link, where there is no second port.
TUNNEL: bool
FROM_PINS: tuple[str, ...]
