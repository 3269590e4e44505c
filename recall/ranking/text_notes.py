"""What was noted of each text when it was read, so that nobody reads it again: its length, whether it asks, its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.sidecar import KEY_BYTES, text_key
from recall.ranking.growing import Growing

_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class NoteRows:
    """The notes of some texts, a row each; `keys` (rows, KEY_BYTES) uint8 are those of the sidecar."""

    ordinals: NDArray[np.int64]
    lengths: NDArray[np.int32]
    """Characters."""
    questions: NDArray[np.bool_]
    """Whether the text ends with a question mark."""
    keys: NDArray[np.uint8]

    def of(self, rows: NDArray[np.bool_]) -> NoteRows:
        """The chosen rows."""
        return NoteRows(self.ordinals[rows], self.lengths[rows], self.questions[rows], self.keys[rows])


class TextNotes:
    """Of the memories that the legs hold, by ordinal. The caller serialises writes against reads."""

    def __init__(self) -> None:
        self.keys: dict[int, bytes] = {}
        """The sidecar's key of each text."""
        self.fresh = 0
        """Texts noted since the notes were last kept on disk."""
        self._lengths = Growing(np.int32)
        self._questions = Growing(np.bool_)

    def note(self, ordinal: int, text: str) -> None:
        """Reads a text."""
        self.keys[ordinal] = text_key(text)
        self._lengths[ordinal] = len(text)
        self._questions[ordinal] = text.rstrip().endswith(_QUESTION_MARKS)
        self.fresh += 1

    def drop(self, ordinals: Sequence[int]) -> None:
        """The legs let go of these."""
        for ordinal in ordinals:
            self.keys.pop(ordinal, None)

    def adopt(self, rows: NoteRows) -> None:
        """Takes in what was noted by an earlier process."""
        raw, ordinals = rows.keys.tobytes(), rows.ordinals.tolist()
        self.keys.update(zip(ordinals, _cut(raw), strict=True))
        if ordinals:
            self._lengths.put(rows.ordinals, rows.lengths)
            self._questions.put(rows.ordinals, rows.questions)

    def length(self, ordinal: int) -> int:
        """Characters of a text that was noted."""
        return int(self._lengths.view(ordinal + 1)[ordinal])

    def question(self, ordinal: int) -> bool:
        """Whether a text that was noted ends with a question mark."""
        return bool(self._questions.view(ordinal + 1)[ordinal])

    def rows(self) -> NoteRows:
        """A copy of all, to be kept."""
        ordinals = np.fromiter(self.keys, np.int64, len(self.keys))
        size = int(ordinals.max(initial=-1)) + 1
        keys = np.frombuffer(b"".join(self.keys.values()), np.uint8).reshape(-1, KEY_BYTES)
        return NoteRows(ordinals, self._lengths.view(size)[ordinals], self._questions.view(size)[ordinals], keys)


def _cut(raw: bytes) -> list[bytes]:
    return [raw[at : at + KEY_BYTES] for at in range(0, len(raw), KEY_BYTES)]
