# A wire for a board that has one port only: its bytes are carried over the link.
from micropython import const
from ubinascii import hexlify, unhexlify

# What nobody fetches is dropped, as on a line without a cable.
_WAITING_MAX = const(512)
# Of one answer on the link, as bytes.
_PIECE = const(384)


class Tunnel:
    # What is waited for at it comes with the link.
    def __init__(self, link):
        self.reader = getattr(link, "reader", None)
        self.name = getattr(link, "name", "")
        self.to_board = b""
        self.to_host = b""

    def configure(self, *how):
        pass

    def read(self):
        data, self.to_board = self.to_board, b""
        return data

    def write(self, data):
        room = _WAITING_MAX - len(self.to_host)
        self.to_host += data[:room]
        return min(len(data), room)

    # Bytes of the host for those that wait for it, as hex.
    def carry(self, text):
        self.to_board += unhexlify(text)[: _WAITING_MAX - len(self.to_board)]
        piece, self.to_host = self.to_host[:_PIECE], self.to_host[_PIECE:]
        return hexlify(piece).decode()
