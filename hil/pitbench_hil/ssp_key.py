"""A host that speaks eSSP to the acceptor on the bench, and an intruder on the same line.

host = KeyHolder(bench)
host.agree()
host.ask(POLL_WITH_ACK)           # sealed, counted; what the answer says
host.push(payload)                # the intruder's: this payload as it is, under either sequence bit
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from pitbench.protocols.ssp import ADDRESS, STEX, Command, Frame, Reply, crc, encode
from pitbench.protocols.ssp_crypto import (
    BLOCK,
    FIXED_KEY,
    OVERHEAD,
    Session,
    SspCryptoError,
    number_bytes,
    random_prime,
)

from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.board_bench import Unreached

COUNTS = 1 << 32
# What was sent before the last answer of the link is here by then.
LATE_S = 0.001


class Key(Session):
    """A key that both sides have.

    Args:
        agreed: the half that an exchange gives.
        fixed: the half that both have from the start.
    """

    def __init__(self, agreed: int, fixed: int = FIXED_KEY) -> None:
        key = number_bytes(fixed) + number_bytes(agreed)
        super().__init__(key)
        self._blocks = Cipher(algorithms.AES(key), modes.ECB())

    def packet(self, data: bytes, count: int, *, blocks: int = 1, wrong: int = 0) -> bytes:
        """A sealed payload.

        Args:
            blocks: filled up to so many blocks of 16 bytes.
            wrong: bits of the inner CRC that are turned.
        """
        plain = bytes((len(data),)) + (count % COUNTS).to_bytes(4, "little") + data
        plain += secrets.token_bytes(blocks * BLOCK - len(data) - OVERHEAD)
        plain += (crc(plain) ^ wrong).to_bytes(2, "little")
        cipher = self._blocks.encryptor()
        return bytes((STEX,)) + cipher.update(plain) + cipher.finalize()


class KeyHolder:
    """The host with the key; `said` keeps the payloads of all its sealed requests, `old` the keys before this one.

    Args:
        bench: of the acceptor; nobody else speaks on its wire meanwhile.
    """

    def __init__(self, bench: AcceptorBench) -> None:
        self.bench = bench
        self.key = Key(0)
        self.count = 0
        self.said: list[bytes] = []
        self.old: list[Key] = []
        self._seq = False

    def agree(self) -> None:
        """Sync, and agree on a key. Raises Unreached when the device doesn't."""
        self._seq = True
        self._answer(bytes((Command.SYNC,)))
        modulus, generator = sorted(random_prime() for _ in range(2))
        secret = 2 + secrets.randbelow(modulus - 3)
        self._number(Command.SET_GENERATOR, generator)
        self._number(Command.SET_MODULUS, modulus)
        told = self._number(Command.KEY_EXCHANGE, pow(generator, secret, modulus))
        self.old.append(self.key)
        self.key, self.count = Key(pow(int.from_bytes(told, "little"), secret, modulus)), 0

    def _number(self, command: Command, number: int) -> bytes:
        answer = self.plain(bytes((command,)) + number_bytes(number))
        if answer[0] != Reply.OK:
            raise Unreached(f"the device agrees on no key: command {command:02x} is answered {answer.hex()}")
        return answer[1:]

    def plain(self, data: bytes) -> bytes:
        """The answer to a new command that isn't encrypted. Raises Unreached."""
        self._seq = not self._seq
        return self._answer(data)

    def ask(self, *data: int, blocks: int = 1) -> bytes:
        """The answer to a new command under the key, opened. Raises Unreached."""
        self.align()
        payload = self.key.packet(bytes(data), self.count, blocks=blocks)
        self.said.append(payload)
        answer = self.plain(payload)
        self.count += 1
        try:
            return self.key.open(answer, self.count % COUNTS)
        except SspCryptoError as error:
            raise Unreached(f"{data[0]:02x} under the key is answered {answer.hex()}: {error}") from error

    def align(self) -> None:
        """Have the device's sequence bit known, whatever an intruder sent."""
        self._seq = True
        for _ in range(2):
            self.plain(bytes((Command.SERIAL_NUMBER,)))

    def push(self, payload: bytes) -> None:
        """Send a payload as it is, under each sequence bit: under one of them it is new to the device."""
        for seq in (False, True):
            self.bench.send(encode(payload, seq))
            # Twice: the board may read its link before its wire.
            self.bench.state()
            self.bench.state()
        self._drop_late()

    def _answer(self, data: bytes) -> bytes:
        self._drop_late()
        self.bench.send(encode(data, self._seq))
        frame: Frame | None = self.bench.receive()
        while frame is not None and (frame.seq, frame.address) != (self._seq, ADDRESS):
            frame = self.bench.receive()
        if frame is None:
            raise Unreached(f"{data[:1].hex()} was not answered")
        return frame.data

    def _drop_late(self) -> None:
        while self.bench.receive(LATE_S) is not None:
            pass


def altered(payload: bytes, masks: Iterable[int] = (0x01, 0x80, 0xFF)) -> list[bytes]:
    """The payload with each byte altered in turn, in several ways."""
    return [
        payload[:at] + bytes((payload[at] ^ mask,)) + payload[at + 1 :] for mask in masks for at in range(len(payload))
    ]
