"""The memories nearest to a query, and how near any other one can be: what a ranking needs that scores few of many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Near:
    """Some memories with their exact cosines, unsorted, and what is known of all."""

    ordinals: NDArray[np.int64]
    """(n,), ascending, distinct."""
    cosines: NDArray[np.float32]
    """(n,)."""
    rest: float
    """No other memory has a greater cosine; see `index.compressed` for how sure that is."""
    mean: float
    """Of the cosines of all memories."""
    deviation: float
    """Of the cosines of all memories."""
    exact: bool = True
    """`rest` is as good as proven."""
