"""The compressed copy of a bank's vectors on disk, beside their sidecar: `vectors/<digest of the model>.codes`.

Safe to delete at any time; what is not whole, or not of these texts, is no file. See `index.kept_codes`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from index.kept_codes import KeptCodes
from index.vectors import Vectors
from recall.memory.files import Files

SUFFIX: Final = ".codes"
_SHARE: Final = 16


class CodesFile:
    """One file. The caller serialises `keep`."""

    def __init__(self, path: Path, files: Files) -> None:
        self._path = path
        self._files = files
        self._kept = (0, 0, False)

    def load(self) -> KeptCodes | None:
        """What lies there; None when there is no file, or one that is not whole."""
        try:
            codes = KeptCodes.decoded(self._files.read(self._path))
        except OSError:
            return None
        if codes is not None:
            book = codes.codebook
            self._kept = (len(codes.codes), book.trained_of, book.recall is not None)
        return codes

    def keep(self, vectors: Vectors) -> None:
        """Replaces the file in one step, if a start would have much to do again: a new codebook to learn, or a
        sixteenth of the rows to encode. Raises OSError.
        """
        if not self._due(vectors) or (codes := vectors.codes()) is None:
            return
        fresh = self._path.with_name(self._path.name + ".new")
        self._files.write(fresh, codes.encoded())
        self._files.rename(fresh, self._path)
        self._kept = (len(codes.codes), codes.codebook.trained_of, codes.codebook.recall is not None)

    def _due(self, vectors: Vectors) -> bool:
        scan = vectors.scan
        if not scan.copied_rows:
            return False
        rows, trained_of, measured = self._kept
        other = (trained_of, measured) != (scan.trained_of, scan.recall is not None)
        return other or abs(scan.copied_rows - rows) * _SHARE > rows or not self._files.exists(self._path)
