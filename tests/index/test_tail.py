"""Postings in RAM, the columns they become, and the best of many scores."""

from pathlib import Path

import numpy as np
import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from index.bm25 import Statistics, contributions, norms_of, weigh
from index.columns import MAX_FREQUENCY, Columns, Document, gather, merge
from index.hits import best
from index.tail import Tail

WORDS = st.sampled_from(["ant", "bee", "cat", "dog", "世界"])
DOCUMENTS = st.dictionaries(st.integers(0, 40), st.lists(WORDS, max_size=8), max_size=12)


def documents(texts: dict[int, list[str]]) -> list[Document]:
    return [Document.of(ordinal, tokens) for ordinal, tokens in texts.items()]


def plain(columns: Columns) -> dict[int, dict[str, int]]:
    return {d.ordinal: dict(zip(d.terms, d.frequencies, strict=True)) for d in columns.documents()}


def counted(texts: dict[int, list[str]]) -> dict[int, dict[str, int]]:
    return {ordinal: {token: tokens.count(token) for token in tokens} for ordinal, tokens in texts.items()}


@pytest.mark.parametrize("length", [0, 1, 23, 24, 39, 40, 41, 55, 56, 57, 100, 1_000, 9_999])
def test_scores_are_those_of_tantivy(length: int) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema)
    texts = ["tea tea" + " filler" * length, "tea milk", "coffee"]
    with index.writer(heap_size=15_000_000, num_threads=1) as writer:
        for text in texts:
            document = tantivy.Document()
            document.add_text("terms", text)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    index.reload()
    found = index.searcher().search(tantivy.Query.term_query(schema, "terms", "tea", "freq"), 3).hits
    lengths = np.array([len(text.split()) for text in texts], np.uint32)
    statistics = Statistics(3, int(lengths.sum()))
    saturation = statistics.saturation()[norms_of(lengths)]
    ours = contributions(np.full(2, statistics.idf(2)), np.array([2.0, 1.0]), saturation[:2])
    assert {address.doc: score for score, address in found} == pytest.approx(dict(enumerate(ours)), rel=1e-5)


@given(DOCUMENTS)
def test_columns_give_back_the_documents(texts: dict[int, list[str]]) -> None:
    columns = gather(documents(texts))
    assert plain(columns) == counted(texts)
    assert columns.ordinals.tolist() == sorted(texts)
    assert columns.lengths.tolist() == [len(texts[ordinal]) for ordinal in sorted(texts)]


@settings(max_examples=20, deadline=None)
@given(DOCUMENTS)
def test_columns_survive_the_disk(tmp_path_factory: pytest.TempPathFactory, texts: dict[int, list[str]]) -> None:
    folder: Path = tmp_path_factory.mktemp("columns")
    gather(documents(texts)).save(folder)
    assert plain(Columns.mapped(folder)) == counted(texts)
    assert plain(Columns.of(gather(documents(texts)).arrays())) == counted(texts)


@given(DOCUMENTS, DOCUMENTS, st.sets(st.integers(0, 40)))
def test_merged_columns_hold_what_the_masks_keep(
    left: dict[int, list[str]], right: dict[int, list[str]], gone: set[int]
) -> None:
    right = {ordinal + 100: tokens for ordinal, tokens in right.items()}
    parts = [gather(documents(left)), gather(documents(right))]
    merged = merge([(part, np.array([o not in gone for o in part.ordinals.tolist()], np.bool_)) for part in parts])
    kept = {ordinal: tokens for ordinal, tokens in (left | right).items() if ordinal not in gone}
    assert plain(merged) == counted(kept)
    assert set(merged.vocabulary()) == {token for tokens in kept.values() for token in tokens}


def test_frequencies_end_at_their_limit() -> None:
    assert list(Document.of(0, ["tea"] * (MAX_FREQUENCY + 5)).frequencies) == [MAX_FREQUENCY]


@given(st.lists(st.tuples(st.integers(0, 6), st.none() | st.lists(WORDS, max_size=6)), max_size=40))
def test_any_history_of_a_tail_equals_the_documents_it_ends_with(
    operations: list[tuple[int, list[str] | None]],
) -> None:
    tail, truth = Tail(), dict[int, list[str]]()
    for ordinal, tokens in operations:
        if tokens is None:
            assert tail.remove(ordinal) == (truth.pop(ordinal, None) is not None)
        else:
            tail.add(Document.of(ordinal, tokens))
            truth[ordinal] = tokens
    assert len(tail) == len(truth)
    assert tail.tokens == sum(map(len, truth.values()))
    assert plain(gather(tail.live())) == counted(truth)
    for term in ("ant", "bee", "unknown"):
        assert tail.document_frequency(term) == sum(term in tokens for tokens in truth.values())


def test_a_view_does_not_see_what_comes_after() -> None:
    tail = Tail([Document.of(n, ["tea"]) for n in range(300)])
    statistics = Statistics(300, 300)
    view = tail.view(weigh({"tea": 1}, ("tea",), [300], statistics))
    before = view.bm25(statistics)
    for n in range(400):
        tail.add(Document.of(n, ["tea", "milk"]))
    assert np.array_equal(view.bm25(statistics), before)
    assert view.alive.sum() == 300


@given(st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0]), max_size=30), st.integers(0, 30), st.randoms())
def test_the_best_k_are_the_first_k_of_the_total_order(values: list[float], k: int, random: object) -> None:
    ordinals = list(range(0, 3 * len(values), 3))
    random.shuffle(ordinals)  # type: ignore[attr-defined]
    hits = best(np.array(ordinals, np.int64), np.array(values, np.float32), k, 0.0)
    order = sorted(zip(values, ordinals, strict=True), key=lambda pair: (-pair[0], pair[1]))
    assert hits.ordinals.tolist() == [ordinal for _, ordinal in order[:k]]
    assert hits.bound == (order[k][0] if k < len(order) else 0.0)


@given(DOCUMENTS, DOCUMENTS)
def test_a_tail_out_of_columns_is_that_of_adding_each_document(
    first: dict[int, list[str]], then: dict[int, list[str]]
) -> None:
    columns = gather(documents(first))
    taken, added = Tail.of(columns), Tail(columns.documents())
    terms = ("ant", "bee", "cat", "dog", "世界")
    for tail in (taken, added):
        for document in documents(then):
            tail.add(document)
        tail.remove(7)
    collection = Statistics(max(1, len(added)), added.tokens)
    frequencies = [added.document_frequency(term) for term in terms]
    weighted = weigh(dict.fromkeys(terms, 1), terms, frequencies, collection)
    ours, theirs = taken.view(weighted), added.view(weighted)
    assert (len(taken), taken.tokens, taken.rows) == (len(added), added.tokens, added.rows)
    assert [taken.document_frequency(term) for term in terms] == frequencies
    for column in ("postings", "sizes", "ordinals", "norms", "alive"):
        np.testing.assert_array_equal(getattr(ours, column), getattr(theirs, column))
    assert taken.live() == added.live()
