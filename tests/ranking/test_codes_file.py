"""A start takes the compressed copy of the vectors from disk; whatever else lies there costs time alone."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ranked_bank import ANALYZER, RankedBank, ranked_bank

from index.hashing import HashingEmbedder
from index.vectors import ScanState, VectorSettings
from recall.memory.files import DiskFiles
from recall.memory.record import MemoryChanges, NewMemory
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings

SETTINGS = IndexSettings(vectors=VectorSettings(compressed_from=100, least_dead=10_000, most_newer=20))


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[RankedBank]:
    """Three hundred memories, their vectors scanned compressed and flushed."""
    with ranked_bank(tmp_path, HashingEmbedder(64), vectors=SETTINGS.vectors) as made:
        made.save(*[f"otter number{n} by the river of stone{n % 7} and moss{n % 11}" for n in range(300)])
        settled(made.index)
        made.index.flush()
        yield made


@pytest.fixture
def kept(bank: RankedBank) -> Path:
    """The file."""
    (file,) = (bank.folder / "vectors").glob("*.codes")
    return file


def settled(index: BankIndex) -> ScanState:
    """How it scans once nothing is built any more."""
    for thread in threading.enumerate():
        if thread.name == "vectors-compress":
            thread.join(30.0)
    assert index.embedded is not None
    return index.embedded.vectors.scan


def reopened(bank: RankedBank, files: DiskFiles | None = None) -> BankIndex:
    bank.bank.unsubscribe(bank.index)
    bank.index = BankIndex.open(bank.bank, bank.folder, ANALYZER, SETTINGS, bank.slot.current, files)
    return bank.index


def learnt(bank: RankedBank) -> int:
    """Rows of which the codebook of the copy was learnt after a start."""
    return settled(reopened(bank)).trained_of


def test_a_start_learns_no_codebook_again(bank: RankedBank, kept: Path) -> None:
    learnt_of = settled(bank.index).trained_of
    assert learnt_of < 300
    answers = told(bank)
    scan = settled(reopened(bank))
    assert (scan.copied_rows, scan.trained_of) == (300, learnt_of)
    assert told(bank) == answers
    written = kept.stat().st_mtime_ns
    bank.index.flush()
    assert kept.stat().st_mtime_ns == written


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-4_000]),
    "another file": lambda file: file.write_bytes(b"{}\n" * 5_000),
    "a folder": lambda file: file.rename(file.with_suffix(".aside")).with_suffix(".codes").mkdir(),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_spoilt_copy_costs_a_codebook_and_no_answer(bank: RankedBank, kept: Path, damage: str) -> None:
    answers = told(bank)
    DAMAGE[damage](kept)
    assert learnt(bank) == 300
    assert told(bank) == answers
    bank.index.flush()
    if damage == "a folder":
        assert "vectors" in (bank.index.trouble.reason or "")
        kept.rmdir()
        bank.index.flush()
    assert bank.index.trouble.reason is None
    assert settled(reopened(bank)).trained_of == 300
    assert told(bank) == answers


def test_texts_that_came_went_and_changed_since_are_found(bank: RankedBank) -> None:
    learnt_of = settled(bank.index).trained_of
    records = bank.bank.records()
    for record in records[:30]:
        bank.bank.delete(record.id)
    bank.bank.update(records[40].id, MemoryChanges(text="a heron stands where the otter was"))
    bank.save("a stoat crosses the bridge")
    assert learnt(bank) == learnt_of
    assert bank.texts("heron stands")[0] == "a heron stands where the otter was"
    assert bank.texts("stoat crosses bridge")[0] == "a stoat crosses the bridge"
    found = bank.texts("otter number7 by the river of stone0 and moss7", limit=50)
    assert not any(f"number{n} " in text for n in range(30) for text in found)


def test_the_copy_of_another_model_goes_once_this_one_covers_the_bank(bank: RankedBank, kept: Path) -> None:
    other = kept.with_name("0" * 32 + ".codes")
    other.write_bytes(kept.read_bytes())
    bank.index.flush()
    assert not other.exists()
    assert kept.exists()


def test_a_copy_that_the_disk_refuses_is_told_and_costs_nothing_else(bank: RankedBank, kept: Path) -> None:
    class Full(DiskFiles):
        def write(self, path: Path, data: bytes) -> None:
            if path.name.startswith(kept.name):
                raise OSError(errno.ENOSPC, "full")
            super().write(path, data)

    kept.unlink()
    index = reopened(bank, Full())
    settled(index)
    index.flush()
    assert "vectors" in (index.trouble.reason or "")
    bank.bank.save([NewMemory(text="saved while the disk is full")])
    assert bank.texts("saved disk full")[0] == "saved while the disk is full"


def told(bank: RankedBank) -> list[list[str]]:
    return [bank.texts(f"otter moss{n} stone{n}", limit=20) for n in range(7)]
