"""Who, and who does what to whom."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from consolidate.guards.verdict import Finding, Verdict
from consolidate.memo import Memo
from consolidate.words import canonical

_NAME = re.compile(r"(?<![\w'’])[A-Z][\w-]*(?:['’]s)?|\b[A-Z]{2,}\b")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+)[\"“'(]*$")
_CASE_MATTERS = frozenset("us it may mark bill will who aids polish turkey china march august job".split())
_PRONOUNS = {
    "i": "1", "me": "1", "my": "1", "mine": "1", "we": "1p", "us": "1p", "our": "1p", "you": "2", "your": "2",
    "he": "3m", "him": "3m", "his": "3m", "she": "3f", "her": "3f", "hers": "3f", "they": "3p", "them": "3p",
    "their": "3p", "user": "user",
}  # fmt: skip


def names(a: Memo, b: Memo) -> Finding | None:
    """Named people, places, products differ."""
    left, right = _names(a.text), _names(b.text)
    lower_left, lower_right = set(canonical(a.text)), set(canonical(b.text))
    only_left = sorted(name for name in left - right if name not in lower_right)
    only_right = sorted(name for name in right - left if name not in lower_left)
    if only_left and only_right:
        return Finding("names", Verdict.KEEP, f"{', '.join(only_left[:3])} against {', '.join(only_right[:3])}")
    if only_left or only_right:
        return Finding("names", Verdict.PROPOSE, f"only one names {', '.join((only_left or only_right)[:3])}")
    return None


def entities(a: Memo, b: Memo) -> Finding | None:
    """The memories are filed under entities that have nothing in common."""
    left, right = set(a.entities), set(b.entities)
    if left and right and not left & right:
        return Finding("entities", Verdict.KEEP, f"{sorted(left)[0]} against {sorted(right)[0]}")
    return None


def persons(a: Memo, b: Memo) -> Finding | None:
    """The pronouns point at other persons: I against you, he against she."""
    left, right = _persons(a.text), _persons(b.text)
    if left and right and left != right:
        return Finding("persons", Verdict.KEEP, "they speak of other persons")
    return None


def argument_order(a: Memo, b: Memo) -> Finding | None:
    """The same words in another order: who does what to whom may have changed."""
    left, right = canonical(a.text), canonical(b.text)
    if left == right or Counter(left) != Counter(right):
        return None
    moved = [word for word, other in zip(left, right, strict=True) if word != other]
    detail = f"the same words in another order: {' '.join(moved[:4])}"
    return Finding("argument_order", Verdict.PROPOSE if _only_rotated(left, right) else Verdict.KEEP, detail)


def letter_case(a: Memo, b: Memo) -> Finding | None:
    """A word that means something else in capitals: US and us, May and may."""
    left, right = _cased(a.text), _cased(b.text)
    if left != right and {w.casefold() for w in left} & {w.casefold() for w in right}:
        return Finding("letter_case", Verdict.PROPOSE, f"{sorted(left)} against {sorted(right)}")
    return None


def _only_rotated(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """True when one is the other with its first words moved to the end ("on Fridays we deploy")."""
    doubled = left + left
    size = len(left)
    links = {"and", "or", ","}
    return not links & set(left) and any(doubled[at : at + size] == right for at in range(size))


@lru_cache(maxsize=65_536)
def _names(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _NAME.finditer(text):
        word = re.sub(r"['’]s$", "", match.group()).casefold()
        if not _SENTENCE_START.search(text[: match.start()]) or match.group()[1:].isupper():
            found.update(canonical(word))
    return frozenset(found - {"i"})


@lru_cache(maxsize=65_536)
def _persons(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z]+", text.casefold())
    return frozenset(_PRONOUNS[word] for word in words if word in _PRONOUNS and word != "us")


@lru_cache(maxsize=65_536)
def _cased(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in re.finditer(r"[A-Za-z]+", text):
        word = match.group()
        if word.casefold() in _CASE_MATTERS and not (word.istitle() and _SENTENCE_START.search(text[: match.start()])):
            found.add(word)
        elif word.casefold() in _CASE_MATTERS:
            found.add(word.casefold())
    return frozenset(found)
