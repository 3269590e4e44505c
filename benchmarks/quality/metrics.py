"""The metrics by the one name that tables, JSON and tests use. ir-measures computes what it knows; the rest is here.

===================== ============================================================================================
fraction@k            share of the evidence in the top k (recall in the strict sense; LoCoMo's own)
any@k                 1 if at least one piece is in the top k (often sold as "recall")
all@k                 1 only if every piece is (LongMemEval's recall_all)
MRR                   1 / rank of the first piece; 0 when none came up
nDCG@k                gain / log2(rank + 1), over the ideal order of all the evidence, found or not
longmemeval_ndcg@k    that set's own: the first two places are not discounted, the r-th is by log2(r)
===================== ============================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import ir_measures
import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.judgement import Judgement

PRINTED = ("fraction@5", "fraction@10", "fraction@50", "any@5", "all@10", "MRR", "nDCG@10")
COMPARED = ("fraction@10", "MRR", "nDCG@10")
CURVE_DEPTHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)


class UnknownMetricError(ValueError):
    """No metric has this name."""


def values(name: str, judgements: Sequence[Judgement]) -> NDArray[np.float64]:
    """One value in 0..1 for each judgement, in the same order, shape (n,)."""
    kind, _, depth = name.partition("@")
    if kind in _MEASURES:
        return _by_ir_measures(_MEASURES[kind](int(depth or 0)), judgements)
    if kind in _OURS:
        return np.array([_OURS[kind](judgement, int(depth)) for judgement in judgements], np.float64)
    raise UnknownMetricError(f"no metric is called {name!r}")


def mean(name: str, judgements: Sequence[Judgement]) -> float:
    """The metric averaged over questions; NaN over none."""
    return float(values(name, judgements).mean()) if judgements else math.nan


_MEASURES: dict[str, Callable[[int], ir_measures.Measure]] = {
    "fraction": lambda k: ir_measures.R @ k,
    "any": lambda k: ir_measures.Success @ k,
    "MRR": lambda _: ir_measures.RR,
    "nDCG": lambda k: ir_measures.nDCG @ k,
}


def _by_ir_measures(measure: ir_measures.Measure, judgements: Sequence[Judgement]) -> NDArray[np.float64]:
    qrels, run = [], []
    for number, judgement in enumerate(judgements):
        query = str(number)
        qrels += [ir_measures.Qrel(query, f"e{i}", gain) for i, gain in enumerate(judgement.gains)]
        run += [ir_measures.ScoredDoc(query, document, -float(rank)) for rank, document in _ranking(judgement)]
    found = np.zeros(len(judgements))
    for metric in ir_measures.iter_calc([measure], qrels, run):
        found[int(metric.query_id)] = metric.value
    return found


def _ranking(judgement: Judgement) -> list[tuple[int, str]]:
    """The ranking as far as it matters: evidence at its ranks, and strangers between."""
    placed = {rank: f"e{i}" for i, rank in enumerate(judgement.ranks) if rank is not None}
    return [(rank, placed.get(rank, f"x{rank}")) for rank in range(1, max(placed, default=0) + 1)]


def _all(judgement: Judgement, k: int) -> float:
    return float(all(rank is not None and rank <= k for rank in judgement.ranks))


def _longmemeval_ndcg(judgement: Judgement, k: int) -> float:
    found = sum(_longmemeval_discount(rank) for rank in judgement.ranks if rank is not None and rank <= k)
    return found / sum(_longmemeval_discount(rank) for rank in range(1, min(k, len(judgement.ranks)) + 1))


def _longmemeval_discount(rank: int) -> float:
    return 1.0 if rank == 1 else 1.0 / math.log2(rank)


_OURS: dict[str, Callable[[Judgement, int], float]] = {"all": _all, "longmemeval_ndcg": _longmemeval_ndcg}
