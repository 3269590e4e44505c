"""The lexical leg against an oracle, alone and with many threads."""

import math
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import segments, snapshot
from index.analyzer import Analyzer
from index.bm25 import K1, LENGTHS, B
from index.columns import Columns
from index.lexical import Lexical, LexicalSettings
from index.segments import Segment, SegmentSettings

ANALYZER = Analyzer()
SMALL = LexicalSettings(tail_documents=4, fan_out=2)
PROPOSED = SegmentSettings(dense_postings=0, spare=0, overfetch=1.0)


def coarse(length: int) -> float:
    return max(float(known) for known in LENGTHS if known <= length)


def oracle(texts: dict[int, str], terms: dict[str, int]) -> dict[int, np.float32]:
    """BM25 as the textbook has it."""
    tokens = {ordinal: Counter(ANALYZER.tokens(text)) for ordinal, text in texts.items()}
    lengths = {ordinal: sum(counts.values()) for ordinal, counts in tokens.items()}
    average = sum(lengths.values()) / len(texts) if sum(lengths.values()) else 1.0
    scores = {}
    for ordinal, counts in tokens.items():
        score = 0.0
        for term in sorted(terms):
            frequency = sum(term in other for other in tokens.values())
            idf = math.log1p((len(texts) - frequency + 0.5) / (frequency + 0.5))
            slowed = counts[term] + K1 * (1 - B + B * coarse(lengths[ordinal]) / average)
            score += terms[term] * idf * counts[term] * (K1 + 1) / slowed if counts[term] else 0.0
        if score:
            scores[ordinal] = np.float32(score)
    return scores


def assert_equals_oracle(lexical: Lexical, texts: dict[int, str], query: str, k: int, allowed: set[int]) -> None:
    terms = ANALYZER.query_terms(query, 20).terms
    truth = oracle(texts, terms)
    mask = np.array([ordinal in allowed for ordinal in range(12)], np.bool_)
    order = sorted((o for o in truth if o in allowed), key=lambda ordinal: (-truth[ordinal], ordinal))
    hits = lexical.search(terms, k, mask)
    assert hits.scores == pytest.approx([truth[ordinal] for ordinal in order[:k]], rel=1e-6)
    assert hits.ordinals.tolist() == order[:k]
    assert all(truth[ordinal] <= hits.bound * (1 + 1e-6) for ordinal in order[k:])
    if len(order) < k:
        assert hits.bound == 0.0
    everyone = lexical.scores(terms, range(12))
    assert everyone == pytest.approx([truth.get(ordinal, 0.0) for ordinal in range(12)], rel=1e-6)
    dense = lexical.dense(terms, 12)
    assert dense.bm25.astype(np.float32) == pytest.approx(everyone)
    assert ((dense.cover > 0) == (everyone > 0)).all()
    assert dense.cover.max(initial=0.0) <= 1.0 + 1e-9
    assert len(lexical) == len(texts)


TEXT = st.lists(st.sampled_from(["tea", "milk", "cup", "世界", "Dana's", "running", "the"]), max_size=9).map(" ".join)
Step = tuple[str, list[tuple[int, str]], list[int]]
ADDED = st.lists(st.tuples(st.integers(0, 11), TEXT), max_size=5)
REMOVED = st.lists(st.integers(0, 11), max_size=3)
KINDS = st.sampled_from(["apply", "apply", "apply", "flush", "reopen", "rebuild"])
STEPS: st.SearchStrategy[list[Step]] = st.lists(st.tuples(KINDS, ADDED, REMOVED), max_size=14)


