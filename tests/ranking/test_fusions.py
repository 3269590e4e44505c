"""Every fusion on offer: named alike everywhere, a total order of the same results, parts that add up."""

from __future__ import annotations

from pathlib import Path

import pytest
from ranked_bank import RankedBank, ranked_bank, turn

from recall.ranking.fusions import FUSIONS
from recall.ranking.query import Mode
from recall.ranking.results import RankedMemory
from recall.ranking.settings import Fusion, RankingSettings
from recall.v1 import recall_service_pb2

QUERY = "otter river heron"
PLAIN = RankingSettings(neighbour=0.0, entity=0.0, dates=0.0, bare_question=0.0)


def fill(bank: RankedBank) -> None:
    words = ["otter", "river", "heron", "stone", "moss", "fern", "reed"]
    for number in range(30):
        text = " ".join(words[(number * step) % 7] for step in range(1, 2 + number % 5)) + f" n{number}"
        bank.save(turn(text, "dana", f"s{number % 3}", number))


def total(result: RankedMemory) -> float:
    return sum(signal.contribution for signal in result.signals if signal.name != "recency")


def test_settings_contract_and_registry_know_the_same_fusions() -> None:
    contract = [name.removeprefix("FUSION_").lower() for name in recall_service_pb2.Fusion.keys()]  # noqa: SIM118
    assert contract == ["unspecified", *(fusion.value for fusion in Fusion)]
    assert set(FUSIONS) == set(Fusion)


@pytest.mark.parametrize("fusion", Fusion)
def test_every_fusion_orders_the_same_memories(tmp_path: Path, fusion: Fusion) -> None:
    """Without neighbours: what they lend admits, and each fusion has its own to lend."""
    with ranked_bank(tmp_path, settings=PLAIN) as bank:
        fill(bank)
        found = bank.ask(QUERY, limit=100, explain=True, fusion=fusion)
        assert found.retrieval == "hybrid"
        assert {one.record.id for one in found.results} == {one.record.id for one in bank.ask(QUERY, limit=100).results}
        totals = [total(one) for one in found.results]
        assert totals == sorted(totals, reverse=True)
        assert [one.score for one in found.results if one.score > 1] == pytest.approx(
            [value for value in totals if value > 1]
        )
        for k in (1, 5, 9):
            assert bank.texts(QUERY, limit=k, fusion=fusion) == [one.text for one in found.results][:k]


@pytest.mark.parametrize("fusion", Fusion)
def test_the_setting_and_the_request_give_one_order(tmp_path: Path, fusion: Fusion) -> None:
    with ranked_bank(tmp_path / "a", settings=RankingSettings(fusion=fusion)) as bank:
        fill(bank)
        assert bank.texts(QUERY, limit=50) == bank.texts(QUERY, limit=50, fusion=fusion)


@pytest.mark.parametrize("fusion", Fusion)
def test_without_vectors_every_fusion_is_the_words_alone(tmp_path: Path, fusion: Fusion) -> None:
    with ranked_bank(tmp_path) as bank:
        fill(bank)
        assert bank.texts(QUERY, Mode.LEXICAL, fusion=fusion) == bank.texts(QUERY, Mode.LEXICAL)


def test_reciprocal_rank_is_by_the_places_in_both_legs(tmp_path: Path) -> None:
    with ranked_bank(tmp_path, settings=PLAIN) as bank:
        fill(bank)
        found = bank.ask(QUERY, limit=50, explain=True, fusion=Fusion.RECIPROCAL_RANK).results
        legs = {
            name: sorted({s.value for r in found for s in r.signals if s.name == name and s.value > 0}, reverse=True)
            for name in ("lexical", "semantic")
        }
        for name, values in legs.items():
            parts = {s.value: s.contribution for r in found for s in r.signals if s.name == name}
            ordered = [parts[value] for value in values]
            assert ordered == sorted(ordered, reverse=True)
            assert ordered[0] == pytest.approx(max(ordered))


def test_the_weighted_sum_is_bm25_and_twice_the_cosine(tmp_path: Path) -> None:
    with ranked_bank(tmp_path, settings=PLAIN) as bank:
        fill(bank)
        found = bank.ask(QUERY, limit=50, explain=True, fusion=Fusion.WEIGHTED_SUM).results
        values = [{s.name: s.value for s in r.signals} for r in found]
        sums = [v.get("lexical", 0.0) + 2.2 * v.get("semantic", 0.0) for v in values]
        assert sums == sorted(sums, reverse=True)
