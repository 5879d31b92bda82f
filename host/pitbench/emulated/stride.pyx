# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The chip's way from one alarm to the next, compiled against the emulator's own declarations.

The package's loop asks Python objects, at each instruction, whether to stop and what both PIOs do; its fetch copies a
description of the memory, its conditional branches, its calls and its divider go through Python. Here the same
instructions, by the package's own handlers, end with the same state at the same device time, in a sixth of the wall
time. Without this module the package's loop runs.
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
# Halves of BL that are the same in each.
cdef unsigned int BL_MASK = 0xD000
# The divider's registers in the SIO block (RP2040 data sheet, 2.3.1.5 and 2.3.1.7).
cdef int DIVIDER_FIRST = 0x60
cdef int DIVIDER_LAST = 0x78
cdef int READY_AND_DIRTY = 3
cdef int READY = 1


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


cdef int _call(CortexM0Core core, unsigned int opcode, unsigned int low, unsigned int at) except -1:
    """BL: 25 bits of offset, of which two are stored inverted where it is negative."""
    cdef unsigned int sign = (opcode >> 10) & 1
    cdef unsigned int first = 1 ^ sign ^ ((low >> 13) & 1)
    cdef unsigned int second = 1 ^ sign ^ ((low >> 11) & 1)
    cdef unsigned int offset = (0xFF000000U if sign else 0) | first << 23 | second << 22
    offset |= (opcode & 0x3FF) << 12 | (low & 0x7FF) << 1
    core.registers[15] += 2
    core.registers[14] = core.registers[15] | 1
    core.registers[15] += offset
    return 3


cdef int _call_register(CortexM0Core core, unsigned int opcode, unsigned int low, unsigned int at) except -1:
    """BLX: the target is read after the link is written, as the package does it."""
    core.registers[14] = core.registers[15] | 1
    core.registers[15] = core.registers[(opcode >> 3) & 0xF] & 0xFFFFFFFEU
    return 2


cdef inline OpHandler _wide(unsigned int opcode, unsigned int low) noexcept:
    if not 0xF000 <= opcode < 0xF800:
        return NULL
    return _call if low & BL_MASK == BL_MASK else resolve_wide(opcode, low)


cdef inline OpHandler _narrow(unsigned int opcode) noexcept:
    if CONDITIONAL_FIRST <= opcode < CONDITIONAL_END:
        return _branch
    return _call_register if opcode & 0xFF87 == 0x4780 else DISPATCH_TABLE[opcode]


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
        handler = _wide(opcode, low)
    else:
        low, handler = 0, _narrow(opcode)
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


cdef class Divider:
    """The divider of the SIO block: MicroPython divides at each look-up of a name.

    Takes the place of what the package does there, for as long as the chip is there.
    """

    cdef CortexM0Core core
    cdef object sio
    cdef object read_rest
    cdef object write_rest
    cdef object reset_rest
    cdef unsigned int dividend
    cdef unsigned int divisor
    cdef unsigned int quotient
    cdef unsigned int remainder
    cdef int status

    def __init__(self, RP2040 chip):
        self.core = chip.core
        sio = chip.sio
        self.read_rest, self.write_rest, self.reset_rest = sio.read_uint32, sio.write_uint32, sio.reset
        self._clear()
        sio.read_uint32, sio.write_uint32, sio.reset = self.read, self.write, self.reset

    def read(self, int offset):
        """A register's value, by its offset in the block."""
        if offset < DIVIDER_FIRST or offset > DIVIDER_LAST:
            return self.read_rest(offset)
        if offset == 0x70:
            self.status &= READY
            return self.quotient
        if offset == 0x74:
            return self.remainder
        if offset == 0x78:
            return self.status
        return self.divisor if offset & 4 else self.dividend

    def write(self, int offset, long long value):
        """Put a value into a register; one of the first four divides."""
        if offset < DIVIDER_FIRST or offset >= DIVIDER_LAST:
            self.write_rest(offset, value)
            return
        self.status = READY_AND_DIRTY
        if offset == 0x70:
            self.quotient = <unsigned int> value
        elif offset == 0x74:
            self.remainder = <unsigned int> value
        else:
            if offset & 4:
                self.divisor = <unsigned int> value
            else:
                self.dividend = <unsigned int> value
            self._divide((offset & 8) != 0)

    def reset(self):
        """As after power-on."""
        self._clear()
        self.reset_rest()

    cdef void _clear(self):
        self.dividend = self.quotient = self.remainder = 0
        self.divisor = 1
        self.status = 0

    cdef void _divide(self, bint signed):
        cdef long long dividend = <long long> <int> self.dividend if signed else <long long> self.dividend
        cdef long long divisor = <long long> <int> self.divisor if signed else <long long> self.divisor
        if divisor == 0:
            self.quotient = 0xFFFFFFFFU if self.dividend else 1
            self.remainder = self.dividend
        else:
            self.quotient = <unsigned int> (dividend // divisor)
            self.remainder = <unsigned int> (dividend % divisor)
        self.core.cycles += 8
