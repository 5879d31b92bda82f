# Operations and what they take.
from link.late import load


# Operations of one kind. ARGS has a line for each, between newlines, as in
# "door: which=acceptor|stacker open=:bool wide?=:int". Values there are, or types
# behind ":"; "?" may be left out. No number is negative; an empty text is ":empty".
# The method _NAME carries it out.
class Operations:
    ARGS = ""

    def __init__(self, machine):
        self.machine = machine

    # What an operation takes, word by word; None for one that isn't of this kind.
    def takes(self, name):
        start = "\n%s:" % name
        at = self.ARGS.find(start)
        return None if at < 0 else self.ARGS[at + len(start) : self.ARGS.find("\n", at + 1)].split()

    def carry_out(self, request):
        return getattr(self, "_" + request["do"])(request)


def check(request, spec):
    left = len(request) - 2  # id and do
    for part in spec:
        name, _, kinds = part.partition("=")
        if name.rstrip("?") in request:
            left -= 1
            if not _fits(request[name.rstrip("?")], kinds):
                _refuse("", [part])
        elif name[-1] != "?":
            left = 1
            break
    if left:
        _refuse(request["do"], spec)


def _fits(value, kinds):
    if kinds[0] == ":":
        if isinstance(value, int) and value < 0:
            return False
        value = ":empty" if value == "" else ":" + type(value).__name__
    return value in kinds.split("|")


# Loaded only here: nobody who asks rightly needs the words.
def _refuse(do, spec):
    load("link.args_words").refuse(do, spec)
