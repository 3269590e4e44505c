"""Who, and who does what to whom."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from consolidate.canonical import canonical, content, singular
from consolidate.guards.verdict import Finding, Verdict
from consolidate.lexicon.filler import FILLER, INTERJECTIONS, OPENING_FILLER
from consolidate.lexicon.names import NAMES_THAT_ARE_WORDS
from consolidate.lexicon.plurals import GIVEN_NAMES
from consolidate.memo import Memo
from consolidate.words import CACHED_TEXTS, words

_NAME = re.compile(r"(?<![\w'’])[A-Z][\w-]*(?:['’]s)?|\b[A-Z]{2,}\b")
_SENTENCE_START = re.compile(
    r"(?:^|[.!?:]\s+|\b(?:note that|you know,|the way,|reminder,|fyi,?|remember that)\s+)[\"“'(]*$", re.IGNORECASE
)
_NO_NAMES = (
    FILLER
    | OPENING_FILLER
    | INTERJECTIONS
    | frozenset("i fyi note btw not never always must only all hi remember yes no ok it its just too that".split())
)
_LOOK_BACK = 16
_CASE_MATTERS = frozenset("us it may mark bill will who aids polish turkey china march august job".split())
_CASE_MAY_MATTER = _CASE_MATTERS | NAMES_THAT_ARE_WORDS
_CAPITALS_MATTER = frozenset({"us", "it", "aids"})
_PRONOUNS = {
    "i": "1", "me": "1", "my": "1", "mine": "1", "we": "1p", "us": "1p", "our": "1p", "you": "2", "your": "2",
    "he": "3m", "him": "3m", "his": "3m", "she": "3f", "her": "3f", "hers": "3f", "they": "3p", "them": "3p",
    "their": "3p", "user": "user",
}  # fmt: skip
_GENDERS = frozenset({"3m", "3f"})


def names(a: Memo, b: Memo) -> Finding | None:
    """Named people, places, products differ."""
    left, right = names_in(a.text), names_in(b.text)
    if left == right:
        return None
    only_left, only_right = _missing(left - right, b.text), _missing(right - left, a.text)
    if only_left and only_right:
        return Finding("names", Verdict.KEEP, f"{', '.join(only_left[:3])} against {', '.join(only_right[:3])}")
    if only_left or only_right:
        return Finding("names", Verdict.PROPOSE, f"only one names {', '.join((only_left or only_right)[:3])}")
    return _otherwise_written(left - right, b.text) or _otherwise_written(right - left, a.text)


def _missing(names: frozenset[str], text: str) -> list[str]:
    """The names whose canonical words the text does not have, however it writes them."""
    lacking = content(text)
    return sorted(name for name in names if not lacking.issuperset(canonical(name)))


def _otherwise_written(names: frozenset[str], text: str) -> Finding | None:
    """Williams is not William, though users are a user; Ms Grey is not Ms Gray, though grey is gray."""
    spoken = frozenset(words(text))
    for name in sorted(names):
        if not spoken.issuperset(words(name)):
            return Finding("names", Verdict.PROPOSE, f"only one names {name} in these letters")
    return None


def entities(a: Memo, b: Memo) -> Finding | None:
    """The memories are filed under entities that have nothing in common."""
    left, right = set(a.entities), set(b.entities)
    if left and right and not left & right:
        return Finding("entities", Verdict.KEEP, f"{sorted(left)[0]} against {sorted(right)[0]}")
    return None


def persons(a: Memo, b: Memo) -> Finding | None:
    """The pronouns point at other persons: I against you, he against she. Who "the user" is, people say."""
    left, right = persons_in(a.text), persons_in(b.text)
    if not left or not right or left == right:
        return None
    if left < right or right < left:
        return Finding("persons", Verdict.PROPOSE, "only one speaks of another person too")
    genders = (left & _GENDERS, right & _GENDERS)
    surely = "user" not in left ^ right or (all(genders) and genders[0] != genders[1])
    return Finding("persons", Verdict.KEEP if surely else Verdict.PROPOSE, "they speak of other persons")


def argument_order(a: Memo, b: Memo) -> Finding | None:
    """The same words in another order: who does what to whom may have changed.

    One phrase that moved ("on Fridays we deploy"), sides of an "and", and sides of an "is" may say the same.
    """
    left, right = canonical(a.text), canonical(b.text)
    if left == right or len(left) != len(right) or content(a.text) != content(b.text) or sorted(left) != sorted(right):
        return None
    moved = [word for word, other in zip(left, right, strict=True) if word != other]
    detail = f"the same words in another order: {' '.join(moved[:4])}"
    return Finding("argument_order", Verdict.PROPOSE if _may_say_the_same(left, right) else Verdict.KEEP, detail)


def letter_case(a: Memo, b: Memo) -> Finding | None:
    """A word that means something else in capitals: US and us, May and may."""
    left, right = cased_in(a.text), cased_in(b.text)
    if left == right:
        return None
    for word in sorted({found.casefold() for found in left} & {found.casefold() for found in right}):
        forms = [{found for found in side if found.casefold() == word} for side in (left, right)]
        if not forms[0] & forms[1]:
            return Finding("letter_case", Verdict.PROPOSE, f"{min(forms[0])} against {min(forms[1])}")
    return _code_and_prose(left, b.text) or _code_and_prose(right, a.text)


def _code_and_prose(cased: frozenset[str], text: str) -> Finding | None:
    """A name of code in one text that the other, which has capitals elsewhere, writes as a plain word."""
    code = [word for word in cased if word not in text and _CODE_NAME.fullmatch(word)]
    if not code or tells_nothing_by_case(text):
        return None
    written = set(_WORD.findall(text.lower()))
    for word in sorted(code):
        if word.lower() in written:
            return Finding("letter_case", Verdict.PROPOSE, f"only one writes {word} so")
    return None


_CODE_NAME: Final = re.compile(r"\b(?:[a-z]+[A-Z]\w*|[A-Za-z]\w*_\w+)\b")
_MAY_BE_CODE: Final = re.compile(r"[a-z][A-Z]|_")
_WORD: Final = re.compile(r"\w+")
_SYMMETRIC: Final = frozenset({("and",), ("or",)})
_COPULAS: Final = frozenset({("is",), ("was",)})


def _may_say_the_same(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """True when `right` is `left` with two blocks exchanged around nothing, an "and", or (as a whole) an "is"."""
    size = len(left)
    start = next(at for at in range(size) if left[at] != right[at])
    stop = size - next(at for at in range(size) if left[-1 - at] != right[-1 - at])
    inner, other = left[start:stop], right[start:stop]
    whole = len(inner) == size
    for at in range(1, len(inner)):
        if inner[at:] + inner[:at] == other:
            return True
        for link in _SYMMETRIC | _COPULAS if whole else _SYMMETRIC:
            if inner[at : at + 1] == link and inner[at + 1 :] + link + inner[:at] == other:
                return True
    return False


def _starts_sentence(text: str, at: int) -> bool:
    return _SENTENCE_START.search(text, max(0, at - _LOOK_BACK), at) is not None


@lru_cache(maxsize=CACHED_TEXTS)
def names_in(text: str) -> frozenset[str]:
    """Lower-cased capitalised words that no sentence begins with, and words in capitals."""
    if tells_nothing_by_case(text):
        return frozenset()
    found: set[str] = set()
    for match in _NAME.finditer(text):
        word = match.group().removesuffix("'s").removesuffix("’s")
        if word[1:].isupper() or not _starts_sentence(text, match.start()) or _is_surely_name(word, text, match.end()):
            found.add(word.casefold())
    return frozenset(found - _NO_NAMES)


def tells_nothing_by_case(text: str) -> bool:
    """Whether a text is all in capitals, or all without, or begins each word with one as titles do."""
    if text.islower() or text.isupper():
        return True
    return (spaces := text.count(" ")) >= _SHORTEST_TITLE and _TITLED * len(_NO_CAPITAL.findall(text)) <= spaces


def _is_surely_name(word: str, text: str, end: int) -> bool:
    """Whether a word that begins a sentence is a name: Andrews, or "Perkins leads", as no plural has such a verb."""
    lower = word.lower()
    if lower in GIVEN_NAMES or singular(lower) in GIVEN_NAMES:
        return True
    verb = _NEXT_WORD.match(text, end) if singular(lower) != lower else None
    return verb is not None and (verb[1] in _SINGULAR_VERBS or (verb[1].endswith("s") and singular(verb[1]) != verb[1]))


_NO_CAPITAL: Final = re.compile(r"(?<![\w'’])[a-z]")
_TITLED: Final = 4
"""One word in so many may begin small in a title."""
_SHORTEST_TITLE: Final = 3
"""Spaces in the shortest text that counts as a title."""
_NEXT_WORD: Final = re.compile(r" ([a-z]+)")
_SINGULAR_VERBS: Final = frozenset("is was has does".split())


@lru_cache(maxsize=CACHED_TEXTS)
def persons_in(text: str) -> frozenset[str]:
    """The persons that the pronouns of a text mean."""
    return frozenset([_PRONOUNS[word] for word in words(text) if word in _PRONOUNS and word != "us"])


@lru_cache(maxsize=CACHED_TEXTS)
def cased_in(text: str) -> frozenset[str]:
    """The words whose case tells what they mean, as they are written; those of code where a text uses both cases.

    A text in capitals tells nothing, and one without them only of words that everybody writes with them: US, Polish.
    """
    lower = text.lower()
    if text != lower and tells_nothing_by_case(text):
        return frozenset()
    counting = _CASE_MATTERS if text == lower else _CASE_MAY_MATTER
    found = set(_CODE_NAME.findall(text)) if text != lower and _MAY_BE_CODE.search(text) else set[str]()
    if counting.isdisjoint(words(text)) and counting.isdisjoint(lower.split()):
        return frozenset(found)
    for match in _ASCII_WORD.finditer(text):
        word = match.group()
        if word.lower() in counting:
            starts = word.istitle() and _starts_sentence(text, match.start())
            found.add(word.lower() if starts or (word.lower() in _CAPITALS_MATTER and not word.isupper()) else word)
    return frozenset(found)


_ASCII_WORD: Final = re.compile(r"[A-Za-z]+")
