"""The words of a text, and its canonical form: what is left when only the wording differs.

Two texts with one canonical form differ at most in case, punctuation, contractions, spelling variants, articles,
filler, plural or a spelled-out small number. Nothing else is folded: every other difference must reach a guard.
Where a folded word carries meaning ("a few", "not really", "sleeps well", "vitamin A") it stays.

Everything here is a pure function of one text, kept for the last `CACHED_TEXTS` texts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from consolidate.lexicon import (
    ARTICLE_MATTERS_BEFORE,
    COMPOUNDS,
    CONTRACTIONS,
    FILLER,
    NUMBER_WORDS,
    OPENING_FILLER,
    RESTRICTING_AFTER_JUST,
    SPELLINGS,
    SYNONYMS,
    THAT_CLAUSE_VERBS,
    UNCOUNTABLE,
    WOULD_AFTER_D,
)

CACHED_TEXTS: Final = 131_072
"""Texts whose features are remembered: enough for the largest bank that is planned in one go."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*", re.UNICODE)
_LETTERS = re.compile(r"[^\W_]+", re.UNICODE)
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_OPENING = re.compile(
    r"^\W*(?:(?:please )?(?:note|remember|keep in mind|be aware)(?: that\b|\s*[:,])|(?:very )?important(?: note)?\s*:|"
    r"fyi\b|for your information\b|(?:just )?(?:as )?a reminder\b|reminder\s*:|just so you know\b|for the record\b|"
    r"by the way\b|btw\b|(?:please )?(?:don't|do not) forget(?: that\b|\s*[:,])|(?:just )?(?:an? )?heads[ -]up\s*[:,]|"
    r"(?:it should be noted|(?:it is|it's) worth noting) that\b|to be clear\s*[:,]|for what it's worth\s*[:,])"
    r"[\s:,;–—-]*(?=\w)"
)
_CLOSING = re.compile(r",\s*(?:by the way|btw|fyi|you know|for your information)\W*$")
_FILLER_PHRASES = re.compile(r"\b(?:kind of|sort of|of course|you know|i mean|as you know|in fact)\b")
_INTERJECTED = re.compile(r", like,")
_SLANG = re.compile(r"\b(?:(?:have |has )?gotta|(?:have|has) got to)\b|'ve (?:gotta|got to)\b")
_THEM = re.compile(r"(?<!\w)'em\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_GLUED_UNIT = re.compile(r"(\d)((?:am|pm|ms|kb|mb|gb|tb|km|kg|cm|mm|min|hrs?|usd|eur|gbp)\b|%)")
_RE_PREFIX = re.compile(
    r"\bre-(?=sign|cover|creat|form|leas|present|sent|serv|sort|count|mark|strain|act|ply|press|dress|collect|lay|treat|"
    r"fus|sound|plac|claim|prov|sol|tire|view|fine|new)|\bco-(?=op\b)"
)
_LETTER_A = re.compile(r"(?<=\w )A(?=\s*$|[.,;:!?)]|\s+[a-z0-9(])")
_ISE = re.compile(r"(?<=[^aeiouw])is(e|ed|er|ing|ation|ations)$")
_YSE = re.compile(r"ys(e|ed|ing)$")
_DOUBLED_L = re.compile(r"ll(ed|ing|er)$")
_TWO_SYLLABLES = re.compile(r"[aeiou]+[^aeiou]+[aeiou]$")
_OUR = re.compile(r"(?<=\w{3})our(?=(?:ed|ing|able|ably|ful|fully|less|ite|hood|ly|er|ous|ation)?$)")
_LOOK_BACK = 8
"""Letters before a doubled l that tell filled from travelled."""
_HAS_AFTER_S = frozenset("been got had gone".split())
_IS_AFTER_S = frozenset("not a an the being going always never very still now currently".split())
_STATES = frozenset("down up broken ready late ill sick here out off away done open closed slow".split())
_AFTER_PARTICIPLE = frozenset("to in on from into with a an the for at well".split())
_COMPOUND_ENDS = frozenset(end for _, end in COMPOUNDS)
_NEGATIONS = frozenset("not never no".split())


@lru_cache(maxsize=CACHED_TEXTS)
def normal_text(text: str) -> str:
    """Lower-cased, everything but letters and digits to one space; empty when no letter or digit is left."""
    return " ".join(_LETTERS.findall(_folded(text)))


@lru_cache(maxsize=CACHED_TEXTS)
def words(text: str) -> tuple[str, ...]:
    """The words of a text in order, lower-cased, contractions spelled out, apostrophes of possessives kept as "'s"."""
    return tuple(_words(_unframed(_folded(text))))


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _unframed(folded: str) -> str:
    """Without what only announces a statement, before it or after it."""
    folded = _OPENING.sub("", folded)
    return _CLOSING.sub("", folded) if "," in folded else folded


def _words(folded: str) -> list[str]:
    if "got" in folded:
        folded = _SLANG.sub(" have to", folded)
    if "'em" in folded or ", like," in folded:
        folded = _INTERJECTED.sub(" ", _THEM.sub("them", folded))
    if any(phrase in folded for phrase in ("of", "you know", "i mean", "in fact")):
        folded = _FILLER_PHRASES.sub(" ", folded)
    if not folded.isalpha():
        folded = _GLUED_UNIT.sub(r"\1 \2", _THOUSANDS.sub("", folded))
    found = _WORD.findall(folded)
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
    had = after in {"been", "better"} or (after.endswith("ed") and after not in WOULD_AFTER_D)
    return "had" if had else "would"


def _is_verb(after: str, later: str) -> bool:
    """Whether the 's before these two words stands for "is"."""
    if not later and (after in _STATES or after.endswith("ing")):
        return True
    return after in _IS_AFTER_S or (after.endswith("ing") and later in _AFTER_PARTICIPLE)


@lru_cache(maxsize=CACHED_TEXTS)
def canonical(text: str) -> tuple[str, ...]:
    """The canonical words of a text, in order; hyphens between letters join."""
    return _canonical(text, "")


@lru_cache(maxsize=CACHED_TEXTS)
def forms(text: str) -> frozenset[tuple[str, ...]]:
    """The canonical words, once with hyphens joining and once with hyphens as spaces; empty without words."""
    joined = canonical(text)
    return frozenset({joined, _canonical(text, " ")} if "-" in text else {joined}) - {()}


def _canonical(text: str, hyphen: str) -> tuple[str, ...]:
    if "A" in text:
        text = _LETTER_A.sub("lettera", text)
    folded = _folded(text)
    if "-" in folded:
        marked = folded if hyphen else _RE_PREFIX.sub(lambda found: f"{found[0][:-1]}\u2010", folded)
        folded = _HYPHEN.sub(hyphen, marked)
    spoken = _words(_unframed(folded))
    while spoken and spoken[0] in OPENING_FILLER and _says_nothing_first(spoken):
        spoken = spoken[1:]
    kept = [_fold(word) for at, word in enumerate(spoken) if not _says_nothing(word, at, spoken)]
    return tuple(_compounded(kept))


def _says_nothing_first(spoken: list[str]) -> bool:
    if spoken[0] != "just" or len(spoken) < 2:
        return len(spoken) > 1
    return not (_just_restricts(spoken[1]) or (spoken[1].endswith("s") and spoken[1] != "always"))


def _says_nothing(word: str, at: int, spoken: list[str]) -> bool:
    if word in FILLER:
        after = spoken[at + 1] if at + 1 < len(spoken) else ""
        negated = at > 0 and spoken[at - 1] in _NEGATIONS and word not in {"a", "an", "the"}
        return after not in ARTICLE_MATTERS_BEFORE and not negated
    if word == "just":
        negated = at > 0 and spoken[at - 1] in _NEGATIONS
        return at > 0 and not negated and at + 1 < len(spoken) and not _just_restricts(spoken[at + 1])
    if word == "too":
        return at == len(spoken) - 1 and at > 0
    return word == "that" and at > 0 and spoken[at - 1] in THAT_CLAUSE_VERBS


def _just_restricts(after: str) -> bool:
    return after in RESTRICTING_AFTER_JUST or after in NUMBER_WORDS or after[:1].isdigit()


def _compounded(kept: list[str]) -> list[str]:
    out: list[str] = []
    for word in kept:
        if word in _COMPOUND_ENDS and out and (out[-1], word) in COMPOUNDS:
            out[-1] = COMPOUNDS[out[-1], word]
        else:
            out.append(word)
    return out


def same_wording(a: str, b: str) -> bool:
    """True when two texts differ at most in what the canonical form folds (see the module)."""
    return not forms(a).isdisjoint(forms(b))


def same_but_synonyms(a: str, b: str) -> bool:
    """True when two texts also differ at most in words that the lexicon holds for synonyms."""
    return synonym_form(a) == synonym_form(b) != ()


def content(text: str) -> frozenset[str]:
    """The canonical words of a text as a set."""
    return frozenset(canonical(text))


def share_a_word(a: str, b: str) -> bool:
    """Whether two texts have a word in common that says what they are about."""
    return any(len(word) >= _TELLING and word not in _COMMON for word in content(a) & content(b))


_TELLING = 3
"""Letters of the shortest word that tells what a text is about."""
_COMMON = frozenset(
    "the and for with not you user his her their our your its this that these those are was were has have had will "
    "would can could should must may might does did from into onto over than then who what when where why how all any "
    "some each every use like want need get make keep work always never only more most before after about there here "
    "out off one two".split()
)
"""Words that half of all texts have."""


@lru_cache(maxsize=CACHED_TEXTS)
def synonym_form(text: str) -> tuple[str, ...]:
    """The canonical words of a text with each listed synonym replaced by its class."""
    return synonymous(canonical(text))


def synonymous(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Canonical words with each listed synonym replaced by its class."""
    return tuple([SYNONYMS.get(token, token) for token in tokens])


@lru_cache(maxsize=CACHED_TEXTS)
def _fold(word: str) -> str:
    word = NUMBER_WORDS.get(word, word)
    word = SPELLINGS.get(word, word)
    return _variant(singular(word))


def _variant(word: str) -> str:
    """British to American endings: organise to organize, colour to color, travelled to traveled."""
    if word in SPELLINGS:
        return SPELLINGS[word]
    if len(word) > 5 and word.isalpha():
        if "our" in word:
            word = _OUR.sub("or", word)
        word = _YSE.sub(r"yz\1", _ISE.sub(r"iz\1", word)) if "is" in word or "ys" in word else word
        doubled = _DOUBLED_L.search(word)
        if doubled and _TWO_SYLLABLES.search(word[max(0, doubled.start() - _LOOK_BACK) : doubled.start()]):
            return f"{word[: doubled.start()]}l{doubled.group(1)}"
    return word


def singular(word: str) -> str:
    """The singular of a regular English plural; other words as they are."""
    if len(word) < 4 or word in UNCOUNTABLE or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "zzes", "sses")):
        return word[:-2]
    return word[:-1]
