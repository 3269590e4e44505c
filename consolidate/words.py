"""The words of a text: lower-cased, contractions spelled out, without what only announces a statement.

Everything here is a pure function of one text, kept for the last `CACHED_TEXTS` texts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from consolidate.lexicon.filler import CONTRACTIONS, OPENING_FILLER, WOULD_AFTER_D
from consolidate.lexicon.plurals import SAME_IN_THE_PAST

CACHED_TEXTS: Final = 131_072
"""Texts whose features are remembered: enough for the largest bank that is planned in one go."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0971-\u0df3\u0e31-\u0e4e\u0eb1-\u0ece\u0f18-\u0fbc\u102b-\u103e\u17b4-\u17d3\u1dc0-\u1dff\ua8e0-\ua8ff\uaa29-\uaa36"
)
r"""Vowel signs and accents: parts of words that `\w` does not know."""
_LETTER = rf"(?:[^\W_]|[{_MARKS}])"
_WORD = re.compile(rf"{_LETTER}+(?:'{_LETTER}+)*", re.UNICODE)
_LETTERS = re.compile(rf"{_LETTER}+", re.UNICODE)
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_OPENING = re.compile(
    r"^\W*(?:(?:please )?(?:note|remember|keep in mind|be aware)(?: that\b|\s*[:,])|(?:very )?important(?: note)?\s*:|"
    r"fyi\b|for your information\b|(?:just )?(?:as )?a reminder\b|reminder\s*:|just so you know\b|for the record\b|"
    r"by the way\b|btw\b|(?:please )?(?:don't|do not) forget(?: that\b|\s*[:,])|(?:just )?(?:an? )?heads[ -]up\s*[:,]|"
    r"(?:it should be noted|(?:it is|it's) worth noting) that\b|to be clear\s*[:,]|for what it's worth\s*[:,])"
    r"[\s:,;–—-]*(?=\w)"
)
_OPENER = re.compile(
    rf"^\W*(?:(?:{'|'.join(sorted(OPENING_FILLER))}|actually|basically|ok)(?:\s*[,:;!.…–—]+\s*|\s+-\s+))+(?=\w)"
)
"""Interjections, up to the mark that ends them."""
_CLOSING = re.compile(r"(?:[,;]|\s[-–—])\s*(?:by the way|btw|fyi|you know|for your information)\W*$")
_FILLER_PHRASES = re.compile(
    r"(?:(?<=[,;.!?—–])\s*|^\W*)(?:as )?(?:you know|i mean|of course|in fact),"
    r"|,\s*(?:as )?(?:you know|i mean|of course|in fact)(?=\s*[,;.!?])|\bin fact\b"
    r"|(\b(?:is|am|are|was|were|be|i|we|you|he|she|it|they|user|just|feels?)|'(?:s|m|re))\s+"
    r"(?:(?:kind|sort) of|of course)\b(?! (?:work|material|credit|load|fee))"
)
"""With the commas that set them apart, or after a subject or its verb: "a kind of tea" is a kind."""
_PHRASES = ("kind of", "sort of", "of course", "you know", "i mean", "in fact")
"""One of them is in every text that the pattern is looked for in."""
_SET_APART = frozenset(",;-–—")
_INTERJECTED = re.compile(r", like,")
_SLANG = re.compile(r"\b(?:(?:have |has )?gotta|(?:have|has) got to)\b|'ve (?:gotta|got to)\b")
_THEM = re.compile(r"(?<!\w)'em\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_GLUED_UNIT = re.compile(r"(\d)((?:am|pm|ms|kb|mb|gb|tb|km|kg|cm|mm|min|hrs?|usd|eur|gbp)\b|%)")
_HAS_AFTER_S = frozenset("been got had gone left become decided arrived happened".split())
_IS_AFTER_S = frozenset("not a an the being going always never very still now currently".split())
_STATES = frozenset("down up broken ready late ill sick here out off away done open closed slow".split())
_AFTER_PARTICIPLE = frozenset("to in on from into with a an the for at well".split())


@lru_cache(maxsize=CACHED_TEXTS)
def normal_text(text: str) -> str:
    """Lower-cased, everything but letters and digits to one space; empty when no letter or digit is left."""
    return " ".join(_LETTERS.findall(folded(text)))


@lru_cache(maxsize=CACHED_TEXTS)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in order, lower-cased, contractions spelled out, apostrophes of possessives kept as "'s"."""
    return tuple(words_of(unframed(folded(text))))


def folded(text: str) -> str:
    """Lower-cased, in one form of each character; not case-folded: Maßen are no Massen."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def unframed(folded: str) -> str:
    """Without what only announces a statement, before it or after it."""
    for announced in (_OPENING, _OPENER):
        if found := announced.match(folded):
            folded = folded[found.end() :]
    return _CLOSING.sub("", folded) if not _SET_APART.isdisjoint(folded) else folded


def words_of(folded: str) -> list[str]:
    """The words of a folded text."""
    if "got" in folded:
        folded = _SLANG.sub(" have to", folded)
    if "'em" in folded or ", like," in folded:
        folded = _INTERJECTED.sub(" ", _THEM.sub("them", folded))
    if any(phrase in folded for phrase in _PHRASES):
        folded = _FILLER_PHRASES.sub(lambda found: f"{found[1] or ''} ", folded)
    if not folded.isalpha():
        folded = _GLUED_UNIT.sub(r"\1 \2", _THOUSANDS.sub("", folded))
    found = (_ASCII_WORD if folded.isascii() else _WORD).findall(folded)
    if found and found[0] == "lets":
        found[0] = "let's"
    if "'" not in folded and not CONTRACTIONS.keys() & set(found):
        return found
    out: list[str] = []
    for word, after, later in zip(found, [*found[1:], ""], [*found[2:], "", ""], strict=False):
        out.extend(_expanded(word, after, later))
    return out


def _expanded(word: str, after: str, later: str) -> tuple[str, ...]:
    if word.endswith("'s") and after in _HAS_AFTER_S:
        return (word[:-2], "has")
    if word in CONTRACTIONS:
        return CONTRACTIONS[word]
    return _taken_apart(word, after, later) if "'" in word else (word,)


def _taken_apart(word: str, after: str, later: str) -> tuple[str, ...]:
    for ending, meaning in (("n't", "not"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'m", "am")):
        if word.endswith(ending):
            return (word[: -len(ending)], meaning)
    if word.endswith("'d"):
        return (word[:-2], _meaning_of_d(after))
    if word.endswith("'s"):
        return (word[:-2], "is" if _is_verb(after, later) else "'s")
    return (word.replace("'", ""),)


def _meaning_of_d(after: str) -> str:
    if after in SAME_IN_THE_PAST:
        return "'d"  # he'd cut it: he had, or he would
    had = after in {"been", "better"} or (after.endswith("ed") and after not in WOULD_AFTER_D)
    return "had" if had else "would"


def _is_verb(after: str, later: str) -> bool:
    """Whether the 's before these two words stands for "is"."""
    if not later and (after in _STATES or after.endswith("ing")):
        return True
    return after in _IS_AFTER_S or (after.endswith("ing") and later in _AFTER_PARTICIPLE)
