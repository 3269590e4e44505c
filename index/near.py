"""The memories nearest to a query, and how near any other one can be: what a ranking needs that scores few of many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Near:
    """The nearest memories with their exact cosines, and what is known of all others."""

    ordinals: NDArray[np.int64]
    """(n,), distinct, in no order."""
    cosines: NDArray[np.float32]
    """(n,)."""
    others: NDArray[np.int64]
    """(m,), distinct: memories that look near, but less so."""
    bounds: NDArray[np.float32]
    """(m,): how great their cosines can be; see `index.compressed` for how sure that is."""
    rest: float
    """No other memory has a greater cosine."""
    mean: float
    """Of the cosines of all memories."""
    deviation: float
    """Of the cosines of all memories."""
    exact: bool = True
    """The bounds and `rest` are as good as proven."""
