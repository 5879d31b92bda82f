# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The chip's way from one alarm to the next, compiled against the emulator's own declarations.

The package's loop asks Python objects, at each instruction, whether to stop and what both PIOs do; its fetch copies a
description of the memory, its conditional branches and its calls go through Python. Here the same instructions, by the
package's own handlers, end with the same state at the same device time, in a fifth of the wall time. Without this
module the package's loop runs.
"""

from libc.stdint cimport uint16_t

from rp2040py.native._cortex_m0_core cimport DISPATCH_TABLE, CortexM0Core, OpHandler, resolve_wide
from rp2040py.native._rp2040 cimport RP2040
from rp2040py.native._simulation_clock cimport SimulationClock

cdef double CYCLE_NS = 8.0  # 125 MHz
cdef unsigned int FLASH = 0x10000000
cdef unsigned int RAM = 0x20000000
cdef unsigned int CONDITIONAL_FIRST = 0xD000
cdef unsigned int CONDITIONAL_END = 0xDE00
cdef unsigned int WIDE_FIRST = 0xE800


cdef inline bint _holds(CortexM0Core core, unsigned int condition) noexcept:
    """ARMv6-M Architecture Reference Manual, A6.3: of each pair the second condition is the first's opposite."""
    cdef unsigned int pair = condition >> 1
    cdef bint first
    if pair == 0:
        first = core.z
    elif pair == 1:
        first = core.c
    elif pair == 2:
        first = core.n
    elif pair == 3:
        first = core.v
    elif pair == 4:
        first = core.c and not core.z
    elif pair == 5:
        first = core.n == core.v
    else:
        first = core.n == core.v and not core.z
    return first != (condition & 1)


cdef int _branch(CortexM0Core core, unsigned int opcode, unsigned int low, unsigned int at) except -1:
    """B<c>, encoding T1: one cycle, or two where it is taken."""
    cdef int halfwords = <signed char> (opcode & 0xFF)
    if not _holds(core, (opcode >> 8) & 0xF):
        return 1
    core.registers[15] += 2 + <unsigned int> (2 * halfwords)
    return 2


cdef inline unsigned int _fetch(RP2040 chip, unsigned int at) except? 0xFFFFFFFFU:
    if at - FLASH < chip.flash_byte_size:
        return (<uint16_t *> &chip._flash[at - FLASH])[0]
    if at - RAM < chip.ram_byte_size:
        return (<uint16_t *> &chip._sram[at - RAM])[0]
    return chip.read_uint16(at)


cdef inline int _execute(RP2040 chip, CortexM0Core core) except -1:
    """One instruction; returns its cycles."""
    cdef unsigned int at, opcode, low
    cdef OpHandler handler
    cdef int cycles
    if core.interrupts_updated:
        return core.execute_instruction()
    at = core.registers[15] & 0xFFFFFFFEU
    opcode = _fetch(chip, at)
    if opcode >= WIDE_FIRST:
        low = _fetch(chip, at + 2)
        handler = resolve_wide(opcode, low) if 0xF000 <= opcode < 0xF800 else NULL
    elif CONDITIONAL_FIRST <= opcode < CONDITIONAL_END:
        low, handler = 0, _branch
    else:
        low, handler = 0, DISPATCH_TABLE[opcode]
    if handler == NULL:
        return core.execute_instruction()
    core.registers[15] += 2
    cycles = handler(core, opcode, low, at)
    core.cycles += cycles
    return cycles


def stride(RP2040 chip, double nanos):
    """Execute for so many ns of device time. Neither PIO may be running: it would stand still."""
    cdef CortexM0Core core = chip.core
    cdef SimulationClock clock = chip.clock
    cdef double end = clock._nanos_counter + nanos
    cdef double now
    # There is an alarm as long as this runs: its own.
    clock.create_alarm(_nothing).schedule(nanos)
    while clock._nanos_counter < end:
        if core.waiting:
            clock.tick(clock._next_alarm.nanos - clock._nanos_counter)
            continue
        now = clock._nanos_counter + _execute(chip, core) * CYCLE_NS
        if clock._next_alarm.nanos <= now:
            clock.tick(now - clock._nanos_counter)
        else:
            clock._nanos_counter = now


def _nothing():
    pass
