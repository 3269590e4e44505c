"""Words of one closed class: two colours, two environments, two languages are two values of one thing."""

from __future__ import annotations

from functools import lru_cache

from consolidate.canonical import content, same_wording, singular
from consolidate.guards.verdict import Finding, Verdict
from consolidate.lexicon.opposites import VALUE_CLASSES
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_OWNING = frozenset("has have had own owns keeps bought adopted".split())
_ARTICLES = frozenset({"a", "an", "the", "one", "another"})
_CLASS = {word: name for name, members in VALUE_CLASSES.items() for word in members}


def classes(a: Memo, b: Memo) -> Finding | None:
    """One text names one value of a class where the other names another: purple against cyan."""
    left, right = _valued(a.text), _valued(b.text)
    if left == right:
        return None
    only_left, only_right = {_CLASS[word]: word for word in left - right}, {_CLASS[word]: word for word in right - left}
    for name in sorted(only_left.keys() & only_right.keys()):
        return Finding("classes", Verdict.KEEP, f"{name} {only_left[name]} against {only_right[name]}")
    return None


@lru_cache(maxsize=CACHED_TEXTS)
def _valued(text: str) -> frozenset[str]:
    return content(text) & _CLASS.keys()


def counts(a: Memo, b: Memo) -> Finding | None:
    """Who has a daughter has one, who has daughters has more; elsewhere a plural says the same."""
    left, right = _owned(a.text), _owned(b.text)
    if left == right or not same_wording(a.text, b.text):
        return None
    for single, several in ((a, b), (b, a)):
        plural = [word for word in words(several.text) if word != singular(word)]
        one = set(words(single.text))
        if _owned(single.text) and any(singular(word) in one and word not in one for word in plural):
            return Finding("counts", Verdict.PROPOSE, "one against several")
    return None


@lru_cache(maxsize=CACHED_TEXTS)
def _owned(text: str) -> bool:
    """Whether somebody has a thing, one of it."""
    spoken = words(text)
    return any(spoken[at] in _OWNING and spoken[at + 1] in _ARTICLES for at in range(len(spoken) - 1))
