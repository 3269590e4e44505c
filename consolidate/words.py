"""The words of a text, and its canonical form: what is left when only the wording differs.

Two texts with one canonical form differ at most in case, punctuation, contractions, spelling variants, articles,
filler, plural or a spelled-out small number. Nothing else is folded: every other difference must reach a guard.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from consolidate.lexicon import CONTRACTIONS, FILLER, NUMBER_WORDS, SPELLINGS, SYNONYMS, UNCOUNTABLE

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_FILLER_PHRASES = re.compile(r"\b(?:kind of|sort of|of course|you know|i mean|as you know|in fact)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_GLUED_UNIT = re.compile(r"(\d)((?:am|pm|ms|kb|mb|gb|tb|km|kg|cm|mm|min|hrs?|usd|eur|gbp)\b|%)")
_RE_PREFIX = re.compile(r"\bre-")


@lru_cache(maxsize=65_536)
def normal_text(text: str) -> str:
    """Lower-cased, everything but letters and digits to one space; empty when no letter or digit is left."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", folded))


def words(text: str) -> list[str]:
    """The words of a text in order, lower-cased, contractions spelled out, apostrophes of possessives kept as "'s"."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    folded = _FILLER_PHRASES.sub(" ", _THOUSANDS.sub("", folded))
    folded = _GLUED_UNIT.sub(r"\1 \2", folded)
    out: list[str] = []
    for word in _WORD.findall(folded):
        out.extend(_expand(word))
    return out


def _expand(word: str) -> tuple[str, ...]:
    if word in CONTRACTIONS:
        return CONTRACTIONS[word]
    if word.endswith("n't"):
        return (word[:-3], "not")
    if word.endswith("'s"):
        return (word[:-2], "'s")
    return (word.replace("'", ""),)


@lru_cache(maxsize=65_536)
def canonical(text: str) -> tuple[str, ...]:
    """The canonical words of a text, in order."""
    dehyphenated = _HYPHEN.sub("", _RE_PREFIX.sub("re\u2010", text.casefold()))
    return tuple(_fold(word) for word in words(dehyphenated) if word not in FILLER)


@lru_cache(maxsize=65_536)
def spaced_canonical(text: str) -> tuple[str, ...]:
    """As `canonical`, with hyphens read as spaces."""
    return tuple(_fold(word) for word in words(_HYPHEN.sub(" ", text)) if word not in FILLER)


def same_wording(a: str, b: str) -> bool:
    """True when two texts differ at most in what the canonical form folds (see the module)."""
    forms_a, forms_b = _forms(a), _forms(b)
    return bool(forms_a & forms_b - {()})


def same_but_synonyms(a: str, b: str) -> bool:
    """True when two texts also differ at most in words that the lexicon holds for synonyms."""
    return synonymous(canonical(a)) == synonymous(canonical(b)) != ()


def content(text: str) -> frozenset[str]:
    """The canonical words of a text as a set."""
    return frozenset(canonical(text))


def _forms(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset((canonical(text), spaced_canonical(text)))


def synonymous(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The canonical words with each listed synonym replaced by its class."""
    return tuple(SYNONYMS.get(token, token) for token in tokens)


@lru_cache(maxsize=65_536)
def _fold(word: str) -> str:
    word = NUMBER_WORDS.get(word, word)
    word = SPELLINGS.get(word, word)
    return _variant(singular(word))


def _variant(word: str) -> str:
    """British to American endings: organise to organize, colour to color, travelled to traveled."""
    if len(word) > 5:
        word = re.sub(r"(?<=[^aeiouw])is(e|ed|er|ing|ation|ations)$", r"iz\1", word)
        word = re.sub(r"ys(e|ed|ing)$", r"yz\1", word)
        word = re.sub(r"(?<=[a-z]{2})ll(ed|ing|er)$", r"l\1", word)
    return SPELLINGS.get(word, word)


def singular(word: str) -> str:
    """The singular of a regular English plural; other words as they are."""
    if len(word) < 4 or word in UNCOUNTABLE or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "zzes", "sses")):
        return word[:-2]
    return word[:-1]
