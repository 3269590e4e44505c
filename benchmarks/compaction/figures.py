"""The figures of one run over labelled pairs, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from benchmarks.compaction.deciders import OURS, Decider, cosine_only, deciders, ours
from benchmarks.compaction.pairs import LabelledPair
from consolidate.guards import Verdict
from consolidate.judgement import Likeness
from consolidate.settings import ConsolidateSettings

_THRESHOLDS = (0.70, 0.75, 0.80, 0.84, 0.88, 0.92, 0.95, 0.97, 0.99)


class Counts(msgspec.Struct, frozen=True):
    """How often a decider merged or proposed pairs that say the same, and pairs that do not."""

    merged_same: int
    merged_different: int
    proposed_same: int
    proposed_different: int


class KindFigures(msgspec.Struct, frozen=True):
    """One kind of pair."""

    n_same: int
    n_different: int
    deciders: dict[str, Counts]


class Point(msgspec.Struct, frozen=True):
    """Cosine alone, and ours with both cosines of its settings, at one threshold."""

    threshold: float
    cosine: Counts
    ours: Counts


class Figures(msgspec.Struct, frozen=True):
    """One file of pairs. In JSON every decider of `deciders` stands at the top level, by name."""

    pairs: str
    model: str
    n_same: int
    n_different: int
    deciders: dict[str, Counts]
    by_kind: dict[str, KindFigures]
    by_threshold: tuple[Point, ...]
    versions: dict[str, str]


def figures(
    name: str,
    model: str,
    pairs: Sequence[LabelledPair],
    likeness: Sequence[Likeness],
    settings: ConsolidateSettings,
    versions: Mapping[str, str],
) -> Figures:
    """Lets every decider decide every pair."""
    verdicts = {
        who: [decide(pair, like) for pair, like in zip(pairs, likeness, strict=True)]
        for who, decide in deciders(settings).items()
    }
    total = _kind(pairs, verdicts, None)
    kinds = sorted({pair.kind for pair in pairs} - {""})
    return Figures(
        name, model, total.n_same, total.n_different, total.deciders,
        {kind: _kind(pairs, verdicts, kind) for kind in kinds}, _points(pairs, likeness, settings), dict(versions),
    )  # fmt: skip


def _kind(pairs: Sequence[LabelledPair], verdicts: Mapping[str, Sequence[Verdict]], kind: str | None) -> KindFigures:
    chosen = [at for at, pair in enumerate(pairs) if kind is None or pair.kind == kind]
    same = sum(pairs[at].same for at in chosen)
    counts = {who: _counts([(pairs[at].same, said[at]) for at in chosen]) for who, said in verdicts.items()}
    return KindFigures(same, len(chosen) - same, counts)


def _counts(decided: Sequence[tuple[bool, Verdict]]) -> Counts:
    return Counts(
        merged_same=decided.count((True, Verdict.MERGE)),
        merged_different=decided.count((False, Verdict.MERGE)),
        proposed_same=decided.count((True, Verdict.PROPOSE)),
        proposed_different=decided.count((False, Verdict.PROPOSE)),
    )


def _points(
    pairs: Sequence[LabelledPair], likeness: Sequence[Likeness], settings: ConsolidateSettings
) -> tuple[Point, ...]:
    def counts(decide: Decider) -> Counts:
        return _counts([(pair.same, decide(pair, like)) for pair, like in zip(pairs, likeness, strict=True)])

    return tuple(
        Point(at, counts(cosine_only(at)), counts(ours(replace(settings, merge_cosine=at, propose_cosine=at))))
        for at in _THRESHOLDS
    )


def write(found: Sequence[Figures], path: Path) -> None:
    """Writes the JSON: one file's figures at the top level, several under "sets" by name beside their sum."""
    document = _document(found[0]) if len(found) == 1 else _summed(found)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def _document(found: Figures) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(found)
    plain.pop("deciders")
    return {**plain, **msgspec.to_builtins(found.deciders), "baselines": _baselines(found.deciders)}


def _summed(found: Sequence[Figures]) -> dict[str, object]:
    names = list(found[0].deciders)
    total = {name: _sum([each.deciders[name] for each in found]) for name in names}
    return {
        "n_same": sum(each.n_same for each in found),
        "n_different": sum(each.n_different for each in found),
        **msgspec.to_builtins(total),
        "baselines": _baselines(total),
        "sets": {each.pairs: _document(each) for each in found},
    }


def _baselines(counts: Mapping[str, Counts]) -> dict[str, object]:
    return {name: msgspec.to_builtins(each) for name, each in counts.items() if name != OURS}


def _sum(counts: Sequence[Counts]) -> Counts:
    return Counts(*(sum(getattr(each, field) for each in counts) for field in Counts.__struct_fields__))
