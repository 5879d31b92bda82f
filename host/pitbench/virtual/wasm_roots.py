"""Makes every pointer held by compiled C visible to MicroPython's garbage collector.

MicroPython finds the objects in use by scanning the C stack. A WebAssembly module keeps most values in locals and
on the operand stack of the virtual machine, where no program can look, so that a collection frees objects in use:
``gc.collect()`` twenty calls deep crashes the module as PyPI ships it. Upstream's cure is Binaryen's
``--spill-pointers``; the shipped module was built without it, and Binaryen has no wheel for the machines that need
this interpreter most. This is the same cure, done once for each module before it is compiled:

* a function that calls others gets a frame on the C stack, with a slot for each of its i32 locals;
* whatever is written to such a local is written to its slot as well;
* so is an i32 that waits on the operand stack while a call runs.

The C stack itself moves into memory of its own, since its frames grow and the linker left it 64 KB.
Format: WebAssembly Core Specification 3.0, chapter 5 (binary format), with exception handling.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pitbench.virtual.wasm_binary import (
    Function,
    FunctionType,
    Instruction,
    Module,
    UnsupportedWasm,
    signed,
    unsigned,
)

_I32 = 0x7F
_EMPTY = 0x40

# The C stack of the module as shipped has 64 KB, of which MicroPython uses 40,000 bytes. The new one is larger than
# the limit by as much as one unchecked chain of C calls can take.
STACK_PAGES = 4
_SHIPPED_LIMIT = 40000
STACK_LIMIT = 120000


class _Op:
    """The opcodes that matter here by name."""

    UNREACHABLE, BLOCK, LOOP, IF, ELSE, TRY_TABLE, END = 0x00, 0x02, 0x03, 0x04, 0x05, 0x1F, 0x0B
    THROW, THROW_REF, BR, BR_TABLE, RETURN, CALL, CALL_INDIRECT = 0x08, 0x0A, 0x0C, 0x0E, 0x0F, 0x10, 0x11
    SELECT, LOCAL_GET, LOCAL_SET, LOCAL_TEE, GLOBAL_GET, GLOBAL_SET = 0x1B, 0x20, 0x21, 0x22, 0x23, 0x24
    I32_STORE, I32_CONST, I32_ADD, I32_SUB = 0x36, 0x41, 0x6A, 0x6B


_OPENS = {_Op.BLOCK, _Op.LOOP, _Op.IF, _Op.TRY_TABLE}
_LEAVES = {_Op.UNREACHABLE, _Op.THROW, _Op.THROW_REF, _Op.BR, _Op.BR_TABLE, _Op.RETURN}
_CALLS = {_Op.CALL, _Op.CALL_INDIRECT}


def expose_roots(wasm: bytes) -> bytes:
    """Returns the module with its pointers spilled to the C stack.

    Raises:
        UnsupportedWasm: the module uses an instruction or a layout that this pass doesn't know.
    """
    module = Module.parse(wasm)
    module.move_stack(STACK_PAGES)
    bodies = [_rewritten(module, function) for function in module.functions]
    return module.with_functions(_with_stack_limit(bodies))


def _with_stack_limit(bodies: list[bytes]) -> list[bytes]:
    """The limit that MicroPython's main sets is a constant; it grows with the stack."""
    shipped = bytes([_Op.I32_CONST]) + signed(_SHIPPED_LIMIT)
    if sum(body.count(shipped) for body in bodies) != 1:
        raise UnsupportedWasm(f"the stack limit, {_SHIPPED_LIMIT}, isn't found just once")
    return [body.replace(shipped, bytes([_Op.I32_CONST]) + signed(STACK_LIMIT)) for body in bodies]


def _rewritten(module: Module, function: Function) -> bytes:
    if not any(instruction.opcode in _CALLS for instruction in function.instructions):
        return function.code
    frame = _Frame(function, _OperandStack(module, function).held_across_calls())
    return frame.code() if frame.size else function.code


@dataclass
class _Control:
    """One open block: where its operands begin, and what is there when it ends."""

    height: int
    type: FunctionType
    unreachable: bool = False


