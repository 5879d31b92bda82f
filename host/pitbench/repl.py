"""A board's raw REPL, by mpremote's own transport, with every failure as one sentence."""

from __future__ import annotations

import ast
import base64
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import serial
from mpremote.transport import TransportError as MpremoteError  # type: ignore[import-untyped]
from mpremote.transport import TransportExecError
from mpremote.transport_serial import SerialTransport  # type: ignore[import-untyped]

from pitbench.errors import PitbenchError

READ_S = 5.0
WRITE_S = 5.0
SILENCE_S = 30.0
# A board in the middle of a flash erase, or an emulated one, takes a while to hear Ctrl-C.
ENTER_S = 3.0
ENTER_READ_S = 0.5
TRIES = 2
# Bytes of a file in one command: few round trips, and little of the board's memory; thirds of it need no padding.
CHUNK = 1536
_RAW = b"raw REPL; CTRL-B to exit\r\n"

# The u-names are the built-in modules even where a stray file of that name lies on the board.
_FACTS = """
import usys, ubinascii
try:
 import umachine
 u = ubinascii.hexlify(umachine.unique_id()).decode()
except (ImportError, AttributeError):
 u = ''
i = usys.implementation
print(repr((i[0], tuple(i[1])[:3], getattr(i, '_machine', ''), u)))
"""
_WALK = """
import gc, uos
try:
 import uhashlib, ubinascii
except ImportError:
 uhashlib = None
gc.collect()
def _sha(p):
 if not uhashlib:
  return ''
 h, b = uhashlib.sha256(), bytearray(512)
 m = memoryview(b)
 with open(p, 'rb') as f:
  n = f.readinto(b)
  while n:
   h.update(m[:n])
   n = f.readinto(b)
 return ubinascii.hexlify(h.digest()).decode()
def _walk(d):
 for e in uos.ilistdir(d):
  p = d + e[0]
  if (uos.stat(p)[0] & 0x4000):
   print(repr((p + '/', 0, '')))
   _walk(p + '/')
  else:
   print(repr((p, uos.stat(p)[6], _sha(p))))
_walk('/')
"""
# Firmware of ours did so already, and left the prompt with it.
_REMOUNT = "import uos\nif 'flash' in uos.listdir('/'):\n {statements}"
_SYNC = "import uos\nif hasattr(uos, 'sync'):\n uos.sync()"
_RESET = "import umachine\numachine.reset()"


class ReplError(PitbenchError):
    """A board whose MicroPython prompt can't be reached, or that fails at what it was told there."""


@dataclass(frozen=True)
class BoardSays:
    """What MicroPython says of the board: its name, (major, minor, patch), machine text, unique id (hex, may be "")."""

    implementation: str
    version: tuple[int, ...]
    machine: str
    uid: str

    @property
    def version_text(self) -> str:
        """As people write it: 1.24.1."""
        return ".".join(str(number) for number in self.version)


