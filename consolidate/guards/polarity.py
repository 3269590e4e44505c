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

_OPPOSITE: dict[str, frozenset[str]] = {
    word: frozenset({b for a, b in OPPOSITES if a == word} | {a for a, b in OPPOSITES if b == word})
    for word in {word for pair in OPPOSITES for word in pair}
}


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
    left, right = _word_set(a.text), _word_set(b.text)
    only_left, only_right = left - right, right - left
    for word in only_left & _OPPOSITE.keys():
        for other in _OPPOSITE[word] & only_right:
            return Finding("opposites", Verdict.KEEP, f"{word} against {other}")
    for word in (only_left & _bases(b.text)) | (only_right & _bases(a.text)):
        return Finding("opposites", Verdict.KEEP, f"{word} against its negation by a prefix")
    return None


@lru_cache(maxsize=262_144)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(_words(text))


@lru_cache(maxsize=262_144)
def _bases(text: str) -> frozenset[str]:
    """What is left of the words of a text without a negating prefix."""
    found = (word.removeprefix(prefix) for word in _words(text) for prefix in _PREFIXES if word.startswith(prefix))
    return frozenset(base for base in found if len(base) > 3)
