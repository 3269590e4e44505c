"""What the legs say of a set of memories, and what is known of them besides: the input of the fusion.

Rows are memories; all arrays have as many rows, in the order of `ordinals`. A small bank is scored whole (a row for
every ordinal), a large one on the candidates of its legs and their neighbours.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.ranking.scale import Scale


@dataclass(frozen=True, slots=True)
class Evidence:
    """Raw leg scores of some memories."""

    ordinals: NDArray[np.int64]
    lexical: NDArray[np.float64]
    """BM25; 0 where no word matches."""
    cosine: NDArray[np.float64] | None
    """Cosine, NaN where there is no vector; None when the vector leg did not run."""
    names: NDArray[np.float64]
    """Score of the entity leg, 0 to 1, rare names above common ones."""
    said: NDArray[np.bool_]
    """True where somebody the query names said it."""
    links: NDArray[np.int64]
    """(rows, links) the row of each neighbour; the number of rows where there is none."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of the same memories whatever the query."""

    recency: NDArray[np.float64]
    """Factor on lexical evidence, in [floor, 1]."""
    recency_norm: float
    corroboration: NDArray[np.float64]
    """ln(1 + times saved again)."""
    pinned: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scales:
    """The legs' scales over the bank."""

    lexical: Scale
    """Of BM25 times recency over its norm."""
    semantic: Scale
