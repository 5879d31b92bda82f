# What of a board's sensors and parts is on pins. Where nothing is, the code for pins isn't even loaded.


# Stands for inputs and for outputs.
class Unwired:
    def step(self, now):
        return False

    def levels(self):
        return {}

    def next(self):
        return None

    def set(self, name, level):
        pass

    # Tower light and message, kept as last shown.
    def show(self, light, message):
        self.light = light
        self.message = message


# parts: what lights them, where nobody does so later: an optical sensor is dark until its emitters are lit.
def inputs(board, names, parts=None):
    if not names:
        return Unwired()
    from hal.pins import Inputs, lit

    if parts:
        lit(parts)
    return Inputs({name: board.PINS[name] for name in names}, board.DEBOUNCE_MS)


def outputs(board):
    if not board.OUTPUTS:
        return Unwired()
    from hal.pins import Outputs

    return Outputs(board.OUTPUTS)