@pytest.mark.parametrize("search", [SegmentSettings(), PROPOSED], ids=["dense", "proposed"])
@pytest.mark.parametrize("on_disk", [True, False], ids=["disk", "ram"])
@settings(max_examples=25, deadline=None)
@given(STEPS, st.lists(st.tuples(TEXT, st.integers(0, 13), st.sets(st.integers(0, 11), min_size=6)), min_size=1))
def test_any_history_equals_the_oracle(
    tmp_path_factory: pytest.TempPathFactory,
    search: SegmentSettings,
    on_disk: bool,
    steps: list[Step],
    queries: list[tuple[str, int, set[int]]],
) -> None:
    folder = tmp_path_factory.mktemp("lexical") if on_disk else None
    lexical, truth = Lexical(ANALYZER, SMALL, folder, search), dict[int, str]()
    for seq, (step, added, removed) in enumerate(steps, start=1):
        match step:
            case "apply":
                lexical.apply(seq, added, removed)
                truth = {ordinal: text for ordinal, text in truth.items() if ordinal not in removed} | dict(added)
            case "flush":
                lexical.flush()
            case "reopen" if on_disk:
                lexical.flush()
                seq_before = lexical.applied_seq
                lexical.close()
                lexical = Lexical(ANALYZER, SMALL, folder, search)
                assert lexical.open() == seq_before
            case _:
                lexical.rebuild(list(truth.items()), seq)
    for query, k, allowed in queries:
        assert_equals_oracle(lexical, truth, query, k, allowed)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.integers(0, 11), TEXT, min_size=6), TEXT)
def test_a_flush_changes_no_score(texts: dict[int, str], query: str) -> None:
    lexical, terms = Lexical(ANALYZER, SMALL), ANALYZER.query_terms(query, 20).terms
    lexical.apply(1, list(texts.items()), [])
    before = lexical.search(terms, 20)
    lexical.flush()
    after = lexical.search(terms, 20)
    assert np.array_equal(before.ordinals, after.ordinals)
    assert np.array_equal(before.scores, after.scores)


@pytest.mark.parametrize("tail_documents", [4, 10_000], ids=["segments", "tail"])
def test_the_top_k_is_a_prefix_of_the_top_k_plus_one(tail_documents: int) -> None:
    rng = np.random.default_rng(3)
    lexical = Lexical(ANALYZER, LexicalSettings(tail_documents=tail_documents), segments=PROPOSED)
    lexical.rebuild(((n, " ".join(rng.choice(["tea", "milk", "cup", "spoon"], 5))) for n in range(300)), 1)
    whole = lexical.search({"tea": 1, "milk": 1}, 300)
    for k in range(1, 60):
        hits = lexical.search({"tea": 1, "milk": 1}, k)
        assert hits.ordinals.tolist() == whole.ordinals[:k].tolist()
        assert hits.bound >= whole.scores[k]


def test_a_removed_or_replaced_document_is_gone_at_once_wherever_it_lies() -> None:
    lexical = Lexical(ANALYZER, SMALL)
    lexical.apply(1, [(n, f"tea number{n}") for n in range(6)], [])
    lexical.flush()
    lexical.apply(2, [(10, "tea number10"), (2, "milk")], [4, 99])
    assert sorted(lexical.search({"tea": 1}, 50).ordinals.tolist()) == [0, 1, 3, 5, 10]
    assert lexical.search({"milk": 1}, 50).ordinals.tolist() == [2]
    assert lexical.document_frequency("tea") == 5
    assert lexical.document_frequency("number4") == 0
    assert lexical.scores({"tea": 1}, [4, 2, 99, -1]).tolist() == [0.0] * 4


def test_many_dead_are_cleared_away() -> None:
    lexical = Lexical(ANALYZER, LexicalSettings(tail_documents=50, dead_share=0.2))
    lexical.rebuild(((n, f"tea number{n}") for n in range(100)), 1)
    lexical.apply(2, [], list(range(10)))
    lexical.flush()
    assert [len(segment.columns) for segment in segments_of(lexical)] == [100]
    lexical.apply(3, [], list(range(10, 30)))
    lexical.flush()
    assert [len(segment.columns) for segment in segments_of(lexical)] == [70]
    lexical.apply(4, [], list(range(100)))
    lexical.flush()
    assert segments_of(lexical) == ()


def segments_of(lexical: Lexical) -> tuple[Segment, ...]:
    return lexical._segments


def test_rewriting_the_same_documents_does_not_fill_the_memory() -> None:
    lexical = Lexical(ANALYZER)
    for n in range(3_000):
        lexical.apply(n, [(n % 10, f"tea version{n}")], [])
    assert lexical._tail.rows < 600
    assert len(lexical.search({"tea": 1}, 50)) == 10


