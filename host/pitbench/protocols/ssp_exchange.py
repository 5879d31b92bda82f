"""One request of SSP at a time, asked until it is answered: sequence flag, repetition, encryption.

A request keeps its SEQ until its reply has come, so the device carries it out once however often it arrives, and gives
the same reply to each. Only a new request turns SEQ over; until then the last reply can be had again.
"""

from __future__ import annotations

from pitbench.protocols.ssp import STEX, Command, Frame, Reply, encode
from pitbench.protocols.ssp_crypto import Session, SspCryptoError

# A sealed request unanswered this often is asked with a plain one of the same SEQ in turn: a device that has the key
# repeats its sealed reply, one that lost it answers plainly.
PROBE_AFTER = 3
# Replies to one request that can't be opened: the device has another key, or counts otherwise.
KEY_IS_LOST = 3
# The manual's: a slave that answers none of these is taken for crashed.
REPETITIONS = 20
_PROBE = bytes((Command.SERIAL_NUMBER,))
_COUNTS = 1 << 32


class Exchange:
    """Requests to one slave.

    Attributes: `session` (None: plain), `key_lost` (the device no longer has our key: nothing but `start` helps),
    `waiting` (a request is under way). Counters: `timeouts`, `stray` (frames that answer nothing).
    """

    def __init__(self, address: int, reply_ms: int) -> None:
        self.session: Session | None = None
        self.key_lost = False
        self.waiting = False
        self.timeouts = self.stray = 0
        self._address = address
        self._reply_ms = reply_ms
        self._deadline = 0
        self._seq = False
        # Number of the next sealed packet, and that of the last request where it is sealed.
        self._count = 0
        self._sealed_as: int | None = None
        self._content = self._wire = b""
        self._asked = 0
        self._unopened = 0

    def start(self, now_ms: int) -> bytes:
        """Return the sync, which begins anew: plain, and the request behind it has SEQ 0."""
        self.session, self.key_lost, self._seq = None, False, False
        return self.ask(bytes((Command.SYNC,)), now_ms)

    def agree(self, session: Session) -> None:
        """Seal all that follows; both sides count packets from 0."""
        self.session, self._count = session, 0

    def ask(self, data: bytes, now_ms: int) -> bytes:
        """Return the bytes of a new request."""
        self._seq = not self._seq
        self._sealed_as = None if self.session is None else self._count
        self._content = data if self.session is None else self.session.seal(data, self._count)
        self._wire = encode(self._content, self._seq, self._address)
        return self.again(now_ms)

    def again(self, now_ms: int) -> bytes:
        """Return the last request once more, byte for byte: the device gives the same reply to it as before."""
        self.waiting = True
        self._asked = self._unopened = 0
        return self._sent(now_ms)

    def overdue(self, now_ms: int) -> bytes | None:
        """Return what to send where a reply is late; None while there is time."""
        if now_ms < self._deadline:
            return None
        self.timeouts += 1
        wire = self._sent(now_ms)
        probing = self._sealed_as is not None and self._asked > PROBE_AFTER and self._asked % 2 == 0
        return encode(_PROBE, self._seq, self._address) if probing else wire

    def crashed(self, now_ms: int) -> bool:
        """Whether the last of so many repetitions was in vain that nothing but `start` is left."""
        return self.waiting and now_ms >= self._deadline and self._asked > REPETITIONS

    def _sent(self, now_ms: int) -> bytes:
        self._deadline = now_ms + self._reply_ms
        self._asked += 1
        return self._wire

    def answered(self, frame: Frame) -> bytes | None:
        """Return the data of the reply, if this frame is the one that is waited for."""
        # A line of one wire gives back what was sent on it.
        echo = frame.data == self._content
        if not self.waiting or echo or (frame.seq, frame.address) != (self._seq, self._address):
            self.stray += 1
            return None
        data = self._opened(frame.data)
        self.waiting = data is None and not self.key_lost
        return data

    def _opened(self, data: bytes) -> bytes | None:
        if self._sealed_as is None or self.session is None:
            return data if data[0] in Reply._value2member_map_ else None
        if data[0] != STEX:
            # Nothing that a sealed request asks for is taken from a plain reply.
            self.key_lost |= data[0] == Reply.KEY_NOT_SET or self._asked > PROBE_AFTER
            return None
        number = (self._sealed_as + 1) % _COUNTS
        try:
            opened = self.session.open(data, number)
        except SspCryptoError:
            self._unopened += 1
            self.key_lost |= self._unopened >= KEY_IS_LOST
            return None
        self._count = number
        return opened
