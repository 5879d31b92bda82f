"""The error of a build that can't be made."""

from pitbench.errors import PitbenchError


class ImageError(PitbenchError):
    """Sources, boards or products that no image can be built from."""
