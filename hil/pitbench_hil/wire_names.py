"""Names of the frames in a trace line and of status codes, so that nobody needs to know the numbers by heart."""

from __future__ import annotations

from typing import Any

from pitbench.protocols import id003, names, protocol_named

_CODES = (id003.Status, id003.Reply, id003.Command)


def frame_names(row: dict[str, Any], wire: str = "id003") -> str:
    """Names of the frames in one trace line; empty where there are none (masked ones included).

    Args:
        row: a line of the trace.
        wire: the wire's protocol, as the board's identity names it.
    """
    if row["port"] != "wire" or "hex" not in row or wire not in names():
        return ""
    return ", ".join(protocol_named(wire).frame_names(bytes.fromhex(row["hex"]), row["dir"] == "to_board"))


def with_names(observed: Any, expected: Any) -> tuple[Any, Any]:
    """Both with their codes named, `46 (jam in stacker)`, where one of them is told to be a code of the wire.

    Equal values stay equal, and different ones different.
    """
    return (_named(observed), _named(expected)) if has_code(observed) or has_code(expected) else (observed, expected)


def has_code(value: Any) -> bool:
    """Whether a value, or one in a list, is told to be a code of the wire."""
    return any(map(has_code, value)) if _is_list(value) else isinstance(value, _CODES)


def _named(value: Any) -> Any:
    if _is_list(value):
        return sorted(map(_named, value)) if isinstance(value, set | frozenset) else list(map(_named, value))
    is_code = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:02X} ({id003.code_name(value, id003.Status)})" if is_code else value


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset)
