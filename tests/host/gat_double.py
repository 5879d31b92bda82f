"""A small GAT device of the tests' own: it shares no code with host or firmware. And a line without a port."""

import base64
import hashlib
import hmac
import os
import select
import threading
from collections.abc import Callable

FILES = {
    "/boot.py": b"import block",
    "/image/crc": b"\x12\x34",
    "/image/main.mpy": b"M\x06\x00\x1f" + bytes(range(256)) * 4,
    "/image/rng.mpy": b"x",
}


def crc(data: bytes) -> bytes:
    """CRC-16/KERMIT by its definition, bit by bit; high byte first, as GAT sends it."""
    register = 0
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x8408 if register & 1 else 0)
    return bytes([register >> 8, register & 0xFF])


def framed(cmd: int, data: bytes) -> bytes:
    body = bytes([cmd, len(data) + 4]) + data
    return body + crc(body)


class GatDouble:
    """Answers whole requests; a damaged one is dropped in silence.

    Change its attributes to make it another device: `busy_polls` status queries find it busy after each start,
    `answers` replaces a reply's data by command, `mangle` takes each reply's bytes and number and returns what is sent.
    """

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = FILES if files is None else files
        self.version, self.state, self.format = b"\x03\x50", 0x04, 1
        self.level, self.result, self.age = 0, b"", b"\xff" * 4
        self.why = "no component %s"
        self.busy_polls = 2
        self.levels = {0x01: self._report, 0xBA: self._special}
        self.answers: dict[int, Callable[[bytes], bytes]] = {}
        self.mangle: Callable[[bytes, int], bytes] = lambda reply, number: reply
        self.heard: list[bytes] = []
        self._held = b""
        self._busy = 0
        self._replies = 0

    def take(self, data: bytes) -> bytes:
        """Bytes from the host; returns what goes back."""
        self._held += data
        out = b""
        while len(self._held) >= 2 and len(self._held) >= self._held[1]:
            request, self._held = self._held[: self._held[1]], self._held[self._held[1] :]
            if crc(request[:-2]) == request[-2:]:
                out += self._answer(request[0], request[2:-2])
        return out

    def cut(self) -> None:
        """Power goes and comes: the last result stays, when it was made does not."""
        self.state, self.age, self._busy, self._held = (0x06 if self.level else 0x04), b"\xff" * 4, 0, b""

    def _answer(self, cmd: int, data: bytes) -> bytes:
        self.heard.append(bytes([cmd]) + data)
        own = {0x01: self._status, 0x02: self._last, 0x03: self._results, 0x04: self._start}
        reply = framed(cmd | 0x80, self.answers.get(cmd, own[cmd])(data))
        self._replies += 1
        return self.mangle(reply, self._replies)

    def _status(self, data: bytes) -> bytes:
        if self._busy:
            self._busy -= 1
            self.state = 0x09 if self._busy else 0x06
        return self.version + bytes([self.state, self.format])

    def _last(self, data: bytes) -> bytes:
        return bytes([self.level]) + self.age

    def _results(self, data: bytes) -> bytes:
        number = data[1] << 8 | data[2]
        piece = self.result[(number - 1) * 248 : number * 248]
        return bytes([2 if number * 248 >= len(self.result) else 0]) + data[1:] + piece

    def _start(self, data: bytes) -> bytes:
        level, parameter = data[0], data[1:]
        if level not in self.levels:
            return b"\x04"
        self.level, self.age = level, b"\0\0\0\0"
        self.state, self._busy = 0x01, self.busy_polls
        self.format, self.result = self.levels[level](parameter)
        if self.result.startswith((b"Error", DECLARATION + b"<Error")):
            self.state, self._busy = 0x0C, 0
        return b"\x03"

    def _report(self, seed: bytes) -> tuple[int, bytes]:
        head = (
            f"Level: 1\r\nName: double\r\nNotDigested: interpreter\r\n{_how(seed, '%s: %s', chr(13) + chr(10))}\r\n\r\n"
        )
        rows = [f"{digest(content, seed)}  {path}\r\n" for path, content in self.files.items()]
        return 1, (head + "".join(rows) + f"\r\nFiles: {len(rows)}\r\n").encode()

    def _special(self, parameter: bytes) -> tuple[int, bytes]:
        assert parameter[:1] == b"\0"
        name, *words = parameter[1:].decode().split("\t")
        if name == "Get Special Functions":
            return 2, FUNCTIONS
        seed = bytes.fromhex(words[1]) if len(words) > 1 else b""
        if words[0] == "AuthenticationResponse.xml":
            return 2, _components(self.files, seed)
        if words[0] not in self.files:
            return 2, DECLARATION + f"<Error>{self.why % words[0]}</Error>\r\n".encode()
        content = self.files[words[0]]
        if name == "Get File":
            head = f'<File Name="{words[0]}" Encoding="base64">\r\n'.encode()
            return 2, DECLARATION + head + base64.encodebytes(content) + b"</File>\r\n"
        return 2, _components({words[0]: content}, seed)


DECLARATION = b'<?xml version="1.0"?>\r\n'
FUNCTIONS = (
    DECLARATION
    + b"""<SpecialFunctions GatExec="default" Name="double" Manufacturer="pitbench">\r
<Function><Feature>Get Special Functions</Feature></Function>\r
<Function><Feature>Get File</Feature><Parameter>%%PATH%%</Parameter></Function>\r
<Function><Feature>Component</Feature><Parameter>/image/crc</Parameter><Parameter>%%SHA1_HMAC%%</Parameter></Function>\r
</SpecialFunctions>\r
"""
)


def _components(files: dict[str, bytes], seed: bytes) -> bytes:
    rows = [f'<Component Name="{path}" Checksum="{digest(content, seed)}"/>\r\n' for path, content in files.items()]
    head = f'<Components GatExec="default">\r\n<Game Name="double" {_how(seed, "%s=%r", " ")}>\r\n'.replace("'", '"')
    return DECLARATION + (head + "".join(rows) + "</Game>\r\n</Components>\r\n").encode()


def _how(seed: bytes, shape: str, between: str) -> str:
    facts = (("Algorithm", "HMAC-SHA1" if seed else "SHA-1"), ("Seed", seed.hex()))
    return between.join(shape % fact for fact in facts)


def digest(content: bytes, seed: bytes) -> str:
    return hmac.new(seed, content, "sha1").hexdigest() if seed else hashlib.sha1(content).hexdigest()


class Line:
    """A port without a port: time passes only where a read waits for bytes that don't come."""

    url, name = "line://", "wire"

    def __init__(self, double: GatDouble, chunk: int = 4096) -> None:
        self.double, self.chunk = double, chunk
        self.now = 1000.0
        self.waiting = b""

    def clock(self) -> float:
        return self.now

    def read(self, timeout: float) -> bytes:
        if not self.waiting:
            self.now += timeout
        data, self.waiting = self.waiting[: self.chunk], self.waiting[self.chunk :]
        return data

    def write(self, data: bytes) -> None:
        self.waiting += self.double.take(data)

    def flush_input(self) -> None:
        self.waiting = b""

    def close(self) -> None:
        pass


class Serving:
    """The double on a descriptor, in a thread of its own until `stop`."""

    def __init__(self, double: GatDouble, master: int) -> None:
        self._double, self._master = double, master
        self._ending, self._end = os.pipe()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            ready = select.select([self._master, self._ending], [], [])[0]
            if self._ending in ready:
                return
            os.write(self._master, self._double.take(os.read(self._master, 4096)))

    def stop(self) -> None:
        os.write(self._end, b"x")
        self._thread.join(5)
        os.close(self._ending)
        os.close(self._end)
