"""Yes against no: negation, and words that are opposites."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from consolidate.canonical import content
from consolidate.guards.verdict import Finding, Verdict
from consolidate.lexicon.opposites import OPPOSITES
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_HARD: Final = frozenset("not no never neither nor none nobody nothing nowhere without cannot unable".split())
_SOFT: Final = frozenset(
    "hardly barely rarely seldom refuse refuses refused stop stops stopped quit avoid avoids lack lacks fail fails "
    "failed dislike dislikes hate hates disable disables disabled deny denies denied forbid forbids forbidden except "
    "unless".split()
)
_AUXILIARY = frozenset("do is has have can will would should must may had did be been it".split())
_SHORTEST_BASE = dict.fromkeys("un in im ir il dis non mis de anti over under".split(), 4) | {"a": 6}
"""Letters of the shortest word that each prefix negates: atypical is the opposite of typical, asleep none of sleep."""
_PREFIXES = tuple(_SHORTEST_BASE)
_SHORTEST_NEGATED = 6

_OPPOSITE: dict[str, frozenset[str]] = {
    word: frozenset({b for a, b in OPPOSITES if a == word} | {a for a, b in OPPOSITES if b == word})
    for word in {word for pair in OPPOSITES for word in pair}
}


def negation(a: Memo, b: Memo) -> Finding | None:
    """One text negates and the other does not, or not as often.

    Words that negate softly ("avoid") count as much as a "not"; where only they differ, people decide. So they do
    where both texts have words of their own beside it: "is down" may be what "does not respond" says.
    """
    left, right = negations_in(a.text), negations_in(b.text)
    if left == right or len(left) == len(right):
        return None
    hard_left, hard_right = (sum(word in _HARD for word in side) for side in (left, right))
    verdict = Verdict.PROPOSE if hard_left == hard_right or _reworded(a.text, b.text) else Verdict.KEEP
    return Finding("negation", verdict, f"{' '.join(left) or 'no negation'} against {' '.join(right) or 'none'}")


def _reworded(a: str, b: str) -> bool:
    """Whether each text has at least one content word of its own, negations and auxiliaries left out."""
    left, right = (content(text) - _HARD - _SOFT - _AUXILIARY for text in (a, b))
    return bool(left - right) and bool(right - left)


@lru_cache(maxsize=CACHED_TEXTS)
def negations_in(text: str) -> tuple[str, ...]:
    """The words that negate."""
    found = words(text)
    return tuple(
        sorted(
            word for at, word in enumerate(found) if word in _HARD or (word in _SOFT and found[at - 1 : at] != ("not",))
        )
    )


def opposites(a: Memo, b: Memo) -> Finding | None:
    """One text has a word where the other has its opposite (from the lexicon, or by a prefix like un-)."""
    polar_left, polar_right = _polar(a.text), _polar(b.text)
    bases_left, bases_right = _bases(a.text), _bases(b.text)
    if polar_left == polar_right and bases_left == bases_right:
        return None
    left, right = _word_set(a.text), _word_set(b.text)
    for word in sorted(polar_left - polar_right):
        for other in sorted(_OPPOSITE[word] & polar_right - polar_left):
            if not _is_negated(word, other, left, right):
                return Finding("opposites", Verdict.KEEP, f"{word} against {other}")
    prefixed = ((bases_right & left) - right) | ((bases_left & right) - left)
    if prefixed:
        return Finding("opposites", Verdict.KEEP, f"{min(prefixed)} against its negation by a prefix")
    return None


@lru_cache(maxsize=CACHED_TEXTS)
def _polar(text: str) -> frozenset[str]:
    """The words of a text that have an opposite."""
    return frozenset([word for word in words(text) if word in _OPPOSITE])


def _is_negated(word: str, other: str, left: frozenset[str], right: frozenset[str]) -> bool:
    """Exactly one side also says not: "not allowed" beside "forbidden", "with no" beside "without"."""
    mild_left, mild_right = ({"not", "no", "never"} & side for side in (left, right))
    return word != "always" and other != "always" and bool(mild_left) != bool(mild_right)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(words(text))


@lru_cache(maxsize=CACHED_TEXTS)
def _bases(text: str) -> frozenset[str]:
    """What is left of the words of a text without a negating prefix."""
    found = [word for word in words(text) if len(word) >= _SHORTEST_NEGATED and word.startswith(_PREFIXES)]
    return frozenset(
        [
            word[len(prefix) :]
            for word in found
            for prefix, least in _SHORTEST_BASE.items()
            if word.startswith(prefix) and len(word) - len(prefix) >= least
        ]
    )
