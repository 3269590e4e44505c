"""Few memories are scored instead of all, and the answer is that of scoring all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from ranked_bank import DAY, NOW, RankedBank, ranked_bank

from index.hashing import HashingEmbedder
from index.vectors import VectorSettings
from recall.memory.record import NewMemory, Source
from recall.ranking import scoring
from recall.ranking.query import Mode
from recall.ranking.settings import RankingSettings

WORDS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("ark", "een", "ill", "ode", "unt")]
COPIED = VectorSettings(compressed_from=200, least_dead=10_000)
FEW = RankingSettings(pruned_near=24, pruned_near_a_result=1)
LIMITS = (1, 6, 20)


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RankedBank, RankedBank]]:
    """Two banks of the same memories: one that has a copy of its vectors, and one that never has."""
    folder = tmp_path_factory.mktemp("pruned")
    with (
        ranked_bank(
            folder / "few", HashingEmbedder(128, window_tokens=24, overlap=4), settings=FEW, vectors=COPIED
        ) as few,
        ranked_bank(folder / "all", HashingEmbedder(128, window_tokens=24, overlap=4), settings=FEW) as whole,
    ):
        for bank in (few, whole):
            _fill(bank, Random(7))
        yield few, whole


def _fill(bank: RankedBank, random: Random) -> None:
    for start in range(0, 600, 200):
        records = bank.save(*[_memory(random, number) for number in range(start, start + 200)])
        _until_copied()
        for record in records[::17]:
            bank.bank.delete(record.id)
    bank.bank.pin(records[1].id, True)


def _memory(random: Random, number: int) -> NewMemory:
    said = " ".join(random.choices(WORDS, k=random.randint(2, 12)))
    return NewMemory(
        text=f"{said} n{number}{random.choice(['', '', '?'])}", created_at=NOW - random.randint(0, 90) * DAY
    )


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RankedBank, RankedBank]]:
    """The same of memories that somebody said in a session, some of them pinned or saved again."""
    folder = tmp_path_factory.mktemp("talks")
    with (
        ranked_bank(folder / "few", HashingEmbedder(128), settings=FEW, vectors=COPIED) as few,
        ranked_bank(folder / "all", HashingEmbedder(128), settings=FEW) as whole,
    ):
        for bank in (few, whole):
            random = Random(11)
            said = [_said(random, number) for number in range(1_500)]
            records = bank.save(*said)
            _until_copied()
            for record in records[::29]:
                bank.bank.delete(record.id)
            bank.save(*[_again(one) for one in said[1:1_500:250]])
            bank.bank.pin(records[2].id, True)
        yield few, whole


def _said(random: Random, number: int) -> NewMemory:
    session = number // 7
    words = [*Random(session).choices(WORDS, k=4), *random.choices(WORDS, k=random.randint(1, 9))]
    return NewMemory(
        text=f"{' '.join(random.sample(words, len(words)))} n{number}",
        author=random.choice(["Ann", "Bob", "Cem Arda", ""]),
        entities=("acme",) if not number % 200 else (),
        source=Source(session=f"s{session}", position=number % 7) if session % 5 else None,
        created_at=NOW - random.randint(0, 90) * DAY,
    )


def _again(one: NewMemory) -> NewMemory:
    """The same text, said again."""
    return NewMemory(text=one.text)


def _until_copied() -> None:
    for thread in threading.enumerate():
        if thread.name == "vectors-compress":
            thread.join(30.0)


@pytest.mark.parametrize("seed", range(30))
def test_the_answer_is_that_of_scoring_all(banks: tuple[RankedBank, RankedBank], seed: int) -> None:
    few, whole = banks
    query = " ".join(Random(seed).choices([*WORDS, "n7", "n99"], k=1 + seed % 5))
    for limit in LIMITS:
        found = few.ask(query, Mode.HYBRID, limit=limit)
        expected = whole.ask(query, Mode.HYBRID, limit=limit)
        assert found.degraded == expected.degraded == ()
        assert [one.text for one in found.results] == [one.text for one in expected.results], query
        assert [one.score for one in found.results] == pytest.approx([one.score for one in expected.results], rel=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_what_sessions_names_and_dates_add_is_that_of_scoring_all(
    talks: tuple[RankedBank, RankedBank], seed: int
) -> None:
    few, whole = talks
    about = ["", "Ann", "what did Bob say of acme", "in March", "Cem on 2 May 2024"][seed % 5]
    query = f"{about} {' '.join(Random(seed // 2).choices([*WORDS, 'n7', 'n99'], k=1 + seed % 6))}"
    for limit in LIMITS:
        found = few.ask(query, Mode.HYBRID, limit=limit)
        expected = whole.ask(query, Mode.HYBRID, limit=limit)
        assert [one.text for one in found.results] == [one.text for one in expected.results], query
        assert [one.score for one in found.results] == pytest.approx([one.score for one in expected.results], rel=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_words_alone_are_scored_where_they_can_match_and_the_answer_is_that_of_scoring_all(
    banks: tuple[RankedBank, RankedBank],
    talks: tuple[RankedBank, RankedBank],
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    query = f"{['', 'acme', 'Ann', 'in March'][seed % 4]} {' '.join(Random(seed).choices(WORDS, k=1 + seed % 3))}"
    choices: list[dict[str, Any]] = [{}, {"min_score": 0.5}, {"created_after": NOW - 30 * DAY}]
    fields = choices[seed % 3]
    few = [bank.ask(query, Mode.LEXICAL, limit=9, **fields) for bank in (banks[0], talks[0])]
    monkeypatch.setattr("recall.ranking.engine.score_few", lambda *_: None)
    for found, bank in zip(few, (banks[0], talks[0]), strict=True):
        expected = bank.ask(query, Mode.LEXICAL, limit=9, **fields)
        assert (found.results, found.below_min_score) == (expected.results, expected.below_min_score)


@pytest.mark.parametrize("place", [0, 1])
def test_most_queries_are_answered_by_few(
    banks: tuple[RankedBank, RankedBank],
    talks: tuple[RankedBank, RankedBank],
    monkeypatch: pytest.MonkeyPatch,
    place: int,
) -> None:
    scored_all = 0
    score = scoring.score

    def counted(*given: object) -> scoring.Scored:
        nonlocal scored_all
        scored_all += 1
        return score(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("recall.ranking.engine.score", counted)
    for seed in range(20):
        (banks, talks)[place][0].ask(" ".join(Random(seed).choices(WORDS, k=3)), Mode.HYBRID, limit=6)
    assert scored_all <= 5


@pytest.mark.parametrize("fields", [{"tags": ("a",)}, {"min_score": 0.5}, {"created_after": NOW - 9 * DAY}])
def test_filters_and_counts_are_answered_by_all(banks: tuple[RankedBank, RankedBank], fields: dict[str, Any]) -> None:
    found, expected = (bank.ask("bark deen", Mode.HYBRID, limit=6, **fields) for bank in banks)
    assert [one.text for one in found.results] == [one.text for one in expected.results]
    assert found.below_min_score == expected.below_min_score


def test_results_that_say_the_same_do_not_shorten_the_answer(tmp_path: Path) -> None:
    with ranked_bank(tmp_path, HashingEmbedder(128, window_tokens=24, overlap=4), settings=FEW, vectors=COPIED) as bank:
        _fill(bank, Random(3))
        bank.save(*[f"The gunt is {'very ' * n}bark" for n in range(40)])
        _until_copied()
        assert len(bank.ask("gunt bark", Mode.HYBRID, limit=6).results) == 6
