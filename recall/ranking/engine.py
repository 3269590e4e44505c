"""One recall, from the query's text to the ranked answer.

    ask        analyse the text; begin to embed it                 (question, vector_leg)
    words      the lexical leg, while the vector is made           (legs)
    wait       for the vector, inside the budget                   (vector_leg, budget)
    score      every memory by every leg that is there             (scoring, fuse)
    cut        filters, total order, the best k                    (allowed, ranking, cut)
    reorder    the first of them by a second stage, if there is one (second_stage)
    fold       what says the same; texts come from the log         (restatements)

Every reading of the index is one pass under its latch: nothing is waited for and no disk is read inside. When a write
came while the vector was made, the words are scored anew, so an answer is of one state. All memories are scored, so
the best k are the first k of the best k + 1, and exact wherever the vector scan is.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from index.query_cache import EmbedderSource, QueryCache
from index.words import Words
from recall.memory.bank import Bank
from recall.memory.clock import Clock
from recall.memory.errors import MemoryNotFound
from recall.memory.record import Record
from recall.ranking import legs, question, vector_leg
from recall.ranking.allowed import why_not_allowed
from recall.ranking.bank_index import BankIndex
from recall.ranking.budget import Budget
from recall.ranking.columns import Columns
from recall.ranking.explain import signals_of
from recall.ranking.fuse import positive
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.restatements import RESTATED, folded
from recall.ranking.results import Degraded, DegradedReason, Ranked, RankedMemory, WhyNot
from recall.ranking.scoring import Pass, Scored, capped, score, score_few
from recall.ranking.second_stage import SecondStage
from recall.ranking.settings import RankingSettings
from recall.ranking.shortlist import Candidate, Texts
from recall.ranking.stopwatch import Stopwatch
from recall.ranking.vector_leg import Arrived, Asked
from recall.ranking.why_not import placed, why_not


@dataclass(frozen=True, slots=True)
class _Picked:
    """The best of one pass, more than the limit where later stages choose among them."""

    candidates: list[Candidate]
    retrieval: str
    degraded: tuple[Degraded, ...]
    seq: int
    below_min_score: int
    why_not: WhyNot | None
    cut: bool
    """There may be more, that were not looked at."""


@dataclass(frozen=True, slots=True)
class _Early:
    """The words, scored while the vector was made, and the state they are of."""

    columns: Columns
    seq: int
    words: Words

    def of(self, index: BankIndex) -> bool:
        """Whether the index is in that state still; built anew it has other columns, and perhaps the same seq."""
        return self.columns is index.columns and self.seq == index.seq


class Engine:
    """Answers recalls over any bank. Thread-safe: it keeps nothing between two of them."""

    def __init__(
        self,
        settings: RankingSettings,
        queries: QueryCache,
        slot: EmbedderSource,
        clock: Clock,
        monotonic: Callable[[], float] = time.monotonic,
        second_stage: SecondStage | None = None,
    ) -> None:
        """`monotonic` gives seconds, on the clock that budgets are on."""
        self._second_stage = second_stage
        self._settings = settings
        self._queries = queries
        self._slot = slot
        self._clock = clock
        self._monotonic = monotonic

    def recall(self, index: BankIndex, bank: Bank, query: RecallQuery, budget: Budget) -> Ranked:
        """Rank the memories of a bank. Raises QueryHasNoWords; MemoryNotFound for a `why_not_id` that is unknown."""
        watch = Stopwatch(self._monotonic)
        about = bank.get(query.why_not_id) if query.why_not_id else None
        if query.include_superseded:
            index.with_archive()
        one, asked = self._ask(index, query)
        watch.lap("analyze")
        early = _words(index, one) if asked.waits else None
        watch.lap("lexical")
        arrived = vector_leg.wait(asked, budget.wait_until(query.mode, one.settings), self._monotonic)
        watch.lap("embed")
        picked = self._picked(index, one, early, arrived, about, watch)
        candidates, late, results = self._settled(index, bank, one, picked, budget, watch)
        if picked.cut and len(results) < query.limit:  # too many of the few that were looked at say the same
            picked = self._picked(index, one, None, arrived, about, watch, few=False)
            candidates, late, results = self._settled(index, bank, one, picked, budget, watch)
        return Ranked(
            results=results,
            retrieval=picked.retrieval,
            degraded=(*picked.degraded, *late),
            as_of_seq=picked.seq,
            below_min_score=picked.below_min_score,
            timings=watch.timings(),
            why_not=picked.why_not and placed(picked.why_not, candidates),
        )

    def begin(self, index: BankIndex, query: RecallQuery) -> None:
        """Begin to embed a query that is asked next. Raises QueryHasNoWords."""
        self._ask(index, query)

    def _picked(
        self,
        index: BankIndex,
        one: Pass,
        early: _Early | None,
        arrived: Arrived,
        about: Record | None,
        watch: Stopwatch,
        few: bool = True,
    ) -> _Picked:
        """The best of one pass: over the few memories that can be among them where that is enough, else over all."""
        with index.reading():
            words = early.words if early and early.of(index) else _words_now(index, one)
            watch.lap("lexical")
            scored = score_few(index, one, words, arrived, watch) if few and self._second_stage is None else None
            if scored is None:
                scored = score(index, one, words, arrived, watch)
            picked = _pick(index, one, scored, about, self._depth(one, few))
            watch.lap("fuse")
        return picked

    def _settled(
        self, index: BankIndex, bank: Bank, one: Pass, picked: _Picked, budget: Budget, watch: Stopwatch
    ) -> tuple[list[Candidate], tuple[Degraded, ...], tuple[RankedMemory, ...]]:
        """Reordered, folded, with their texts; a memory that is gone from the log by now is left out."""
        texts = Texts(bank.text)
        try:
            return self._read(index, one, picked.candidates, texts, budget, watch)
        except MemoryNotFound:
            return self._read(index, one, texts.of_those_left(picked.candidates), texts, budget, watch)

    def _read(
        self,
        index: BankIndex,
        one: Pass,
        found: list[Candidate],
        texts: Texts,
        budget: Budget,
        watch: Stopwatch,
    ) -> tuple[list[Candidate], tuple[Degraded, ...], tuple[RankedMemory, ...]]:
        candidates, late = self._reordered(one, found, texts, budget)
        watch.lap("rerank")
        results = _told(_folded(index, one, candidates, texts), texts)
        watch.lap("fetch")
        return candidates, late, results

    def _depth(self, one: Pass, few: bool) -> int:
        """Candidates that the stages after the fusion choose from; a `few` more than are wanted mostly suffice."""
        settings = one.settings
        spare = min(settings.pruned_spare, settings.folded_most) if few else settings.folded_most
        depth = one.query.limit + (spare if settings.fold_restatements else 0)
        return max(depth, self._second_stage.depth) if self._second_stage is not None else depth

    def _reordered(
        self, one: Pass, candidates: list[Candidate], texts: Texts, budget: Budget
    ) -> tuple[list[Candidate], tuple[Degraded, ...]]:
        """By the second stage; a query that is measured by one leg alone has none."""
        if self._second_stage is None or one.query.mode in {Mode.LEXICAL, Mode.SEMANTIC}:
            return candidates, ()
        return self._second_stage.reordered(one.question.embedded, candidates, texts, budget.deadline)

    def _ask(self, index: BankIndex, query: RecallQuery) -> tuple[Pass, Asked]:
        settings = query.settings(self._settings)
        with index.reading():
            analysed = question.ask(query.text, index, settings)
            asked = vector_leg.ask(query.mode, analysed.embedded, index, self._slot, self._queries)
        return Pass(query, analysed, settings, self._clock.now()), asked


def _words(index: BankIndex, one: Pass) -> _Early:
    with index.reading():
        return _Early(index.columns, index.seq, _words_now(index, one))


def _words_now(index: BankIndex, one: Pass) -> Words:
    return legs.words(index, one.question, one.query.include_superseded)


def _pick(index: BankIndex, one: Pass, scored: Scored, about: Record | None, depth: int) -> _Picked:
    ranking, query = scored.ranking, one.query
    best, under = ranking.best(depth, query.min_score)
    pruned = scored.floor > -math.inf
    cut = pruned or len(best) == depth
    if pruned:
        best = [at for at in best if ranking.total(at) >= scored.floor]
    explained = [signals_of(at, ranking.evidence, ranking.fused) for at in best] if query.explain else [()] * len(best)
    return _Picked(
        candidates=[
            Candidate(ranking.records[at], ranking.total(at), signals)
            for at, signals in zip(best, explained, strict=True)
        ],
        retrieval=ranking.retrieval,
        degraded=(*scored.degraded, *capped(one.question), *_incomplete(index)),
        seq=index.seq,
        below_min_score=under,
        why_not=_why_not(index, one, scored, about) if about is not None else None,
        cut=cut,
    )


def _incomplete(index: BankIndex) -> tuple[Degraded, ...]:
    """The index does not hold the words of every memory now."""
    if index.stale:
        told = f"the index fell behind at write {index.seq} and is being built anew"
        return (Degraded(DegradedReason.INDEX_REBUILDING, told),)
    rebuilding = index.rebuilding
    if rebuilding is None:
        return ()
    told = f"the words of {rebuilding.remaining} of {rebuilding.total} memories are not indexed yet"
    return (Degraded(DegradedReason.INDEX_REBUILDING, told),)


def _why_not(index: BankIndex, one: Pass, scored: Scored, about: Record) -> WhyNot:
    if about.ordinal >= index.columns.size:  # saved after this pass began
        return WhyNot(about.id, "it was saved while this was answered", 0, 0.0)
    record = index.columns.records[about.ordinal]
    excluded = why_not_allowed(index.columns, one.query, record, one.now)
    return why_not(record, scored.ranking, excluded)


def _folded(index: BankIndex, one: Pass, candidates: list[Candidate], texts: Texts) -> list[Candidate]:
    if not one.settings.fold_restatements:
        return candidates[: one.query.limit]
    embedded = index.embedded
    vectors = embedded.vectors.firsts_of([one.ordinal for one in candidates]) if embedded is not None else None
    return folded(candidates, one.query.limit, texts, vectors, RESTATED)


def _told(candidates: list[Candidate], texts: Texts) -> tuple[RankedMemory, ...]:
    return tuple(
        [
            RankedMemory(one.record, texts.of(one.record), positive(one.total), one.signals, one.restatements)
            for one in candidates
        ]
    )