def test_an_empty_index_and_an_empty_query_answer_nothing() -> None:
    lexical = Lexical(ANALYZER)
    assert len(lexical.search({"tea": 1}, 5)) == 0
    lexical.apply(1, [(0, "tea"), (1, "")], [])
    assert len(lexical) == 2
    assert len(lexical.search({}, 5)) == 0
    assert len(lexical.search({"tea": 1}, 0)) == 0
    assert len(lexical.search({"tea": 1}, 5, np.zeros(0, np.bool_))) == 0
    assert lexical.scores({}, [0]).tolist() == [0.0]


def test_searches_and_changes_do_not_wait_for_a_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    lexical = Lexical(ANALYZER, SMALL)
    lexical.apply(1, [(n, "tea") for n in range(8)], [])
    building, go_on = threading.Event(), threading.Event()
    really_build = segments.build

    def slow(columns: Columns, settings: SegmentSettings, folder: Path | None) -> Segment:
        building.set()
        assert go_on.wait(30)
        return really_build(columns, settings, folder)

    monkeypatch.setattr(snapshot, "build", slow)
    flush = threading.Thread(target=lexical.flush)
    flush.start()
    assert building.wait(30)
    lexical.apply(2, [(3, "milk"), (20, "tea")], [4])
    during = lexical.search({"tea": 1}, 50)
    go_on.set()
    flush.join()
    assert sorted(during.ordinals.tolist()) == [0, 1, 2, 5, 6, 7, 20]
    assert sorted(lexical.search({"tea": 1}, 50).ordinals.tolist()) == [0, 1, 2, 5, 6, 7, 20]
    assert lexical.search({"milk": 1}, 50).ordinals.tolist() == [3]
    assert [len(segment) for segment in segments_of(lexical)] == [6]


def test_who_dies_while_segments_merge_stays_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    lexical = Lexical(ANALYZER, SMALL)
    really_build = segments.build

    def kill_meanwhile(columns: Columns, settings: SegmentSettings, folder: Path | None) -> Segment:
        if len(columns) == 10:
            lexical.apply(3, [(7, "milk")], [2])
        return really_build(columns, settings, folder)

    monkeypatch.setattr(snapshot, "build", kill_meanwhile)
    for seq in (1, 2):
        lexical.apply(seq, [(5 * seq + n - 5, "tea") for n in range(5)], [])
        lexical.flush()
    assert [len(segment) for segment in segments_of(lexical)] == [8]
    assert sorted(lexical.search({"tea": 1}, 50).ordinals.tolist()) == [0, 1, 3, 4, 5, 6, 8, 9]
    assert lexical.search({"milk": 1}, 50).ordinals.tolist() == [7]
    assert lexical.document_frequency("tea") == 8


@pytest.mark.parametrize("search", [SegmentSettings(), PROPOSED], ids=["dense", "proposed"])
def test_no_search_sees_half_a_change(tmp_path: Path, search: SegmentSettings) -> None:
    """Every change swaps a pair: at each moment 40 documents say tea, one of each pair says milk."""
    lexical = Lexical(ANALYZER, LexicalSettings(tail_documents=15, fan_out=2), tmp_path / "lexical", search)
    lexical.apply(0, [(n, "tea" + " milk" * (n % 2)) for n in range(40)], [])
    done, wrong = threading.Event(), list[str]()

    def check() -> None:
        tea, milk = lexical.search({"tea": 1}, 100).ordinals, lexical.search({"milk": 1}, 100).ordinals
        if sorted(tea.tolist()) != list(range(40)) or sorted(n // 2 for n in milk.tolist()) != list(range(20)):
            wrong.append(f"{tea} {milk}")

    threads = [threading.Thread(target=until, args=(done, check)) for _ in range(2)]
    threads.append(threading.Thread(target=until, args=(done, lexical.flush)))
    for thread in threads:
        thread.start()
    for seq in range(1, 400):
        pair = seq * 7 % 20
        swapped = seq // 20 % 2
        lexical.apply(seq, [(2 * pair + side, "tea" + " milk" * (side ^ swapped)) for side in (0, 1)], [])
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def until(done: threading.Event, work: Callable[[], None]) -> None:
    while not done.is_set():
        work()
