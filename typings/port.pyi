# The board's own hal/port_*.py, which the image builder copies beside the boot block.
from hal.port_unix import *  # noqa: F403
