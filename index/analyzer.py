"""Text to terms: one analysis for documents and queries.

Words are runs of letters and digits of any script after NFKC and case folding, accents of Latin, Greek and Cyrillic
letters removed. English stop words are left out and the rest is stemmed (Snowball English). Scripts written without
spaces give every character and every pair of neighbours. Numbers stay whole (``3.11``, ``1,000`` → ``1000``), an
emoji is a word, everything else separates. A text of nothing but stop words keeps them: "to be or not to be" is
found by itself. Every step takes time linear in the text.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import Stemmer

from index.analysis_settings import NONE, AnalysisSettings
from index.stopwords import STOP_WORDS

_REVISION = 1
"""Raised with every change of what a text is analysed to, so that snapshots of an older analysis are rebuilt."""

_APOSTROPHES = dict.fromkeys(map(ord, "’‘ʼ`´＇"), "'")
_ACCENTS = re.compile("[\u0300-\u036f]+")
UNSPACED = (
    "\u0e01-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003134f"
)
"""Letters of scripts that put no space between words, as the inside of a character class."""
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_SYMBOLIC = r"(?<![^\W_])[a-z](?:\+\+|\#)(?![\w#+])"
_NUMBER = r"\d{1,3}(?:,\d{3}){1,6}(?![\d,])|\d++(?:\.\d++){1,6}"
_ASCII_WORD = re.compile(rf"{_SYMBOLIC}|{_NUMBER}|[a-z0-9]++(?:'[a-z0-9]++)*+")
_CONTRACTED = frozenset({"s", "re", "ve", "ll", "d", "m"})


@dataclass(frozen=True, slots=True)
class AnalyzerSettings:
    """What the analysis leaves out, and what it may hold."""

    stop_words: frozenset[str] = STOP_WORDS
    language: str = "english"
    """A Snowball language, or `none`; the stop words are English whatever it is."""
    max_term_chars: int = 64
    """Longer words are cut here: the rest of a key or of base64 tells nothing."""
    cached_words: int = 200_000
    """Words whose stem is remembered; the memory is emptied when full."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query as the lexical leg reads it: how often each term stands in it."""

    terms: dict[str, int] = field(default_factory=dict)
    capped: bool = False
    """The query held more distinct terms than were allowed; the first ones were kept."""
    had_words: bool = False
    """False for a query without a single word (blank, punctuation, control characters)."""
    topical: bool = True
    """False for a query of nothing but stop words, which are its terms then."""


def analyzer_of(settings: AnalysisSettings) -> Analyzer:
    """The analyzer that these settings ask for."""
    stop_words = frozenset[str]() if settings.stop_words == NONE else STOP_WORDS
    return Analyzer(AnalyzerSettings(stop_words, settings.stemmer))


class Analyzer:
    """Thread-safe; share one between all banks, the stems it remembers serve them all."""

    def __init__(self, settings: AnalyzerSettings | None = None) -> None:
        self._settings = settings or AnalyzerSettings()
        self._stemmer = None if self._settings.language == NONE else Stemmer.Stemmer(self._settings.language)
        self._stemming = threading.Lock()
        self._terms = _Learned(self._learn)

    @property
    def identity(self) -> str:
        """Names what the analysis does; equal names give equal terms."""
        stop_words = ",".join(sorted(self._settings.stop_words))
        return f"{_REVISION}/{self._settings.language}/{self._settings.max_term_chars}/{stop_words}"

    def tokens(self, text: str) -> list[str]:
        """The terms of ``text`` in order, repeated as they are."""
        words = _words(text)
        return list(self._topical(words)) or [self._form(word) for word in words]

    def query_terms(self, text: str, cap: int) -> QueryTerms:
        """Count the terms of a query, the first ``cap`` distinct ones at the most."""
        words = _words(text)
        counts, capped = _count(self._topical(words), cap)
        if counts:
            return QueryTerms(counts, capped, had_words=True)
        counts, capped = _count(map(self._form, words), cap)
        return QueryTerms(counts, capped, had_words=bool(words), topical=False)

    def _topical(self, words: list[str]) -> Iterator[str]:
        return filter(None, map(self._terms.__getitem__, words))

    def _learn(self, word: str) -> str:
        if len(self._terms) >= self._settings.cached_words:
            self._terms.clear()
        return "" if self._is_stop_word(word) else self._form(word)

    def _is_stop_word(self, word: str) -> bool:
        return word.endswith("n't") or _without_contraction(word) in self._settings.stop_words

    def _form(self, word: str) -> str:
        bare = _without_contraction(word).replace("'", "").replace(",", "")[: self._settings.max_term_chars]
        if self._stemmer is None:
            return bare
        with self._stemming:
            return str(self._stemmer.stemWord(bare))


class _Learned(dict[str, str]):
    """Word → term, empty for stop words; a word that is asked for the first time is learned."""

    def __init__(self, learn: Callable[[str], str]) -> None:
        super().__init__()
        self._learn = learn

    def __missing__(self, word: str) -> str:
        term = self[word] = self._learn(word)
        return term


def _count(terms: Iterator[str], cap: int) -> tuple[dict[str, int], bool]:
    counts: dict[str, int] = {}
    for term in terms:
        if term in counts:
            counts[term] += 1
        elif len(counts) == cap:
            return counts, True
        else:
            counts[term] = 1
    return counts, False


def _without_contraction(word: str) -> str:
    stem, apostrophe, ending = word.rpartition("'")
    return stem if apostrophe and ending in _CONTRACTED else word


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    normal = normalized(text)
    words: list[str] = []
    for match in _unicode_word().finditer(normal):
        if match.lastgroup == "unspaced":
            words.extend(_grams(match.group()))
        else:
            words.append(match.group())
    return words


def normalized(text: str) -> str:
    """NFKC, case folded, without accents on Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return text.lower().replace("`", "'")
    streamable = _endless_marks().sub(r"\1", text.translate(_APOSTROPHES).casefold())
    decomposed = unicodedata.normalize("NFKD", streamable)
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", decomposed)).casefold()


def _grams(run: str) -> Iterator[str]:
    yield from run
    yield from map("".join, pairwise(run))


@cache
def _unicode_word() -> re.Pattern[str]:
    letter = rf"[^\W_{UNSPACED}]"
    inside = rf"(?:{letter}|[{_marks()}])"
    word = rf"{letter}{inside}*+(?:'{inside}++)*+"
    return re.compile(rf"(?P<unspaced>[{UNSPACED}]++)|[{_EMOJI}]|{_SYMBOLIC}|{_NUMBER}|{word}")


@cache
def _endless_marks() -> re.Pattern[str]:
    """More marks on one letter than any script writes: to bring them in order takes time square in their number."""
    return re.compile(rf"([\u0300-\u036f{_marks()}]{{30}})[\u0300-\u036f{_marks()}]++")


@cache
def _marks() -> str:
    """Vowel signs and other marks inside words of scripts such as Devanagari, which ``\\w`` does not match."""
    marks = (chr(point) for point in range(0x0370, 0x10000) if unicodedata.category(chr(point)).startswith("M"))
    return "".join(marks)
