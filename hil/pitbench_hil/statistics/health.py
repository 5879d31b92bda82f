"""Cut-offs of a noise source's health tests, NIST SP 800-90B section 4.4. The alarm comes at the cut-off itself."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtrc

ALPHA = 2.0**-20


def repetition_count(entropy: float, alpha: float = ALPHA) -> int:
    """Equal samples in a row that raise the alarm (4.4.1). `entropy`: least bits a sample."""
    return 1 + math.ceil(-math.log2(alpha) / entropy)


def adaptive_proportion(entropy: float, window: int, alpha: float = ALPHA) -> int:
    """Samples equal to the first in a window, itself among them, that raise the alarm (4.4.2).

    Args:
        entropy: least bits a sample.
        window: samples; 1,024 of a binary source, else 512.
    """
    beyond = bdtrc(np.arange(window + 1.0), window, 2.0**-entropy)
    return 1 + int(np.argmax(beyond <= alpha))
