"""Where a memory belongs: kind, tags, author and agent. And whether both are written in one language."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from consolidate.guards.verdict import Finding, Verdict
from consolidate.memo import Memo

_MARKERS = {
    "en": frozenset("the is are of to and in that for with on not you this have from".split()),
    "de": frozenset("der die das ist und nicht ein eine mit auf für den von zu im".split()),
    "fr": frozenset("le la les est et pas un une dans pour des du que avec sur".split()),
    "es": frozenset("el los las es y no un una en para del que con por".split()),
}


def scope(a: Memo, b: Memo) -> Finding | None:
    """Kind, author or agent differ, or the tags have nothing in common."""
    if a.kind != b.kind:
        return Finding("scope", Verdict.KEEP, f"kind {a.kind} against {b.kind}")
    if a.author and b.author and a.author.casefold() != b.author.casefold():
        return Finding("scope", Verdict.KEEP, f"said by {a.author} against {b.author}")
    if a.agent and b.agent and a.agent != b.agent:
        return Finding("scope", Verdict.PROPOSE, f"saved by {a.agent} against {b.agent}")
    if a.tags and b.tags and not set(a.tags) & set(b.tags):
        return Finding("scope", Verdict.PROPOSE, f"tagged {a.tags[0]} against {b.tags[0]}")
    return None


def language(a: Memo, b: Memo) -> Finding | None:
    """The texts are written in different scripts or languages."""
    left, right = _language(a.text), _language(b.text)
    if left and right and left != right:
        return Finding("language", Verdict.KEEP, f"{left} against {right}")
    return None


@lru_cache(maxsize=65_536)
def _language(text: str) -> str:
    scripts = {unicodedata.name(char, "?").split()[0] for char in text if char.isalpha()}
    if scripts - {"LATIN", "MASCULINE", "FEMININE"}:
        return "+".join(sorted(scripts))
    words = text.casefold().split()
    scores = {name: sum(word in markers for word in words) for name, markers in _MARKERS.items()}
    best = max(scores, key=lambda name: scores[name])
    others = max(score for name, score in scores.items() if name != best)
    return best if scores[best] >= others + 2 else ""
