"""The cut is exact: filters hold before it, the first k are the first of k + 1, long texts count by the best window."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec
import pytest
from ranked_bank import DAY, NOW, RankedBank, ranked_bank, turn

from index.hashing import HashingEmbedder
from index.vectors import VectorSettings
from recall.memory.record import Kind
from recall.ranking.query import Mode
from recall.ranking.results import DegradedReason, RankedMemory
from recall.ranking.settings import RankingSettings

WORDS = ["otter", "heron", "river", "bank", "reed", "stone", "moss", "fern"]
EVERYTHING = 100
UNFOLDED = RankingSettings(fold_restatements=False)
MODES = (Mode.LEXICAL, Mode.HYBRID, Mode.SEMANTIC)


def fill(bank: RankedBank, random: Random, count: int = 60) -> None:
    for number in range(count):
        said = " ".join(random.choices(WORDS, k=random.randint(1, 14)))
        one = turn(f"{said} n{number}", "dana", f"s{number % 4}", number, NOW - number * DAY)
        kind = random.choice([Kind.FACT, Kind.PREFERENCE])
        tags = tuple(random.sample(["a", "b", "c"], k=random.randint(0, 3)))
        bank.save(msgspec.structs.replace(one, kind=kind, tags=tags))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_filters_hold_before_the_cut(tmp_path: Path, seed: int, mode: Mode) -> None:
    random = Random(seed)
    with ranked_bank(tmp_path, settings=UNFOLDED) as bank:
        fill(bank, random)
        query = " ".join(random.choices(WORDS, k=3))
        whole = bank.ask(query, mode, limit=EVERYTHING).results
        day = NOW - 30 * DAY
        for fields, passes in (
            ({"tags": ("a", "b")}, lambda one: {"a", "b"} <= set(one.record.tags)),
            ({"kinds": (Kind.PREFERENCE,)}, lambda one: one.record.kind is Kind.PREFERENCE),
            ({"created_after": day}, lambda one: one.record.created_at >= day),
            ({"created_before": day}, lambda one: one.record.created_at < day),
        ):
            expected = [(one.record.id, one.score) for one in whole if passes(one)]
            found = [(one.record.id, one.score) for one in bank.ask(query, mode, limit=EVERYTHING, **fields).results]
            assert found == expected, fields
            few = bank.ask(query, mode, limit=3, **fields).results
            assert [(one.record.id, one.score) for one in few] == expected[:3], fields


@pytest.mark.parametrize("mode", MODES)
def test_min_score_cuts_the_same_list_and_counts_what_it_cut(tmp_path: Path, mode: Mode) -> None:
    with ranked_bank(tmp_path, settings=UNFOLDED) as bank:
        fill(bank, Random(1))
        whole = bank.ask("otter river moss", mode, limit=EVERYTHING).results
        for least in (whole[0].score, whole[5].score, whole[-1].score):
            found = bank.ask("otter river moss", mode, limit=EVERYTHING, min_score=least)
            assert [_told(one) for one in found.results] == [_told(one) for one in whole if one.score >= least]
            assert found.below_min_score == len(whole) - len(found.results)


@pytest.mark.parametrize("settings", [UNFOLDED, RankingSettings()], ids=["unfolded", "folded"])
@pytest.mark.parametrize("mode", MODES)
def test_the_first_k_are_the_first_of_one_more(tmp_path: Path, mode: Mode, settings: RankingSettings) -> None:
    with ranked_bank(tmp_path, settings=settings) as bank:
        fill(bank, Random(2))
        whole = bank.texts("heron reed", mode, limit=EVERYTHING)
        for k in range(1, 25):
            assert bank.texts("heron reed", mode, limit=k) == whole[:k]


def test_a_long_text_counts_by_its_best_window(tmp_path: Path) -> None:
    embedder = HashingEmbedder(512, window_tokens=8, overlap=2)
    with ranked_bank(tmp_path, embedder) as bank:
        (long,) = bank.save(" ".join([*["moss fern stone reed"] * 6, "otter heron", *["bank stone fern moss"] * 6]))
        fill(bank, Random(3), 20)
        found = {one.record.id: one for one in bank.ask("otter heron", limit=EVERYTHING, explain=True).results}
        windows = embedder.encode(embedder.windows(bank.bank.text(long)))
        best = float((windows @ embedder.encode(["otter heron"])[0]).max())
        cosine = next(signal.value for signal in found[long.id].signals if signal.name == "semantic")
        assert len(windows) > 4
        assert cosine == pytest.approx(best, abs=1e-5)


def test_compressed_vectors_are_used_above_the_limit_and_told(tmp_path: Path) -> None:
    vectors = VectorSettings(dense_limit=300, compressed_from=300, fine_rows=0, train_rows=300, rerank=50)
    with ranked_bank(tmp_path, HashingEmbedder(64), vectors=vectors) as bank:
        fill(bank, Random(4), 280)
        assert DegradedReason.APPROXIMATE not in _reasons(bank)
        fill(bank, Random(5), 300)
        assert bank.index.embedded is not None
        _until_compressed(bank)
        assert DegradedReason.APPROXIMATE in _reasons(bank)


def _until_compressed(bank: RankedBank) -> None:
    """The build runs on a thread of its own."""
    import threading

    assert bank.index.embedded is not None
    for thread in threading.enumerate():
        if thread.name == "vectors-compress":
            thread.join(30.0)
    assert bank.index.embedded.vectors.compressed


def _reasons(bank: RankedBank) -> set[DegradedReason]:
    return {one.reason for one in bank.ask("otter river").degraded}


def _told(one: RankedMemory) -> tuple[str, float]:
    return one.record.id, one.score
