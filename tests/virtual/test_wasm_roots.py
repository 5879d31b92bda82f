"""What a compiled program holds in locals and on the operand stack must lie on the C stack while it calls.

The programs here are small enough to see by eye what they hold; `collect` stands for a garbage collector, which scans
from the stack pointer up.
"""

from __future__ import annotations

import pytest
import wasmtime
from pitbench.virtual.wasm_binary import UnsupportedWasm
from pitbench.virtual.wasm_module import engine
from pitbench.virtual.wasm_roots import STACK_LIMIT, STACK_PAGES, expose_roots

TOP = (1 + STACK_PAGES) * 65536
HEAD = """(module
  (import "board" "collect" (func $collect (result i32)))
  (tag $thrown (param i32))
  (memory (export "memory") 1)
  (global $sp (mut i32) (i32.const 65536))
  (func (export "limit") (result i32) i32.const 40000)
  (func (export "sp") (result i32) global.get $sp)
"""

HOLDS_LOCALS = """(func (export "run") (param $a i32) (param $w i64) (param $b i32) (result i32) (local $c i32)
  local.get $a  i32.const 1  i32.add  local.set $c
  call $collect  drop
  local.get $a  local.get $b  i32.add  local.get $c  i32.add)"""

HOLDS_A_TEE = """(func (export "run") (param $a i32) (result i32) (local $c i32)
  local.get $a  i32.const 5  i32.add  local.tee $c  drop
  call $collect  drop
  local.get $c)"""

# 7001 waits below a float, and outside of a block; 7002 + 7003 is what the block leaves.
HOLDS_OPERANDS = """(func (export "run") (result i32)
  call $collect
  f64.const 2
  call $collect
  block (param i32) (result i32)
    call $collect
    i32.add
  end
  call $collect
  drop
  f64.convert_i32_s  f64.add  i32.trunc_f64_s
  i32.add)"""

LEAVES_IN_MANY_WAYS = """(func (export "run") (param $way i32) (result i32)
  call $collect  drop
  block $two  block $one  block $zero
    local.get $way  br_table $zero $one $two
  end
    i32.const 10  return
  end
    i32.const 11
    loop (param i32) (result i32)
      local.get $way  if (param i32) (result i32)  return  else  drop  i32.const 99  end
    end
    br 1
  end
  local.get $way  i32.const 10  i32.add)"""

# As a C compiler does it: whoever catches puts the stack pointer back to where it was in its own frame.
CATCHES = """(func $throws (param $a i32) call $collect  drop  local.get $a  throw $thrown)
(func (export "run") (param $a i32) (result i32) (local $frame i32)
  global.get $sp  local.set $frame
  block $caught (result i32)
    try_table (catch $thrown $caught)  local.get $a  call $throws  end
    i32.const 0
  end
  local.get $frame  global.set $sp)"""


class Program:
    """A program after the pass. `seen` is what the collector found: one set of words for each call."""

    def __init__(self, text: str) -> None:
        compiler = engine()
        self.store = wasmtime.Store(compiler)
        self.seen: list[set[int]] = []
        module = wasmtime.Module(compiler, expose_roots(bytes(wasmtime.wat2wasm(HEAD + text + ")"))))
        collect = wasmtime.Func(self.store, wasmtime.FuncType([], [wasmtime.ValType.i32()]), self._collect)
        self._exports = wasmtime.Instance(self.store, module, [collect]).exports(self.store)

    def call(self, name: str, *arguments: int) -> int:
        function = self._exports[name]
        assert isinstance(function, wasmtime.Func)
        return int(function(self.store, *arguments))

    def _collect(self) -> int:
        memory = self._exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        stack = bytes(memory.read(self.store, self.call("sp"), TOP))
        self.seen.append({int.from_bytes(stack[at : at + 4], "little") for at in range(0, len(stack), 4)})
        return 7000 + len(self.seen)


def test_parameters_and_locals_are_seen() -> None:
    program = Program(HOLDS_LOCALS)
    assert program.call("run", 1000, 5, 2000) == 4001
    assert program.seen[0] >= {1000, 2000, 1001}


def test_a_tee_is_seen() -> None:
    program = Program(HOLDS_A_TEE)
    assert program.call("run", 1000) == 1005
    assert 1005 in program.seen[0]


def test_what_waits_on_the_operand_stack_is_seen() -> None:
    program = Program(HOLDS_OPERANDS)
    assert program.call("run") == 7001 + 2 + 7002 + 7003
    assert 7001 in program.seen[1]
    assert program.seen[2] >= {7001, 7002}
    assert program.seen[3] >= {7001, 7002 + 7003}


@pytest.mark.parametrize("way", range(4))
def test_every_way_out_gives_the_frame_back(way: int) -> None:
    program = Program(LEAVES_IN_MANY_WAYS)
    assert program.call("run", way) == 10 + way
    assert program.call("sp") == TOP


def test_a_catch_gives_the_frames_of_those_that_threw_back() -> None:
    program = Program(CATCHES)
    assert program.call("run", 1234) == 1234
    assert 1234 in program.seen[0]
    assert program.call("sp") == TOP


def test_a_function_that_calls_nobody_is_left_alone() -> None:
    assert Program("").call("sp") == TOP


def test_the_stack_limit_grows_with_the_stack() -> None:
    assert Program("").call("limit") == STACK_LIMIT < STACK_PAGES * 65536


@pytest.mark.parametrize(
    ("wasm", "said"),
    [
        (b"MZ", "not a WebAssembly module"),
        (bytes(wasmtime.wat2wasm(HEAD.replace("40000", "40001") + ")")), "40000, isn't found"),
        (bytes(wasmtime.wat2wasm(HEAD.replace('"memory") 1', '"memory") 1 2') + ")")), "upper limit"),
        (bytes(wasmtime.wat2wasm(HEAD + "(func i32.const 1 i8x16.splat drop))")), "0xfd isn't known"),
    ],
)
def test_a_module_of_another_make_is_refused(wasm: bytes, said: str) -> None:
    with pytest.raises(UnsupportedWasm, match=said):
        expose_roots(wasm)
