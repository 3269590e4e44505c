"""What a fusion of the two legs gives back, and the step that most of them end with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recall.ranking.evidence import Evidence, Meaning, Rows


@dataclass(frozen=True, slots=True)
class Blend:
    """Arrays of shape (size,), by ordinal, in deviations over the bank."""

    lexical: Rows
    """What the words add to a score."""
    semantic: Rows
    """What the meaning adds to a score."""
    content: Rows
    """Both, less the mean over the bank: what a memory may lend."""


def standardised(lexical: Rows, semantic: Rows, evidence: Evidence) -> Blend:
    """Parts of any scale, brought to a deviation of 1 over the memories in use. Changes no order."""
    content = lexical + semantic
    used = content[evidence.context.lends]
    mean, deviation = (float(used.mean()), float(used.std())) if used.size else (0.0, 0.0)
    scale = 1.0 / deviation if deviation > 0.0 else 0.0
    return Blend(lexical * scale, semantic * scale, (content - mean) * scale)


def known_cosine(meaning: Meaning) -> Rows:
    """The cosine; the mean of the bank where there is no vector yet."""
    cosine: Rows = np.where(np.isnan(meaning.cosine), meaning.scale.mean, meaning.cosine)
    return cosine


def fresh_bm25(evidence: Evidence) -> Rows:
    """BM25 times recency, as every fusion takes the words."""
    context = evidence.context
    return evidence.words.bm25 * context.recency * (1.0 / context.recency_norm)
