"""A large bank answers by words before its vectors are loaded, says so, and then by both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ranked_bank import ANALYZER, RankedBank, ranked_bank

from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings
from recall.ranking.results import DegradedReason


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[RankedBank]:
    """Three memories with vectors, as a start opens a bank of more than two."""
    with ranked_bank(tmp_path) as made:
        made.save("otters live by the river", "herons live by the mill", "stoats live in the wood")
        made.index.flush()
        made.bank.unsubscribe(made.index)
        made.index.close()
        settings = IndexSettings(vectors_at_once=2)
        made.index = BankIndex.open(made.bank, made.folder, ANALYZER, settings, made.slot.current)
        yield made


def test_words_answer_first_and_both_once_the_vectors_are_there(bank: RankedBank) -> None:
    early = bank.ask("otters by the river")
    assert early.results[0].text == "otters live by the river"
    assert [one.reason for one in early.degraded] == [DegradedReason.BACKFILL_BEHIND]
    assert early.retrieval == "lexical"
    bank.index.use_current_model()
    late = bank.ask("otters by the river")
    assert (late.retrieval, late.degraded) == ("hybrid", ())


def test_what_is_saved_before_they_are_there_is_found(bank: RankedBank) -> None:
    bank.save("weasels live under the bridge")
    late = bank.ask("weasels under the bridge")
    assert (late.retrieval, late.results[0].text) == ("hybrid", "weasels live under the bridge")


def test_an_index_that_was_closed_meanwhile_loads_none(bank: RankedBank) -> None:
    bank.index.close()
    bank.index.use_current_model()
    assert bank.index.embedded is None
