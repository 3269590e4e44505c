"""Where a memory belongs: kind, tags, author and agent. And whether both are written in one language."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from consolidate.guards.verdict import Finding, Verdict
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS

_MARKERS = {
    "en": frozenset("the is are of to and in that for with on not you this have from".split()),
    "de": frozenset("der die das ist und nicht ein eine mit auf für den von zu im".split()),
    "fr": frozenset("le la les est et pas un une dans pour des du que avec sur".split()),
    "es": frozenset("el los las es y no un una en para del que con por".split()),
}
_ANY_MARKER = frozenset[str]().union(*_MARKERS.values())
_LATIN = frozenset({"LATIN", "MASCULINE", "FEMININE", "MODIFIER", "FULLWIDTH", "DOUBLE-STRUCK", "MATHEMATICAL"})


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
    left, right = language_of(a.text), language_of(b.text)
    if left != right and ((left and right) or left.isupper() or right.isupper()):
        return Finding("language", Verdict.KEEP, f"{left or 'latin'} against {right or 'latin'}")
    return None


@lru_cache(maxsize=CACHED_TEXTS)
def language_of(text: str) -> str:
    """The script when it is not Latin, the language when its small words tell, else empty."""
    if not text.isascii():
        scripts = {_script(char) for char in set(text) if char.isalpha()}
        if scripts - _LATIN:
            return "+".join(sorted(scripts - _LATIN))
    spoken = [word for word in text.lower().split() if word in _ANY_MARKER]
    scores = sorted([(sum([word in markers for word in spoken]), name) for name, markers in _MARKERS.items()])
    (second, _), (best, name) = scores[-2:]
    return name if best >= second + 2 else ""


@lru_cache(maxsize=4_096)
def _script(char: str) -> str:
    return unicodedata.name(char, "?").split()[0]
