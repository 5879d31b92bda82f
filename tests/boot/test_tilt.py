"""Hard tilt: what isn't what was signed doesn't run on, through restarts and power cycles, until somebody clears it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.image import Image, build_image
from pitbench.link import LinkError
from pitbench.targets import Board, open_target
from pitbench_hil.authority import Officer

HOURS = 2
STEP_MS = 10_000


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image("bill-acceptor", "bench", tmp_path_factory.mktemp("image"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "board"


@pytest.fixture
def board(image: Image, root: Path) -> Iterator[Board]:
    with open_target("unix:", image=image, root=root) as board:
        yield board


@pytest.fixture
def officer(board: Board) -> Officer:
    officer = Officer(board.link.do)
    officer.commission()
    return officer


def alter(root: Path, path: str, change: Callable[[bytes], bytes] = lambda data: data[:-1] + b"\x55") -> None:
    place = root / path[1:]
    place.write_bytes(change(place.read_bytes()))


def ask(board: Board, op: str) -> str:
    """What comes of a request to a board that may restart over it: "" if it was carried out."""
    try:
        board.link.do(op)
        return ""
    except PitbenchError as error:
        return str(error)


def state(board: Board) -> dict:
    board.reconnect()
    return board.link.do("status")


def check(board: Board) -> dict:
    """Have it look at its files, and wait until it refuses to go on; returns its status then."""
    ask(board, "authenticate")
    deadline = Deadline(10)
    while (found := state(board))["state"] != "inoperable":
        assert not deadline.passed
    return found


def advance(board: Board, steps: int) -> None:
    for _ in range(steps):
        board.link.do("advance", ms=STEP_MS)


def is_checked(board: Board) -> dict:
    deadline = Deadline(10)
    while (found := board.link.do("authenticity"))["running"]:
        assert not deadline.passed
    return found


# -- a sound board


def test_a_sound_board_says_what_it_was_held_against(board, image):
    assert board.identity["key"] == image.key
    assert image.key.endswith(" test key")
    found = is_checked(board)
    assert (found["ok"], found["hours"], found["version"], found["key"]) == (True, 0, 1, image.key)
    assert found["checked_at"] <= board.link.do("status")["now"]


def test_it_checks_on_demand(board):
    before = is_checked(board)
    board.link.do("advance", ms=1000)
    board.link.do("authenticate")
    after = is_checked(board)
    assert after["checked_at"] >= before["checked_at"] + 1000
    assert (after["ok"], after["hours"], board.supervisor.boots) == (True, 0, 1)


def test_it_checks_every_hour_by_its_own_time(board):
    start = board.link.do("status")["now"]
    for hour in range(1, HOURS + 1):
        while board.link.do("status")["now"] < start + hour * 3_600_000 - 2 * STEP_MS:
            board.link.do("advance", ms=STEP_MS)
        assert is_checked(board)["hours"] == hour - 1
        advance(board, 3)
        found = is_checked(board)
        assert (found["hours"], found["ok"]) == (hour, True)
    assert board.supervisor.boots == 1


# -- altered while it runs


def test_an_altered_file_is_found_on_demand_and_stays_through_a_power_cycle(board, root, image, officer):
    alter(root, "/image/device/log.mpy")
    assert check(board)["light"] == "red"
    (root / "image/device/log.mpy").write_bytes(image.files["/image/device/log.mpy"])
    board.cut()
    board.power_on()
    found = state(board)
    assert (found["state"], found["standing"]) == ("inoperable", ["authenticity"])
    assert found["why"] == "hard tilt, to be cleared with proof: altered file /image/device/log.mpy"
    with pytest.raises(LinkError, match="hard tilt"):
        board.link.do("insert", item={})


def test_an_altered_file_is_found_by_the_hourly_check(board, root):
    alter(root, "/image/device/log.mpy")
    advance(board, 3_600_000 // STEP_MS - 1)
    with pytest.raises(PitbenchError):
        advance(board, 3)
    assert state(board)["state"] == "inoperable"
    assert (root / "data" / "tilt").read_text() == "altered file /image/device/log.mpy"


@pytest.mark.parametrize("path", ["/image/x", "/hashlib.py", "/image/device/json.py"])
def test_a_stray_file_is_found_on_demand(board, root, path):
    (root / path[1:]).write_bytes(b"")
    check(board)
    assert (root / "data" / "tilt").read_text() == f"extra file {path}"


@pytest.mark.parametrize(
    ("path", "op"),
    [("/image/link/audit.mpy", "files"), ("/image/link/service.mpy", "challenge"), ("/image/bench/rare.mpy", "store")],
)
def test_a_late_module_that_was_altered_is_not_loaded(board, root, path, op):
    alter(root, path)
    ask(board, op)
    assert state(board)["state"] == "inoperable"
    assert (root / "data" / "tilt").read_text() == f"altered file {path}"


def test_words_for_a_wrong_argument_are_loaded_as_carefully(board, root):
    alter(root, "/image/link/args_words.mpy")
    with pytest.raises(PitbenchError):
        board.link.do("log", **{"from": -1})
    assert (root / "data" / "tilt").read_text() == "altered file /image/link/args_words.mpy"


def test_a_source_beside_a_late_module_is_not_run(board, root):
    (root / "image/link/audit.py").write_text("open('/data/ran', 'w').close()\n")
    ask(board, "files")
    assert state(board)["state"] == "inoperable"
    assert not (root / "data" / "ran").exists()


@pytest.mark.parametrize("path", ["/boot/verify.mpy", "/boot/verify.py"])
def test_the_verifier_itself_must_be_what_it_was_at_the_start(board, root, path, image):
    place, verifier = root / path[1:], image.files["/boot/verify.mpy"]
    place.write_bytes(verifier[:-1] + b"\x55" if place.exists() else b"open('/data/ran', 'w').close()\n")
    ask(board, "authenticate")
    deadline = Deadline(10)
    while not (root / "data" / "tilt").exists():
        assert not deadline.passed
    assert (root / "data" / "tilt").read_text() == "altered file /boot/verify.mpy"
    assert not (root / "data" / "ran").exists()


# -- cleared


@pytest.fixture
def tilted(board: Board, root: Path, image: Image, officer: Officer) -> Board:
    """A board in hard tilt whose image was put right again."""
    alter(root, "/image/device/log.mpy")
    check(board)
    board.cut()
    (root / "image/device/log.mpy").write_bytes(image.files["/image/device/log.mpy"])
    board.power_on()
    return board


def clear(board: Board, officer: Officer, **other: str) -> None:
    request = {"role": officer.role, "proof": officer.proof("clear_tilt"), **other}
    board.link.do("clear_tilt", **request)


def test_who_has_a_secret_clears_it_and_the_board_runs_again(tilted, officer, root):
    clear(tilted, officer)
    assert tilted.reconnect()["inoperable"] is None
    assert not (root / "data" / "tilt").exists()
    assert tilted.link.do("status")["state"] != "inoperable"
    notes = [(entry[4], entry[5]) for entry in tilted.link.do("log")["entries"]]
    assert ("authenticity_failed", "altered file /image/device/log.mpy") in notes
    assert ("power_on", "tilt_cleared") in notes


@pytest.mark.parametrize(
    "other",
    [{"proof": ""}, {"proof": "00" * 32}, {"role": "nobody"}, {"role": ""}],
    ids=["no proof", "a wrong proof", "no such role", "no role"],
)
def test_nobody_else_clears_it(tilted, officer, root, other):
    with pytest.raises(LinkError, match="proof does not fit"):
        clear(tilted, officer, **other)
    assert (root / "data" / "tilt").exists()
    tilted.cut()
    tilted.power_on()
    assert state(tilted)["state"] == "inoperable"


def test_a_proof_serves_once_and_for_nothing_else(tilted, officer):
    other = officer.proof("clear_memory")
    with pytest.raises(LinkError, match="proof does not fit"):
        tilted.link.do("clear_tilt", role=officer.role, proof=other)
    proof = officer.proof("clear_tilt")
    tilted.link.do("challenge")
    with pytest.raises(LinkError, match="proof does not fit"):
        tilted.link.do("clear_tilt", role=officer.role, proof=proof)
    clear(tilted, officer)


def test_the_whole_image_is_authenticated_again_before_it_is_cleared(tilted, officer, root, image):
    path = "/image/device/meters.mpy"
    alter(root, path)
    with pytest.raises(LinkError, match="CRC"):
        clear(tilted, officer)
    assert (root / "data" / "tilt").exists()
    (root / path[1:]).write_bytes(image.files[path])
    clear(tilted, officer)
    assert tilted.reconnect()["inoperable"] is None


def test_while_the_image_is_altered_nobody_can_clear_it(board, officer, root):
    alter(root, "/image/device/log.mpy")
    check(board)
    with pytest.raises(LinkError) as refused:
        board.link.do("challenge")
    assert refused.value.code == "inoperable"


def test_a_board_without_secrets_has_nobody_to_clear_it(board, root, image):
    alter(root, "/image/device/log.mpy")
    check(board)
    board.cut()
    (root / "image/device/log.mpy").write_bytes(image.files["/image/device/log.mpy"])
    board.power_on()
    with pytest.raises(LinkError, match="proof does not fit"):
        clear(board, Officer(board.link.do))
