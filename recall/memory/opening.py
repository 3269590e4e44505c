"""From a log on disk to a bank in RAM: replay, and replay after hand edits."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from recall.memory.events import Event
from recall.memory.files import Files
from recall.memory.log import FileLog
from recall.memory.refusal import refusals
from recall.memory.repair import keep_broken, take_in_edits
from recall.memory.settings import StorageSettings
from recall.memory.state import Draft, State
from recall.memory.state_image import StateImage

_FOLD_EVENTS = 4_096  # how many events a draft holds during replay before the state takes it


@dataclass(frozen=True, slots=True)
class Opened:
    """A verified log and what it adds up to."""

    log: FileLog
    state: State
    unread: int = 0
    """Events that were taken from a state image: their lines are not verified yet."""


class _Replay:
    def __init__(self, state: State) -> None:
        self._state = state
        self._draft = Draft(state)

    def take(self, event: Event) -> None:
        self._draft.fold(event, event.at)
        if len(self._draft.touched) >= _FOLD_EVENTS:
            self.finish()

    def finish(self) -> None:
        self._state.take(self._draft)
        self._draft = Draft(self._state)


def open_bank(path: Path, files: Files, settings: StorageSettings) -> Opened:
    """Read and verify the log at `path`, mend a torn tail. Raises Damaged, StorageFailure."""
    state = State(settings.request_ids_kept)
    replay = _Replay(state)
    log = FileLog.open(path, files, settings.slow_sync_ms, replay.take)
    replay.finish()
    return Opened(log, state)


def resume_bank(path: Path, files: Files, settings: StorageSettings, image: StateImage) -> Opened:
    """As open_bank, but reads only the events after the image. Raises NotThisLog when it is of another log."""
    last_seq = image.last_seq
    state = image.restored(settings.request_ids_kept)
    replay = _Replay(state)
    log = FileLog.open(path, files, settings.slow_sync_ms, replay.take, image.known)
    replay.finish()
    return Opened(log, state, last_seq)


def reopen_bank(path: Path, files: Files, settings: StorageSettings, before: Opened | None) -> tuple[Opened, list[str]]:
    """As open_bank, but takes hand edits in; one line for each. `before` is how the bank stood, if it was open.

    No line means that the bank is what it was. Raises Damaged for an edit that cannot be read, StorageFailure.
    """
    changes: list[str] = []
    replaced = before is not None and before.log.replaced
    with refusals(path, "reload"):
        if before is not None and before.log.unacknowledged_tail:
            changes += _cut_unacknowledged(path, files, before)
        changes += take_in_edits(path, files)
    opened = open_bank(path, files, settings)
    if before is not None:
        with refusals(path, "reload"):
            changes += _departures(before.log, opened.log, replaced)
    return opened, changes


def _departures(before: FileLog, now: FileLog, replaced: bool) -> list[str]:
    """What the file lacks of what was acknowledged, or has beyond it: another program's doing, told and never lost."""
    if before.continued_by(now):
        added = now.last_seq - before.last_seq
        return [f"{added} events were added by another program"] if added else []
    told = f"the log is not the one that was acknowledged up to seq {before.last_seq}: it ends at seq {now.last_seq}"
    return [f"{told} (as it stood it is kept in {before.keep_aside().name})" if replaced else told]


def _cut_unacknowledged(path: Path, files: Files, before: Opened) -> list[str]:
    """Bytes of a write whose fdatasync failed may read back well and not be on the disk: they go."""
    end = before.log.size_bytes
    with closing(files.open_append(path)) as handle:
        rest = handle.read_at(end, max(0, handle.size() - end))
        if not rest:
            return []
        kept = keep_broken(path, files, rest)
        handle.truncate(end)
        handle.sync()
    return [f"{len(rest)} bytes of a write that was never acknowledged were cut off (kept in {kept.name})"]