class Repl:
    """A board at its raw REPL.

    Args:
        port: path or URL, for messages.
        transport: mpremote's, in the raw REPL.
    """

    def __init__(self, port: str, transport: Any) -> None:
        self.port = port
        self._transport = transport

    def facts(self) -> BoardSays:
        """Ask MicroPython what it is. Raises ReplError."""
        name, version, machine, uid = ast.literal_eval(self._run(_FACTS))
        return BoardSays(name, tuple(version), machine, uid)

    def digests(self) -> dict[str, str]:
        """Return path → SHA-256 (hex) of every file on the board; folders end in a slash. Raises ReplError."""
        rows = [ast.literal_eval(line) for line in self._run(_WALK).splitlines()]
        return {path: digest or self._digest_here(path) for path, _, digest in rows}

    def remount(self, statements: str) -> None:
        """Make the flash the root of all paths, on a board that mounts it elsewhere. Raises ReplError."""
        self._run(_REMOUNT.format(statements=statements))

    def write(self, path: str, data: bytes) -> None:
        """Write one file whole. Raises ReplError."""
        # Base 64, not mpremote's fs_writefile: its literals make bytecode up to three times as long on the way.
        with _said(self.port, f"writing {path}"):
            self._exec(f"import ubinascii\nf = open({path!r}, 'wb')")
            for at in range(0, len(data), CHUNK):
                text = base64.b64encode(data[at : at + CHUNK]).decode("ascii")
                self._exec(f"f.write(ubinascii.a2b_base64('{text}'))")
            self._exec("f.close()")

    def make_folder(self, path: str) -> None:
        """Make a folder (without its slash). Raises ReplError."""
        with _said(self.port, f"making {path}"):
            self._transport.fs_mkdir(path)

    def remove(self, path: str) -> None:
        """Remove a file, or an empty folder, which ends in a slash. Raises ReplError."""
        with _said(self.port, f"removing {path}"):
            if path.endswith("/"):
                self._transport.fs_rmdir(path.rstrip("/"))
            else:
                self._transport.fs_rmfile(path)

    def reset(self) -> None:
        """Let what was written reach the flash, and restart the board. Raises ReplError."""
        self._run(_SYNC)
        with _said(self.port, "restarting"):
            self._transport.exec_raw_no_follow(_RESET)

    def _run(self, code: str) -> str:
        with _said(self.port, "carrying out a command"):
            return self._exec(code).decode("utf-8", "replace")

    def _exec(self, code: str) -> bytes:
        # mpremote's exec waits 10 s for the next byte, too short for an emulated board on a busy PC.
        out, error = self._transport.exec_raw(code, timeout=SILENCE_S)
        if error:
            raise TransportExecError(out, error.decode("utf-8", "replace"))
        return bytes(out)

    def _digest_here(self, path: str) -> str:
        # A folder has none; a board without hashlib sends the file instead.
        if path.endswith("/"):
            return ""
        with _said(self.port, f"reading {path}"):
            return hashlib.sha256(self._transport.fs_readfile(path)).hexdigest()


@contextmanager
def open_repl(port: str, way_back: str) -> Iterator[Repl]:
    """Bring a board to its raw REPL, interrupting what runs there, and give the port back at the end.

    Args:
        port: path or pyserial URL.
        way_back: what a person does with a board that doesn't listen to Ctrl-C.

    Raises ReplError.
    """
    try:
        transport = SerialTransport(port, timeout=READ_S)
    except (MpremoteError, OSError) as error:
        raise ReplError(f"Port {port} cannot be opened: {error}.", "Look whether another program holds it.") from error
    try:
        transport.serial.write_timeout = WRITE_S
        with _said(port, "going to its prompt"):
            _enter(transport, port, way_back)
        yield Repl(port, transport)
    finally:
        _close(transport)


def _enter(transport: Any, port: str, way_back: str) -> None:
    transport.serial.timeout = ENTER_READ_S
    for _ in range(TRIES):
        # Twice: the first may only end what a program was waiting for.
        transport.serial.write(b"\r\x03\x03")
        transport.serial.reset_input_buffer()
        if _answers_raw(transport, b"\r\x01"):
            # What a slow board still says to an earlier try is no answer to a later command.
            _drain(transport)
            if _answers_raw(transport, b"\x01"):
                transport.in_raw_repl = True
                transport.serial.timeout = READ_S
                return
    raise ReplError(f"Nothing on {port} shows a MicroPython prompt.", way_back)


def _answers_raw(transport: Any, keys: bytes) -> bool:
    transport.serial.write(keys)
    answer: bytes = transport.read_until(1, _RAW, timeout_overall=ENTER_S, timeout=ENTER_S)
    return answer.endswith(_RAW)


def _drain(transport: Any) -> None:
    while transport.serial.read(4096):
        pass


def _close(transport: Any) -> None:
    try:
        if transport.in_raw_repl:
            transport.exit_raw_repl()
        transport.close()
    except OSError:
        # After a reset the port is gone already.
        transport.serial.close()


@contextmanager
def _said(port: str, what: str) -> Iterator[None]:
    again = "Look at the cable and the board's space, then run this again: it goes on where it stopped."
    try:
        yield
    except TransportExecError as error:
        last = error.error_output.strip().splitlines()[-1:] or ["no reason given"]
        raise ReplError(f"The board on {port} failed while {what}: {last[0]}.", again) from error
    except (MpremoteError, serial.SerialException, SyntaxError, ValueError) as error:
        raise ReplError(f"The board on {port} stopped answering while {what} ({error}).", again) from error
    except OSError as error:
        # mpremote turns the board's own errors of files into these.
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ReplError(f"The board on {port} failed while {what}: {reason}.", again) from error
