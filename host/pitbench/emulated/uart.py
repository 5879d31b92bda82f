"""A PL011 UART whose bytes take their time (RP2040 datasheet, section 4.2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rp2040py.peripherals.uart import RPUART

DR, CR, IFLS = 0x00, 0x30, 0x34
TXFE, RXFF, TXFF, RXFE, BUSY = 1 << 7, 1 << 6, 1 << 5, 1 << 4, 1 << 3
RX_INTERRUPT, TX_INTERRUPT, RX_TIMEOUT = 1 << 4, 1 << 5, 1 << 6
DEPTH = 32
# CLK_PERI_CTRL: which clock the UARTs are fed from.
AUX_SOURCE, PLL_USB, PLL_USB_HZ = 5, 2, 48_000_000
LEVELS = (4, 8, 16, 24, 28)
# The receive time-out: so many bit times without a byte while some wait.
TIMEOUT_BITS = 32
LEVELS_AT_RESET = 0x12
PARITY_ON, PARITY_EVEN, TWO_STOPS, FIFOS_ON = 1 << 1, 1 << 2, 1 << 3, 1 << 4
NS = 1e9


class TimedUart(RPUART):
    """As the package's, with both FIFOs, interrupts at their levels, and the time that each byte takes on the line."""

    def __init__(self, chip: Any, name: str, like: RPUART) -> None:
        super().__init__(chip, name, like.irq, like.dreq)
        self._tx: deque[int] = deque()
        self._line: deque[int] = deque()
        self._levels = LEVELS_AT_RESET
        self._is_sending = self._is_receiving = False
        self._sending = chip.clock.create_alarm(self._sent)
        self._receiving = chip.clock.create_alarm(self._arrived)
        self._silence = chip.clock.create_alarm(self._timed_out)
        self.overruns = 0
        self.on_settings: Callable[[str], None] | None = None

    @property
    def baud_rate(self) -> int:
        """Bits a second; the package takes the system's clock for the UARTs' own, which MicroPython sets to 48 MHz."""
        from_usb_pll = self.rp2040.clocks.peri_ctrl >> AUX_SOURCE & 7 == PLL_USB
        clock = PLL_USB_HZ if from_usb_pll else self.rp2040.clk_peri
        return round(clock / (16 * self.baud_divider))

    @property
    def settings(self) -> str:
        """As people write it: "9600 8E1"."""
        register = self._line_ctrl_register
        parity = "N" if not register & PARITY_ON else "E" if register & PARITY_EVEN else "O"
        return f"{self.baud_rate} {self.word_length}{parity}{2 if register & TWO_STOPS else 1}"

    @property
    def bit_ns(self) -> float:
        """Time of one bit in ns; the line is silent until somebody has set a speed."""
        return NS / self.baud_rate if self.baud_divider else NS / 9600

    @property
    def byte_ns(self) -> float:
        """Time of one byte on the line in ns: start, data, parity, stop."""
        register = self._line_ctrl_register
        parity = 1 if register & PARITY_ON else 0
        return self.bit_ns * (1 + self.word_length + parity + (2 if register & TWO_STOPS else 1))

    @property
    def flags(self) -> int:
        transmit = (TXFE if not self._tx else 0) | (TXFF if len(self._tx) >= DEPTH else 0)
        receive = (RXFE if self.rx_fifo.empty else 0) | (RXFF if self.rx_fifo.full else 0)
        return transmit | receive | (BUSY if self._tx or self._is_sending else 0)

    @property
    def backlog(self) -> int:
        """Bytes on their way to the chip that haven't arrived yet."""
        return len(self._line)

    def send(self, data: bytes) -> None:
        """Bytes that a host puts on the line, one after the other."""
        self._line += data
        if self._line and not self._is_receiving:
            self._is_receiving = True
            self._receiving.schedule(self.byte_ns)

    def reset(self) -> None:
        super().reset()
        self._tx.clear()
        self._levels = LEVELS_AT_RESET
        self._is_sending = False
        for alarm in (self._sending, self._silence):
            alarm.cancel()

    def check_interrupts(self) -> None:
        self.rp2040.set_interrupt(self.irq, bool(self._interrupt_status & self._interrupt_mask))

    def read_uint32(self, offset: int) -> int:
        if offset == IFLS:
            return self._levels
        if offset != DR:
            return int(super().read_uint32(offset))
        value = self.rx_fifo.pull()
        if self.rx_fifo.item_count < self._level(3):
            self._interrupt_status &= ~RX_INTERRUPT
        if self.rx_fifo.empty:
            self._interrupt_status &= ~RX_TIMEOUT
            self._silence.cancel()
        self.check_interrupts()
        return int(value)

    def write_uint32(self, offset: int, value: int) -> None:
        if offset == DR:
            self._put(value & 0xFF)
        elif offset == IFLS:
            self._levels = value & 0x3F
        else:
            super().write_uint32(offset, value)
            if offset == CR and self.enabled and self.on_settings:
                self.on_settings(self.settings)

    def _level(self, shift: int) -> int:
        if not self.fifos_enabled:
            return 1
        return LEVELS[min(self._levels >> shift & 7, len(LEVELS) - 1)]

    def _put(self, byte: int) -> None:
        if len(self._tx) >= DEPTH:
            return
        self._tx.append(byte)
        if len(self._tx) > self._level(0):
            self._interrupt_status &= ~TX_INTERRUPT
            self.check_interrupts()
        if not self._is_sending:
            self._is_sending = True
            self._sending.schedule(self.byte_ns)

    def _sent(self) -> None:
        byte = self._tx.popleft()
        self._is_sending = bool(self._tx)
        if self._is_sending:
            self._sending.schedule(self.byte_ns)
        if len(self._tx) == self._level(0) or not self._tx:
            self._interrupt_status |= TX_INTERRUPT
        if self.on_byte:
            self.on_byte(byte)
        self.check_interrupts()

    def _arrived(self) -> None:
        byte = self._line.popleft()
        self._is_receiving = bool(self._line)
        if self.enabled and self.rx_enabled:
            self._take(byte)
        if self._is_receiving:
            self._receiving.schedule(self.byte_ns)

    def _take(self, byte: int) -> None:
        if self.rx_fifo.full:
            self.overruns += 1
            return
        self.rx_fifo.push(byte)
        if self.rx_fifo.item_count >= self._level(3):
            self._interrupt_status |= RX_INTERRUPT
        self._silence.cancel()
        self._silence.schedule(self.bit_ns * TIMEOUT_BITS)
        self.check_interrupts()

    def _timed_out(self) -> None:
        if not self.rx_fifo.empty:
            self._interrupt_status |= RX_TIMEOUT
            self.check_interrupts()
