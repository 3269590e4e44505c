"""Words of the memories that are out of use: superseded, retired and expired ones, for queries that ask to see them.

Built when first asked for, then kept in step. It is searched by words alone and has statistics of its own, so nothing
in it moves the score of a memory in use.
"""

import threading
from collections.abc import Callable, Iterable, Sequence

from index.analyzer import Analyzer
from index.lexical import Lexical, LexicalSettings


class Archive:
    """A lexical leg in RAM, made late."""

    def __init__(self, analyzer: Analyzer, settings: LexicalSettings) -> None:
        self._analyzer = analyzer
        self._settings = settings
        self._building = threading.Lock()
        self._lexical: Lexical | None = None

    @property
    def lexical(self) -> Lexical | None:
        """The leg, once built."""
        return self._lexical

    def built(self, documents: Callable[[], Iterable[tuple[int, str]]], seq: int) -> None:
        """Build it from all archived texts as of `seq`, unless that has been done. The caller keeps writes out."""
        with self._building:
            if self._lexical is None:
                lexical = Lexical(self._analyzer, self._settings, None)
                lexical.rebuild(documents(), seq)
                self._lexical = lexical

    def apply(self, seq: int, added: Sequence[tuple[int, str]], removed: Sequence[int]) -> None:
        """Keep in step; before it is built there is nothing to do."""
        if self._lexical is not None:
            self._lexical.apply(seq, added, removed)
