"""eSSP: how host and note validator agree on a key, and how a packet is sealed with it.

The key's low eight bytes are fixed in both machines, its high eight agreed by Diffie-Hellman over 64-bit numbers; each
is sent low byte first. A sealed packet is `7E`, then AES-128 (ECB) of `LEN, count (4 bytes), data, packing, CRC`, where
the packing is random and fills blocks of 16. Numbers of 64 bits keep no secret from anyone who records the exchange and
has a computer: no more is claimed of it than the protocol asks for.
"""

from __future__ import annotations

import secrets

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from pitbench.errors import PitbenchError
from pitbench.protocols.ssp import STEX, crc

# Of every machine that nobody gave another one.
FIXED_KEY = 0x0123456701234567
# Numbers below 2^63, so that a device which computes with a sign bit gets the same.
PRIME_BITS = 63
KEY_BYTES = 8
BLOCK = 16
# LEN, count, CRC.
OVERHEAD = 7
# Right for every number of 64 bits (Sorenson and Webster, 2015).
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


class SspCryptoError(PitbenchError):
    """A packet that can't be opened, or a key that can't be agreed on."""


def is_prime(number: int) -> bool:
    """Whether a number below 2^64 is prime (Miller-Rabin)."""
    if number < 2 or any(number % prime == 0 for prime in _WITNESSES):
        return number in _WITNESSES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, witness, odd, twos) for witness in _WITNESSES)


def _passes(number: int, witness: int, odd: int, twos: int) -> bool:
    power = pow(witness, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = pow(power, 2, number)
        if power == number - 1:
            return True
    return False


def random_prime(bits: int = PRIME_BITS) -> int:
    """Return a random prime with exactly this many bits."""
    while True:
        number = secrets.randbits(bits) | 1 << (bits - 1) | 1
        if is_prime(number):
            return number


def number_bytes(number: int) -> bytes:
    """Return a 64-bit number as it is sent: eight bytes, low byte first."""
    return number.to_bytes(KEY_BYTES, "little")


class KeyExchange:
    """The host's half of one Diffie-Hellman exchange.

    Attributes: `generator` and `modulus` (primes, the generator is the greater one, as ITL's own host has it),
    `host_number` (what the device is sent).
    """

    def __init__(self) -> None:
        first, second = random_prime(), random_prime()
        while first == second:
            second = random_prime()
        self.modulus, self.generator = sorted((first, second))
        self._exponent = 2 + secrets.randbelow(self.modulus - 3)
        self.host_number = pow(self.generator, self._exponent, self.modulus)

    def session(self, device_number: int, fixed_key: int = FIXED_KEY) -> Session:
        """Return the session that follows from the device's number.

        Raises SspCryptoError if that number would fix the key beforehand.
        """
        if not 1 < device_number < self.modulus - 1:
            raise SspCryptoError("The device's half of the key is no number that a key can come from.", "Reset it.")
        return Session(number_bytes(fixed_key) + number_bytes(pow(device_number, self._exponent, self.modulus)))


class Session:
    """Seals and opens packets with an agreed key of 16 bytes."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.ECB())

    def seal(self, data: bytes, count: int) -> bytes:
        """Return the data of a frame that carries `data` under packet number `count`.

        Raises ValueError if the data doesn't fit into a frame.
        """
        packet = bytes((len(data),)) + count.to_bytes(4, "little") + data
        packet += secrets.token_bytes(-(len(data) + OVERHEAD) % BLOCK)
        packet += crc(packet).to_bytes(2, "little")
        encryptor = self._cipher.encryptor()
        return bytes((STEX,)) + encryptor.update(packet) + encryptor.finalize()

    def open(self, sealed: bytes, count: int) -> bytes:
        """Return the data that a frame's data carries.

        Raises SspCryptoError if it is sealed with another key, or isn't packet number `count`.
        """
        blocks = sealed[1:]
        if sealed[:1] != bytes((STEX,)) or not blocks or len(blocks) % BLOCK:
            raise SspCryptoError(f"{len(blocks)} bytes are no sealed packet.", "Look at the device's protocol.")
        decryptor = self._cipher.decryptor()
        packet = decryptor.update(blocks) + decryptor.finalize()
        if crc(packet[:-2]).to_bytes(2, "little") != packet[-2:] or not 0 < packet[0] <= len(packet) - OVERHEAD:
            raise SspCryptoError("A packet is sealed with another key.", "Agree on a key again.")
        if int.from_bytes(packet[1:5], "little") != count:
            raise SspCryptoError("A sealed packet has the number of another one.", "Agree on a key again.")
        return packet[5 : 5 + packet[0]]
