"""eSSP on the device: the key, packets under it, and what is told and done without one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from pitbench.virtual.interpreter import find_interpreter
from ssp_bench import (
    CANT,
    ENABLE,
    EVENT_ACK,
    FAIL,
    GENERATOR,
    HOLD,
    MODULUS,
    NO_KEY,
    OK,
    POLL,
    POLL_ACK,
    RANGE,
    RESET,
    SYNC,
    TWENTY,
    UNKNOWN,
    VECTORS,
    Line,
    answers,
    crc16,
    credited,
    frame,
    offered,
    opened,
    past_lever,
)
from wire.ssp_aes import aes
from wire.ssp_secure import is_prime

CREDIT = b"\xee" + bytes((TWENTY,))
FIRMWARE = Path(__file__).parents[2] / "firmware"


def under_key(line: Line) -> Line:
    line.agree()
    line.events.clear()
    return line


# -- AES-128, where MicroPython has none


@pytest.mark.parametrize("row", VECTORS["aes"], ids=lambda row: row["name"])
def test_aes_is_the_standards(row):
    key, plain, cipher = (bytes.fromhex(row[name]) for name in ("key", "plain", "cipher"))
    assert aes(key, 1).encrypt(plain) == cipher
    assert aes(key, 1).decrypt(cipher) == plain


@given(st.binary(min_size=16, max_size=16), st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=4))
def test_aes_is_what_another_makes_of_it(key, blocks):
    plain = b"".join(blocks)
    other = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    cipher = other.update(plain) + other.finalize()
    assert aes(key, 1).encrypt(plain) == cipher
    assert aes(key, 1).decrypt(cipher) == plain


@pytest.mark.parametrize(("key", "mode"), [(bytes(16), 2), (bytes(32), 1), (b"", 1)])
def test_aes_of_another_kind_is_refused(key, mode):
    with pytest.raises(ValueError, match="AES-128"):
        aes(key, mode)


ON_BOARD = """
import sys
sys.path.append(FOLDER)
from json import dumps
from wire.ssp_aes import aes as ours
from wire.ssp_secure import aes, is_prime
key, plain = bytes(range(16)), bytes(range(100, 132))
made = aes(key, 1).encrypt(plain)
print(dumps([ours is aes, made == ours(key, 1).encrypt(plain), ours(key, 1).decrypt(made) == plain, len(made),
    [n for n in NUMBERS if is_prime(n)], pow(3, 2**63 + 29, 2**64 - 59)]))
