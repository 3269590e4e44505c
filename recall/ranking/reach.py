"""Who can reach a content of so much, told without the exact cosine of most.

Content is what words and meaning give a memory, in deviations of the cosine from its mean. The cosines of the nearest
are known, those of some more are bounded, and no other is greater than the rest: see `index.near`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.near import Near
from index.words import Words
from recall.ranking import signals
from recall.ranking.evidence import Context, Rows
from recall.ranking.scale import Scale
from recall.ranking.settings import RankingSettings

Ordinals = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reach:
    """One query over one state of a bank."""

    near: Near
    words: Words
    context: Context
    scale: Scale
    settings: RankingSettings

    @property
    def rest(self) -> float:
        """What meaning gives at the most to whom `near` does not name."""
        return self.settings.semantic * self.scale.standard_one(self.near.rest)

    def content(self, ordinals: Ordinals, cosines: NDArray[np.float32]) -> Rows:
        """Of memories with these cosines, or at the most where these are bounds: (len(ordinals),)."""
        content = self._lexical(ordinals, *self.words.of(ordinals))
        content += self.settings.semantic * self.scale.standard(cosines.astype(np.float64))
        return content

    def others(self, least: float) -> Ordinals:
        """All that may have a content of at least `least`, besides those whose cosine is known; some come twice."""
        near = self.near
        nearly = near.others[self.content(near.others, near.bounds) >= least]
        return np.concatenate((nearly, self._by_words(least - self.rest)))

    def _by_words(self, least: float) -> Ordinals:
        """Whose words alone give them at least `least`."""
        words = self.words
        may = (self._most(words.matching_bm25, words.matching_cover) >= least).nonzero()[0]
        at = words.matching[may]
        found: Ordinals = at[self._lexical(at, words.matching_bm25[may], words.matching_cover[may]) >= least]
        return found

    def _lexical(self, at: Ordinals, bm25: Rows, cover: Rows) -> Rows:
        return signals.lexical_of(at, bm25, cover, self.context, self.settings, self.settings.bm25)

    def _most(self, bm25: Rows, cover: Rows) -> Rows:
        """What `_lexical` gives at the most, whoever the memories are."""
        most = self.settings.cover * cover
        most += self.settings.bm25 * bm25
        most *= self.settings.lexical / self.context.recency_norm
        return most
