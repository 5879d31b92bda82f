"""Finds a protocol's frames in a stream of bytes, however it is cut, joined, damaged or padded.

What is a frame, its protocol says; how a decoder gets in step again behind a damaged one is the same in each.
"""

from __future__ import annotations

from typing import Generic, TypeVar

F = TypeVar("F")


class StreamDecoder(Generic[F]):
    """Base of every protocol's decoder, which has `_seek` and `_take`.

    Counters: `received` bytes, `good` frames, `damaged` ones, `skipped` bytes outside of frames.
    """

    def __init__(self) -> None:
        self.received = self.good = self.damaged = self.skipped = 0
        self._held = bytearray()

    def feed(self, data: bytes) -> list[F]:
        """Take received bytes; return the frames that they complete."""
        self.received += len(data)
        self._held += data
        frames = []
        while self._seek():
            frame = self._take()
            if frame:
                frames.append(frame)
        return frames

    def gap(self) -> list[F]:
        """Tell the decoder that the line fell silent: an unfinished frame will never be finished.

        What looked like its start may have claimed good frames behind it; those are returned.
        """
        frames: list[F] = []
        while self._held:
            self._drop_head()
            frames += self.feed(b"")
        return frames

    def _seek(self) -> bool:
        """Bring the next possible start to the front; true if a whole frame may stand there."""
        raise NotImplementedError

    def _take(self) -> F | None:
        """Take the frame at the front off; None for a damaged one, whose head is dropped."""
        raise NotImplementedError

    def _took(self, length: int) -> None:
        """A good frame of so many bytes stood at the front."""
        del self._held[:length]
        self.good += 1

    def _skip(self, noise: int) -> None:
        """So many bytes at the front begin no frame."""
        self.skipped += noise
        del self._held[:noise]

    def _skip_to(self, start: int) -> None:
        """The next start is there, -1 for nowhere."""
        self._skip(len(self._held) if start < 0 else start)

    def _drop_head(self) -> None:
        # Only one byte goes: a good frame may begin anywhere behind it.
        self.damaged += 1
        del self._held[:1]
