# What every wire does with its port, whatever its frames are: bytes are gathered, frames taken off, noise is dropped,
# and of an answer that the port took in part the rest is written.
from micropython import const

_PATIENCE_MS = const(1000)
_GAP_MS = const(50)  # longer silence inside a frame: what came is noise
_OUT_MAX = const(512)


# A protocol has `frame_ms`, what its longest frame takes on the line, and _take(now): one frame, or one byte of noise,
# off the buffer; False to wait for more.
class Stream:
    def __init__(self, port, serial):
        self.port = port
        self.buffer = b""
        self.last = 0
        self.began = 0
        self.out = b""
        self.frames = 0
        self.stood = False  # bytes came while the device couldn't be stepped
        port.configure(*serial)

    # A commit may not fall into a frame: a flash erase would lose its bytes.
    # Noise that never ends doesn't hold the device up.
    def receiving(self, now):
        return bool(self.buffer) and now - self.began <= self.frame_ms

    # How long its port may be left alone, in ms: not at all where a frame waits, and no longer than a frame may pause.
    def patience(self, now):
        if self.stood:
            return 0
        return max(0, self.last + _GAP_MS + 1 - now) if self.buffer else _PATIENCE_MS

    def poll(self, now):
        if self._read(now) or self.stood:
            self.stood = False
            while self._take(now):
                pass
        else:
            self._drop_started(now)

    # Between polls: a started frame goes on, or is noise.
    def _look(self, now):
        if self.buffer and not self.stood:
            self.stood = bool(self._read(now))
            if not self.stood:
                self._drop_started(now)

    # What began a frame is noise, once the line is silent after it. Where the device was held up, a good frame may have
    # come right behind.
    def _drop_started(self, now):
        while self.buffer and now - self.last > _GAP_MS:
            self.buffer = self.buffer[1:]
            while self._take(now):
                pass

    # Whether there is anything new. Bytes that wait may have come long ago, while the device was storing: the line is
    # silent when it is found silent.
    def _read(self, now):
        self._flush()
        data = self.port.read()
        if data:
            self.last = now
            if not self.buffer:
                self.began = now
            self.buffer += data
        return data

    # A write may come back short: the rest waits for its turn.
    def _flush(self):
        if self.out:
            self.out = self.out[self.port.write(self.out) :]
            if len(self.out) > _OUT_MAX:
                self.out = b""  # nobody reads: a line without a cable
