# The link's lines: JSON, TAB, CRC-16/KERMIT in hex, newline.
import json

REQUEST_MAX = 240
REPLY_MAX = 1024
_DEPTH = 8
_PAGE = 760  # bytes of JSON that leave room for the rest of a reply


class Refused(Exception):
    # Refused(code, why): becomes the err of a reply.
    pass


class Lines:
    def __init__(self):
        self.rest = b""
        self.skipping = False

    # -> whole lines; None stands for one that was too long.
    def feed(self, data):
        parts = (self.rest + data).split(b"\n")
        self.rest = parts.pop()
        lines = [self._whole(part) for part in parts]
        if len(self.rest) > REQUEST_MAX:
            self.rest = b""
            self.skipping = True
        return lines

    def _whole(self, part):
        if self.skipping or len(part) > REQUEST_MAX:
            self.skipping = False
            return None
        return part


def unpack(line, crc16):
    text, tab, crc = line.rstrip(b"\r").rpartition(b"\t")
    if not tab or crc != b"%04x" % crc16(text):
        raise Refused("bad_crc", "the CRC of the line is wrong: send it again")
    # A parser's need of memory grows with the depth, not with the line.
    if text.count(b"[") + text.count(b"{") > _DEPTH:
        raise Refused("bad_json", "the line is nested too deep: no request needs more than %d brackets" % _DEPTH)
    try:
        request = json.loads(text)
        request["id"], request["do"]
    except (ValueError, KeyError, TypeError):
        raise Refused("bad_json", "the line is no JSON object with id and do")
    return request


def pack(reply, crc16):
    text = json.dumps(reply, separators=(",", ":")).encode()
    return text + b"\t%04x\n" % crc16(text)


# As many rows as fit into one reply.
def page(rows):
    taken = []
    size = 0
    for row in rows:
        size += len(json.dumps(row)) + 1
        if size > _PAGE:
            break
        taken.append(row)
    return taken
