"""Everything of one bank that can be thrown away and built again, kept in step with its log.

    columns · sessions       in RAM, from the records
    lexical · entities       words and names of the accepted memories
    archive                  words of superseded, retired and expired ones, built when first asked for
    embedded                 vectors of the accepted memories under the current model

A write is applied after it is on disk and before it is acknowledged, in small steps under a latch: a recall beside it
sees whole steps, is as of `seq`, and waits for RAM alone. Whatever reads a disk is done before the latch is taken.

What the disk refuses here fails no write and no recall: see `disk_trouble`. Words that a start does not find on disk
are indexed at once in a small bank, and in a large one beside its recalls: see `rebuilding`.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from index.analyzer import Analyzer
from index.embedder import Embedder
from index.entities import Entities
from index.lexical import Lexical
from index.sidecar import Sidecar, text_key
from recall.memory.bank import Bank
from recall.memory.beginning import KEPT
from recall.memory.files import DiskFiles, Files
from recall.memory.record import Change, Record
from recall.ranking.archive import Archive
from recall.ranking.columns import Columns, archived, indexed
from recall.ranking.disk_trouble import DiskTrouble
from recall.ranking.embedded import Coverage, Embedded, Windows
from recall.ranking.index_settings import IndexSettings
from recall.ranking.kept_notes import KeptNotes
from recall.ranking.latch import Latch
from recall.ranking.lexical_stamp import Stamp, can_be_read, load_stamp, save_stamp, stamp_path, touched_after
from recall.ranking.rebuilding import Rebuilding
from recall.ranking.recency import RecencyCache
from recall.ranking.sessions import Sessions
from recall.ranking.text_notes import TextNotes
from recall.ranking.vector_files import VectorFiles
from recall.ranking.work import Touched, gather, indexed_text, names_of

_WORDS, _VECTORS, _NOTES = "words", "vectors", "notes of texts"


class BankIndex:
    """The derived side of one bank: a `Derived` of it and a `BackfillSource` of its vectors."""

    def __init__(
        self,
        bank: Bank,
        folder: Path,
        analyzer: Analyzer,
        settings: IndexSettings,
        embedder: Callable[[], Embedder | None],
        files: Files,
    ) -> None:
        self.bank = bank
        self.analyzer = analyzer
        self.columns = Columns()
        self.sessions = Sessions(len(settings.ranking.near_shares))
        self.entities = Entities(settings.entities)
        self.lexical = Lexical(analyzer, settings.lexical, folder / "lexical")
        self.archive = Archive(analyzer, settings.lexical)
        self.embedded: Embedded | None = None
        self.recency = RecencyCache()
        self.seq = 0
        """Every write up to this one is in."""
        self.rebuilding: Rebuilding | None = None
        """Set while words that were lost are indexed anew."""
        self.trouble = DiskTrouble(bank.name)
        self._folder = folder
        self._files = files
        self._vector_files = VectorFiles(folder, files)
        self._settings = settings
        self._embedder = embedder
        self._latch = Latch()
        self._writes = threading.Lock()
        self._sidecars = threading.Lock()
        self._flushing = threading.Lock()
        self._closed = False
        self._notes = TextNotes()
        self._kept_notes = KeptNotes(folder, files)

    @classmethod
    def open(
        cls,
        bank: Bank,
        folder: Path,
        analyzer: Analyzer,
        settings: IndexSettings,
        embedder: Callable[[], Embedder | None],
        files: Files | None = None,
    ) -> "BankIndex":
        """Load what lies in `folder`, build what it lacks, and follow the bank from now on.

        `embedder` gives the one that is loaded now, if any; its vectors are then loaded at once. `files` is the door
        to the disk for all but the lexical segments, which Tantivy writes; the real one unless given.
        """
        index = cls(bank, folder, analyzer, settings, embedder, files or DiskFiles())
        with index._writes:
            bank.subscribe(index)
            index._load(trust=True)
            index._start_rebuilding()
        if index.columns.accepted_count <= settings.vectors_at_once:
            index.use_current_model()
        return index

    @property
    def stale(self) -> bool:
        """It failed to take a write in, and is told of none until it is built anew."""
        return self in self.bank.stale

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Inside, nothing of this index changes. Hold it for one pass, never while waiting."""
        with self._latch.reading():
            yield

    def apply(self, changes: Sequence[Change], last_seq: int) -> None:
        """Take in writes, in order. Changes that are in already are passed over."""
        with self._writes:
            if changes and changes[0].op == KEPT:  # the memories are what they were, but their texts lie elsewhere
                with self._latch.writing():
                    self.columns.records[: len(changes)] = [change.after for change in changes]
                    self.lexical.apply(last_seq, [], [])
            fresh = [change for change in changes if change.seq > self.seq and change.op != KEPT]
            size = self._settings.changes_per_step
            for start in range(0, len(fresh), size):
                step = fresh[start : start + size]
                self._apply(gather(step, self.bank.text), step[-1].seq)
            with self._latch.writing():
                self.seq = max(self.seq, last_seq)

    def rebuild(self, last_seq: int) -> None:
        """The bank was read anew: build everything from it, beside what answers, and publish all of it or nothing."""
        with self._flushing, self._writes:
            fresh = BankIndex(self.bank, self._folder, self.analyzer, self._settings, self._embedder, self._files)
            fresh._load(trust=False)
            fresh.seq = max(fresh.seq, last_seq)
            fresh.embedded = self._embedded_anew(fresh)
            self._become(fresh)
        self.use_current_model()

    def coverage(self, model_id: str) -> Coverage:
        """How many of the memories that can be recalled have a vector of this model."""
        with self._latch.reading():
            return self.coverage_now(model_id)

    def coverage_now(self, model_id: str) -> Coverage:
        """As `coverage`, for a caller that holds the index for reading."""
        if self.embedded is None or self.embedded.model_id != model_id:
            return Coverage(0, self.columns.accepted_count)
        return self.embedded.coverage

    def vectors_of(self, ordinals: Sequence[int]) -> Windows | None:
        """(len(ordinals), dimensions), NaN where a memory has no vector yet; None when there is no model."""
        embedded = self.embedded
        return None if embedded is None else embedded.vectors.of(ordinals)

    def missing(self, model_id: str, limit: int) -> Sequence[tuple[bytes, str]]:
        """(key, text) of texts without a vector of this model, newest first."""
        self.use_current_model()
        embedded = self.embedded
        if embedded is None or embedded.model_id != model_id:
            return []
        with self._latch.reading():
            wanted = [(key, self.columns.records[ordinal]) for key, ordinal in embedded.missing(limit)]
        return [(key, self.bank.text(record)) for key, record in wanted]

    def store(self, model_id: str, items: Sequence[tuple[bytes, Windows]]) -> None:
        """Take in the vectors (windows, dimensions) of some texts; where the disk refuses them, in RAM alone."""
        embedded = self.embedded
        if embedded is None or embedded.model_id != model_id:
            return
        if embedded.sidecar is not None:
            with self.trouble.noting(_VECTORS):
                embedded.sidecar.put(items)
        with self._writes, self._latch.writing():
            if self.embedded is not None and self.embedded.model_id == model_id:  # built anew meanwhile, perhaps
                self.embedded.store(items)

    def use_current_model(self) -> None:
        """Score by the vectors of the embedder that is loaded now; those of another are let go."""
        embedder = self._embedder()
        if embedder is None or (self.embedded is not None and self.embedded.model_id == embedder.model_id):
            return
        with self._writes:
            if self._closed or (self.embedded is not None and self.embedded.model_id == embedder.model_id):
                return
            embedded = self._embedded_by(embedder)
            with self._latch.writing():
                self.embedded = embedded

    def with_archive(self) -> None:
        """Make sure that archived memories can be found; the first call reads their texts."""
        if self.archive.lexical is None:
            with self._writes:
                self.archive.built(self._archived_documents, self.seq)

    def flush(self) -> None:
        """Write what is derived to disk, so that the next start has less to do; see `trouble` for what it refused.

        Nothing once it is closed: the folder is then another index's, and this one is empty.
        """
        with self._flushing:
            if not self._closed:
                self._flush_words()
                self._flush_notes()
                self._flush_vectors()

    def close(self) -> None:
        """Wait for a running flush and let go of the files."""
        if self.rebuilding is not None:
            self.rebuilding.stop()
        with self._flushing, self._writes:
            self._closed = True
            self.rebuilding = None
            self.lexical.close()
            if self.embedded is not None and self.embedded.sidecar is not None:
                self.embedded.sidecar.close()

    def _flush_words(self) -> None:
        if self.rebuilding is not None or not (self.lexical.unflushed or self._words_lost()):
            return
        with self.trouble.noting(_WORDS):
            self.lexical.flush()
            seq = self.lexical.applied_seq
            save_stamp(self._folder, Stamp(seq, self.bank.stamp(seq)), self._files)

    def _flush_notes(self) -> None:
        if not self._kept_notes.due(self._notes):
            return
        with self._latch.reading():
            rows, seq = self._notes.rows(), self.seq
            self._notes.fresh = 0
        with self.trouble.noting(_NOTES):
            self._kept_notes.save(rows, Stamp(seq, self.bank.stamp(seq)))

    def _words_lost(self) -> bool:
        """Somebody deleted what was flushed."""
        return self.lexical.applied_seq > 0 and not self._files.exists(stamp_path(self._folder))

    def _flush_vectors(self) -> None:
        embedded, embedder = self.embedded, self._embedder()
        if embedded is None or embedder is None or embedded.model_id != embedder.model_id:
            return
        with self.trouble.noting(_VECTORS), self._sidecars:
            sidecar = embedded.sidecar
            if sidecar is None:
                sidecar = embedded.sidecar = self._vector_files.open(embedder)
            with self._latch.reading():
                live, covered = embedded.live_keys(), embedded.coverage.share == 1.0
            self._vector_files.tidy(sidecar, embedded.model_id, live, covered)
            embedded.codes.keep(embedded.vectors)

    def _apply(self, step: Sequence[Touched], seq: int) -> None:
        entering = [(one.ordinal, indexed_text(one.after, one.text or "")) for one in step if one.enters]
        leaving = [one.ordinal for one in step if one.leaves]
        names = [(one.ordinal, names_of(one.after)) for one in step if one.enters]
        reworded = [(one.ordinal, one.text or "") for one in step if one.reworded]
        vectors = [(ordinal, text_key(text), self._known(text_key(text))) for ordinal, text in reworded]
        into_archive = [(one.ordinal, indexed_text(one.after, one.text or "")) for one in step if one.enters_archive]
        out_of_archive = [one.ordinal for one in step if one.leaves_archive]
        with self._latch.writing():
            for one in step:
                self._place(one.after)
            for ordinal, text in reworded:
                self._describe(ordinal, text)
            self._notes.drop(leaving)
            self.lexical.apply(seq, entering, leaving)
            self.entities.apply(names, leaving)
            self.archive.apply(seq, into_archive, out_of_archive)
            if self.embedded is not None:
                self.embedded.apply(vectors, leaving)
            self.seq = seq

    def _known(self, key: bytes) -> Windows | None:
        sidecar = self.embedded.sidecar if self.embedded is not None else None
        return sidecar.get(key) if sidecar is not None else None

    def _describe(self, ordinal: int, text: str) -> None:
        self._notes.note(ordinal, text)
        self.columns.describe(ordinal, self._notes, self._settings.ranking)

    def _place(self, record: Record) -> None:
        self.columns.put(record)
        if indexed(record):
            self.sessions.place(record)
        else:
            self.sessions.remove(record.ordinal)

    def _become(self, fresh: "BankIndex") -> None:
        """Answer from what `fresh` was built of; no recall sees a part of both."""
        lexical, rebuilding, embedded = self.lexical, self.rebuilding, self.embedded
        with self._latch.writing():
            self.columns, self.sessions, self.entities = fresh.columns, fresh.sessions, fresh.entities
            self.lexical, self.archive, self.recency = fresh.lexical, fresh.archive, fresh.recency
            self.embedded, self.rebuilding = fresh.embedded, fresh.rebuilding
            self._notes, self.seq = fresh._notes, fresh.seq
        self._start_rebuilding()
        lexical.close()
        if rebuilding is not None:
            rebuilding.stop()
        if embedded is not None and embedded.sidecar is not None and fresh.embedded is None:
            embedded.sidecar.close()

    def _load(self, trust: bool) -> None:
        """Build from the bank. `trust`: what lies on disk may be of this log."""
        snapshot = self.bank.snapshot()
        self.columns.fill(snapshot.records)
        accepted = [record for record in snapshot.records if indexed(record)]
        self.sessions.fill(accepted)
        self.entities.apply([(record.ordinal, names_of(record)) for record in accepted], [])
        if trust and (rows := self._kept_notes.of(self.bank, self.columns, snapshot.last_seq)) is not None:
            self._notes.adopt(rows)
            self.columns.describe_all(rows, self._settings.ranking)
        applied = self._snapshot_seq(snapshot.last_seq) if trust else 0
        if applied:
            self._catch_up(accepted, applied, snapshot.last_seq)
        if applied and len(self.lexical) == len(accepted):
            pass  # the snapshot holds as many memories as there are; any other number means it is not of this bank
        elif len(accepted) <= self._settings.rebuilt_at_once:
            self.lexical.rebuild(self._described(accepted), snapshot.last_seq)
        else:
            deque(self._described([one for one in accepted if one.ordinal not in self._notes.keys]), maxlen=0)
            self._rebuild_beside([one.ordinal for one in accepted], snapshot.last_seq)
        self.seq = snapshot.last_seq

    def _rebuild_beside(self, ordinals: Sequence[int], seq: int) -> None:
        """The newest memories are indexed at once, so that the first recall finds what was said last."""
        split = max(0, len(ordinals) - self._settings.rebuilt_at_once)
        newest = (self.columns.records[ordinal] for ordinal in ordinals[split:])
        self.lexical.rebuild(((one.ordinal, indexed_text(one, self.bank.text(one))) for one in newest), seq)
        step = self._settings.changes_per_step
        self.rebuilding = Rebuilding(ordinals[:split], step, self.bank.name)

    def _start_rebuilding(self) -> None:
        if self.rebuilding is not None:
            self.rebuilding.start(self._take_words)

    def _take_words(self, rebuilding: Rebuilding, ordinals: Sequence[int]) -> bool:
        """Index the words of some memories as they are now; False when there is nothing more to do."""
        with self._writes:
            if self.rebuilding is not rebuilding:
                return False
            records = [self.columns.records[ordinal] for ordinal in ordinals]
            documents = [(one.ordinal, indexed_text(one, self.bank.text(one))) for one in records if indexed(one)]
            with self._latch.writing():
                self.lexical.apply(self.lexical.applied_seq, documents, [])
                if not ordinals:
                    self.rebuilding = None
        return bool(ordinals)

    def _described(self, records: Sequence[Record]) -> Iterator[tuple[int, str]]:
        """(ordinal, what the lexical leg reads) of each; notes on the way what else is asked of a text."""
        for record in records:
            text = self.bank.text(record)
            self._describe(record.ordinal, text)
            yield record.ordinal, indexed_text(record, text)

    def _snapshot_seq(self, last_seq: int) -> int:
        """Up to where the lexical snapshot holds this very log; 0 when there is none."""
        applied, stamp = self.lexical.open(), load_stamp(self._folder)
        fits = stamp and 0 < applied <= stamp.seq and stamp.is_of(self.bank, last_seq)
        return applied if fits and can_be_read(self.bank, applied + 1) else 0

    def _catch_up(self, accepted: Sequence[Record], applied: int, last_seq: int) -> None:
        """Bring the words from `applied` up to date; texts that were not noted are read on the way."""
        touched = touched_after(self.bank, applied)
        unread = [one for one in accepted if one.ordinal not in self._notes.keys or one.id in touched]
        documents = zip(unread, self._described(unread), strict=True)
        added = [document for record, document in documents if record.id in touched]
        gone = [one.ordinal for one in self.columns.records if one.id in touched and not indexed(one)]
        self.lexical.apply(last_seq, added, gone)

    def _archived_documents(self) -> Iterator[tuple[int, str]]:
        for record in list(self.columns.records):
            if archived(record):
                yield record.ordinal, indexed_text(record, self.bank.text(record))

    def _embedded_by(self, embedder: Embedder) -> Embedded:
        sidecar: Sidecar | None = None
        with self.trouble.noting(_VECTORS), self._sidecars:
            sidecar = self._vector_files.open(embedder)
        codes = self._vector_files.codes(embedder.model_id)
        return Embedded.over(sidecar, codes, embedder, self._notes.keys, self._settings.vectors, self._settings.ranking)

    def _embedded_anew(self, fresh: "BankIndex") -> Embedded | None:
        """Of the memories of `fresh`, from the sidecar that is open; None where it is not of the current model."""
        embedded, embedder = self.embedded, self._embedder()
        if embedded is None or embedder is None or embedded.model_id != embedder.model_id:
            return None
        keys, settings = fresh._notes.keys, self._settings
        return Embedded.over(embedded.sidecar, embedded.codes, embedder, keys, settings.vectors, settings.ranking)
