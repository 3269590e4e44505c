"""Which logs are written anew by themselves, and when."""

from __future__ import annotations

import pytest
from memory_banks import banks_on, saved

from recall.memory.banks import DEFAULT_TENANT
from recall.memory.beginning import VACUUM
from recall.memory.record import MemoryChanges
from recall.memory.settings import StorageSettings
from recall.server.vacuuming import Vacuuming


@pytest.mark.parametrize(
    ("share", "least", "due"),
    [(0.0, 0, False), (0.5, 0, True), (0.99, 0, False), (0.5, 1_000_000, False)],
    ids=["off", "half of it superseded", "not enough of it", "a small log"],
)
def test_a_log_is_written_anew_past_both_thresholds(share: float, least: int, due: bool) -> None:
    settings = StorageSettings(vacuum_share=share, vacuum_least_bytes=least)
    bank = banks_on(settings=settings).create(DEFAULT_TENANT, "main")
    vacuuming, memory = Vacuuming(), saved(bank, "said").record
    for number in range(20):
        bank.update(memory.id, MemoryChanges(text=f"said anew, for the {number}th time"))
    assert [vacuuming.look(bank) for _ in range(2)] == [due, False]
    by = [event.actor.id for event in bank.events(1) if event.op == VACUUM]
    assert by == (["vacuum"] if due else [])
    assert len(bank.history(memory.id)) == 21


def test_thresholds_are_checked() -> None:
    for settings in ({"vacuum_share": 1.0}, {"vacuum_share": -0.1}, {"vacuum_least_bytes": -1}):
        with pytest.raises(ValueError, match="must"):
            StorageSettings(**settings)
