"""What the bank is filled with, and what it is asked.

Real text comes through a loader of `benchmarks.quality`; what it lacks of the wanted size, and everything when no set
is given, is synthetic: words of a made-up vocabulary drawn by a Zipf–Mandelbrot law, p(r) ∝ 1 / (r + 2.7)^1.07, in
sentences of log-normal length. The same seed gives the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from benchmarks.quality.dataset import Dataset
from benchmarks.quality.parts import parts

_ONSETS = "b br d dr f g gl h j k kl l m n p pr r s sh st t tr v w z".split()
_NUCLEI = "a ai e ea i o oo u".split()
_CODAS = ["", "", "l", "m", "n", "nd", "r", "rt", "s", "t"]
_STOP_WORDS = "the of and to in is it for was on with as".split()


@dataclass(frozen=True, slots=True)
class ZipfSettings:
    """The shape of synthetic text."""

    seed: int = 7
    vocabulary: int = 30_000
    shift: float = 2.7
    exponent: float = 1.07
    mean_words: float = 18.0
    sigma_words: float = 0.5
    query_words: int = 6


@dataclass(frozen=True, slots=True)
class Corpus:
    """``texts`` are distinct; so are ``queries``. ``real`` counts the texts that are not synthetic."""

    texts: tuple[str, ...]
    queries: tuple[str, ...]
    real: int


def corpus(memories: int, queries: int, dataset: Dataset | None, settings: ZipfSettings = ZipfSettings()) -> Corpus:
    """``memories`` texts and ``queries`` queries, the set's own first."""
    rng = np.random.default_rng(settings.seed)
    words = _vocabulary(rng, settings.vocabulary)
    real = _real_texts(dataset, memories) if dataset else ()
    made = _sentences(rng, words, memories - len(real), settings)
    texts = (*real, *made)
    asked = _real_queries(dataset, queries) if dataset else ()
    return Corpus(texts, (*asked, *_queries(rng, texts, queries - len(asked), settings)), len(real))


def _real_texts(dataset: Dataset, wanted: int) -> tuple[str, ...]:
    distinct = dict.fromkeys(
        part for haystack in dataset.haystacks for document in haystack.documents for part in parts(document.text)
    )
    return tuple(islice(distinct, wanted))


def _real_queries(dataset: Dataset, wanted: int) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(question.text for question in dataset.questions()), wanted))


def _vocabulary(rng: np.random.Generator, size: int) -> list[str]:
    """Distinct words of one to three syllables, the frequent ones short; the most frequent are English stop words."""
    words = dict.fromkeys(_STOP_WORDS)
    while len(words) < size:
        syllables = 1 + int(len(words) > 400) + int(len(words) > 4_000)
        words["".join(_syllable(rng) for _ in range(syllables))] = None
        if len(words) in (400, 4_000):
            words["".join(_syllable(rng) for _ in range(syllables + 1))] = None
    return list(words)


def _syllable(rng: np.random.Generator) -> str:
    return "".join(part[rng.integers(len(part))] for part in (_ONSETS, _NUCLEI, _CODAS))


def _sentences(rng: np.random.Generator, words: Sequence[str], wanted: int, settings: ZipfSettings) -> tuple[str, ...]:
    weights = 1.0 / (np.arange(1, len(words) + 1) + settings.shift) ** settings.exponent
    steps = np.cumsum(weights / weights.sum())
    made: dict[str, None] = {}
    while len(made) < wanted:
        length = max(4, round(rng.lognormal(np.log(settings.mean_words), settings.sigma_words)))
        drawn = np.searchsorted(steps, rng.random(length)).clip(max=len(words) - 1)
        made[" ".join(words[index] for index in drawn).capitalize() + "."] = None
    return tuple(made)


def _queries(rng: np.random.Generator, texts: Sequence[str], wanted: int, settings: ZipfSettings) -> tuple[str, ...]:
    """Questions in the words of a random text, so that each has something to find."""
    made: dict[str, None] = {}
    while len(made) < wanted:
        words = texts[int(rng.integers(len(texts)))].rstrip(".").split()
        count = min(settings.query_words, len(words))
        picked = rng.choice(len(words), count, replace=False)
        made[f"What about {' '.join(words[index] for index in sorted(picked))} ({len(made)})?"] = None
    return tuple(made)
