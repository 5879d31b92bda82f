import pytest
from pitbench.link import LinkError
from pitbench_hil.authority import challenge


def refusing(code: str):
    def do(op: str) -> dict:
        raise LinkError(op, code, "the source is dead")

    return do


def test_a_board_without_entropy_leaves_a_test_of_proofs_untested_and_breaks_no_rig():
    with pytest.raises(pytest.skip.Exception, match="needs entropy: the source is dead"):
        challenge(refusing("entropy"))
    with pytest.raises(LinkError, match="the source is dead"):
        challenge(refusing("store"))
    assert challenge(lambda op: {"nonce": "ab"}) == "ab"
