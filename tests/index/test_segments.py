"""Immutable segments, and the snapshot that they and the tail leave on disk."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index import checkpoint
from index.analyzer import Analyzer, AnalyzerSettings
from index.bm25 import Statistics, weigh
from index.columns import Document, fingerprint, gather
from index.lexical import Lexical, LexicalSettings
from index.segments import Asked, Segment, SegmentSettings, build, passes
from index.tail import Tail

RNG = np.random.default_rng(7)
WORDS = [f"word{n}" for n in range(60)]
ROWS = 400
DOCUMENTS = [
    Document.of(3 * n, RNG.choice(WORDS, RNG.integers(1, 40), p=(w := 1 / np.arange(1, 61)) / w.sum()).tolist())
    for n in range(ROWS)
]
TERMS = ("word0", "word17", "word3")
PROPOSED = SegmentSettings(dense_postings=0, spare=0, overfetch=1.0, scan_ratio=10_000)
"""Every search goes through Tantivy."""
COUNTED = SegmentSettings(dense_postings=0, spare=0, overfetch=1.0, scan_ratio=1)
DENSE = SegmentSettings(dense_postings=1_000_000)


def asked(segment: Segment, average_length: float | None = None) -> Asked:
    ids = segment.columns.ids_of(np.array([fingerprint(term) for term in TERMS], np.uint64))
    tokens = segment.tokens if average_length is None else int(average_length * len(segment))
    statistics = Statistics(len(segment), tokens)
    frequencies = segment.document_frequencies(ids)
    return Asked(weigh({"word0": 1, "word17": 2, "word3": 1}, TERMS, frequencies, statistics), ids, statistics, 0)


@pytest.mark.parametrize("settings", [PROPOSED, COUNTED, DENSE], ids=["proposed", "counted", "dense"])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.02, 0.0])
@pytest.mark.parametrize("average_length", [None, 2.0, 60.0], ids=["own mean", "short bank", "long bank"])
@pytest.mark.parametrize("k", [1, 10, 399, 1_000])
def test_the_best_are_found_by_every_way_of_searching(
    settings: SegmentSettings, share: float, average_length: float | None, k: int
) -> None:
    segment = build(gather(DOCUMENTS), settings, None)
    for ordinal in range(0, 300, 3):
        segment.bury(ordinal, 0)
    query = asked(segment, average_length)
    allowed = np.random.default_rng(1).random(3 * ROWS) < share
    found = segment.search(query, k, allowed)
    truth = np.where(segment.alive() & passes(allowed, segment.columns.ordinals), _all_scores(segment, query), 0.0)
    expected = np.sort(truth[truth > 0.0])[::-1]
    assert np.sort(found.scores)[::-1][:k] == pytest.approx(expected[:k])
    left_out = np.setdiff1d(segment.columns.ordinals[truth > 0.0], found.ordinals)
    assert all(truth[left_out // 3] <= found.rest)


def _all_scores(segment: Segment, query: Asked) -> NDArray[np.float64]:
    return segment.scores(query, np.arange(len(segment.columns)))


def test_a_segment_scores_as_the_tail_does() -> None:
    segment, tail = build(gather(DOCUMENTS), SegmentSettings(), None), Tail(DOCUMENTS)
    query = asked(segment)
    in_tail = tail.view(query.weighted).bm25(query.statistics)
    assert np.array_equal(_all_scores(segment, query), in_tail)
    assert np.array_equal(segment.view(query).bm25(query.statistics), in_tail)


@pytest.mark.parametrize("settings", [PROPOSED, COUNTED, DENSE], ids=["proposed", "counted", "dense"])
def test_a_search_that_began_before_a_death_still_sees_the_document(settings: SegmentSettings) -> None:
    segment = build(gather([*DOCUMENTS[1:], Document.of(0, [*TERMS])]), settings, None)
    before = asked(segment)
    assert segment.bury(0, version=1)
    assert not segment.bury(0, version=2)
    assert not segment.bury(1, version=2)
    after = Asked(before.weighted, before.ids, before.statistics, 1)
    assert 0 in segment.search(before, 1, None).ordinals
    assert 0 not in segment.search(after, 1, None).ordinals
    assert segment.rows_of(np.array([0]), before.version).tolist() == [0]
    assert segment.rows_of(np.array([0]), after.version).tolist() == [-1]
    assert len(segment) == ROWS - 1
    assert segment.tokens == sum(document.length for document in DOCUMENTS[1:])


def test_what_is_younger_than_the_mask_does_not_pass() -> None:
    assert passes(np.array([True, False]), np.array([0, 1, 2])).tolist() == [True, False, False]
    assert passes(np.array([], np.bool_), np.array([0])).tolist() == [False]


# The snapshot on disk.

ANALYZER = Analyzer()
SMALL = LexicalSettings(tail_documents=5, fan_out=4)


def texts(first: int, last: int) -> list[tuple[int, str]]:
    return [(n, f"tea number{n} of colour{n % 3}") for n in range(first, last)]


def written(folder: Path) -> Lexical:
    lexical = Lexical(ANALYZER, SMALL, folder)
    lexical.open()
    lexical.apply(1, texts(0, 12), [])
    lexical.flush()
    lexical.apply(2, texts(20, 23), [3])
    lexical.flush()
    return lexical


def answers(lexical: Lexical) -> list[tuple[list[int], list[float]]]:
    hits = [lexical.search(ANALYZER.query_terms(query, 9).terms, 50) for query in ("tea", "colour1 number21")]
    return [(found.ordinals.tolist(), found.scores.tolist()) for found in hits]


def test_what_was_flushed_is_there_after_opening(tmp_path: Path) -> None:
    before = written(tmp_path / "lexical")
    opened = Lexical(ANALYZER, SMALL, tmp_path / "lexical")
    assert opened.open() == 2
    assert len(opened) == 14
    assert answers(opened) == answers(before)
    opened.apply(3, texts(30, 33), [0, 21])
    before.apply(3, texts(30, 33), [0, 21])
    assert answers(opened) == answers(before)


def test_what_was_not_flushed_is_applied_again(tmp_path: Path) -> None:
    before = written(tmp_path / "lexical")
    before.apply(3, texts(1, 2), [5])
    assert before.unflushed == 2
    opened = Lexical(ANALYZER, SMALL, tmp_path / "lexical")
    assert opened.open() == 2
    for _ in range(2):
        opened.apply(3, texts(1, 2), [5])
    assert answers(opened) == answers(before)


def test_a_folder_that_never_was_holds_nothing(tmp_path: Path) -> None:
    assert Lexical(ANALYZER, SMALL, tmp_path / "none").open() == 0


def test_a_snapshot_of_another_analysis_is_not_used(tmp_path: Path) -> None:
    written(tmp_path / "lexical")
    other = Lexical(Analyzer(AnalyzerSettings(max_term_chars=7)), SMALL, tmp_path / "lexical")
    assert other.open() == 0
    assert len(other) == 0


def test_files_that_no_checkpoint_names_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "lexical"
    lexical = written(folder)
    for n in range(12):
        lexical.apply(3 + n, texts(100 + 6 * n, 106 + 6 * n), [n])
        lexical.flush()
    named = checkpoint.read(folder, ANALYZER.identity)
    assert {path.name for path in folder.iterdir()} == {"checkpoint.json", named.state, *named.segments}
    assert len(named.segments) <= 3 * SMALL.fan_out


def test_a_crash_between_segment_and_checkpoint_leaves_the_old_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lexical"
    lexical = written(folder)
    lexical.apply(3, texts(40, 60), [])

    def crash(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "write", crash)
        with pytest.raises(OSError, match="no space left"):
            lexical.flush()
    assert len(lexical.search({"tea": 1}, 100)) == 34
    opened = Lexical(ANALYZER, SMALL, folder)
    assert (opened.open(), len(opened)) == (2, 14)
    lexical.flush()
    assert Lexical(ANALYZER, SMALL, folder).open() == 3


def test_a_disk_that_refuses_changes_nothing_that_is_searched(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    lexical = Lexical(ANALYZER, SMALL, tmp_path / "file" / "lexical")
    assert lexical.open() == 0
    lexical.apply(1, texts(0, 9), [])
    before = answers(lexical)
    with pytest.raises(OSError, match="Not a directory"):
        lexical.flush()
    assert answers(lexical) == before
    lexical.apply(2, texts(9, 10), [])
    assert len(lexical.search({"tea": 1}, 100)) == 10


def test_a_snapshot_deleted_while_running_is_left_again(tmp_path: Path) -> None:
    folder = tmp_path / "lexical"
    lexical = written(folder)
    before = answers(lexical)
    shutil.rmtree(folder)
    assert answers(lexical) == before
    lexical.flush()
    assert answers(lexical) == before
    opened = Lexical(ANALYZER, SMALL, folder)
    if opened.open() != 0:
        assert answers(opened) == before


def delete(path: Path, _: Path) -> None:
    path.unlink()


def empty(path: Path, _: Path) -> None:
    path.write_bytes(b"")


def halve(path: Path, _: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_bit(path: Path, _: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def lengthen(path: Path, _: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def swap(path: Path, other: Path) -> None:
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)


def turn_into_a_folder(path: Path, _: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage", [delete, empty, halve, flip_a_bit, lengthen, swap, turn_into_a_folder], ids=lambda damage: damage.__name__
)
def test_no_damaged_file_is_ever_opened(tmp_path: Path, damage: Callable[[Path, Path], None]) -> None:
    whole = tmp_path / "whole"
    written(whole)
    names = ["checkpoint.json", *checkpoint.read(whole, ANALYZER.identity).files]
    for name, other in zip(names, [*names[1:], names[0]], strict=True):
        folder = tmp_path / "damaged"
        shutil.copytree(whole, folder)
        if (folder / name).read_bytes() != (folder / other).read_bytes() and (folder / name).stat().st_size:
            damage(folder / name, folder / other)
            opened = Lexical(ANALYZER, SMALL, folder)
            assert (name, opened.open(), len(opened)) == (name, 0, 0)
        shutil.rmtree(folder)


def test_a_checkpoint_that_was_edited_is_not_used(tmp_path: Path) -> None:
    written(tmp_path / "lexical")
    file = tmp_path / "lexical" / "checkpoint.json"
    edited = file.read_bytes().replace(b'"applied_seq":2', b'"applied_seq":9')
    assert edited != file.read_bytes()
    file.write_bytes(edited)
    assert Lexical(ANALYZER, SMALL, tmp_path / "lexical").open() == 0


def test_after_damage_the_index_is_rebuilt_and_kept(tmp_path: Path) -> None:
    written(tmp_path / "lexical")
    flip_a_bit(tmp_path / "lexical" / "checkpoint.json", tmp_path)
    opened = Lexical(ANALYZER, SMALL, tmp_path / "lexical")
    assert opened.open() == 0
    opened.rebuild(texts(0, 9), 7)
    opened.flush()
    assert Lexical(ANALYZER, SMALL, tmp_path / "lexical").open() == 7
