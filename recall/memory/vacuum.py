"""Writing the log of a bank anew, without what later events superseded; see `beginning` and `segments`.

    1  history/<last seq>.jsonl.gz    the log as it is: written beside, read again, synced, renamed
    2  log.vacuum                     what it adds up to: written, synced, folded and compared with the bank
    3  log.jsonl                      renamed over the old one

A crash before 3 leaves the old log, and perhaps a file in `history` that nothing names; after it the new one, whose
file is safe by then. Both files are made while the bank takes writes; when some came meanwhile, the rest of 1 and all
of 2 are done again while they wait, some five seconds for 100,000 memories. Reads go on all the while.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from recall.memory.bank import Bank
from recall.memory.beginning import History
from recall.memory.chain import verify_chain
from recall.memory.errors import NoVacuum, ReadOnly
from recall.memory.events import Entry, encode
from recall.memory.kept_events import beginning
from recall.memory.log import FileLog
from recall.memory.opening import Opened, open_bank
from recall.memory.record import Actor
from recall.memory.refusal import refusals
from recall.memory.scan import CHUNK_BYTES, Start
from recall.memory.segment_writing import SegmentWriter
from recall.memory.state import State

FRESH: Final = "log.vacuum"
_COMPARED_ELSEWHERE: Final = frozenset({"records", "base", "last_seq", "_event_before"})


@dataclass(frozen=True, slots=True)
class Bulk:
    """What a log holds: its size, and how much of it no memory needs any more (at most; a vacuum adds a little)."""

    log_bytes: int
    superseded_bytes: int

    @property
    def share(self) -> float:
        """Superseded, 0 to 1."""
        return self.superseded_bytes / max(1, self.log_bytes)


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """Sizes of the log before and after, of the file in `history`, and the last event in it."""

    bytes_before: int
    bytes_after: int
    history_bytes: int
    archived_to: int


def bulk(bank: Bank) -> Bulk:
    """What a vacuum would be worth."""
    opened = bank.opened_now()
    if opened is None:
        return Bulk(0, 0)
    log = opened.log
    needed = sum(log.line_bytes(record.text_seq) for record in tuple(opened.state.records))
    needed += log.line_bytes(log.base + 1) if log.base else 0  # what the bank knows besides its memories
    return Bulk(log.size_bytes, max(0, log.size_bytes - needed))


@dataclass(frozen=True, slots=True)
class Written:
    """A new log that lies ready: of the bank as it stood at `of_seq`, read again, and what it adds up to."""

    of_seq: int
    state: State
    known: Start


def vacuum(bank: Bank, history: History, actor: Actor) -> Vacuumed:
    """Write the log anew. What the bank answers stays the same; seqs go on.

    Raises NoVacuum, ReadOnly, Damaged, StorageFailure; the bank is then as it was.
    """
    with bank.outfit.vacuum_lock, refusals(bank.place.folder, "vacuum"):
        opened = bank.opened_now()
        if opened is None:
            raise NoVacuum(bank.name, "it is being closed; try again")
        work = _Work(bank, opened, history, actor)
        work.prepare()
        bank.rewrite(work.finish)
        return work.done


class _Work:
    """One vacuum: what can be done beside writes, and what cannot."""

    def __init__(self, bank: Bank, opened: Opened, history: History, actor: Actor) -> None:
        self.done = Vacuumed(0, 0, 0, 0)
        self._bank = bank
        self._opened = opened
        self._history = history
        self._actor = actor
        self._files = bank.outfit.files
        self._log = bank.place.log
        self._fresh = self._log.with_name(FRESH)
        self._segment = SegmentWriter(bank.place.folder, self._files)
        self._written: Written | None = None

    def prepare(self) -> None:
        """All of it for the bank as it stands now: nothing is left to write when no write comes meanwhile."""
        with closing(self._opened.log.image()) as image:
            verify_chain(image, lambda: True)
            self._segment.take(image.chunks())
        self._segment.verify()
        state = self._bank.kept_state.image(self._opened).restored(self._bank.outfit.settings.request_ids_kept)
        self._written = self._write(state)

    def finish(self, opened: Opened) -> Opened:
        """What remains, while no write runs. Returns the bank over its new log."""
        self._check(opened)
        with closing(opened.log.image()) as image:
            self._segment.take(image.chunks(self._segment.taken))
        segment = self._segment.finish(opened.state.last_seq)
        written = self._written
        if written is None or written.of_seq != opened.state.last_seq:
            written = self._write(opened.state)
        self._files.rename(self._fresh, self._log)
        try:
            self._files.sync_dir(self._log.parent)
            slow_sync_ms = self._bank.outfit.settings.slow_sync_ms
            log = FileLog.open(self._log, self._files, slow_sync_ms, lambda _event: None, written.known)
        except BaseException:
            opened.log.distrust("its log was written anew, but the disk did not confirm it; reload the bank")
            raise
        sizes = opened.log.size_bytes, log.size_bytes, self._files.size(segment)
        self.done = Vacuumed(*sizes, opened.state.last_seq)
        return Opened(log, written.state)

    def _check(self, opened: Opened) -> None:
        if opened is not self._opened or self._bank.opened_now() is None:
            raise NoVacuum(self._bank.name, "it was closed or read anew meanwhile; try again")
        if opened.log.poisoned is not None:
            raise ReadOnly(self._bank.name, opened.log.poisoned)
        if opened.state.arrivals:
            raise NoVacuum(self._bank.name, "a move is under way; try again")

    def _write(self, state: State) -> Written:
        """Write a log that adds up to this state, and read it again. Raises NoVacuum when it does not."""
        self._write_lines(state)
        written = open_bank(self._fresh, self._files, self._bank.outfit.settings)
        with closing(written.log):
            problem = difference(state, written.state)
            if problem:
                raise NoVacuum(self._bank.name, f"what was written is not what it holds: {problem}")
            return Written(state.last_seq, written.state, written.log.known(written.log.last_seq))

    def _write_lines(self, state: State) -> None:
        if self._files.exists(self._fresh):
            self._files.remove(self._fresh)
        log, seq, now = self._opened.log, state.last_seq, self._bank.outfit.clock.now()
        stamp, lines, size = log.stamp(seq), list[bytes](), 0
        with closing(self._files.open_append(self._fresh)) as handle:
            for body in beginning(state, log, stamp, self._history):
                seq += 1
                line, stamp = encode(Entry(body, now, self._actor), seq, stamp, seq)
                lines.append(line)
                size += len(line)
                if size > CHUNK_BYTES:
                    handle.append(b"".join(lines))
                    lines, size = [], 0
            handle.append(b"".join(lines))
            handle.sync()


def difference(before: State, after: State) -> str:
    """What of a bank a vacuum would change; "" when nothing does. Every field of a state is compared."""
    if len(before.records) != len(after.records):
        return f"{len(after.records)} memories instead of {len(before.records)}"
    for was, now in zip(before.records, after.records, strict=True):
        if was != replace(now, text_seq=was.text_seq):
            return f"memory {was.id!r}"
    names = (name for name in vars(before) if name not in _COMPARED_ELSEWHERE)
    return next((name for name in names if getattr(before, name) != getattr(after, name)), "")
