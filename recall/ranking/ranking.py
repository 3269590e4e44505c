"""One scoring pass over one state of a bank, and what can be read off it: the cut and the counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Record
from recall.ranking.cut import top
from recall.ranking.evidence import Evidence, Mask
from recall.ranking.fuse import Fused, positive, sum_of

LEXICAL, HYBRID, SEMANTIC = "lexical", "hybrid", "semantic"
"""The modes that can run."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """All memories of a bank, scored for one query. Arrays are by ordinal."""

    evidence: Evidence
    fused: Fused
    retrieval: str
    """The mode that ran."""
    allowed: Mask
    """Who passes the filters."""
    records: Sequence[Record]
    updated_at: NDArray[np.int64]

    def candidates(self) -> NDArray[np.int64]:
        """Ordinals of all that may be results, unsorted."""
        return np.flatnonzero(self.fused.admitted & self.allowed)

    def total(self, ordinal: int) -> float:
        """The sum of the signals of one memory; any number."""
        return float(self.fused.total[ordinal])

    def score(self, ordinal: int) -> float:
        """Of one memory; above 0."""
        return positive(self.total(ordinal))

    def best(self, limit: int, min_score: float | None) -> tuple[list[int], int]:
        """Ordinals of the best `limit`, best first, and how many matching memories fell under `min_score`."""
        found = self.candidates()
        sums = self.fused.total[found]
        under = 0
        if min_score is not None:
            enough = sums >= sum_of(min_score)
            under = len(found) - int(enough.sum())
            found, sums = found[enough], sums[enough]
        places = top(sums, found, self.updated_at, self.records, limit)
        return found[places].tolist(), under
