"""The SSP codec and eSSP against frames that others made, and against every way that a line can mistreat them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pitbench.protocols import ssp
from pitbench.protocols.ssp import Channel, Command, Decoder, Event, Frame, Happened, Reply
from pitbench.protocols.ssp_crypto import (
    FIXED_KEY,
    KeyExchange,
    Session,
    SspCryptoError,
    is_prime,
    number_bytes,
    random_prime,
)

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ssp.json").read_text("utf-8"))
FRAMES = [bytes.fromhex(row["hex"]) for row in VECTORS["frames"]]
SYNC, POLL, CREDIT = (bytes.fromhex(text) for text in ("7f0001116608", "7f8001071202", "7f8003f0ee03c64c"))
WORDS = {
    "7f0001116608": "sync",
    "7f0001f0200a": "ok",
    "7f000206061b94": "host protocol 06",
    "7f0001071188": "poll",
    "7f8001071202": "poll",
    "7f8003f0ee03c64c": "ok: credit, channel 3",
    "7f8002f0f11a22": "ok: reset",
    "7f00010a3c08": "enable",
    "7f8003f0f1e8bf8c": "ok: reset, disabled",
    "7f8004f0ccee0162aa": "ok: stacking, credit, channel 1",
    "7f8005f0001c962cd497": "ok, 4 bytes",
    "7f80030207002bb6": "set inhibits 07 00",
    "7f8001f53d80": "cannot be processed",
    "7f8003f0ef00cfca": "ok: reading",
    "7f8003f0ef03c5ca": "ok: channel 3 in escrow",
    "7f8003f0e100cc6e": "ok: cleared from front",
    "7f8003f0e202c3e4": "ok: cleared to cashbox, channel 2",
    "7f8001f81000": "fail",
    "7f80094ac5058f3a00000000b273": "set generator c5 05 8f 3a 00 00 00 00",
}
ANY_FRAME = st.builds(Frame, st.binary(min_size=1, max_size=255), st.booleans(), st.integers(0, ssp.HIGHEST_ADDRESS))
FULL_OF_STX = st.lists(st.sampled_from([0x7F, 0x00, 0x7E]), min_size=1, max_size=255).map(bytes)


def wire(frame: Frame) -> bytes:
    return ssp.encode(frame.data, frame.seq, frame.address)


@pytest.mark.parametrize("row", VECTORS["frames"], ids=lambda row: f"{row['from']} {row['name']}")
def test_vector_both_ways(row):
    stream = bytes.fromhex(row["hex"])
    (frame,) = Decoder().feed(stream)
    assert wire(frame) == stream
    assert frame.address == 0
    assert (frame.data[0] in set(Reply)) == (row["from"] == "device")
    assert frame.data[0] in set(Reply) | set(Command)
    assert frame.seq == (stream[1] == 0x80)


@pytest.mark.parametrize("text", WORDS)
def test_words(text):
    assert ssp.frame_names(bytes.fromhex(text), to_board=True) == [WORDS[text]]


def test_every_event_of_the_vectors_is_known():
    for stream in FRAMES:
        (frame,) = Decoder().feed(stream)
        if frame.data[0] == Reply.OK and frame.data[1:2] >= b"\xb0":
            assert ssp.parse_events(frame.data[1:])[1] == b""


def test_crc_check_value():
    check = VECTORS["check_values"]
    assert f"{ssp.crc(check['of'].encode()):04x}" == check["crc16-itl-ssp"]


def test_every_stx_behind_the_first_is_doubled_in_len_and_crc_too():
    assert ssp.encode(b"\x7f\x01\x7f")[:8] == bytes.fromhex("7f0003 7f7f 01 7f7f")
    stream = ssp.encode(bytes(127))
    assert stream[:4] == b"\x7f\x00\x7f\x7f"
    assert Decoder().feed(stream) == [Frame(bytes(127))]
    in_crc = next(
        data for at in range(65536) if 0x7F in ssp.encode(data := at.to_bytes(2, "big"))[-2:] and 0x7F not in data
    )
    assert Decoder().feed(ssp.encode(in_crc) * 2) == [Frame(in_crc)] * 2


@given(st.lists(ANY_FRAME | st.builds(Frame, FULL_OF_STX), max_size=8), st.data())
def test_any_split_gives_the_same_frames(frames, data):
    stream = b"".join(map(wire, frames))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder, got = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += decoder.feed(stream[start:end])
    assert got == frames
    assert (decoder.good, decoder.damaged, decoder.skipped) == (len(frames), 0, 0)


def test_one_byte_at_a_time_and_a_frame_of_64_bytes():
    long = Frame(b"\x7f" + b"v" * 57)
    assert len(wire(long)) == 64
    decoder, got = Decoder(), []
    for byte in wire(long) + POLL:
        got += decoder.feed(bytes([byte]))
    assert got == [long, Frame(b"\x07", seq=True)]


@given(st.binary(max_size=40).filter(lambda b: ssp.STX not in b), ANY_FRAME)
def test_garbage_between_frames_is_skipped_and_counted(garbage, frame):
    decoder = Decoder()
    assert decoder.feed(garbage + wire(frame) + garbage + wire(frame)) == [frame, frame]
    assert decoder.skipped == 2 * len(garbage)


@given(st.binary(max_size=40), ANY_FRAME)
def test_no_garbage_loses_a_good_frame_once_the_line_falls_silent(garbage, frame):
    decoder = Decoder()
    got = decoder.feed(garbage + wire(frame))
    assert frame in got + decoder.gap()


@pytest.mark.parametrize("stream", [SYNC, CREDIT, ssp.encode(b"\x7f\x7e\x7f")], ids=lambda stream: stream.hex())
def test_every_damaged_byte_gives_no_frame_and_the_next_one_arrives(stream):
    for at in range(len(stream)):
        for value in set(range(256)) - {stream[at]}:
            damaged = stream[:at] + bytes([value]) + stream[at + 1 :]
            decoder = Decoder()
            got = decoder.feed(damaged) + decoder.gap() + decoder.feed(POLL) + decoder.gap()
            assert got == [Frame(b"\x07", seq=True)]
            assert decoder.damaged + decoder.skipped > 0


def test_a_frame_cut_off_by_another_is_given_up_at_once():
    decoder = Decoder()
    assert decoder.feed(CREDIT[:5] + POLL) == [Frame(b"\x07", seq=True)]
    assert decoder.damaged == 1


def test_a_damaged_length_swallows_nothing_that_comes_whole():
    decoder = Decoder()
    assert decoder.feed(bytes.fromhex("7f00f00102") + POLL) == [Frame(b"\x07", seq=True)]
    assert decoder.damaged == 1


def test_a_frame_without_data_is_none():
    empty = bytes.fromhex("0000")
    assert Decoder().feed(b"\x7f" + empty + ssp.crc(empty).to_bytes(2, "little")) == []


def test_a_stx_of_noise_right_before_a_frame_does_not_swallow_it():
    assert Decoder().feed(b"\x7f" + CREDIT) == [Frame(b"\xf0\xee\x03", seq=True)]
    assert Decoder().feed(b"\x7f\x7f\x7f" + CREDIT) == [Frame(b"\xf0\xee\x03", seq=True)]


def test_frames_swallowed_by_a_damaged_length_come_out_when_the_line_falls_silent():
    decoder = Decoder()
    assert decoder.feed(bytes.fromhex("7f007f") + CREDIT) == []
    assert decoder.gap() == [Frame(b"\xf0\xee\x03", seq=True)]
    assert decoder.gap() == []


def test_decoder_keeps_no_more_than_one_frame():
    decoder = Decoder()
    for _ in range(200):
        decoder.feed(bytes.fromhex("7f00ff") + bytes(40))
    assert len(decoder._held) <= 2 * (ssp.LONGEST_DATA + 5)


@pytest.mark.parametrize(("data", "address"), [(b"", 0), (bytes(256), 0), (b"\x07", 126), (b"\x07", -1)])
def test_what_fits_into_no_frame_is_refused(data, address):
    with pytest.raises(ValueError, match="SSP frame|address"):
        ssp.encode(data, address=address)


# What replies carry


def test_events_end_at_the_first_unknown_one_or_one_cut_off():
    known = [Happened(Event.RESET), Happened(Event.READ, 3), Happened(Event.DISABLED)]
    assert ssp.parse_events(bytes.fromhex("f1ef03e8")) == (known, b"")
    assert ssp.parse_events(bytes.fromhex("e8b1ee03")) == ([Happened(Event.DISABLED)], bytes.fromhex("b1ee03"))
    assert ssp.parse_events(b"\xcc\xee") == ([Happened(Event.STACKING)], b"\xee")


def setup_bytes(protocol: int, expanded: bytes = b"") -> bytes:
    head = b"\x00" + b"0414" + b"USD" + b"\x00\x00\x01" + b"\x03" + b"\x01\x00\x05" + b"\x02\x02\x02" + b"\x00\x00\x64"
    return head + bytes([protocol]) + expanded


EXPANDED = b"USDUSDEUR" + b"".join(value.to_bytes(4, "little") for value in (1, 0, 500))


def test_setup_of_an_old_protocol():
    setup = ssp.parse_setup(setup_bytes(5))
    assert setup.channels == (Channel(1, "USD", 100), Channel(3, "USD", 500))
    assert (setup.unit_type, setup.firmware, setup.country, setup.protocol) == (0, "0414", "USD", 5)


def test_setup_from_protocol_6_on_has_values_and_currencies_of_its_own():
    assert ssp.parse_setup(setup_bytes(6, EXPANDED)).channels == (Channel(1, "USD", 100), Channel(3, "EUR", 50000))


def test_an_old_reteach_count_is_no_multiplier():
    data = setup_bytes(4).replace(b"\x00\x00\x64", bytes(3))
    assert ssp.parse_setup(data).channels[0].cents == 100


@pytest.mark.parametrize("data", [setup_bytes(6, EXPANDED)[:cut] for cut in range(len(setup_bytes(6, EXPANDED)))])
def test_a_setup_cut_short_is_refused(data):
    with pytest.raises(ValueError, match="too few"):
        ssp.parse_setup(data)


NUMBER = "123456789012345678"
TICKET = b"\xf0\x01\x12" + NUMBER.encode()


def test_ticket():
    assert ssp.parse_ticket(TICKET[1:]) == ssp.Ticket(1, NUMBER)
    for bad in (b"", b"\x01", TICKET[1:-1], TICKET[1:] + b"0"):
        with pytest.raises(ValueError, match="no ticket"):
            ssp.parse_ticket(bad)


def test_a_ticket_is_never_shown_whole():
    (frame,) = Decoder().feed(ssp.encode(TICKET))
    shown = [repr(frame), repr(ssp.parse_ticket(TICKET[1:])), *ssp.frame_names(wire(frame), to_board=False)]
    assert shown == [
        "Frame(00, SEQ 0, f0 01 12 **************5678)",
        "Ticket(1, **************5678)",
        "ok: ticket in escrow **************5678",
    ]


@given(ANY_FRAME, st.booleans())
def test_every_frame_has_words(frame, to_board):
    (words,) = ssp.frame_names(wire(frame), to_board)
    assert words.isprintable()


def test_unknown_codes_are_named_by_their_value():
    names = [ssp.frame_text(Frame(bytes.fromhex(text))) for text in ("99", "9901", "f0b1ee03", "7e" + "00" * 16)]
    assert names == ["99", "99 01", "ok, 3 bytes", "encrypted, 16 bytes"]
    assert (ssp.reject_text(8), ssp.reject_text(0x40)) == ("by host", "40")


def test_who_is_answered_by_any_device():
    assert Decoder().feed(ssp.WHO) == [Frame(b"\x11", seq=True)]
    assert ssp.who_text(Frame(b"\xf0", seq=True)) == "SSP slave 0 answers"
    assert ssp.who_text(Frame(b"\xf0\xe8", seq=True)) is None
    assert ssp.who_text(Frame(b"\xf0")) is None


# eSSP


@pytest.mark.parametrize("row", VECTORS["sealed"], ids=lambda row: row["name"])
def test_a_sealed_packet_of_a_real_device(row):
    (frame,) = Decoder().feed(bytes.fromhex(row["hex"]))
    session = Session(bytes.fromhex(row["key"]))
    assert session.open(frame.data, row["count"]).hex() == row["data"]
    with pytest.raises(SspCryptoError, match="number of another"):
        session.open(frame.data, row["count"] + 1)


@given(st.binary(min_size=1, max_size=233), st.integers(0, 2**32 - 1))
def test_sealed_and_opened(data, count):
    session = Session(number_bytes(FIXED_KEY) + number_bytes(1))
    sealed = session.seal(data, count)
    assert len(sealed) % 16 == 1
    assert len(ssp.encode(sealed)) <= 2 * 260
    assert session.open(sealed, count) == data


def test_packing_is_random():
    session = Session(bytes(16))
    assert len({session.seal(b"\x07", 1) for _ in range(8)}) == 8


def test_a_packet_of_another_key_or_an_altered_one_is_refused():
    session, other = Session(bytes(16)), Session(bytes(15) + b"\x01")
    sealed = session.seal(b"\x07", 7)
    with pytest.raises(SspCryptoError, match="another key"):
        other.open(sealed, 7)
    for at in range(1, len(sealed)):
        altered = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        with pytest.raises(SspCryptoError, match="another"):
            session.open(altered, 7)


@pytest.mark.parametrize("sealed", [b"", b"\x7e", b"\x7e" + bytes(15), b"\xf0" + bytes(16)])
def test_what_is_no_sealed_packet_is_refused(sealed):
    with pytest.raises(SspCryptoError, match="no sealed packet"):
        Session(bytes(16)).open(sealed, 0)


def test_a_length_beyond_the_packet_is_refused():
    packet = bytes([10]) + bytes(13)
    packet += ssp.crc(packet).to_bytes(2, "little")
    encryptor = Session(bytes(16))._cipher.encryptor()
    with pytest.raises(SspCryptoError, match="another key"):
        Session(bytes(16)).open(b"\x7e" + encryptor.update(packet), 0)


def test_primes():
    sieve = [n for n in range(2, 2000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert [n for n in range(2000) if is_prime(n)] == sieve
    # Mersenne's 31st and 61st, the greatest prime below 2^64; squares, and pseudoprimes to bases up to 23 and 37.
    assert all(map(is_prime, (2**31 - 1, 2**61 - 1, 2**64 - 59)))
    assert not any(map(is_prime, (2**62 - 1, 4294967291**2, 3215031751, 3825123056546413051)))


def test_host_and_device_come_to_one_key():
    exchange = KeyExchange()
    assert is_prime(exchange.generator)
    assert is_prime(exchange.modulus)
    assert 2**62 < exchange.modulus < exchange.generator < 2**63
    exponent = random_prime(40)
    device = Session(number_bytes(FIXED_KEY) + number_bytes(pow(exchange.host_number, exponent, exchange.modulus)))
    host = exchange.session(pow(exchange.generator, exponent, exchange.modulus))
    assert device.open(host.seal(b"\x07", 0), 0) == b"\x07"


def test_a_number_that_would_fix_the_key_is_refused():
    exchange = KeyExchange()
    for number in (0, 1, exchange.modulus - 1, exchange.modulus, 2**64 - 1):
        with pytest.raises(SspCryptoError, match="half of the key"):
            exchange.session(number)
