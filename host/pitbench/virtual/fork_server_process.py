"""The process behind `fork_server`: ``python -I -S fork_server_process.py FOLDER``, its socket on descriptor 0.

It has loaded the MicroPython of the wheel in FOLDER once, which takes most of the time of a start, and forks a board a
request. A request is one packet: the interpreter's arguments, NUL apart, and the board's descriptors 0, 1, 2 …. The
board itself answers, in decimal, once it stands on its own: its process id, or minus the error number of a failed fork.

It imports nothing of pitbench, has one thread, and ends when the bench's end of the socket is closed.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import sys
from collections.abc import Callable

SOCKET = 0
REQUEST_SIZE = 65536
DESCRIPTORS_MAX = 16
# Above everything that this process has open.
HIGH = 64
# Linux on x86-64: the wheel's only Linux. The board becomes a child of the bench, not of this process: the bench waits
# for it and kills it as one that it started itself, and this process may die. os.fork() can't ask for that.
SYS_CLONE = 56
CLONE_PARENT = 0x8000

# PyDLL keeps the interpreter lock across the call, as os.fork() does.
_libc = ctypes.PyDLL(None, use_errno=True)


def serve(requests: socket.socket, live: Callable[[list[str]], int]) -> None:
    """Fork until the bench is gone; a fork calls `live` with the words of its request, and ends with that status."""
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, REQUEST_SIZE, DESCRIPTORS_MAX)
        if not request:
            return
        pid = fork()
        if pid == 0:
            become_board(requests, descriptors)
            os._exit(live(os.fsdecode(request).split("\0")))
        for descriptor in descriptors:
            os.close(descriptor)
        if pid < 0:
            requests.send(b"%d" % pid)


def fork() -> int:
    """Fork: 0 in the board, its process id here, or minus the error number."""
    pid: int = _libc.syscall(SYS_CLONE, ctypes.c_long(CLONE_PARENT | signal.SIGCHLD), *[ctypes.c_long(0)] * 4)
    return pid if pid >= 0 else -ctypes.get_errno()


def become_board(requests: socket.socket, descriptors: list[int]) -> None:
    """Leave nothing of this process in the board but its own descriptors, and say that it stands."""
    os.setpgid(0, 0)
    answer = fcntl.fcntl(requests, fcntl.F_DUPFD, HIGH)
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, HIGH) for descriptor in descriptors]
    for number, descriptor in enumerate(high):
        os.dup2(descriptor, number)
    os.write(answer, b"%d" % os.getpid())
    os.closerange(len(high), HIGH + len(high) + 1)


def micropython(folder: str) -> Callable[[list[str]], int]:
    """What runs the wheel in `folder`, loaded already."""
    sys.path.insert(0, folder)
    from micropython_run import run_main  # type: ignore[import-not-found]

    def live(words: list[str]) -> int:
        return int(run_main(["micropython", *words])) & 0xFF

    return live


if __name__ == "__main__":
    serve(socket.socket(fileno=SOCKET), micropython(sys.argv[1]))
