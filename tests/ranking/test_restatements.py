"""What says the same takes one place among the results; what contradicts keeps its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from ranked_bank import ranked_bank

from recall.memory.record import NewMemory
from recall.ranking.query import Mode
from recall.ranking.settings import RankingSettings

KEEP_ALL = RankingSettings(fold_restatements=False)


def test_restatements_do_not_eat_the_limit(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank:
        first, *others = bank.save(
            "The staging server is called otter.",
            "the staging server is called otter",
            "The staging server is called Otter!",
        )
        bank.save("The production server is called heron.")
        results = bank.ask("staging server", limit=2).results
        assert {result.record.id for result in results} != {first.id, others[0].id}
        assert [result.text for result in results][1] == "The production server is called heron."
        assert len(results[0].restatements) == 2
        assert {*results[0].restatements, results[0].record.id} == {first.id, *(one.id for one in others)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port of the database is 5432", "The port of the database is 5433"),
        ("Dana likes purple", "Dana does not like purple"),
        ("Deploys run on Monday", "Deploys run on Tuesday"),
        ("Dana wrote the parser", "Eve wrote the parser"),
    ],
    ids=["values", "negation", "dates", "names"],
)
def test_contradictions_both_stay(tmp_path: Path, one: str, other: str) -> None:
    with ranked_bank(tmp_path) as bank:
        bank.save(one, other)
        assert set(bank.texts(one)) == {one, other}


def test_two_people_who_say_the_same_both_stay(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank:
        bank.save(NewMemory(text="I like otters", author="dana"), NewMemory(text="I like otters!", author="eve"))
        assert len(bank.texts("otters")) == 2


def test_folding_is_a_setting(tmp_path: Path) -> None:
    with ranked_bank(tmp_path, settings=KEEP_ALL) as bank:
        bank.save("The server is called otter.", "the server is called otter")
        assert len(bank.texts("server")) == 2


def test_the_first_k_are_the_first_of_one_more(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank:
        for number in range(8):
            bank.save(f"Room {number} is on floor {number // 2}.", f"room {number} is on floor {number // 2}")
        ten = bank.texts("which room is on floor 1", limit=10)
        assert len(ten) == 8
        assert [bank.texts("which room is on floor 1", limit=k) for k in range(1, 10)] == [
            ten[:k] for k in range(1, 10)
        ]


def test_without_vectors_texts_are_compared_by_their_words(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank:
        bank.slot.embedder = None
        bank.save("The server is called otter.", "the server is called otter", "The server is called heron.")
        assert len(bank.texts("server", Mode.LEXICAL)) == 2
