# What an auditor asks: the state table, the files of the image, their digests, and whether they are what was signed.
import hashlib
import os
from binascii import hexlify

from device.table import expand
from link.args import Operations
from link.frame import Refused, page


# [path, size] of every file below a folder.
def walk(folder):
    for entry in os.ilistdir(folder):
        path = folder + "/" + entry[0]
        if entry[1] == 0x4000:
            yield from walk(path)
        else:
            yield [path, os.stat(path)[6]]


class Ops(Operations):
    ARGS = """
table: from?=:int
files: from?=:int
digest: path=:str
crc: seed?=:int width?=:int
authenticate:
authenticity:
"""

    def _table(self, request):
        rows = list(expand(self.machine.device.table))
        return {"total": len(rows), "rows": page(rows[request.get("from", 0) :])}

    def _files(self, request):
        paths = sorted(walk("/image"))
        return {"total": len(paths), "files": page(paths[request.get("from", 0) :])}

    def _digest(self, request):
        path = request["path"]
        # No way round over "..": records have the roles' secrets.
        if "/.." in path or not (path.startswith("/image/") or path.startswith("/boot")):
            raise Refused("refused", "only files of the image and the boot block are digested")
        digest = hashlib.sha256()
        with open(path, "rb") as f:
            while True:
                data = f.read(512)
                if not data:
                    break
                digest.update(data)
        return {"sha256": hexlify(digest.digest()).decode()}

    def _crc(self, request):
        width = request.get("width", 16)
        if width not in (16, 32):
            raise Refused("bad_args", "width is 16 or 32")
        checksum = self.machine.boot.checksum(request.get("seed", 0), width)
        result = None
        while result is None:
            result = checksum.step()
        if not result[0]:
            raise Refused("store", result[1])
        return {"crc": "%0*x" % (width // 4, checksum.crc)}

    # Its result is asked for afterwards; a board that fails doesn't run on to give it.
    def _authenticate(self, request):
        self.machine.authenticate()
        return {}

    def _authenticity(self, request):
        machine = self.machine
        return {
            "ok": not machine.boot.doubt,
            "running": machine.authenticating is not None,
            "checked_at": machine.authentic_at,
            "hours": machine.hours,
            "version": machine.boot.image_version,
            "key": machine.boot.key,
        }
