# Arguments in words: "door needs which: acceptor or stacker, open: true or false", "open is true or false".
from link.frame import Refused

_WORDS = {
    ":bool": "true or false",
    ":int": "a whole number from 0",
    ":str": "text",
    ":empty": "empty",
    ":dict": "an object",
    ":NoneType": "null",
}


# do: the operation whose arguments aren't the ones it takes, "" where one of them, the only one given, doesn't fit.
def refuse(do, spec):
    said = ", ".join(_said(part, ": " if do else " is ") for part in spec)
    if do:
        said = "%s needs %s" % (do, said) if said else "%s takes no arguments" % do
    raise Refused("bad_args", said)


def _said(part, joint):
    name, _, kinds = part.partition("=")
    words = " or ".join(_WORDS.get(kind, kind) for kind in kinds.split("|"))
    optional = "optional " if name[-1] == "?" and joint == ": " else ""
    return optional + name.rstrip("?") + joint + words
