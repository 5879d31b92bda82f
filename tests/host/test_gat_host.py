"""The GAT master against a scripted device: whole calculations, bad lines, and every sentence of its errors."""

from collections.abc import Callable

import pytest
from gat_double import FILES, GatDouble, Line, digest, framed
from hypothesis import given
from hypothesis import strategies as st
from pitbench.deadline import Deadline
from pitbench.framing import Framing
from pitbench.protocols.gat import FRAMING, GatError, LastCalculation, crc_named
from pitbench.protocols.gat_host import (
    CalculationFailed,
    DamagedReplies,
    GatHost,
    GatSettings,
    LevelRefused,
    NotInTime,
    NotStarted,
    ResultRefused,
    SilentDevice,
    StaleResult,
    StrangeReply,
    WrongVersion,
)
from pitbench.protocols.gat_report import (
    Algorithm,
    Component,
    GarbageInResult,
    SpecialFunction,
    differences,
    parse_report,
)
from pitbench.transport import open_transport

SEED = b"1234"


@pytest.fixture
def double() -> GatDouble:
    return GatDouble()


@pytest.fixture
def line(double: GatDouble) -> Line:
    return Line(double)


@pytest.fixture
def host(line: Line) -> GatHost:
    return GatHost(line, clock=line.clock)


# -- What works


def test_the_line_is_9600_8n1():
    assert Framing(9600, 8, "N", 1) == FRAMING


def test_status_and_last(double, host):
    assert (host.status().version_text, host.status().state) == ("3.50", 0x04)
    assert host.last() == LastCalculation(0, None)
    host.report()
    assert host.last() == LastCalculation(1, 0)


def test_a_report_without_a_seed_and_with_one(double, host):
    plain, keyed = host.report(), host.report(SEED)
    assert {path: row.digest for path, row in plain.items()} == {p: digest(c, b"") for p, c in FILES.items()}
    assert keyed["/image/crc"] == Component("/image/crc", digest(b"\x12\x34", SEED), Algorithm.HMAC_SHA1, SEED)
    assert differences(plain, FILES) == differences(keyed, FILES, SEED) == []
    assert b"\x04\x01" in double.heard
    assert b"\x04\x011234" in double.heard


def test_special_functions(double, host):
    assert host.functions() == [
        SpecialFunction("Get Special Functions"),
        SpecialFunction("Get File", ("%%PATH%%",)),
        SpecialFunction("Component", ("/image/crc", "%%SHA1_HMAC%%")),
    ]
    assert host.component("/image/rng.mpy").digest == digest(b"x", b"")
    assert host.component("/image/rng.mpy", SEED).digest == digest(b"x", SEED)
    assert double.heard.count(b"\x04\xba\0Component\t/image/rng.mpy") == 1
    assert double.heard.count(b"\x04\xba\0Component\t/image/rng.mpy\t31323334") == 1


def test_the_xml_report_says_the_same(double, host):
    for seed in (None, SEED):
        result = host.xml_result(seed)
        assert (result.format, parse_report(result.data, 2)) == (2, host.report(seed))
    assert b"\x04\xba\0Get File\tAuthenticationResponse.xml\t31323334" in double.heard


