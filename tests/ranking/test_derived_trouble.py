"""A disk that refuses derived data fails no write and no recall; what was lost is built again, and that is said."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_files import Fault, MemoryFiles
from ranked_bank import ANALYZER, LONG, RankedBank, ranked_bank

from index.lexical import LexicalSettings
from recall.memory.record import NewMemory
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.results import DegradedReason, Ranked

FOR_EVER = 10**9


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[RankedBank]:
    """Forty memories, embedded."""
    with ranked_bank(tmp_path) as made:
        made.save(*[f"otter number{n} by the river" for n in range(40)])
        yield made


def index_of(bank: RankedBank, folder: Path, files: MemoryFiles | None = None, at_once: int = 5_000) -> BankIndex:
    settings = IndexSettings(rebuilt_at_once=at_once, lexical=LexicalSettings(tail_documents=16))
    return BankIndex.open(bank.bank, folder, ANALYZER, settings, bank.slot.current, files)


def files_with(folder: Path) -> MemoryFiles:
    """A disk in RAM that has this folder: what Tantivy writes beside it lies in the real one."""
    files = MemoryFiles()
    for path in (*reversed(folder.parents), folder):
        files.make_dir(path)
    return files


def asked(bank: RankedBank, index: BankIndex, text: str = "number7", mode: Mode = Mode.HYBRID) -> Ranked:
    return bank.engine.recall(index, bank.bank, RecallQuery(text=text, mode=mode, limit=50), LONG)


def embed(bank: RankedBank, index: BankIndex) -> None:
    embedder = bank.slot.embedder
    assert embedder is not None
    while missing := index.missing(embedder.model_id, 64):
        index.store(embedder.model_id, [(key, embedder.encode([text])) for key, text in missing])


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_sidecar_that_cannot_be_opened_or_written_costs_no_answer_and_is_told(
    bank: RankedBank, tmp_path: Path, code: int
) -> None:
    files = files_with(tmp_path)
    files.fault = Fault(files.calls + 1, code, for_ever=True)
    index = index_of(bank, tmp_path / "faulty", files)
    assert index.trouble.reason is not None
    assert "vectors" in index.trouble.reason
    behind = {one.reason for one in asked(bank, index).degraded}
    assert behind == {DegradedReason.BACKFILL_BEHIND}
    embed(bank, index)  # in RAM alone
    ranked = asked(bank, index)
    assert ranked.retrieval == "hybrid"
    assert ranked.results[0].text == "otter number7 by the river"
    bank.bank.save([NewMemory(text="saved while the disk is full")])
    assert asked(bank, index, "full disk").results[0].text == "saved while the disk is full"
    files.fault = None
    index.flush()
    assert index.trouble.reason is None or "vectors" not in index.trouble.reason
    bank.bank.unsubscribe(index)
    index.close()


@pytest.mark.parametrize("nth", range(1, 12))
def test_a_fault_in_any_call_of_a_sidecar_loses_nothing_that_matters(
    bank: RankedBank, tmp_path: Path, nth: int
) -> None:
    files = files_with(tmp_path)
    index = index_of(bank, tmp_path / "faulty", files)
    embed(bank, index)
    files.fault = Fault(files.calls + nth)
    for number in range(4):
        bank.bank.save([NewMemory(text=f"heron number{number}")])
        embed(bank, index)
        index.flush()
    files.fault = None
    assert index.coverage(bank.slot.embedder.model_id).share == 1.0  # type: ignore[union-attr]
    reopened = index_of(bank, tmp_path / "faulty", files)
    embed(bank, reopened)
    assert [r.text for r in asked(bank, reopened).results] == [r.text for r in asked(bank, index).results]
    for one in (index, reopened):
        bank.bank.unsubscribe(one)
        one.close()


def test_words_that_cannot_be_flushed_are_told_until_a_flush_succeeds(bank: RankedBank, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    index = index_of(bank, folder)
    shutil.rmtree(folder)
    folder.write_text("a file where the folder should be")
    bank.bank.save([NewMemory(text="kept all the same")])
    index.flush()
    assert "words" in (index.trouble.reason or "")
    assert asked(bank, index, "kept").results[0].text == "kept all the same"
    folder.unlink()
    index.flush()
    assert index.trouble.reason is None
    bank.bank.unsubscribe(index)
    index.close()


def test_vectors_of_deleted_texts_and_of_other_models_do_not_stay_on_disk(bank: RankedBank) -> None:
    folder = bank.folder / "vectors"
    (file,) = folder.iterdir()
    (folder / ("0" * 32 + ".vec")).write_bytes(b"of a model of the past")
    before = file.stat().st_size
    for record in bank.bank.records()[:20]:
        bank.bank.delete(record.id)
    bank.index.flush()
    assert [one.name for one in folder.iterdir()] == [file.name]
    assert file.stat().st_size < before * 0.6
    assert bank.index.coverage(bank.slot.embedder.model_id).share == 1.0  # type: ignore[union-attr]
    assert bank.reopened().missing(bank.slot.embedder.model_id, 10) == []  # type: ignore[union-attr]


def test_derived_data_deleted_under_a_running_index_is_written_anew_at_the_next_flush(
    bank: RankedBank, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    index = index_of(bank, folder)
    embed(bank, index)
    index.flush()
    bank.bank.save([NewMemory(text=f"heron number{n}") for n in range(40)])
    index.flush()
    shutil.rmtree(folder)
    bank.bank.save([NewMemory(text=f"stoat number{n}") for n in range(40)])
    expected = [result.text for result in asked(bank, index, mode=Mode.LEXICAL).results]
    assert len(expected) == 3
    embed(bank, index)
    index.flush()
    index.flush()
    assert index.trouble.reason is None
    index.close()
    bank.bank.unsubscribe(index)
    again = index_of(bank, folder)
    assert again.lexical.unflushed == 0  # nothing was built anew
    assert [result.text for result in asked(bank, again, mode=Mode.LEXICAL).results] == expected
    assert again.coverage(bank.slot.embedder.model_id).share == 1.0  # type: ignore[union-attr]
    bank.bank.unsubscribe(again)
    again.close()


def test_lost_words_of_a_large_bank_are_indexed_beside_its_recalls_which_say_so(
    bank: RankedBank, tmp_path: Path
) -> None:
    index = index_of(bank, tmp_path / "other", at_once=10)
    rebuilding = index.rebuilding
    bank.bank.save([NewMemory(text="saved while words are indexed")])
    assert asked(bank, index, "saved").results[0].text == "saved while words are indexed"
    assert rebuilding is None or rebuilding.wait(30)
    assert index.rebuilding is None
    assert len(index.lexical) == 41
    assert [one.reason for one in asked(bank, index).degraded if one.reason is DegradedReason.INDEX_REBUILDING] == []
    index.flush()
    bank.bank.unsubscribe(index)
    index.close()


def test_a_rebuild_that_cannot_go_on_is_said_in_every_recall(bank: RankedBank, tmp_path: Path) -> None:
    index = index_of(bank, tmp_path / "other", at_once=10)
    rebuilding = index.rebuilding
    assert rebuilding is None or rebuilding.wait(30)
    index.lexical.rebuild((), bank.bank.last_seq)
    with index._writes:  # nothing can be indexed now
        index._rebuild_beside(list(range(40)), bank.bank.last_seq)
        index._start_rebuilding()
        said = {one.reason: one.detail for one in asked(bank, index).degraded}
        assert set(said) == {DegradedReason.INDEX_REBUILDING, DegradedReason.BACKFILL_BEHIND}
        assert "30 of 30" in said[DegradedReason.INDEX_REBUILDING]
        index.flush()  # a half-built index is never a checkpoint
        assert not (tmp_path / "other" / "lexical" / "checkpoint.json").exists()
    assert index.rebuilding is None or index.rebuilding.wait(30)
    assert len(index.lexical) == 40
    bank.bank.unsubscribe(index)
    index.close()


def test_an_index_that_missed_a_write_says_so_and_is_built_anew(
    bank: RankedBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as broken:
        broken.setattr(bank.index.entities, "apply", fail)
        bank.bank.save([NewMemory(text="missed by the index")])
    assert bank.index.stale
    said = asked(bank, bank.index, "missed")
    assert DegradedReason.INDEX_REBUILDING in [one.reason for one in said.degraded]
    bank.bank.rebuild_stale()
    assert not bank.index.stale
    assert asked(bank, bank.index, "missed").results[0].text == "missed by the index"
    bank.bank.save([NewMemory(text="heard again")])
    assert asked(bank, bank.index, "heard").results[0].text == "heard again"
