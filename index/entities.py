"""Who and what a memory is about: names, how rare each is, and which of them a query mentions.

A name is matched by its tokens, never as a substring: "Ann" is not in "planning". A name of several words is also
mentioned by one of its distinctive words, as long as it stands in few other names ("Dana" for "dana whitfield").
"""

from __future__ import annotations

import math
import re
import threading
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.analyzer import UNSPACED, normalized
from index.hits import Hits
from index.stopwords import STOP_WORDS

MAX_NAMES = 16
"""Names taken out of one text."""

_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_APOSTROPHE = re.compile(r"['’](?:s\b)?", re.IGNORECASE)
_SHORTEST_PART = 3
_HANDLE = r"(?<![\w.])@\w[\w.-]{0,62}\w"
_IDENTIFIER = r"\b(?:[A-Za-z0-9]{1,40}_\w{1,80}|[A-Z]{2,12}-\d{1,8}|[a-z]{1,40}[A-Z]\w{0,40})\b"
_CAPITALISED = r"\b[A-Z][\w'’]{0,60}(?:[ -][A-Z][\w'’]{0,60}){0,3}(?!\w)"
_NAME = re.compile(rf"{_HANDLE}|{_IDENTIFIER}|{_CAPITALISED}")
_OPENS_SENTENCE = '.!?:;\n"“(•*-–—>'


@dataclass(frozen=True, slots=True)
class EntitySettings:
    """How much the names in a query may lift the memories that carry them."""

    cap: float = 1.0
    """The most that all names of one query add to one memory; a name of a single memory adds 1."""
    max_names_a_word: int = 8
    """A word that stands in more names than this mentions none of them."""

    def __post_init__(self) -> None:
        if self.cap <= 0.0 or self.max_names_a_word < 0:
            raise ValueError("cap must be above 0 and max_names_a_word at least 0")


class Entities:
    """The names of one bank's memories. Thread-safe: many readers, one applier."""

    def __init__(self, settings: EntitySettings | None = None) -> None:
        self._settings = settings or EntitySettings()
        self._lock = threading.Lock()
        self._names_of: dict[int, tuple[str, ...]] = {}
        self._carriers: dict[str, array[int]] = {}
        self._words_of: dict[str, tuple[str, ...]] = {}
        self._names_with: dict[str, set[str]] = {}

    def __len__(self) -> int:
        """Distinct names."""
        return len(self._carriers)

    @property
    def cap(self) -> float:
        """The most that all names of one query add to one memory."""
        return self._settings.cap

    def apply(self, added: Sequence[tuple[int, Sequence[str]]], removed: Sequence[int]) -> None:
        """Forget, then learn the lower-cased names of memories; an ordinal that is known is replaced. Idempotent."""
        with self._lock:
            for ordinal in removed:
                self._forget(ordinal)
            for ordinal, names in added:
                self._forget(ordinal)
                self._learn(ordinal, tuple(dict.fromkeys(names)))

    def document_frequency(self, name: str) -> int:
        """Memories that carry the name."""
        with self._lock:
            return len(self._carriers.get(name, ()))

    def mentioned(self, query: str) -> tuple[str, ...]:
        """The known names that ``query`` mentions, sorted."""
        spelled = _tokens(query)
        words = [normalized(word) for word in spelled]
        doubtful = {word for at, word in enumerate(words) if word in STOP_WORDS and (at == 0 or spelled[at].islower())}
        with self._lock:
            spans = self._whole_names(words, doubtful)
            covered = {place for name, span in spans.items() if len(self._words_of[name]) > 1 for place in span}
            alone = {word for place, word in enumerate(words) if place not in covered and _is_distinctive(word)}
            return tuple(sorted(spans.keys() | set().union(*map(self._names_by_part, alone))))

    def _whole_names(self, words: list[str], doubtful: set[str]) -> dict[str, list[int]]:
        """Each name that stands in ``words`` as a whole, and not of doubtful words alone, with its places."""
        places: dict[str, list[int]] = {}
        for at, word in enumerate(words):
            places.setdefault(word, []).append(at)
        candidates = {name for word in places for name in self._names_with.get(word, ())}
        certain = (name for name in candidates if not doubtful.issuperset(self._words_of[name]))
        spans = ((name, _spans(self._words_of[name], words, places)) for name in certain)
        return {name: span for name, span in spans if span}

    def matches(self, names: Sequence[str]) -> Hits:
        """All memories that carry one of ``names``: the rarities of the names they carry, added and capped."""
        with self._lock:
            memories = len(self._names_of)
            carriers = [self._carriers[name].tobytes() for name in dict.fromkeys(names) if name in self._carriers]
        if not carriers:
            return Hits.none(0.0)
        ordinals = [np.frombuffer(found, np.int64) for found in carriers]
        total = np.zeros(1 + max(int(found.max()) for found in ordinals))
        for found in ordinals:
            total[found] += rarity(len(found), memories)
        return _all_hits(np.minimum(total, self._settings.cap).astype(np.float32))

    def _names_by_part(self, word: str) -> set[str]:
        names = self._names_with.get(word, set())
        return names if len(names) <= self._settings.max_names_a_word else {word} & names

    def _learn(self, ordinal: int, names: tuple[str, ...]) -> None:
        self._names_of[ordinal] = names
        for name in names:
            carriers = self._carriers.get(name)
            if carriers is None:
                carriers = self._carriers[name] = array("q")
                self._enter(name)
            carriers.append(ordinal)

    def _forget(self, ordinal: int) -> None:
        for name in self._names_of.pop(ordinal, ()):
            carriers = np.frombuffer(self._carriers[name].tobytes(), np.int64)
            left = carriers[carriers != ordinal]
            if len(left):
                self._carriers[name] = array("q", left.tobytes())
            else:
                del self._carriers[name]
                self._strike(name)

    def _enter(self, name: str) -> None:
        self._words_of[name] = tuple(normalized(word) for word in _tokens(name))
        for word in self._words_of[name]:
            self._names_with.setdefault(word, set()).add(name)

    def _strike(self, name: str) -> None:
        for word in set(self._words_of.pop(name)):
            self._names_with[word].discard(name)
            if not self._names_with[word]:
                del self._names_with[word]


