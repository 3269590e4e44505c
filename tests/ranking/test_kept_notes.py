"""A start reads no text again whose notes were kept, and trusts no notes that are not of its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from ranked_bank import ANALYZER, RankedBank, ranked_bank

from recall.memory.record import MemoryChanges, NewMemory, Record, Saved
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings

FILE = "texts.notes"


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[RankedBank]:
    """A hundred memories, some of them short questions, embedded."""
    with ranked_bank(tmp_path) as made:
        made.save(*[f"otter number{n} by the river{'?' * (n % 3 == 0)}{' and its bank' * (n % 7)}" for n in range(100)])
        yield made


@pytest.fixture
def kept(bank: RankedBank, tmp_path: Path) -> Path:
    """A folder in which an index of the bank was flushed."""
    index = opened(bank, tmp_path / "kept")
    index.flush()
    closed(bank, index)
    assert (tmp_path / "kept" / FILE).is_file()
    return tmp_path / "kept"


def opened(bank: RankedBank, folder: Path) -> BankIndex:
    return BankIndex.open(bank.bank, folder, ANALYZER, IndexSettings(), bank.slot.current)


def closed(bank: RankedBank, index: BankIndex) -> None:
    bank.bank.unsubscribe(index)
    index.close()


def read_by(bank: RankedBank, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the memories whose text is read from now on."""
    read: list[str] = []
    text = bank.bank.text

    def noted(record: Record) -> str:
        read.append(record.id)
        return text(record)

    monkeypatch.setattr(bank.bank, "text", noted)
    return read


def assert_as_anew(bank: RankedBank, folder: Path, tmp_path: Path) -> None:
    """An index over `folder` knows of every text what one over nothing knows."""
    index, anew = opened(bank, folder), opened(bank, tmp_path / "anew")
    for name in ("short", "root_short", "asks"):
        assert np.array_equal(getattr(index.columns, name), getattr(anew.columns, name)), name
    assert index._notes.keys == anew._notes.keys
    closed(bank, index)
    closed(bank, anew)


def test_a_start_reads_no_text_that_was_noted(
    bank: RankedBank, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as within:
        read = read_by(bank, within)
        closed(bank, opened(bank, kept))
        assert read == []
    assert_as_anew(bank, kept, tmp_path)


def test_what_was_changed_added_or_taken_away_since_is_read_and_the_rest_is_not(
    bank: RankedBank, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (bank.bank.records()[at].id for at in (3, 4, 5))
    bank.bank.update(first, MemoryChanges(text="a badger, is it?"))
    bank.bank.delete(second)
    bank.bank.pin(third, True)
    (added,) = bank.bank.save([NewMemory(text="a heron stands in the reeds")])
    assert isinstance(added, Saved)
    with monkeypatch.context() as within:
        read = read_by(bank, within)
        closed(bank, opened(bank, kept))
        assert sorted(set(read)) == sorted([first, third, added.record.id])
    assert_as_anew(bank, kept, tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw[:-1],
        lambda raw: raw[: len(raw) // 2],
        lambda _: b"",
        lambda raw: b"not notes\n" + raw,
        lambda raw: raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:],
        lambda raw: raw.replace(b'"format":1', b'"format":2'),
        lambda raw: raw.replace(b'"stamp":"', b'"stamp":"0'),
        lambda raw: bytes(len(raw)),
    ],
)
def test_notes_that_are_damaged_or_of_another_log_are_passed_over(
    bank: RankedBank, kept: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    path = kept / FILE
    path.write_bytes(spoil(path.read_bytes()))
    index = opened(bank, kept)
    assert len(index._notes.keys) == 100
    closed(bank, index)
    assert_as_anew(bank, kept, tmp_path)


def test_notes_that_were_deleted_under_the_running_service_are_written_again(bank: RankedBank, kept: Path) -> None:
    index = opened(bank, kept)
    (kept / FILE).unlink()
    index.flush()
    assert (kept / FILE).is_file()
    closed(bank, index)
