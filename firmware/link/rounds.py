# The last rounds, for everybody: each was on the display.
from link.args import Operations
from link.frame import page


class Ops(Operations):
    ARGS = """
rounds:
"""

    # 13:69E-1.28P(i)
    def _rounds(self, request):
        return {"rounds": page(self.machine.device.rounds()), "fields": "number calendar game outcome"}
