"""Names: found in texts, mentioned in queries, weighed by rarity."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.entities import MAX_NAMES, Entities, EntitySettings, names_in, rarity


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I met Bob Smith in New York.", ("bob smith", "new york")),
        ("Working on it with Dana", ("dana",)),
        ("The Hague is far", ("hague",)),
        ("Dana likes tea. We asked Dana.", ("dana",)),
        ("Ask @bob.k, not a@b.example", ("bob.k",)),
        ("Set max_retries as in JIRA-123 and loadConfig", ("max_retries", "jira-123", "loadconfig")),
        ("I think I know what I want", ()),
        ("", ()),
    ],
)
def test_names_in_a_text(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names


def test_names_in_a_text_are_few_and_found_in_linear_time() -> None:
    started = time.monotonic()
    assert len(names_in("met Xa, Ya, " * 10 + " ".join(f"and Name{n}" for n in range(20_000)))) == MAX_NAMES
    for unit in ("A a ", "Ab ", "A'", "@a.", "a_", "A-"):
        names_in(unit * 25_000)
    assert time.monotonic() - started < 2.0


def known() -> Entities:
    entities = Entities()
    entities.apply(
        [
            (0, ["dana whitfield", "acme"]),
            (1, ["dana smith", "acme"]),
            (2, ["will"]),
            (3, ["o'brien", "田中", "@bob", "machine learning", "ann"]),
            (4, ["the who"]),
            (5, ["!!", ""]),
        ],
        [],
    )
    return entities


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("What does Dana's sister do?", ("dana smith", "dana whitfield")),
        ("what does DANA’S sister do", ("dana smith", "dana whitfield")),
        ("Where does Dana Whitfield work", ("dana whitfield",)),
        ("where is smith", ("dana smith",)),
        ("planning for Annabel", ()),
        ("what will happen", ()),
        ("does Will like it", ("will",)),
        ("O'Brien's cat", ("o'brien",)),
        ("田中さんは何が好き", ("田中",)),
        ("ask bob", ("@bob",)),
        ("who are the who", ()),
        ("a concert of The Who", ("the who",)),
        ("machine shop", ("machine learning",)),
        ("!!", ()),
        ("", ()),
    ],
)
def test_names_that_a_query_mentions(query: str, names: tuple[str, ...]) -> None:
    assert known().mentioned(query) == names


def test_a_word_of_many_names_mentions_none_of_them() -> None:
    entities = Entities(EntitySettings(max_names_a_word=2))
    entities.apply([(0, ["dana one"]), (1, ["dana two"]), (2, ["dana three"]), (3, ["dana"])], [])
    assert entities.mentioned("ask Dana") == ("dana",)
    assert entities.mentioned("ask Dana Two") == ("dana", "dana two")


def test_matches_are_ordered_by_rarity_then_ordinal() -> None:
    hits = known().matches(["acme", "dana smith"])
    assert hits.ordinals.tolist() == [1, 0]
    assert hits.bound == 0.0
    assert hits.scores.tolist() == pytest.approx([1.0, rarity(2, 6)])


def test_rarity_falls_from_one_and_stays_positive() -> None:
    weights = [rarity(carriers, 1000) for carriers in (1, 2, 10, 100, 500, 1000)]
    assert weights[0] == 1.0
    assert weights == sorted(weights, reverse=True)
    assert 0.0 < weights[-1] < 0.001


def test_a_hub_lifts_nobody_and_all_names_together_no_more_than_the_cap() -> None:
    entities = Entities(EntitySettings(cap=0.5))
    entities.apply([(n, ["hub", f"own {n}", f"other {n}"]) for n in range(100)], [])
    assert entities.matches(["hub"]).scores.max() < 0.01
    assert entities.matches(["hub", "own 3", "other 3"]).scores.max() == 0.5


def test_unknown_names_match_nothing() -> None:
    assert len(known().matches(["nobody"])) == 0
    assert len(known().matches([])) == 0


OPERATIONS = st.lists(
    st.tuples(st.integers(0, 5), st.none() | st.lists(st.sampled_from(["ann", "bob lee", "bob", "cy", ""]))),
    max_size=30,
)


@given(OPERATIONS)
def test_any_history_equals_the_names_it_ends_with(operations: list[tuple[int, list[str] | None]]) -> None:
    entities, truth = Entities(), dict[int, list[str]]()
    for ordinal, names in operations:
        if names is None:
            entities.apply([], [ordinal])
            truth.pop(ordinal, None)
        else:
            entities.apply([(ordinal, names)], [])
            truth[ordinal] = names
    fresh = Entities()
    fresh.apply(list(truth.items()), [])
    assert len(entities) == len({name for names in truth.values() for name in names})
    for name in ("ann", "bob lee", "bob", "cy", ""):
        carriers = sorted(ordinal for ordinal, names in truth.items() if name in names)
        assert entities.document_frequency(name) == len(carriers)
        assert entities.matches([name]).ordinals.tolist() == carriers
    assert entities.mentioned("Bob Lee, Ann and Lee") == fresh.mentioned("Bob Lee, Ann and Lee")
    assert entities.mentioned("bob") == fresh.mentioned("bob")


def test_readers_and_the_applier_run_side_by_side() -> None:
    entities, done, wrong = Entities(), threading.Event(), list[int]()
    entities.apply([(n, ["acme", f"version {n}"]) for n in range(50)], [])

    def read() -> None:
        while not done.is_set():
            if len(entities.matches(["acme"])) != 50 or "acme" not in entities.mentioned("at Acme"):
                wrong.append(1)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(500):
        entities.apply([(n % 50, ["acme", f"version {n}"])], [])
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong
