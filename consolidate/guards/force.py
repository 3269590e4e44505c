"""How much, how surely, and whether at all: quantifiers, modality, question against statement."""

from __future__ import annotations

from functools import lru_cache

from consolidate.guards.verdict import Finding, Verdict
from consolidate.memo import Memo
from consolidate.words import words

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
_ASKING = frozenset("who what when where why how which whose whom do does did is are can could should would".split())


@lru_cache(maxsize=262_144)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def quantifiers(a: Memo, b: Memo) -> Finding | None:
    """All against some, always against usually."""
    return _differ("quantifiers", _marks(a.text, "quantifier"), _marks(b.text, "quantifier"))


def modality(a: Memo, b: Memo) -> Finding | None:
    """Must against may, will against might, is against was."""
    return _differ("modality", _marks(a.text, "modal"), _marks(b.text, "modal"))


def question(a: Memo, b: Memo) -> Finding | None:
    """One asks, the other states."""
    left, right = _asks(a.text), _asks(b.text)
    return None if left == right else Finding("question", Verdict.KEEP, "a question against a statement")


def _differ(guard: str, left: frozenset[str], right: frozenset[str]) -> Finding | None:
    if left == right:
        return None
    hard = bool(left and right)
    detail = f"{' '.join(sorted(left - right)) or 'nothing'} against {' '.join(sorted(right - left)) or 'nothing'}"
    return Finding(guard, Verdict.KEEP if hard else Verdict.PROPOSE, detail)


@lru_cache(maxsize=65_536)
def _marks(text: str, which: str) -> frozenset[str]:
    table = _QUANTIFIERS if which == "quantifier" else _MODALS
    return frozenset(table[word] for word in _words(text) if word in table)


@lru_cache(maxsize=65_536)
def _asks(text: str) -> bool:
    stripped = text.rstrip()
    if stripped.endswith(("?", "？")):
        return True
    tokens = _words(stripped)
    return bool(tokens) and tokens[0] in _ASKING and not stripped.endswith(".") and len(tokens) > 2
