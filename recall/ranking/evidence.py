"""What the legs say of the memories of a bank, and what is known of them besides: the input of the fusion.

All arrays have shape (size,), by ordinal, unless they say otherwise. Memories that may not be results have rows too;
they are masked at the cut.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.words import Words
from recall.ranking.scale import Scale

Rows = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The vector leg."""

    cosine: Rows
    """NaN where there is no vector."""
    scale: Scale
    exact: bool = True
    """False when only the nearest and the best by words were looked at, and the others count as average."""
    complete: bool = False
    """True when no cosine is NaN; False when some may be."""


@dataclass(frozen=True, slots=True)
class Names:
    """The entity leg, and the dates the query names."""

    rarity: Rows | None
    """How rare the names are that a memory shares with the query, 0 to 1. None when the query names nothing rare."""
    said: Mask | None
    """True where somebody the query names said it. None when it names nobody who spoke."""
    dates: Rows | None
    """How well a memory's time fits a date the query names; 0 to 1. None when it names none."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of the same memories whatever the query."""

    recency: Rows
    """Factor on lexical evidence, in [floor, 1]."""
    recency_norm: float
    """What it is divided by: its root mean square over the bank."""
    lends: Mask
    """True for memories in use: others lend nothing."""
    neighbours: tuple[NDArray[np.int64], ...]
    """Ordinals of the neighbours at each of `distances`, -1 for none."""
    distances: tuple[int, ...]
    """Steps away, for each of `neighbours`."""
    sessions: NDArray[np.int64]
    """Code of the session; 0 for none."""
    any_session: bool
    """Whether some memory is in one."""
    short: Rows
    """1 for a short text, less in proportion for a longer one."""
    root_short: Rows
    """Its square root."""
    asks: Mask
    """True for a text that is nothing but a short question."""
    corroboration: Rows
    """ln(1 + times saved again)."""
    pinned: Mask
    any_boosted: bool
    """Whether some memory was saved again or pinned."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All there is to score by."""

    words: Words
    meaning: Meaning | None
    """None when the vector leg did not run."""
    names: Names
    context: Context
