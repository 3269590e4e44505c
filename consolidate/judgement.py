"""A pair of memories, what made it a candidate, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass

from consolidate.canonical import same_wording, share_a_word
from consolidate.guards import Finding, Verdict, plainly, speak_plainly
from consolidate.memo import Memo
from consolidate.settings import ConsolidateSettings


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two texts are. `cosine` is NaN when a text has no vector; Jaccard is over character trigrams."""

    cosine: float
    jaccard: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of a pair, with the guards that spoke."""

    verdict: Verdict
    likeness: Likeness
    findings: tuple[Finding, ...]


def judge(a: Memo, b: Memo, likeness: Likeness, settings: ConsolidateSettings) -> Judgement:
    """MERGE when only the wording differs and no guard speaks; PROPOSE what is alike enough; KEEP the rest.

    Similarity alone never merges: a pair merges when its canonical wording is equal, or differs by listed synonyms
    only and its cosine reaches `merge_cosine`. The guards are not asked about a pair that is not alike.
    """
    a, b = plainly(a), plainly(b)
    alike = _by_likeness(a, b, likeness, settings)
    if alike is Verdict.KEEP:
        return Judgement(alike, likeness, ())
    findings = speak_plainly(a, b)
    strictest = max((finding.verdict for finding in findings), default=Verdict.MERGE)
    return Judgement(max(strictest, alike), likeness, findings)


def _by_likeness(a: Memo, b: Memo, likeness: Likeness, settings: ConsolidateSettings) -> Verdict:
    if same_wording(a.text, b.text) or likeness.cosine >= settings.merge_cosine:
        return Verdict.MERGE
    if likeness.cosine >= settings.propose_cosine or likeness.jaccard >= settings.related_jaccard:
        return Verdict.PROPOSE
    related = likeness.cosine >= settings.related_cosine and share_a_word(a.text, b.text)
    return Verdict.PROPOSE if related else Verdict.KEEP
