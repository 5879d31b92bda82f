"""A port of the board, held by a test."""


class Port:
    """A port that takes as many bytes a write as `room` says."""

    def __init__(self) -> None:
        self.incoming, self.sent, self.room = b"", b"", 99999

    def read(self) -> bytes:
        data, self.incoming = self.incoming, b""
        return data

    def write(self, data: bytes) -> int:
        self.sent += data[: self.room]
        return min(len(data), self.room)

    def configure(self, *how) -> None:
        self.how = how
