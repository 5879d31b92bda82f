"""The one error a person sees: what happened, and what to do about it."""

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


class PitbenchError(Exception):
    """Base of every error that pitbench raises on purpose.

    Args:
        sentence: what happened, one sentence with its full stop.
        remedy: what to do about it, one sentence; empty where nothing can be done.
    """

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(f"{sentence} {remedy}".rstrip())
        self.sentence = sentence
        self.remedy = remedy


class UnknownName(PitbenchError):
    """A name that is none of the known ones; the right choices are named."""

    def __init__(self, kind: str, name: str, choices: list[str]) -> None:
        super().__init__(f"There is no {kind} '{name}'.", f"Choose from: {', '.join(choices)}.")


class BeyondRig(PitbenchError):
    """Something that the rig around this target can't do: no fault of its, nor of the device."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"The rig of this target can't {what}.", remedy)


class NotBuilt(PitbenchError):
    """Something that the design foresees and this version does not have."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what} is not built in this version.", remedy)
