"""A compressed copy that was kept serves the rows it was made of, in whatever order, and no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from index.kept_codes import KeptCodes
from index.vectors import Vectors, VectorSettings

DIMENSIONS, TEXTS = 32, 900
SETTINGS = VectorSettings(compressed_from=300, least_dead=10_000, most_newer=40)
Floats = NDArray[np.float32]


class Stored:
    """What an earlier process left; the text of a memory is its ordinal, but for those that `edited` names."""

    def __init__(self, raw: bytes = b"", edited: dict[int, int] | None = None) -> None:
        self.raw = raw
        self.edited = edited or {}

    def load(self) -> KeptCodes | None:
        return KeptCodes.decoded(self.raw)

    def keys(self, ordinals: NDArray[np.int64]) -> NDArray[np.uint64]:
        texts = [self.edited.get(ordinal, ordinal) for ordinal in ordinals.tolist()]
        return np.array(texts, np.uint64) * np.uint64(0xD1342543DE82EF95) + np.uint64(1)


def windows_of(text: int) -> Floats:
    """One vector, or three for some."""
    rng = np.random.default_rng(text)
    rows = rng.normal(size=(3 if text % 50 == 7 else 1, DIMENSIONS)) + np.eye(DIMENSIONS)[text % 5] * 4
    found: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def vectors_over(stored: Stored, ordinals: list[int], settings: VectorSettings = SETTINGS) -> Vectors:
    vectors = Vectors(DIMENSIONS, settings, run=at_once, stored=stored)
    vectors.apply([(ordinal, windows_of(stored.edited.get(ordinal, ordinal))) for ordinal in ordinals])
    return vectors


def at_once(work: Callable[[], None]) -> None:
    work()


@pytest.fixture(scope="module")
def kept() -> KeptCodes:
    """Of all texts, some of which died after the copy was made."""
    vectors = vectors_over(Stored(), list(range(TEXTS)))
    vectors.apply([], [3, 57, 800])
    codes = vectors.codes()
    assert codes is not None
    return codes


def same_scan(vectors: Vectors, codes: KeptCodes) -> bool:
    """Whether the copy was made of these codes, not of a codebook of its own."""
    now = vectors.codes()
    assert now is not None
    return bool(np.array_equal(now.codebook.centroids, codes.codebook.centroids))


def assert_tells_the_truth(vectors: Vectors, texts: list[int]) -> None:
    held = {text: windows_of(text) for text in texts}
    for asked in range(40):
        query = windows_of(5_000 + asked)[0]
        near = vectors.near(query, 60, 300)
        assert near is not None
        cosines = {text: float((rows @ query).max()) for text, rows in held.items()}
        best = sorted(cosines, key=lambda text: -cosines[text])[:10]
        assert set(best) <= set(near.ordinals.tolist()) | set(near.others.tolist())
        everybody = np.array(list(cosines.values()))
        assert (near.mean, near.deviation) == pytest.approx((everybody.mean(), everybody.std()), abs=1e-5)


ORDERS = {
    "as it was": [text for text in range(TEXTS) if text not in (3, 57, 800)],
    "newest first": [text for text in reversed(range(TEXTS)) if text not in (3, 57, 800)],
    "some more": [text for text in reversed(range(TEXTS + 90)) if text not in (3, 57, 800)],
    "some gone": list(range(100, TEXTS)),
    "some gone and some more": list(range(100, TEXTS + 90)),
}


@pytest.mark.parametrize("order", ORDERS)
def test_kept_codes_serve_the_same_texts_in_any_order(kept: KeptCodes, order: str) -> None:
    vectors = vectors_over(Stored(kept.encoded()), ORDERS[order])
    assert same_scan(vectors, kept)
    assert vectors.scan.trained_of == kept.codebook.trained_of
    assert_tells_the_truth(vectors, ORDERS[order])
    fresh = vectors.codes()
    assert fresh is not None
    by_text = dict(zip(kept.fingerprints.tolist(), kept.codes.tolist(), strict=True))
    known = [
        codes for key, codes in zip(fresh.fingerprints.tolist(), fresh.codes.tolist(), strict=True) if key in by_text
    ]
    assert known == [by_text[key] for key in fresh.fingerprints.tolist() if key in by_text]


def test_a_copy_that_is_kept_again_is_the_same(kept: KeptCodes) -> None:
    again = vectors_over(Stored(kept.encoded()), ORDERS["as it was"]).codes()
    assert again is not None
    for name in ("fingerprints", "counted", "codes"):
        assert np.array_equal(getattr(again, name), getattr(kept, name)), name
    assert again.codebook.recall == kept.codebook.recall


def test_the_recall_of_the_scan_is_measured_once_and_kept(kept: KeptCodes) -> None:
    assert kept.codebook.recall is not None
    assert kept.codebook.recall > 0.99
    told = replace(kept, codebook=replace(kept.codebook, recall=0.25))
    assert vectors_over(Stored(told.encoded()), ORDERS["as it was"]).scan.recall == 0.25
    blind = replace(SETTINGS, rerank=10)
    assert 0.1 < (vectors_over(Stored(), list(range(TEXTS)), blind).scan.recall or 0.0) < 0.95


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "missing": lambda _: b"",
    "not ours": lambda _: b"a text of somebody\n" * 90,
    "cut": lambda raw: raw[:-1],
    "longer": lambda raw: raw + b"\0",
    "only a head": lambda raw: raw[: raw.index(b"\n") + 1],
    "a bit of a code": lambda raw: flipped(raw, len(raw) // 3),
    "a bit of the sums": lambda raw: flipped(raw, len(raw) - 9),
    "more rows than there are": lambda raw: raw.replace(b'"rows":', b'"rows":1', 1),
    "rows below none": lambda raw: raw.replace(b'"rows":', b'"rows":-', 1),
    "another format": lambda raw: raw.replace(b'"format":1', b'"format":2', 1),
}


def flipped(raw: bytes, at: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ 4]) + raw[at + 1 :]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_spoilt_file_is_no_file(kept: KeptCodes, damage: str) -> None:
    assert KeptCodes.decoded(DAMAGE[damage](kept.encoded())) is None


def test_codes_of_other_vectors_are_not_believed(kept: KeptCodes) -> None:
    moved = replace(kept, codes=np.roll(kept.codes, 1, axis=0))
    vectors = vectors_over(Stored(moved.encoded()), ORDERS["some gone"])
    assert_tells_the_truth(vectors, ORDERS["some gone"])
    assert not same_scan(vectors, kept)


@pytest.mark.parametrize(
    "other",
    [replace(SETTINGS, fine_rows=10), replace(SETTINGS, retrain_growth=0.5)],
    ids=["of another fineness", "outgrown"],
)
def test_a_codebook_that_does_not_fit_any_more_is_learnt_anew(kept: KeptCodes, other: VectorSettings) -> None:
    vectors = vectors_over(Stored(kept.encoded()), list(range(300, TEXTS)), other)
    assert vectors.scan.trained_of == len(range(300, TEXTS)) + 2 * 12
    assert not same_scan(vectors, kept)


def test_a_text_that_changes_while_codes_are_kept_never_has_those_of_the_text_before() -> None:
    stored = Stored()
    vectors = vectors_over(stored, list(range(400)))
    read = stored.keys

    def edited_meanwhile(ordinals: NDArray[np.int64]) -> NDArray[np.uint64]:
        vectors.apply([], [5])
        stored.edited[5] = 1_005
        return read(ordinals)

    stored.keys = edited_meanwhile  # type: ignore[method-assign]
    codes = vectors.codes()
    assert codes is not None
    assert int(read(np.array([5]))[0]) not in codes.fingerprints.tolist()
