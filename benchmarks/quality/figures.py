"""The figures of a run as they are written to JSON, and read again by `compare`.

``systems`` holds the headline: ``{"hybrid": {"fraction@10": 0.71, …}}``; ``all_categories`` the same over every
question, ``by_category`` for each category. ``questions`` keeps, for each system, where each question's evidence came
up, so that any metric can be computed and any two runs compared without asking again. No text of a set is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.environment import versions
from benchmarks.quality import metrics, promises
from benchmarks.quality.dataset import Dataset
from benchmarks.quality.judgement import Judgement
from benchmarks.quality.promises import Promise
from benchmarks.quality.run import Outcome, Run
from benchmarks.quality.significance import DEFAULT_RESAMPLING, Difference, ResamplingSettings, difference, interval

_IDS_SHOWN = 5

Values = dict[str, float]


class Left(msgspec.Struct, frozen=True):
    """Something left out: how many, and the first few ids."""

    count: int
    ids: tuple[str, ...]


class Latency(msgspec.Struct, frozen=True):
    """Client-side milliseconds of one Recall, one at a time."""

    p50: float
    p90: float
    p99: float


class Figures(msgspec.Struct, frozen=True):
    """Everything that one run found."""

    set: str
    unit: str
    n: int
    headline: str
    headline_categories: tuple[str, ...]
    systems: dict[str, Values]
    intervals: dict[str, dict[str, tuple[float, float]]]
    baseline: str
    differences: dict[str, dict[str, Difference]]
    all_categories: dict[str, Values]
    all_categories_n: int
    by_category: dict[str, dict[str, Values]]
    category_n: dict[str, int]
    latency_ms: dict[str, Latency]
    degraded: dict[str, dict[str, int]]
    without_results: dict[str, int]
    dropped: dict[str, Left]
    documents: int
    memories: int
    documents_in_parts: int
    settings: dict[str, str]
    model: str
    versions: dict[str, str]
    questions: dict[str, tuple[Judgement, ...]]
    promises: tuple[Promise, ...] = ()
    peers_left_out: tuple[str, ...] = ()

    def headline_judgements(self, system: str) -> list[Judgement]:
        """The judgements that the headline is over, in the order asked."""
        only = self.headline_categories
        return [judged for judged in self.questions[system] if not only or judged.category in only]


def figures(
    dataset: Dataset,
    run: Run,
    baseline: str,
    settings: Mapping[str, str],
    resampling: ResamplingSettings = DEFAULT_RESAMPLING,
    peers_left_out: tuple[str, ...] = (),
) -> Figures:
    """Computes every printed figure of a run."""
    names = (*metrics.PRINTED, *dataset.extra_metrics)
    headline = {
        name: [judged for judged in outcome.judgements if dataset.in_headline(judged.category)]
        for name, outcome in run.outcomes.items()
    }
    categories = _categories(next(iter(run.outcomes.values())).judgements)
    return Figures(
        set=dataset.name,
        unit=dataset.unit,
        n=len(next(iter(headline.values()))),
        headline=dataset.headline_label,
        headline_categories=tuple(sorted(dataset.headline or ())),
        systems={name: _means(names, judged) for name, judged in headline.items()},
        intervals={name: _intervals(judged, resampling) for name, judged in headline.items()},
        baseline=baseline,
        differences=_differences(headline, baseline, resampling),
        all_categories={name: _means(names, outcome.judgements) for name, outcome in run.outcomes.items()},
        all_categories_n=sum(categories.values()),
        by_category={
            category: {
                name: _means(names, [judged for judged in outcome.judgements if judged.category == category])
                for name, outcome in run.outcomes.items()
            }
            for category in categories
        },
        category_n=categories,
        latency_ms={name: _latency(outcome) for name, outcome in run.outcomes.items()},
        degraded={name: dict(outcome.degraded) for name, outcome in run.outcomes.items()},
        without_results={name: outcome.without_results for name, outcome in run.outcomes.items()},
        dropped={reason: Left(len(ids), tuple(ids[:_IDS_SHOWN])) for reason, ids in dataset.dropped.items()},
        documents=run.documents,
        memories=run.memories,
        documents_in_parts=run.parted,
        settings=dict(settings),
        model=f"{run.embedder.model} ({run.embedder.backend or run.embedder.state})",
        versions=versions(),
        questions={name: tuple(outcome.judgements) for name, outcome in run.outcomes.items()},
        promises=tuple(promises.kept(names, headline, resampling)),
        peers_left_out=(*peers_left_out, *run.peers_left_out),
    )


def write(found: Figures, path: Path) -> None:
    """Writes one JSON object: the figures indented for people, the questions compact at its end."""
    fields = msgspec.to_builtins(found)
    questions = msgspec.json.encode(fields.pop("questions")).decode()
    head = msgspec.json.format(msgspec.json.encode(fields), indent=1).decode().removesuffix("\n}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head},\n "questions": {questions}\n}}\n', encoding="utf-8")


def read(path: Path) -> Figures:
    """Raises OSError, or msgspec.DecodeError when this is not what `write` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Figures)


def _categories(judgements: Iterable[Judgement]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for judged in judgements:
        counts[judged.category] = counts.get(judged.category, 0) + 1
    return dict(sorted(counts.items()))


def _means(names: Iterable[str], judgements: Sequence[Judgement]) -> Values:
    return {name: round(metrics.mean(name, judgements), 6) for name in names}


def _intervals(judged: Sequence[Judgement], resampling: ResamplingSettings) -> dict[str, tuple[float, float]]:
    return {name: interval(metrics.values(name, judged), resampling) for name in metrics.COMPARED} if judged else {}


def _differences(
    headline: Mapping[str, Sequence[Judgement]], baseline: str, resampling: ResamplingSettings
) -> dict[str, dict[str, Difference]]:
    if not headline.get(baseline):
        return {}
    base = {name: metrics.values(name, headline[baseline]) for name in metrics.COMPARED}
    return {
        system: {name: difference(base[name], metrics.values(name, judged), resampling) for name in metrics.COMPARED}
        for system, judged in headline.items()
        if system != baseline
    }


def _latency(outcome: Outcome) -> Latency:
    p50, p90, p99 = np.percentile(outcome.latencies(), [50, 90, 99])
    return Latency(round(float(p50), 3), round(float(p90), 3), round(float(p99), 3))
