"""The notes of a bank's texts on disk: a start reads them instead of every text.

    derived/texts.notes     one JSON line {"format", "seq", "stamp", "rows", "sum"}, then the columns of `NoteRows`

`stamp` is the checksum of the event at `seq`: the file counts only for a log that still has it (see `lexical_stamp`).
`sum` is blake2b-128 of the columns. Anything else is no file, and the texts are read.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from index.sidecar import KEY_BYTES
from recall.memory.bank import Bank
from recall.memory.files import Files
from recall.ranking.columns import Columns
from recall.ranking.lexical_stamp import Stamp, touched_after
from recall.ranking.text_notes import NoteRows, TextNotes

_NAME: Final = "texts.notes"
_FORMAT: Final = 1
_ROW: Final = np.dtype([("ordinal", "<i8"), ("length", "<i4"), ("question", "u1"), ("key", "u1", (KEY_BYTES,))])
_LEAST: Final = 64
_SHARE: Final = 16


class _Head(msgspec.Struct, frozen=True):
    format: int
    seq: int
    stamp: str
    rows: int
    sum: str


class KeptNotes:
    """The file of one bank. The caller serialises all calls."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._folder = folder
        self._files = files
        self._kept = False

    def due(self, notes: TextNotes) -> bool:
        """Whether a start would read many texts again: a sixteenth of them, or all because the file is gone."""
        if self._kept and not self._files.exists(self._path):
            return True
        return notes.fresh >= max(_LEAST, len(notes.keys) // _SHARE)

    def save(self, rows: NoteRows, stamp: Stamp) -> None:
        """Replaces the file in one step. Raises OSError."""
        table = np.empty(len(rows.ordinals), _ROW)
        table["ordinal"], table["length"] = rows.ordinals, rows.lengths
        table["question"], table["key"] = rows.questions, rows.keys
        body = table.tobytes()
        head = _Head(_FORMAT, stamp.seq, stamp.stamp, len(table), _sum(body))
        self._files.make_dir(self._folder)
        fresh = self._folder / f"{_NAME}.new"
        self._files.write(fresh, msgspec.json.encode(head) + b"\n" + body)
        self._files.rename(fresh, self._path)
        self._kept = True

    def of(self, bank: Bank, columns: Columns, last_seq: int) -> NoteRows | None:
        """The notes of the accepted memories to which nothing happened since; None without a file of this very log."""
        kept = self._load()
        if kept is None or not kept[1].is_of(bank, last_seq):
            return None
        rows, stamp = kept
        touched, held = touched_after(bank, stamp.seq), columns.accepted().copy()
        held[[record.ordinal for record in columns.records if record.id in touched]] = False
        rows = rows.of(rows.ordinals < len(held))
        return rows.of(held[rows.ordinals])

    def _load(self) -> tuple[NoteRows, Stamp] | None:
        """What was noted, and up to where; None when there is no file, or one that is not whole."""
        try:
            raw = self._path.read_bytes()
            first, _, body = raw.partition(b"\n")
            head = msgspec.json.decode(first, type=_Head)
        except (OSError, msgspec.DecodeError):
            return None
        if head.format != _FORMAT or len(body) != head.rows * _ROW.itemsize or _sum(body) != head.sum:
            return None
        table = np.frombuffer(body, _ROW)
        if table.size and int(table["ordinal"].min()) < 0:
            return None
        self._kept = True
        rows = NoteRows(
            table["ordinal"].astype(np.int64), table["length"].astype(np.int32), table["question"] > 0, table["key"]
        )
        return rows, Stamp(head.seq, head.stamp)

    @property
    def _path(self) -> Path:
        return self._folder / _NAME


def _sum(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()
