"""When vectors take part, when they are left out, and what the answer says about it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from ranked_bank import RankedBank, ranked_bank

from index.embedder import EmbedderState
from index.errors import EmbedderUnavailable
from index.hashing import HashingEmbedder
from index.vectors import VectorSettings
from recall.memory.record import NewMemory, Saved
from recall.ranking.budget import Budget, budget
from recall.ranking.query import Mode
from recall.ranking.results import DegradedReason, Ranked
from recall.ranking.settings import BudgetSettings, RankingSettings

AT_ONCE = Budget(started=0.0, deadline=0.0)


class GatedEmbedder(HashingEmbedder):
    """Encodes only while its gate is open, and counts the texts."""

    def __init__(self) -> None:
        super().__init__(1024)
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.encoded: list[str] = []
        self.broken = False

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.entered.set()
        self.gate.wait(10.0)
        if self.broken:
            raise EmbedderUnavailable("test", "broken")
        self.encoded += texts
        return super().encode(texts)


class OtherModel(HashingEmbedder):
    """The same vectors under another name, to see whose are scored."""

    @property
    def model_id(self) -> str:
        return "another"


@pytest.fixture
def embedder() -> GatedEmbedder:
    return GatedEmbedder()


@pytest.fixture
def bank(tmp_path: Path, embedder: GatedEmbedder) -> Iterator[RankedBank]:
    with ranked_bank(tmp_path, embedder) as made:
        made.save("An otter swims in the river", "A heron stands in the reeds")
        embedder.encoded.clear()
        embedder.entered.clear()
        yield made
        embedder.gate.set()


def _reasons(ranked: Ranked) -> set[DegradedReason]:
    return {one.reason for one in ranked.degraded}


@pytest.mark.parametrize(
    ("mode", "retrieval"),
    [(Mode.AUTO, "hybrid"), (Mode.HYBRID, "hybrid"), (Mode.SEMANTIC, "semantic"), (Mode.LEXICAL, "lexical")],
)
def test_the_answer_names_the_mode_that_ran(bank: RankedBank, mode: Mode, retrieval: str) -> None:
    ranked = bank.ask("otter river", mode)
    assert (ranked.retrieval, ranked.degraded) == (retrieval, ())
    assert ranked.results[0].text == "An otter swims in the river"


def test_lexical_never_asks_the_embedder(bank: RankedBank, embedder: GatedEmbedder) -> None:
    bank.ask("otter", Mode.LEXICAL)
    bank.slot.now = EmbedderState("down")
    assert bank.ask("otter", Mode.LEXICAL).degraded == ()
    assert embedder.encoded == []


def test_a_late_vector_is_left_out_said_and_kept_for_the_next(bank: RankedBank, embedder: GatedEmbedder) -> None:
    embedder.gate.clear()
    late = bank.ask("otter", budget=AT_ONCE)
    assert (late.retrieval, _reasons(late)) == ("lexical", {DegradedReason.EMBED_LATE})
    assert late.results[0].text == "An otter swims in the river"
    embedder.gate.set()
    bank.queries.submit("otter").result(10.0)
    again = bank.ask("otter", budget=AT_ONCE)
    assert (again.retrieval, again.degraded) == ("hybrid", ())
    assert embedder.encoded == ["otter"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("off", DegradedReason.EMBEDDER_OFF),
        ("loading", DegradedReason.EMBEDDER_LOADING),
        ("down", DegradedReason.EMBEDDER_DOWN),
    ],
)
@pytest.mark.parametrize("mode", [Mode.AUTO, Mode.HYBRID, Mode.SEMANTIC])
def test_without_an_embedder_words_answer_and_the_reason_is_told(
    bank: RankedBank, state: Literal["off", "loading", "down"], reason: DegradedReason, mode: Mode
) -> None:
    bank.slot.embedder, bank.slot.now = None, EmbedderState(state)
    ranked = bank.ask("otter", mode)
    assert (ranked.retrieval, _reasons(ranked)) == ("lexical", {reason})
    assert ranked.results[0].text == "An otter swims in the river"


def test_an_embedder_that_fails_costs_the_vectors_alone(bank: RankedBank, embedder: GatedEmbedder) -> None:
    embedder.broken = True
    ranked = bank.ask("otter")
    assert (ranked.retrieval, _reasons(ranked)) == ("lexical", {DegradedReason.EMBEDDER_DOWN})


def test_after_a_change_of_model_recall_is_lexical_until_coverage_is_back(bank: RankedBank) -> None:
    bank.slot.embedder = OtherModel(1024)
    ranked = bank.ask("otter")
    assert (ranked.retrieval, _reasons(ranked)) == ("lexical", {DegradedReason.BACKFILL_BEHIND})
    assert "2 of 2" in ranked.degraded[0].detail
    bank.index.missing("another", 1)
    assert bank.ask("otter").retrieval == "lexical"
    assert bank.index.coverage("another").share == 0.0
    bank.embed()
    assert bank.ask("otter").retrieval == "hybrid"
    assert bank.index.coverage("another").share == 1.0


def test_a_write_that_came_while_the_vector_was_made_is_in_the_answer(
    bank: RankedBank, embedder: GatedEmbedder
) -> None:
    embedder.gate.clear()
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(bank.ask, "otter")
        assert embedder.entered.wait(10.0)
        saved = bank.bank.save([_memory("An otter came meanwhile")])[0]
        assert isinstance(saved, Saved)
        embedder.gate.set()
        ranked = asking.result(10.0)
    assert ranked.as_of_seq == saved.seq
    assert "An otter came meanwhile" in [result.text for result in ranked.results]


def test_a_fresh_memory_without_a_vector_is_found_and_not_punished(bank: RankedBank) -> None:
    bank.save(*[f"filler {n}" for n in range(20)])
    bank.bank.save([_memory("An otter sleeps on the bank")])
    ranked = bank.ask("otter sleeps")
    assert ranked.retrieval == "hybrid"
    assert _reasons(ranked) == {DegradedReason.BACKFILL_BEHIND}
    assert [result.text for result in ranked.results][:2] == [
        "An otter sleeps on the bank",
        "An otter swims in the river",
    ]


def test_a_large_import_switches_vectors_off_until_most_are_embedded(bank: RankedBank) -> None:
    bank.bank.save([_memory(f"imported {n}") for n in range(50)])
    assert bank.ask("otter").retrieval == "lexical"
    bank.embed()
    assert bank.ask("otter").retrieval == "hybrid"


def test_a_compressed_scan_finds_the_same_best_and_says_that_it_may_not(tmp_path: Path) -> None:
    texts = [f"{_word(n)} {_word(n * 7)} {_word(n * 31)} note {n}" for n in range(1_200)]
    compressed = VectorSettings(dense_limit=1_000, compressed_from=1_000, fine_rows=0, least_dead=10_000)
    with ranked_bank(tmp_path / "a", HashingEmbedder(256)) as exact:
        exact.save(*texts)
        with ranked_bank(tmp_path / "b", HashingEmbedder(256), vectors=compressed) as scanned:
            scanned.save(*texts)
            embedded = scanned.index.embedded
            assert embedded is not None
            for _ in range(1_000):
                if embedded.vectors.compressed or threading.Event().wait(0.02):
                    break
            for query in (f"{_word(3)} {_word(21)}", f"note {_word(50)}", f"{_word(7)} {_word(8)} {_word(9)}"):
                ranked = scanned.ask(query, limit=5)
                assert (ranked.retrieval, _reasons(ranked)) == ("hybrid", {DegradedReason.APPROXIMATE})
                expected = exact.ask(query, limit=5)
                assert expected.degraded == ()
                assert [one.text for one in ranked.results][:3] == [one.text for one in expected.results][:3]
                assert ranked.results[0].score == pytest.approx(expected.results[0].score, rel=0.2)


@pytest.mark.parametrize(
    ("asked_s", "call_s", "expected"),
    [
        (None, None, 0.3),
        (0.1, None, 0.1),
        (0.1, 5.0, 0.1),
        (5.0, 1.0, 0.985),
        (100.0, None, 10.0),
        (None, 0.01, 0.0),
    ],
)
def test_the_budget_is_the_least_of_what_is_asked_left_and_allowed(
    asked_s: float | None, call_s: float | None, expected: float
) -> None:
    assert budget(BudgetSettings(), 7.0, asked_s, call_s).remaining(7.0) == pytest.approx(expected)


def test_auto_waits_for_a_share_of_the_budget_and_hybrid_for_all_of_it() -> None:
    allowed, settings = Budget(started=10.0, deadline=20.0), RankingSettings(auto_share=0.5)
    assert allowed.wait_until(Mode.AUTO, settings) == 15.0
    assert allowed.wait_until(Mode.HYBRID, settings) == 20.0


def _memory(text: str) -> NewMemory:
    return NewMemory(text=text)


def _word(n: int) -> str:
    return f"w{n * 7919 % 997}"