def rarity(document_frequency: int, memories: int) -> float:
    """What a name tells, in (0, 1]: BM25's idf as a share of the idf of a name that one memory carries."""
    return _idf(document_frequency, memories) / _idf(1, memories)


def names_in(text: str) -> tuple[str, ...]:
    """Capitalised names, @handles and identifiers of a text, lower-cased, at most ``MAX_NAMES``; a cheap guess.

    A single capitalised word that opens a sentence counts only when the text writes it so once more.
    """
    found: dict[str, None] = {}
    seen: set[str] = set()
    for name, certain in _candidates(text):
        if certain or name in seen:
            found[name] = None
        seen.add(name)
        if len(found) == MAX_NAMES:
            break
    return tuple(found)


def _candidates(text: str) -> Iterator[tuple[str, bool]]:
    for match in _NAME.finditer(text):
        words = _APOSTROPHE.sub("", match.group()).split(" ") if match.group()[0].isupper() else [match.group()]
        opens = _opens_sentence(text, match.start())
        while words and words[0].lower() in STOP_WORDS:
            words, opens = words[1:], False
        while words and words[-1].lower() in STOP_WORDS:
            words = words[:-1]
        if words:
            plain = len(words) == 1 and words[0].isalpha() and words[0].istitle()
            yield " ".join(words).lower().removeprefix("@"), not (opens and plain)


def _opens_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 3) : at].rstrip(" \t")
    return not before.strip() or before[-1] in _OPENS_SENTENCE


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_APOSTROPHE.sub("", text))


def _spans(name: tuple[str, ...], words: list[str], places: dict[str, list[int]]) -> list[int]:
    """The places in ``words`` that ``name``, standing as a whole, takes up."""
    starts = (at for at in places.get(name[0], ()) if tuple(words[at : at + len(name)]) == name)
    return [place for at in starts for place in range(at, at + len(name))]


def _is_distinctive(word: str) -> bool:
    return len(word) >= _SHORTEST_PART and word not in STOP_WORDS and not word.isdecimal()


def _idf(document_frequency: int, memories: int) -> float:
    return math.log1p((memories - document_frequency + 0.5) / (document_frequency + 0.5))


def _all_hits(scores: NDArray[np.float32]) -> Hits:
    ordinals = np.flatnonzero(scores > 0.0)
    order = np.argsort(-scores[ordinals], kind="stable")
    return Hits(ordinals[order], scores[ordinals[order]], 0.0)
