"""The facts of a Pico that making and flashing an image needs, as its board file gives them."""

from typing import Any

PICO: dict[str, Any] = {
    "name": "rpi-pico",
    "title": "Raspberry Pi Pico",
    "machine": "Raspberry Pi Pico with RP2040",
    "micropython": "RPI_PICO",
    "micropython_min": "1.24",
    "usb": ["2E8A:0005"],
    "bootloader": ["2E8A:0003"],
    "flash": "uf2",
    "fs": "littlefs2",
    "fs_offset": 0xA0000,
    "fs_bytes": 1441792,
    "fs_block": 4096,
    "fs_prog": 256,
    "fs_lookahead": 32,
    "uf2_family": 0xE48BFF56,
    "strap": "GP22",
}
