"""A call waits for a bank that is being opened no longer than it has time; the opening goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from index.analyzer import Analyzer
from recall.memory.bank import Bank
from recall.memory.banks import Banks
from recall.memory.clock import SystemClock
from recall.memory.errors import BankNotFound
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings
from recall.server.live import Indexes, LiveBanks
from recall.server.refusals import BankOpening, Stopping
from recall.server.warming import Warmer

PATIENCE_S = 30.0


class Gate:
    """Builds indexes once it is open."""

    def __init__(self) -> None:
        self.open = threading.Event()

    def make(self, bank: Bank) -> BankIndex:
        self.open.wait(PATIENCE_S)
        return BankIndex.open(bank, bank.place.folder / "derived", Analyzer(), IndexSettings(), lambda: None)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def live(tmp_path: Path, gate: Gate) -> Iterator[LiveBanks]:
    """Banks of a data folder that holds the closed bank `demo` with one memory, opened through the gate."""
    with_banks = partial(Banks, tmp_path, StorageSettings(), DiskFiles(), SystemClock())
    before = with_banks()
    before.create("default", "demo").save([NewMemory(text="hello")])
    before.close()
    indexes = Indexes(gate.make, BankIndex.close)
    banks = with_banks(indexes.opened, indexes.closed)
    live = LiveBanks(banks, indexes, create_on_save=True)
    yield live
    gate.open.set()
    live.close()
    banks.close()


def test_a_call_without_time_is_told_that_the_bank_is_being_opened_and_a_later_one_gets_it(
    live: LiveBanks, gate: Gate
) -> None:
    with pytest.raises(BankOpening), live.lease("demo", 0.01):
        pass
    assert not live.is_open("demo")
    gate.open.set()
    with live.lease("demo", PATIENCE_S) as found:
        assert len(found.bank.records()) == 1
    assert live.is_open("demo")
    assert [one.name for one in live.opened()] == ["demo"]


def test_many_calls_wait_for_one_opening(live: LiveBanks, gate: Gate) -> None:
    seen: list[BankIndex] = []

    def ask() -> None:
        with live.lease("demo", PATIENCE_S) as found:
            seen.append(found.index)

    callers = [threading.Thread(target=ask) for _ in range(8)]
    for caller in callers:
        caller.start()
    gate.open.set()
    for caller in callers:
        caller.join()
    assert len(seen) == 8
    assert len(set(map(id, seen))) == 1


def test_a_save_makes_a_missing_bank_and_a_read_does_not(live: LiveBanks, gate: Gate) -> None:
    gate.open.set()
    with pytest.raises(BankNotFound), live.lease("new", PATIENCE_S):
        pass
    with live.lease_to_save("new", PATIENCE_S) as made:
        made.bank.save([NewMemory(text="first")])
    with live.lease("new", PATIENCE_S) as found:
        assert len(found.bank.records()) == 1


def test_no_bank_is_opened_once_the_server_stops(live: LiveBanks, gate: Gate) -> None:
    gate.open.set()
    live.close()
    with pytest.raises(Stopping), live.lease("demo", PATIENCE_S):
        pass


def test_banks_are_opened_before_anybody_asks(live: LiveBanks, gate: Gate) -> None:
    gate.open.set()
    warmer = Warmer(live, most=1)
    warmer.start()
    while not live.is_open("demo"):
        pass
    warmer.close()
