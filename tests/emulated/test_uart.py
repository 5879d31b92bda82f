"""The PL011 of the emulated chip: bytes take their time, FIFOs fill, interrupts come and go (datasheet 4.2)."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench.emulated.uart import BUSY, CR, DR, IFLS, RX_INTERRUPT, RX_TIMEOUT, TX_INTERRUPT, TXFE, TXFF, TimedUart
from rp2040py.rp2040 import RP2040

IBRD, FBRD, LCR_H, IMSC, MIS, ICR, FR = 0x24, 0x28, 0x2C, 0x38, 0x40, 0x44, 0x18
EIGHT_EVEN, FIFOS = 0b0110_0110, 0b0001_0000
ENABLED = 0b11_0000_0001
PERI_FROM_USB_PLL = 2 << 5
# 9600 8E1: eleven bits.
BYTE_NS = 11 * 1e9 / 9600


@pytest.fixture
def chip() -> Any:
    chip = RP2040()
    chip.clocks.peri_ctrl = PERI_FROM_USB_PLL
    return chip


@pytest.fixture
def uart(chip: Any) -> TimedUart:
    uart = TimedUart(chip, "UART0", chip.uart[0])
    chip.uart[0] = chip.peripherals[0x40034] = uart
    for register, value in ((IBRD, 312), (FBRD, 32), (LCR_H, EIGHT_EVEN | FIFOS), (IMSC, 0x7F0), (CR, ENABLED)):
        write(uart, register, value)
    return uart


def write(uart: TimedUart, register: int, value: int) -> None:
    uart.raw_write_value = value
    uart.write_uint32(register, value)


def bytes_pass(uart: TimedUart, count: float) -> None:
    uart.rp2040.clock.tick(count * BYTE_NS)


def pending(uart: TimedUart) -> int:
    return int(uart.read_uint32(MIS))


def test_settings_are_what_the_registers_say(uart: TimedUart) -> None:
    assert uart.settings == "9600 8E1"
    write(uart, LCR_H, 0b0100_0010 | FIFOS)
    assert uart.settings == "9600 7O1"
    write(uart, LCR_H, 0b0110_1000 | FIFOS)
    assert uart.settings == "9600 8N2"


def test_bytes_leave_one_after_the_other(uart: TimedUart) -> None:
    sent: list[int] = []
    uart.on_byte = sent.append
    for byte in b"abc":
        write(uart, DR, byte)
    assert uart.read_uint32(FR) & BUSY
    bytes_pass(uart, 0.99)
    assert sent == []
    bytes_pass(uart, 1.02)
    assert bytes(sent) == b"ab"
    bytes_pass(uart, 1)
    assert bytes(sent) == b"abc"
    assert uart.read_uint32(FR) & (BUSY | TXFE) == TXFE


def test_the_transmit_fifo_takes_32(uart: TimedUart) -> None:
    for byte in range(40):
        write(uart, DR, byte)
    assert uart.read_uint32(FR) & TXFF
    sent: list[int] = []
    uart.on_byte = sent.append
    bytes_pass(uart, 50)
    assert sent == list(range(32))


def test_the_transmit_interrupt_comes_when_the_fifo_has_drained_and_can_be_cleared(uart: TimedUart) -> None:
    for byte in range(20):
        write(uart, DR, byte)
    assert not pending(uart) & TX_INTERRUPT
    bytes_pass(uart, 4.5)
    assert pending(uart) & TX_INTERRUPT
    write(uart, ICR, TX_INTERRUPT)
    assert not pending(uart) & TX_INTERRUPT


def test_bytes_arrive_one_after_the_other(uart: TimedUart) -> None:
    uart.send(b"hello")
    bytes_pass(uart, 2.5)
    assert uart.rx_fifo.item_count == 2
    assert uart.backlog == 3
    bytes_pass(uart, 3)
    assert bytes(uart.read_uint32(DR) for _ in range(5)) == b"hello"


def test_a_few_bytes_are_told_when_the_line_falls_silent(uart: TimedUart) -> None:
    uart.send(b"poll!")
    bytes_pass(uart, 5.1)
    assert not pending(uart)
    bytes_pass(uart, 32 / 11)
    assert pending(uart) == RX_TIMEOUT
    for _ in range(5):
        uart.read_uint32(DR)
    assert not pending(uart)


def test_many_bytes_are_told_at_the_level(uart: TimedUart) -> None:
    write(uart, IFLS, 0)
    uart.send(bytes(8))
    bytes_pass(uart, 3.5)
    assert not pending(uart)
    bytes_pass(uart, 1)
    assert pending(uart) & RX_INTERRUPT


def test_a_full_fifo_loses_what_comes(uart: TimedUart) -> None:
    """32 bytes are 37 ms at 9600 8E1: a flash erase is longer."""
    uart.send(bytes(range(40)))
    bytes_pass(uart, 41)
    assert uart.overruns == 8
    assert [uart.read_uint32(DR) for _ in range(32)] == list(range(32))


def test_a_reset_leaves_the_far_end_alone(uart: TimedUart) -> None:
    sent: list[int] = []
    uart.on_byte = sent.append
    uart.send(b"xy")
    write(uart, DR, 1)
    uart.reset()
    bytes_pass(uart, 5)
    assert sent == []
    assert uart.rx_fifo.empty
