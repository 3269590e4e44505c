"""Negation and opposites: two texts that share nearly every word and say the contrary."""

from __future__ import annotations

from functools import lru_cache

from consolidate.guards.verdict import Finding, Verdict
from consolidate.lexicon import OPPOSITES
from consolidate.memo import Memo
from consolidate.words import words

_NEGATIONS = frozenset(
    "not no never neither nor none nobody nothing nowhere without hardly barely rarely seldom refuse refuses refused "
    "stop stops stopped quit avoid avoids lack lacks fail fails failed unable cannot dislike dislikes hate hates "
    "disable disables disabled deny denies denied forbid forbids forbidden except unless".split()
)
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de", "anti", "a", "over", "under")


@lru_cache(maxsize=262_144)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def negation(a: Memo, b: Memo) -> Finding | None:
    """One text negates and the other does not, or they negate another number of times."""
    left = sorted(word for word in _words(a.text) if word in _NEGATIONS)
    right = sorted(word for word in _words(b.text) if word in _NEGATIONS)
    if left == right or (len(left) == len(right) and _same_force(left, right)):
        return None
    return Finding("negation", Verdict.KEEP, f"{' '.join(left) or 'no negation'} against {' '.join(right) or 'none'}")


def _same_force(left: list[str], right: list[str]) -> bool:
    never = {"never", "rarely", "seldom", "hardly", "barely"}
    return not ((set(left) ^ set(right)) & never)


def opposites(a: Memo, b: Memo) -> Finding | None:
    """One text has a word where the other has its opposite (from the lexicon, or by a prefix like un-)."""
    left, right = set(_words(a.text)), set(_words(b.text))
    only_left, only_right = left - right, right - left
    for one, other in OPPOSITES:
        if (one in only_left and other in only_right) or (other in only_left and one in only_right):
            return Finding("opposites", Verdict.KEEP, f"{one} against {other}")
    for word in only_left:
        for other in only_right:
            if _prefixed(word, other):
                return Finding("opposites", Verdict.KEEP, f"{word} against {other}")
    return None


def _prefixed(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)
