"""Anything that can be done to a bank, in any order: it stays what plain dictionaries say, and so do its indexes.

A real bank on a disk in RAM, which can be crashed; its index on a real one, whose files can be deleted. After every
step the records equal the model and recalls are as of the last write; after most of them the log is checked, and the
index is compared with one that was built from the log alone.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bank_model import Expected, Model
from faulty_files import Fault, MemoryFiles
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from memory_banks import DATA, banks_on
from ranked_bank import ANALYZER, DAY, LONG, StandingClock

from index.embedder import EmbedderState
from index.hashing import HashingEmbedder
from index.query_cache import QueryCache
from recall.check import check
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.beginning import History
from recall.memory.errors import MemoryServiceError, Refused, StorageFailure
from recall.memory.lifecycle import Role
from recall.memory.record import Actor, MemoryChanges, NewMemory, Record, Saved, Status
from recall.memory.segments import FOLDER as HISTORY
from recall.memory.settings import StorageSettings
from recall.memory.vacuum import vacuum
from recall.ranking.bank_index import BankIndex
from recall.ranking.engine import Engine
from recall.ranking.index_settings import IndexSettings
from recall.ranking.query import Mode, RecallQuery
from recall.ranking.results import DegradedReason
from recall.ranking.settings import RankingSettings

SUBJECTS = ("otter", "heron", "stoat", "badger", "weasel")
PLACES = ("river", "mill")
TEXTS = tuple(f"{subject} lives by the {place}" for place in PLACES for subject in SUBJECTS)
JOB = Actor("sweep", Role.JOB)
REQUESTS = ("", "", "r1", "r2", "r3")
MODELS = (16, 32)
QUICK_EXAMPLES, QUICK_STEPS = 50, 40
DEEP_EXAMPLES, DEEP_STEPS = 400, 60

texts = st.sampled_from(TEXTS)
places = st.integers(0, 20)


class Slot:
    """An embedder that a test loads, takes away and changes."""

    def __init__(self) -> None:
        self.embedder: HashingEmbedder | None = HashingEmbedder(MODELS[0])

    def current(self) -> HashingEmbedder | None:
        return self.embedder

    def state(self) -> EmbedderState:
        return EmbedderState("ready" if self.embedder is not None else "down", "test")

    def report_failure(self, error: Exception) -> None:
        """Nobody counts them here."""

    def report_success(self) -> None:
        """Nor these."""


class BankMachine(RuleBasedStateMachine):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="bank-machine-"))
        self.files = MemoryFiles()
        self.clock = StandingClock()
        self.slot = Slot()
        self.queries = QueryCache(self.slot)
        self.engine = Engine(RankingSettings(), self.queries, self.slot, self.clock, monotonic=lambda: 0.0)
        self.model = Model()

    @initialize()
    def begin(self) -> None:
        self._open()

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
        self.queries.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # writes

    @rule(text=texts, request=st.sampled_from(REQUESTS), ttl_days=st.sampled_from((0, 0, 2)))
    def save(self, text: str, request: str, ttl_days: int) -> None:
        now = self.clock.time
        before = self.model.requests.get(request)
        item = NewMemory(text=text, expires_at=now + ttl_days * DAY if ttl_days else 0)
        (saved,) = self.bank.save([item], request_id=request)
        if isinstance(saved, MemoryServiceError):
            assert request  # of another verb
            return
        if before is not None:
            assert saved.record.id == before
            return
        self._saved(saved, text, item.expires_at, now)
        if request:
            self.model.requests[request] = saved.record.id

    @rule(place=places, text=texts)
    def update(self, place: int, text: str) -> None:
        memory_id = self._any(place)
        holder = self.model.holder(text)
        try:
            written = self.bank.update(memory_id, MemoryChanges(text=text))
        except Refused:
            assert not self._live(memory_id) or holder not in (None, memory_id)
            return
        assert self._live(memory_id)
        self.model.change(memory_id, text=text, updated_at=written.record.updated_at)

    @rule(place=places)
    def delete(self, place: int) -> None:
        memory_id = self._any(place)
        try:
            written = self.bank.delete(memory_id)
        except Refused:
            assert not self._live(memory_id)
            return
        if written.seq:
            assert self._live(memory_id)
            self.model.change(memory_id, status=Status.RETIRED, updated_at=written.record.updated_at)

    @rule(place=places, pinned=st.booleans())
    def pin(self, place: int, pinned: bool) -> None:
        memory_id = self._any(place)
        try:
            written = self.bank.pin(memory_id, pinned)
        except Refused:
            assert not self._live(memory_id)
            return
        self.model.change(memory_id, pinned=pinned, updated_at=written.record.updated_at)

    @rule(loser=places, winner=places)
    def supersede(self, loser: int, winner: int) -> None:
        loser_id, winner_id = self._any(loser), self._any(winner)
        try:
            both = self.bank.supersede(loser_id, winner_id)
        except Refused:
            return
        assert loser_id != winner_id
        assert self._live(winner_id)
        self.model.change(loser_id, status=Status.SUPERSEDED, superseded_by=winner_id, updated_at=both.loser.updated_at)

    @rule()
    def sweep(self) -> None:
        ids = list(self.model.memories)
        for memory_id, result in zip(ids, self.bank.expire(ids, JOB), strict=True):
            if not isinstance(result, MemoryServiceError) and result.seq:
                one = self.model.memories[memory_id]
                assert one.expires_at
                assert one.expires_at <= self.clock.time
                assert not one.pinned
                self.model.change(memory_id, status=Status.EXPIRED, updated_at=result.record.updated_at)

    @rule(text=texts, nth=st.integers(1, 3), for_ever=st.booleans())
    def save_onto_a_failing_disk(self, text: str, nth: int, for_ever: bool) -> None:
        holder = self.model.holder(text)
        self.files.fault = Fault(self.files.calls + nth, for_ever=for_ever)
        try:
            (saved,) = self.bank.save([NewMemory(text=text)])
        except StorageFailure:
            saved = None
        self.files.fault = None
        if isinstance(saved, Saved):
            self._saved(saved, text, 0, self.clock.time)
        elif saved is None:
            assert self.model.holder(text) == holder
        if self.bank.read_only_reason is not None:
            with pytest.raises(MemoryServiceError):
                self.bank.save([NewMemory(text=text)])
            self.bank.reload()
            assert self.bank.read_only_reason is None
        if self.index.stale:
            self._built_anew()

    # reads

    @rule(text=texts, mode=st.sampled_from(tuple(Mode)), archive=st.booleans())
    def recall(self, text: str, mode: Mode, archive: bool) -> None:
        before = {record.id: record.updated_at for record in self.bank.records()}
        query = RecallQuery(text=text, mode=mode, limit=50, include_superseded=archive)
        ranked = self.engine.recall(self.index, self.bank, query, LONG)
        found = [result.text for result in ranked.results]
        assert len(found) == len({result.record.id for result in ranked.results})
        if not archive:
            assert set(found) <= self.model.findable(self.clock.time)
            if text in self.model.findable(self.clock.time) and ranked.retrieval != "semantic":
                assert text in found
        assert {record.id: record.updated_at for record in self.bank.records()} == before

    # what happens to the service

    @rule()
    def embed(self) -> None:
        embedder = self.slot.embedder
        if embedder is None:
            return
        while missing := self.index.missing(embedder.model_id, 64):
            self.index.store(embedder.model_id, [(key, embedder.encode([text])) for key, text in missing])
        assert self.index.coverage(embedder.model_id).share == 1.0

    @rule(model=st.sampled_from((None, *MODELS)))
    def embedder_changes(self, model: int | None) -> None:
        self.slot.embedder = None if model is None else HashingEmbedder(model)
        self.index.use_current_model()

    @rule(days=st.sampled_from((-400, -1, 1, 3, 3)))
    def clock_moves(self, days: int) -> None:
        self.clock.time += days * DAY

    @rule()
    def flush(self) -> None:
        self.index.flush()

    @rule()
    def close_and_open(self) -> None:
        self._close()
        self.files = self._unlocked(self.files)
        self._open()

    @rule()
    def crash_and_open(self) -> None:
        self._close(banks=False)
        self.files = self.files.after_crash()
        self._open()

    @rule(running=st.booleans(), which=st.sampled_from(("lexical", "vectors", "lexical.stamp", ".")))
    def derived_data_is_deleted(self, running: bool, which: str) -> None:
        if not running:
            self._close()
        target = self.folder / "derived" / which
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)
        if not running:
            self.files = self._unlocked(self.files)
            self._open()

    @rule()
    def trash_and_restore(self) -> None:
        self.index.close()
        trashed = self.banks.delete(DEFAULT_TENANT, "main")
        shutil.rmtree(self.folder / "derived", ignore_errors=True)
        self.banks.restore(DEFAULT_TENANT, trashed.trash_id)
        self._follow()

    @rule()
    def reload(self) -> None:
        assert self.bank.reload() == []

    @rule(taken_away=st.booleans())
    def vacuum(self, taken_away: bool) -> None:
        vacuum(self.bank, History.ARCHIVE, JOB)
        if taken_away:
            folder = self.bank.place.folder
            self.files.remove_tree(folder / HISTORY)
            self.files.sync_dir(folder)

    # what holds after every step

    @invariant()
    def the_bank_is_what_the_model_says(self) -> None:
        if not hasattr(self, "bank"):
            return
        found = {record.id: _seen(record, self.bank.text(record)) for record in self.bank.records()}
        assert found == self.model.memories
        assert self.index.seq == self.bank.last_seq
        assert not self.bank.stale

    @invariant()
    def the_log_is_sound_and_the_index_is_the_one_it_gives(self) -> None:
        if not hasattr(self, "bank"):
            return
        found = check(DATA, self.files)
        assert found.sound, found.findings
        with tempfile.TemporaryDirectory() as folder:
            rebuilt = self._index(self.bank, Path(folder))
            self.bank.unsubscribe(rebuilt)
            try:
                self._compare(rebuilt)
            finally:
                rebuilt.close()

    def _compare(self, rebuilt: BankIndex) -> None:
        size = len(self.bank.records())
        assert self.index.columns.accepted_count == rebuilt.columns.accepted_count == len(self.model.live())
        assert len(self.index.lexical) == len(rebuilt.lexical)
        assert len(self.index.entities) == len(rebuilt.entities)
        for word in ("otter", "heron", "stoat", "badger", "weasel", *PLACES):
            terms = ANALYZER.query_terms(word, 8).terms
            ours, theirs = (one.lexical.dense(terms, size).bm25 for one in (self.index, rebuilt))
            assert np.allclose(ours, theirs, atol=1e-5), word
        self._compare_vectors(size)

    def _compare_vectors(self, size: int) -> None:
        embedded, embedder = self.index.embedded, self.slot.embedder
        if embedded is None or embedder is None or embedded.model_id != embedder.model_id:
            return
        wanted = {record.ordinal for record in self.bank.records() if record.status is Status.ACCEPTED}
        assert embedded.coverage.total == len(wanted)
        vectors = embedded.vectors.dense(embedder.encode(["otter"])[0], size) if size else np.empty(0)
        held = set(np.flatnonzero(~np.isnan(vectors)).tolist())
        assert held <= wanted
        assert len(held) == embedded.coverage.embedded
        for ordinal in held:
            text = self.bank.text(self.bank.record_at(ordinal))
            expected = float(embedder.encode([text])[0] @ embedder.encode(["otter"])[0])
            assert vectors[ordinal] == pytest.approx(expected, abs=1e-4)

    # how

    def _built_anew(self) -> None:
        """A read that the index needed was refused: recalls say so until it is built anew, as a flusher does."""
        ranked = self.engine.recall(self.index, self.bank, RecallQuery(text=TEXTS[0], mode=Mode.LEXICAL), LONG)
        assert DegradedReason.INDEX_REBUILDING in [one.reason for one in ranked.degraded]
        self.bank.rebuild_stale()
        assert not self.index.stale

    def _open(self) -> None:
        self.banks: Banks = banks_on(self.files, self.clock, StorageSettings())  # type: ignore[arg-type]
        self.banks.open_or_create(DEFAULT_TENANT, "main")
        self._follow()

    def _follow(self) -> None:
        self.bank = self.banks.open(DEFAULT_TENANT, "main")
        self.index = self._index(self.bank, self.folder / "derived")

    def _index(self, bank: Bank, folder: Path) -> BankIndex:
        return BankIndex.open(bank, folder, ANALYZER, IndexSettings(), self.slot.current)

    def _close(self, banks: bool = True) -> None:
        self.index.close()
        if banks:
            self.banks.close()

    @staticmethod
    def _unlocked(files: MemoryFiles) -> MemoryFiles:
        files.forget_locks()
        return files

    def _any(self, place: int) -> str:
        ids = sorted(self.model.memories)
        if not ids:
            self.save(TEXTS[0], "", 0)
            ids = sorted(self.model.memories)
        return ids[place % len(ids)]

    def _live(self, memory_id: str) -> bool:
        return self.model.memories[memory_id].status.live

    def _saved(self, saved: Saved, text: str, expires_at: int, now: int) -> None:
        record = saved.record
        known = self.model.memories.get(record.id)
        if known is None:
            self._expired(text, now)
            self.model.memories[record.id] = Expected(text, expires_at=expires_at, updated_at=record.updated_at)
            return
        assert known.text == text
        assert known.status.live
        self.model.memories[record.id] = _seen(record, text)
        assert record.corroboration == known.corroboration + 1

    def _expired(self, text: str, now: int) -> None:
        """A new memory with a text that one past its time still held: the bank has recorded that."""
        holder = self.model.holder(text)
        if holder is not None:
            record = self.bank.get(holder)
            assert 0 < record.expires_at <= self.clock.time
            assert now <= self.clock.time
            self.model.change(holder, status=Status.EXPIRED, updated_at=record.updated_at)


def _seen(record: Record, text: str) -> Expected:
    return Expected(
        text=text,
        status=record.status,
        corroboration=record.corroboration,
        pinned=record.pinned,
        expires_at=record.expires_at,
        superseded_by=record.superseded_by,
        updated_at=record.updated_at,
    )


_COMMON: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": (HealthCheck.too_slow, HealthCheck.data_too_large),
}


def test_any_history_of_a_bank_leaves_what_plain_dictionaries_say() -> None:
    profile = settings(max_examples=QUICK_EXAMPLES, stateful_step_count=QUICK_STEPS, derandomize=True, **_COMMON)
    run_state_machine_as_test(BankMachine, settings=profile)


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_many_long_histories_of_a_bank_leave_what_plain_dictionaries_say(capsys: pytest.CaptureFixture[str]) -> None:
    profile = settings(max_examples=DEEP_EXAMPLES, stateful_step_count=DEEP_STEPS, **_COMMON)
    run_state_machine_as_test(BankMachine, settings=profile)
    with capsys.disabled():
        print(f"\n{DEEP_EXAMPLES} histories of a bank, of {DEEP_STEPS} steps at most")  # noqa: T201
