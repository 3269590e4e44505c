"""One scoring pass over one state of a bank, and what can be read off it: the cut and the counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Record
from recall.ranking.cut import top
from recall.ranking.evidence import Evidence, Mask
from recall.ranking.fuse import Fused

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
    records: list[Record]
    updated_at: NDArray[np.int64]

    def candidates(self) -> NDArray[np.int64]:
        """Ordinals of all that may be results, unsorted."""
        return np.flatnonzero(self.fused.admitted & self.allowed)

    def best(self, limit: int, min_score: float | None) -> tuple[list[int], int]:
        """Ordinals of the best `limit`, best first, and how many matching memories fell under `min_score`."""
        found = self.candidates()
        scores = self.fused.score[found]
        under = 0
        if min_score is not None:
            enough = scores >= min_score
            under = len(found) - int(enough.sum())
            found, scores = found[enough], scores[enough]
        places = top(scores, found, self.updated_at[found], self.records, limit)
        return found[places].tolist(), under
