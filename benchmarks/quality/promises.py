"""What is promised of the ranking, checked in every run, in every printed metric.

*Both legs*: the hybrid is not below its better single leg by more than the interval of the difference: the 95 %
interval, paired over questions, reaches 0. Each leg stands for itself: with context and, where measured, alone.

*Words alone*: what an answer without vectors gives is at most ``MARGIN`` below BM25 by bm25s with the same analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from benchmarks.quality import metrics
from benchmarks.quality.judgement import Judgement
from benchmarks.quality.significance import Difference, ResamplingSettings, difference

HYBRID, WORDS, PEER = "hybrid", "lexical", "bm25s"
LEGS = ("lexical", "semantic", "BM25 alone", "cosine alone")
MARGIN = 0.03


class Promise(msgspec.Struct, frozen=True):
    """One promise in one metric: ours against the better leg or the peer; mean of the difference and its interval."""

    told: str
    metric: str
    reference: str
    reference_value: float
    value: float
    mean: float
    low: float
    high: float
    held: bool


def kept(
    names: Sequence[str], judged: Mapping[str, Sequence[Judgement]], resampling: ResamplingSettings
) -> Iterator[Promise]:
    """Every promise that the systems of a run can be held to; ``names`` are the metrics."""
    legs = [leg for leg in LEGS if leg in judged]
    if not any(judged.values()):
        return
    if HYBRID in judged and legs:
        for name in names:
            better = max(legs, key=lambda leg: metrics.mean(name, judged[leg]))
            found = _between(name, judged[better], judged[HYBRID], resampling)
            yield _promise("both legs", name, better, judged, HYBRID, found, held=found.high >= 0.0)
    if WORDS in judged and PEER in judged:
        for name in names:
            found = _between(name, judged[PEER], judged[WORDS], resampling)
            yield _promise("words alone", name, PEER, judged, WORDS, found, held=found.mean >= -MARGIN)


def _between(
    name: str, reference: Sequence[Judgement], ours: Sequence[Judgement], resampling: ResamplingSettings
) -> Difference:
    return difference(metrics.values(name, reference), metrics.values(name, ours), resampling)


def _promise(
    told: str,
    name: str,
    reference: str,
    judged: Mapping[str, Sequence[Judgement]],
    system: str,
    found: Difference,
    *,
    held: bool,
) -> Promise:
    return Promise(
        told,
        name,
        reference,
        round(metrics.mean(name, judged[reference]), 6),
        round(metrics.mean(name, judged[system]), 6),
        found.mean,
        found.low,
        found.high,
        held,
    )
