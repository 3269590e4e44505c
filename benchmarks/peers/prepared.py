"""The corpus on disk: made once in one process, read by all others.

texts.json      texts, saved texts after them, then questions
vectors.npy     (memories + saves, dimensions) float32, unit rows; read through the page cache
questions.npy   (questions, dimensions) float32, unit rows
exact.json      k, and for each question the rows of the exact fused top k: of whole legs, and of legs of DEPTH rows
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.latency.corpus import corpus
from benchmarks.peers.exact import ExactWords, accepted
from benchmarks.peers.fusion import DEPTH


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """The shape of the corpus."""

    dimensions: int = 384
    seed: int = 17
    memories_a_cluster: int = 100
    spread: float = 0.8
    """Length of the noise around a centre of length 1."""
    question_spread: float = 0.5
    question_words: int = 5
    k: int = 10


class Texts(msgspec.Struct, frozen=True):
    """What texts.json holds."""

    memories: list[str]
    saved: list[str]
    questions: list[str]


class Exact(msgspec.Struct, frozen=True):
    """What exact.json holds."""

    k: int
    rows: list[tuple[list[int], list[int]]]
    """Of each question: of whole legs, of legs of DEPTH rows; more than k where equal scores leave the order open."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What every system is given."""

    texts: Texts
    vectors: NDArray[np.float32]
    questions: NDArray[np.float32]
    exact: Exact


def prepare(
    folder: Path, memories: int, saves: int, questions: int, settings: CorpusSettings = CorpusSettings()
) -> None:
    """Writes the corpus. The same numbers give the same corpus."""
    rng = np.random.default_rng(settings.seed)
    made = [text.rstrip(".").lower() for text in corpus(memories + saves, 1, None).texts]
    vectors = _clustered(rng, memories + saves, settings)
    chosen = rng.integers(0, memories, questions)
    asked = [_words(rng, made[row], settings.question_words) for row in chosen]
    near = _unit(vectors[chosen] + _noise(rng, questions, settings.question_spread, settings.dimensions))
    words = ExactWords(made[:memories])
    rows = []
    for text, vector in zip(asked, near, strict=True):
        bm25, cosine = words.scores(text), vectors[:memories] @ vector
        whole, deep = (accepted(bm25, cosine, settings.k, depth).tolist() for depth in (0, DEPTH))
        rows.append((whole, deep))
    folder.mkdir(parents=True, exist_ok=True)
    texts = Texts(made[:memories], made[memories:], asked)
    (folder / "texts.json").write_bytes(msgspec.json.encode(texts))
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "questions.npy", near)
    (folder / "exact.json").write_bytes(msgspec.json.encode(Exact(settings.k, rows)))


def read(folder: Path) -> Prepared:
    """What `prepare` wrote."""
    return Prepared(
        msgspec.json.decode((folder / "texts.json").read_bytes(), type=Texts),
        np.load(folder / "vectors.npy", mmap_mode="r"),
        np.load(folder / "questions.npy"),
        msgspec.json.decode((folder / "exact.json").read_bytes(), type=Exact),
    )


def _clustered(rng: np.random.Generator, rows: int, settings: CorpusSettings) -> NDArray[np.float32]:
    centres = _unit(_noise(rng, max(1, rows // settings.memories_a_cluster), 1.0, settings.dimensions))
    chosen = rng.integers(0, len(centres), rows)
    return _unit(centres[chosen] + _noise(rng, rows, settings.spread, settings.dimensions))


def _noise(rng: np.random.Generator, rows: int, length: float, dimensions: int) -> NDArray[np.float32]:
    """Rows of about this length in random directions."""
    return rng.standard_normal((rows, dimensions), np.float32) * np.float32(length / np.sqrt(dimensions))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _words(rng: np.random.Generator, text: str, wanted: int) -> str:
    words = list(dict.fromkeys(text.split()))
    picked = rng.choice(len(words), min(wanted, len(words)), replace=False)
    return " ".join(words[place] for place in sorted(picked))
