"""How much, how surely, and whether at all: quantifiers, modality, question against statement."""

from __future__ import annotations

import re
from functools import lru_cache

from consolidate.guards.verdict import Finding, Verdict
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_QUANTIFIERS = {
    "all": "all", "every": "all", "each": "all", "everyone": "all", "everybody": "all", "everything": "all",
    "some": "some", "several": "some", "any": "any", "few": "few", "many": "many", "most": "most", "half": "half",
    "none": "none", "only": "only", "both": "both", "either": "either", "neither": "neither", "almost": "almost",
    "nearly": "almost", "always": "always", "usually": "usually", "often": "often", "sometimes": "sometimes",
    "rarely": "rarely", "never": "never", "once": "once", "twice": "twice", "least": "least", "except": "except",
    "exactly": "exactly", "about": "about", "approximately": "about", "roughly": "about", "another": "another",
}  # fmt: skip
_MODALS = {
    "must": "must", "shall": "must", "should": "should", "may": "may", "might": "might", "can": "can",
    "could": "could", "will": "will", "would": "would", "want": "want", "plan": "plan", "plans": "plan",
    "maybe": "maybe", "perhaps": "maybe", "probably": "probably", "possibly": "maybe", "likely": "probably",
    "try": "try", "tries": "try", "tried": "try", "consider": "consider", "considering": "consider",
    "considers": "consider", "hope": "hope", "hopes": "hope", "used": "used", "was": "past", "were": "past",
    "had": "past", "did": "past", "former": "past", "formerly": "past", "previously": "past", "ex": "past",
    "if": "if", "unless": "unless", "supposedly": "maybe", "seems": "seems", "might've": "might",
}  # fmt: skip
_HARD_QUANTIFIERS = frozenset(
    "all some any few many most half none only both either neither always usually often sometimes rarely never".split()
)
_HARD_MODALS = frozenset("must should may might can could will would".split())
_AUXILIARIES = frozenset("do does did is are was were can could should would will has have had may must am".split())
_TAIL = re.compile(r"\W+$")
_QUESTION_MARKS = frozenset("?？؟⁇")
_TAIL_LENGTH = 16
_ASKING = frozenset("who what when where why how which whose whom".split())
_SUBJECTS = frozenset("i you he she it we they the a an user there this that these those my your his her our".split())


def quantifiers(a: Memo, b: Memo) -> Finding | None:
    """All against some, always against usually."""
    return _differ("quantifiers", quantifiers_in(a.text), quantifiers_in(b.text), _HARD_QUANTIFIERS)


def modality(a: Memo, b: Memo) -> Finding | None:
    """Must against may, will against might, is against was."""
    return _differ("modality", modals_in(a.text), modals_in(b.text), _HARD_MODALS)


def question(a: Memo, b: Memo) -> Finding | None:
    """One asks, the other states."""
    left, right = asks(a.text), asks(b.text)
    return None if left == right else Finding("question", Verdict.KEEP, "a question against a statement")


def _differ(guard: str, left: frozenset[str], right: frozenset[str], hard: frozenset[str]) -> Finding | None:
    """KEEP when both sides say how much or how surely, and differ in that; PROPOSE when only one of them does."""
    if left == right:
        return None
    only_left, only_right = left - right, right - left
    verdict = Verdict.KEEP if only_left & hard and only_right & hard else Verdict.PROPOSE
    detail = f"{' '.join(sorted(only_left)) or 'nothing'} against {' '.join(sorted(only_right)) or 'nothing'}"
    return Finding(guard, verdict, detail)


@lru_cache(maxsize=CACHED_TEXTS)
def quantifiers_in(text: str) -> frozenset[str]:
    """The classes of the quantifiers of a text."""
    return frozenset([_QUANTIFIERS[word] for word in words(text) if word in _QUANTIFIERS])


@lru_cache(maxsize=CACHED_TEXTS)
def modals_in(text: str) -> frozenset[str]:
    """The classes of the modal words of a text."""
    return frozenset([_MODALS[word] for word in words(text) if word in _MODALS])


@lru_cache(maxsize=CACHED_TEXTS)
def asks(text: str) -> bool:
    """Whether a text asks."""
    tail = _TAIL.search(text, max(0, len(text) - _TAIL_LENGTH))
    if tail and not _QUESTION_MARKS.isdisjoint(tail.group()):
        return True
    if tail and "!" in tail.group():
        return False
    first, second = (*words(text)[:2], "", "")[:2]
    if first in _AUXILIARIES:
        return second in _SUBJECTS
    return first in _ASKING and second in _AUXILIARIES