@pytest.mark.parametrize("size", [0, 1, 247, 248, 249, 496, 248 * 300])
def test_a_result_comes_whole_whatever_its_size(double, host, size):
    whole = bytes(at % 251 for at in range(size))
    double.levels[0x01] = lambda seed: (1, whole)
    assert host.calculate(1).data == whole
    asked = [heard for heard in double.heard if heard[0] == 3]
    assert asked == [b"\x03\x01" + n.to_bytes(2, "big") for n in range(1, max(1, -(-size // 248)) + 1)]


@pytest.mark.parametrize("size", [0, 1, 384, 2000])
def test_a_file_is_decoded(double, host, size):
    double.files = {"f": bytes(at % 251 for at in range(size))}
    assert host.file("f") == double.files["f"]


@pytest.mark.parametrize("chunk", [1, 2, 7, 254])
def test_replies_in_pieces(double, chunk):
    line = Line(double, chunk)
    assert len(GatHost(line, clock=line.clock).report(SEED)) == len(FILES)


def test_the_host_looks_again_until_it_is_done_and_never_sleeps_past_its_period(double, line, host):
    double.busy_polls = 9
    start = line.now
    host.report()
    assert sum(heard == b"\x01" for heard in double.heard) == 10
    assert line.now - start == pytest.approx(8 * host.settings.poll_s)


def test_over_a_real_pty(gat_port):
    with open_transport(gat_port, name="wire", framing=FRAMING) as wire:
        host = GatHost(wire, GatSettings(poll_s=0.01))
        assert host.file("/image/main.mpy") == FILES["/image/main.mpy"]
        assert differences(host.report(SEED), FILES, SEED) == []


# -- Bad lines


def drop(reply: bytes) -> bytes:
    return b""


def flip(reply: bytes) -> bytes:
    return reply[:-3] + bytes([reply[-3] ^ 0x10]) + reply[-2:]


def cut_off(reply: bytes) -> bytes:
    return reply[: len(reply) // 2]


@pytest.mark.parametrize("how", [drop, flip, cut_off])
@pytest.mark.parametrize("which", range(1, 13))
def test_any_reply_that_is_lost_or_damaged_is_asked_for_again(double, host, which, how):
    double.files = {"f": bytes(range(256)) * 2}
    double.mangle = lambda reply, number: how(reply) if number == which else reply
    assert host.file("f") == double.files["f"]
    assert host.asked_again == (which <= 9)


def test_noise_before_each_reply_costs_nothing(double, host):
    double.mangle = lambda reply, number: b"\x00\xff" + reply
    assert len(host.report()) == len(FILES)
    assert host.asked_again == 0


def test_noise_that_looks_like_a_long_frame_costs_time_and_no_second_question(double, line, host):
    double.mangle = lambda reply, number: b"\x83\xff" + reply
    start = line.now
    assert host.status().version_text == "3.50"
    assert (host.asked_again, line.now - start) == (0, pytest.approx(1.0))


def test_a_late_frame_of_another_number_is_passed_over(double, host):
    double.files = {"f": bytes(600)}
    old = framed(0x83, b"\x02\x00\x09late")
    double.mangle = lambda reply, number: old + reply
    assert host.file("f") == bytes(600)


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=10), st.integers(1, 12))
def test_whatever_a_device_says_the_host_ends_with_a_result_or_a_sentence(noise, every):
    double = GatDouble({"f": b"abc" * 100})
    double.mangle = lambda reply, number: noise[number % len(noise)] if number % every == 0 else reply
    line = Line(double)
    assert outcome(GatHost(line, GatSettings(patience_s=30), line.clock)) in (b"abc" * 100, "remedy")


def outcome(host: GatHost) -> bytes | str:
    try:
        return host.file("f")
    except GatError as error:
        return "remedy" if error.remedy else "no remedy"


# -- Errors


def always(data: bytes) -> Callable[[bytes], bytes]:
    return lambda asked: data


def test_a_silent_device(double, line, host):
    double.mangle = lambda reply, number: b""
    start = line.now
    with pytest.raises(SilentDevice) as error:
        host.status()
    assert str(error.value) == (
        "Nothing answers the status query (01) on line://: 4 tries of 1 s, and not one byte. "
        "Look at power, cable and port; the line is 9600 8N1."
    )
    assert (line.now - start, len(double.heard)) == (4, 4)


def test_a_device_with_another_crc(double, line):
    # It drops our requests, so its bytes are put there.
    double.mangle = lambda reply, number: reply[:-2] + b"\x00\x00"
    with pytest.raises(DamagedReplies) as error:
        GatHost(line, clock=line.clock).report()
    assert str(error.value) == (
        "No sound answer to the status query (01) came on line://: 4 tries of 1 s, 32 bytes, 0 good frames. "
        "Look whether the device's CRC is another one (--crc), then at the line's speed and noise."
    )
    with pytest.raises(SilentDevice):
        GatHost(line, GatSettings(crc=crc_named("modbus")), line.clock).status()


def test_a_reply_laid_out_otherwise(double, host):
    double.answers[1] = always(b"\x03\x50\x04")
    with pytest.raises(StrangeReply) as error:
        host.status()
    assert str(error.value) == (
        "The device's answer to the status query (01) is laid out otherwise: 3 data bytes where 4 belong (03 50 04). "
        "Compare it with the frames in docs/gat.md."
    )


def test_another_version(double, host):
    double.version = b"\x03\x10"
    assert host.status().version_text == "3.10"
    with pytest.raises(WrongVersion) as error:
        host.report()
    assert str(error.value) == (
        "The device on line:// speaks GAT 3.10, and this host speaks 3.50. "
        "Test a device that speaks 3.50; the status (01) alone can be asked of another."
    )
    assert not [heard for heard in double.heard if heard[0] == 4]


def test_a_level_that_is_refused(double, host):
    with pytest.raises(LevelRefused) as error:
        host.calculate(0x07)
    assert str(error.value) == (
        "The device refuses level 07 (it answers 04). "
        "Ask for level 01, or for ba and a function that `pitbench gat functions` lists."
    )


def test_a_seed_that_is_too_long(double, host):
    assert len(host.report(b"s" * 250)) == len(FILES)
    with pytest.raises(GatError) as error:
        host.report(b"s" * 251)
    assert str(error.value) == (
        "A parameter of 251 bytes doesn't fit into a frame, which holds 250. Take a shorter seed."
    )


@pytest.mark.parametrize("bits", [0, 1])
def test_a_calculation_that_is_not_taken_up(double, host, bits):
    double.answers[4] = always(bytes([bits]))
    with pytest.raises(NotStarted) as error:
        host.report()
    assert str(error.value) == (
        f"The device did not take up level 01 (it answers {bits:02x}). "
        "Look with `pitbench gat status` whether it is busy, and with `pitbench gat functions` what it offers."
    )


def test_a_start_whose_answer_was_lost_meets_a_device_at_work(double, host):
    def busy(asked: bytes) -> bytes:
        first = sum(heard[0] == 4 for heard in double.heard) == 1
        return double._start(asked) if first else b"\x01"

    double.answers[4] = busy
    double.mangle = lambda reply, number: b"" if number == 2 else reply
    assert len(host.report()) == len(FILES)


def test_a_calculation_that_fails(double, host):
    with pytest.raises(CalculationFailed) as error:
        host.file("/none")
    assert str(error.value) == (
        "The device reports an error for level ba (status 0c): no component /none. "
        "Look at the name, component or seed that it was asked with."
    )
    assert host.reason() == "no component /none"


def test_a_reason_that_is_text_or_none(double, host):
    double.levels[0x01] = lambda seed: (1, b"Error: /boot.py can't be read: OSError(5)\r\n")
    with pytest.raises(CalculationFailed, match=r"\(status 0c\): /boot.py can't be read: OSError\(5\)\. Look"):
        host.report()
    double.answers[3] = lambda asked: b"\x03" + asked[1:]
    with pytest.raises(CalculationFailed, match=r"\(status 0c\)\. Look"):
        host.report()
    double.state = 0x06
    assert host.reason() == ""


@pytest.mark.parametrize(("state", "word"), [(0x09, "calculating"), (0x04, "idle"), (0x46, "status 46")])
def test_a_calculation_that_is_never_done(double, line, host, state, word):
    double.answers[1] = always(b"\x03\x50" + bytes([state, 1]))
    start = line.now
    with pytest.raises(NotInTime) as error:
        host.report(deadline=Deadline(5, line.clock))
    assert str(error.value) == (
        f"Level 01 was not done in time: the device is still {word}. "
        "Allow more time with --timeout, or restart the device."
    )
    assert 4 < line.now - start <= 5


def test_a_deadline_that_passes_between_two_tries(double, line, host):
    double.mangle = lambda reply, number: b""
    with pytest.raises(NotInTime) as error:
        host.status(Deadline(1.5, line.clock))
    assert str(error.value) == (
        "The time was up before the device on line:// answered the status query (01). Allow more time with --timeout."
    )
    assert line.now == pytest.approx(1001.5)


@pytest.mark.parametrize("status", [1, 3, 4])
def test_a_result_that_is_refused(double, host, status):
    double.answers[3] = lambda asked: bytes([status]) + asked[1:]
    with pytest.raises(ResultRefused) as error:
        host.functions()
    assert str(error.value) == (
        f"The device does not hand out frame 1 of its result as XML (it answers {status:02x}). "
        "Look with `pitbench gat status` whether there is a result, and start a calculation if not."
    )


def test_a_result_of_before_a_power_cut_is_not_taken_for_the_one_asked_for(double, host):
    host.report(b"old")

    def acknowledged_and_cut(asked: bytes) -> bytes:
        double.cut()
        return b"\x03"

    double.answers[4] = acknowledged_and_cut
    with pytest.raises(StaleResult) as error:
        host.report(SEED)
    assert str(error.value) == (
        "The device's last result is of level 01 and was made at an unknown time; level 01 was asked for 0 s ago. "
        "Start it again; if the device counts these seconds in another way, use --any-age."
    )


@pytest.mark.parametrize(
    ("last", "fresh"),
    [(b"\x01\0\0\0\x02", True), (b"\x01\0\0\0\x09", False), (b"\xba\0\0\0\x00", False), (b"\0\xff\xff\xff\xff", False)],
)
def test_how_old_a_result_may_be(double, line, last, fresh):
    double.busy_polls = 1
    double.answers[2] = always(last)
    if fresh:
        GatHost(line, clock=line.clock).report()
        return
    with pytest.raises(StaleResult):
        GatHost(line, clock=line.clock).report()


def test_the_age_is_passed_over_on_demand_and_the_level_is_not(double, line):
    host = GatHost(line, GatSettings(age_checked=False), line.clock)
    double.answers[2] = always(b"\x01\0\0\xff\xff")
    assert len(host.report()) == len(FILES)
    with pytest.raises(StaleResult, match="of level 01 and was made 65535 s ago; level ba was asked for 0 s ago"):
        host.functions()


def test_a_result_without_an_end(double, line, host):
    double.answers[3] = lambda asked: b"\x00" + asked[1:]
    with pytest.raises(GarbageInResult, match="The device's result is garbage: frame 1 is empty and not the last."):
        host.report()
    double.answers[3] = lambda asked: b"\x00" + asked[1:] + b"x"
    with pytest.raises(GarbageInResult, match="garbage: 65535 frames and none is the last. Print it as it came, with"):
        host.results(1, Deadline(1, line.clock))


def test_another_component_than_the_one_asked_for(double, host):
    row = b'<Game Algorithm="SHA-1"><Component Name="/b" Checksum="' + b"ab" * 20 + b'"/></Game>'
    double.levels[0xBA] = lambda parameter: (2, b"<Components>" + row + b"</Components>")
    with pytest.raises(GarbageInResult, match="garbage: /a was asked for, and it names /b"):
        host.component("/a")