"""
NUMBERS = [2, 561, 65537, 2**61 - 1, 2**64 - 59, 2**64 - 57, 3215031751]


def test_micropythons_own_aes_and_numbers_do_the_same(tmp_path):
    script = tmp_path / "ask.py"
    script.write_text(f"FOLDER = {str(FIRMWARE)!r}\nNUMBERS = {NUMBERS!r}\n{ON_BOARD}")
    command = [*find_interpreter("unix").bare, str(script)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    primes = [2, 65537, 2**61 - 1, 2**64 - 59]
    assert json.loads(run.stdout) == [False, True, True, 32, primes, pow(3, 2**63 + 29, 2**64 - 59)]


# -- primes

STRONG = [2047, 1373653, 25326001, 3215031751, 2152302898747, 3474749660383, 341550071728321, 3825123056546413051]
PRIMES = [2, 3, 5, 37, 41, 982451653, 1287821, 65521, 2**61 - 1, 2**64 - 59]


@pytest.mark.parametrize("n", PRIMES)
def test_a_prime_is_one(n):
    assert is_prime(n)


@pytest.mark.parametrize("n", [0, 1, 4, 37 * 41, 2**64 - 1, 2**61 + 1, *STRONG])
def test_what_passes_for_a_prime_is_none(n):
    assert not is_prime(n)


def test_small_numbers_are_sorted_as_a_sieve_does():
    sieve = [n for n in range(2, 2000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert [n for n in range(2000) if is_prime(n)] == sieve


# -- the key


@pytest.mark.parametrize("command", [0x4A, 0x4B])
def test_what_is_no_prime_is_out_of_range_and_no_key_is_made_of_it(command):
    line = opened()
    assert line.ask(b"\x4a" + GENERATOR.to_bytes(8, "little")) == OK
    assert line.ask(b"\x4b" + MODULUS.to_bytes(8, "little")) == OK
    assert line.ask(bytes((command,)) + (561).to_bytes(8, "little")) == RANGE
    assert line.ask(b"\x4c" + bytes((5, 0, 0, 0, 0, 0, 0, 0))) == FAIL


def test_a_key_is_agreed_on_with_numbers_of_64_bits():
    line = opened()
    generator, modulus, secret = 2**64 - 59, 2**61 - 1, 0xFEDCBA9876543211
    line.ask(b"\x4a" + generator.to_bytes(8, "little"))
    line.ask(b"\x4b" + modulus.to_bytes(8, "little"))
    answer = line.ask(b"\x4c" + pow(generator, secret, modulus).to_bytes(8, "little"))
    shared = pow(int.from_bytes(answer[1:], "little"), secret, modulus)
    line.key = b"\x67\x45\x23\x01\x67\x45\x23\x01" + shared.to_bytes(8, "little")
    assert line.ask_sealed(b"\x21") == OK + b"USD01001"


def test_no_two_keys_are_the_same():
    line = opened()
    keys = []
    for _ in range(3):
        line.agree()
        keys.append(line.key)
    assert len(set(keys)) == 3


@pytest.mark.parametrize("broken", [None, SimpleNamespace()])
def test_without_a_source_there_is_no_key(broken):
    line = opened()
    line.ask(b"\x4a" + GENERATOR.to_bytes(8, "little"))
    line.ask(b"\x4b" + MODULUS.to_bytes(8, "little"))
    line.wire.entropy = broken and (lambda: SimpleNamespace(read=lambda n: bytes(n), healthy=False))
    assert line.ask(b"\x4c" + bytes((5, 0, 0, 0, 0, 0, 0, 0))) == FAIL
    assert line.ask(b"\x7e" + bytes(16)) == NO_KEY


def test_a_key_is_agreed_on_anew_under_the_old_one():
    line = under_key(opened())
    assert line.ask_sealed(b"\x4a" + GENERATOR.to_bytes(8, "little")) == OK
    assert line.ask_sealed(b"\x4b" + MODULUS.to_bytes(8, "little")) == OK
    answer = line.ask_sealed(b"\x4c" + pow(GENERATOR, 77, MODULUS).to_bytes(8, "little"))
    shared = pow(int.from_bytes(answer[1:], "little"), 77, MODULUS)
    line.key, line.count = line.key[:8] + shared.to_bytes(8, "little"), 0
    assert line.ask_sealed(b"\x21") == OK + b"USD01001"


# -- packets


def test_an_encrypted_command_gets_an_encrypted_answer_and_a_plain_one_a_plain():
    line = under_key(opened())
    assert line.ask_sealed(b"\x21") == OK + b"USD01001"
    assert line.ask(b"\x21") == OK + b"USD01001"
    assert line.ask_sealed(b"\x99") == UNKNOWN
    assert len(line.ask_sealed(b"\x05")) == 80


def test_a_repeated_packet_gets_the_same_packet_and_nothing_is_done():
    line = under_key(opened())
    first = line.ask(line.packet(b"\x09"))
    events = list(line.events)
    assert [line.again(), line.again()] == [first, first]
    assert [event for event in line.events[len(events) :] if event != ("heard",)] == []
    line.count += 1
    assert line.ask_sealed(POLL) == OK + b"\xe8"


@pytest.mark.parametrize("count", [-1, 1, 2, 0x01000000])
def test_a_packet_that_is_out_of_count_is_dropped(count):
    line = under_key(opened())
    line.ask_sealed(b"\x21")
    wrong = line.packet(b"\x09", line.count + count)
    assert line.send(frame(line.bit, wrong)) == b""
    assert [event for event in line.events if event != ("heard",)] == []
    assert line.ask_sealed(POLL) == OK


def test_a_recorded_packet_is_worth_nothing_later():
    line = under_key(opened())
    line.ask(line.packet(b"\x09"))
    line.count += 1
    recorded = line.last
    line.ask_sealed(ENABLE)
    assert line.send(recorded) == b""
    assert line.ask_sealed(POLL) == OK


def test_what_is_not_under_the_key_is_not_done():
    line = under_key(opened())
    good = line.packet(b"\x09")
    line.key = bytes(16)
    for packet in (line.packet(b"\x09"), good[:-1], good[:1], good[:-1] + bytes((good[-1] ^ 1,)), good + bytes(3)):
        assert line.ask(packet) == NO_KEY
    assert [event for event in line.events if event != ("heard",)] == []


def test_a_packet_of_an_impossible_length_is_not_read():
    line = under_key(opened())
    plain = b"\xff" + bytes(4) + b"\x09" * 9
    made = line.cipher().encryptor()
    packet = b"\x7e" + made.update(plain + crc16(plain).to_bytes(2, "little")) + made.finalize()
    assert line.ask(packet) == NO_KEY


def test_without_a_key_a_packet_says_nothing():
    line = opened()
    line.key = bytes(16)
    assert line.ask(line.packet(b"\x09")) == NO_KEY
    assert line.hand.device.state == "idle"


def test_padding_is_random_and_the_same_answer_is_never_the_same_packet():
    line = under_key(opened())
    packets = []
    for _ in range(4):
        packets.append(line.ask(line.packet(b"\x17")))
        line.count += 1
    assert len(set(packets)) == 4


def test_a_source_that_fails_later_holds_no_answer_back():
    line = under_key(opened())
    line.source.healthy = False
    assert line.ask_sealed(b"\x21") == OK + b"USD01001"


def test_a_reset_ends_the_key_after_its_answer():
    line = under_key(opened())
    assert line.ask_sealed(RESET) == OK
    assert line.ask(line.packet(POLL)) == NO_KEY
    assert line.ask(b"\x4c" + bytes((5, 0, 0, 0, 0, 0, 0, 0))) == FAIL
    assert line.ask(POLL) == OK + b"\xf1"


# -- money


def test_a_sale_under_the_key():
    line = under_key(offered())
    assert line.ask_sealed(HOLD) == OK
    assert line.ask_sealed(POLL) == OK + b"\xcc"
    past_lever(line)
    assert line.ask_sealed(POLL) == OK + CREDIT
    assert line.ask_sealed(POLL) == OK + b"\xcc"
    assert line.given("ack") == [("host", "ack")]


def test_once_there_is_a_key_money_is_neither_told_nor_taken_without_it():
    line = under_key(offered())
    assert [line.ask(POLL), line.ask(b"\x08")] == [NO_KEY, NO_KEY]
    assert line.given("stack") + line.given("return") == []
    assert line.ask_sealed(POLL) == OK + b"\xcc"
    past_lever(line)
    assert line.ask(POLL) == NO_KEY
    assert line.ask(POLL_ACK) == NO_KEY
    assert line.ask_sealed(POLL_ACK) == OK + CREDIT
    assert line.ask(EVENT_ACK) == NO_KEY
    assert line.given("ack") == []
    assert line.ask_sealed(EVENT_ACK) == OK
    assert line.given("ack") == [("host", "ack")]
    assert line.ask_sealed(EVENT_ACK) == CANT


def test_a_plain_command_does_not_show_that_a_secret_answer_arrived():
    line = under_key(credited())
    assert line.ask_sealed(POLL) == OK + CREDIT
    assert line.ask(b"\x0d")[:1] == OK
    assert line.given("ack") == []
    line.ask_sealed(b"\x0d")
    assert line.given("ack") == [("host", "ack")]


def test_a_new_host_gets_the_credit_under_its_own_key():
    line = under_key(credited())
    assert line.ask_sealed(POLL) == OK + CREDIT
    line.sync()
    assert line.ask(POLL) == NO_KEY
    line.agree()
    assert line.given("ack") == []
    assert line.ask_sealed(POLL) == OK + CREDIT


def test_a_plain_poll_tells_what_is_no_money():
    line = under_key(opened())
    assert line.ask(POLL) == OK
    line.hand.sensors(entry=1)
    assert line.ask(POLL) == OK + b"\xef\0"


def test_an_encrypted_poll_is_answered_while_the_device_stores():
    line = under_key(opened())
    assert line.ask_sealed(POLL) == OK
    packet = line.packet(POLL)
    [(_, answer)] = answers(line.stand(line.next_frame(packet)))
    line.count += 1
    assert line.open(answer) == (line.count, OK)
    wrong = line.packet(POLL, line.count + 1)
    assert line.stand(line.next_frame(wrong)) == b""


def test_an_encrypted_sync_is_one():
    line = under_key(opened())
    line.bit = 0x80
    assert line.ask_sealed(SYNC) == OK
    line.bit = 0
    assert line.ask_sealed(b"\x21") == OK + b"USD01001"