@dataclass
class _OperandStack:
    """Follows types through a function, and notes which instructions leave a value that outlives a call."""

    module: Module
    function: Function
    # (value type, index of the instruction that left it there)
    _values: list[tuple[int, int]] = field(default_factory=list)
    _controls: list[_Control] = field(default_factory=list)
    _held: dict[int, int] = field(default_factory=dict)

    def held_across_calls(self) -> dict[int, int]:
        """Returns {index of instruction: depth on the operand stack of the i32 that it leaves}."""
        self._controls = [_Control(0, FunctionType((), self.function.type.results))]
        for index, instruction in enumerate(self.function.instructions):
            self._step(index, instruction)
        return self._held

    def _step(self, index: int, instruction: Instruction) -> None:
        opcode = instruction.opcode
        if opcode in _OPENS:
            self._open(index, instruction)
        elif opcode == _Op.ELSE:
            self._reset(index, self._controls[-1].type.params)
            self._controls[-1].unreachable = False
        elif opcode == _Op.END:
            self._reset(index, self._controls[-1].type.results)
            self._controls.pop()
        elif self._controls[-1].unreachable:
            return
        elif opcode in _LEAVES:
            self._controls[-1].unreachable = True
        else:
            self._plain(index, instruction)

    def _open(self, index: int, instruction: Instruction) -> None:
        kind = self.module.block_type(instruction.immediate)
        dead = self._controls[-1].unreachable
        if not dead:
            self._pop(len(kind.params) + (instruction.opcode == _Op.IF))
        self._controls.append(_Control(len(self._values), kind, dead))
        if not dead:
            self._push(index, kind.params)

    def _reset(self, index: int, types: tuple[int, ...]) -> None:
        del self._values[self._controls[-1].height :]
        self._push(index, types)

    def _plain(self, index: int, instruction: Instruction) -> None:
        pops, pushes = self._effect(instruction)
        self._pop(pops)
        if instruction.opcode in _CALLS:
            self._note_held()
        self._push(index, pushes)

    def _note_held(self) -> None:
        for depth, (kind, producer) in enumerate(self._values):
            if kind == _I32 and self.function.instructions[producer].opcode != _Op.I32_CONST:
                self._held[producer] = depth

    def _effect(self, instruction: Instruction) -> tuple[int, tuple[int, ...]]:
        opcode, operand = instruction.opcode, instruction.immediate
        if opcode == _Op.CALL:
            called = self.module.type_of_function(operand)
            return len(called.params), called.results
        if opcode == _Op.CALL_INDIRECT:
            called = self.module.types[operand]
            return len(called.params) + 1, called.results
        if opcode in (_Op.LOCAL_GET, _Op.LOCAL_TEE):
            return int(opcode == _Op.LOCAL_TEE), (self.function.locals[operand],)
        if opcode == _Op.SELECT:
            return 3, (self._values[-2][0],)
        return instruction.effect()

    def _pop(self, count: int) -> None:
        if len(self._values) - count < self._controls[-1].height:
            raise UnsupportedWasm("an instruction takes more operands than there are: the stack was followed wrongly")
        if count:
            del self._values[-count:]

    def _push(self, index: int, types: tuple[int, ...]) -> None:
        self._values.extend((kind, index) for kind in types)


class _Frame:
    """The slots of one function, and its code with the writes to them put in."""

    def __init__(self, function: Function, held: dict[int, int]) -> None:
        self._function = function
        self._held = held
        locals_of_pointers = [index for index, kind in enumerate(function.locals) if kind == _I32]
        self._slots = {index: 4 * place for place, index in enumerate(locals_of_pointers)}
        self._operands = 4 * len(locals_of_pointers)
        used = self._operands + 4 * (max(held.values(), default=-1) + 1)
        self.size = (used + 15) & ~15  # the C stack stays aligned to 16 bytes
        self._base = len(function.locals)
        self._scratch = self._base + 1

    def code(self) -> bytes:
        """Returns the function body, locals first, without its size."""
        return b"".join((self._declarations(), self._enter(), *self._body(), self._leave()))

    def _declarations(self) -> bytes:
        groups = [*self._function.local_groups, (2, _I32)]
        return unsigned(len(groups)) + b"".join(unsigned(count) + bytes([kind]) for count, kind in groups)

    def _enter(self) -> bytes:
        """Takes the frame, saves the parameters, and opens the block that every way out leads through."""
        results = self._function.type.results
        if len(results) > 1:
            raise UnsupportedWasm("a function returns more than one value")
        params = (index for index in range(len(self._function.type.params)) if index in self._slots)
        return b"".join(
            (
                _op(_Op.GLOBAL_GET, 0) + bytes([_Op.I32_CONST]) + signed(self.size) + bytes([_Op.I32_SUB]),
                _op(_Op.LOCAL_TEE, self._base) + _op(_Op.GLOBAL_SET, 0),
                *(self._save_local(index) for index in params),
                bytes([_Op.BLOCK, *(results or (_EMPTY,))]),
            )
        )

    def _leave(self) -> bytes:
        return b"".join(
            (
                _op(_Op.LOCAL_GET, self._base) + bytes([_Op.I32_CONST]) + signed(self.size) + bytes([_Op.I32_ADD]),
                _op(_Op.GLOBAL_SET, 0),
                bytes([_Op.END]),
            )
        )

    def _body(self) -> Iterator[bytes]:
        depth = 0
        for index, instruction in enumerate(self._function.instructions):
            depth += (instruction.opcode in _OPENS) - (instruction.opcode == _Op.END)
            # A return would pass the frame's end by: it becomes a branch to the block around the body.
            yield _op(_Op.BR, depth) if instruction.opcode == _Op.RETURN else instruction.code
            if instruction.opcode in (_Op.LOCAL_SET, _Op.LOCAL_TEE) and instruction.immediate in self._slots:
                yield self._save_local(instruction.immediate)
            if index in self._held:
                yield self._save_operand(self._held[index])

    def _save_local(self, index: int) -> bytes:
        return _op(_Op.LOCAL_GET, self._base) + _op(_Op.LOCAL_GET, index) + _store(self._slots[index])

    def _save_operand(self, depth: int) -> bytes:
        keep = _op(_Op.LOCAL_SET, self._scratch) + _op(_Op.LOCAL_GET, self._base) + _op(_Op.LOCAL_GET, self._scratch)
        return keep + _store(self._operands + 4 * depth) + _op(_Op.LOCAL_GET, self._scratch)


def _op(opcode: int, operand: int) -> bytes:
    return bytes([opcode]) + unsigned(operand)


def _store(offset: int) -> bytes:
    return bytes([_Op.I32_STORE, 2]) + unsigned(offset)
