# The wire's bytes, on a board that has one port only.
from link.args import Operations


class Ops(Operations):
    ARGS = """
wire: hex?=:str
"""

    def _wire(self, request):
        return {"hex": self.machine.boot.wire.carry(request.get("hex", ""))}
