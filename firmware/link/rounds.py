# The last rounds, for everybody: each was on the display.
from link.args import Operations
from link.frame import page


class Ops(Operations):
    ARGS = """
rounds:
"""

    # 13:69E-1.28P(i)
    def _rounds(self, request):
        device = self.machine.device
        return {"rounds": page(device.rounds()), "fields": device.round_fields}
