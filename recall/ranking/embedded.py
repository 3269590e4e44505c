"""The vectors of one bank under one model: which memories have theirs, which still wait.

    memory ──key──► waiting   until the backfill brings its windows, or the sidecar has them already
                  ► scored    a row a window in `Vectors`

`scored` turns true when nearly all accepted memories have a vector and false when most have none, so one fresh memory
does not switch the vector leg off, and a new model or a large import does not rank a bank by the few vectors there are.
The caller serialises writes against reads and against each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.embedder import Embedder
from index.kept_codes import KeptCodes
from index.sidecar import Mapped, Sidecar
from index.vectors import Vectors, VectorSettings
from recall.ranking.codes_file import CodesFile
from recall.ranking.settings import RankingSettings

Windows = NDArray[np.float32]

_FINGERPRINT_BYTES = 8
_NO_KEY = bytes(_FINGERPRINT_BYTES)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the memories that can be recalled have a vector of one model."""

    embedded: int
    total: int

    @property
    def share(self) -> float:
        """1 for an empty bank."""
        return self.embedded / self.total if self.total else 1.0


class Embedded:
    """Vectors by ordinal, of one model."""

    def __init__(
        self,
        embedder: Embedder,
        sidecar: Sidecar | None,
        codes: CodesFile,
        vectors: VectorSettings,
        settings: RankingSettings,
    ) -> None:
        """Without a `sidecar`, which the disk refused, vectors are in RAM alone."""
        self.model_id = embedder.model_id
        self.sidecar = sidecar
        self.codes = codes
        """Of the compressed copy of the vectors."""
        self.vectors = Vectors(embedder.dimensions, vectors, stored=self)
        self.scored = False
        """Whether the vector leg takes part."""
        self._settings = settings
        self._keys: dict[int, bytes] = {}
        self._waiting: dict[bytes, list[int]] = {}
        self._waiting_count = 0

    @classmethod
    def over(
        cls,
        sidecar: Sidecar | None,
        codes: CodesFile,
        embedder: Embedder,
        texts: Mapping[int, bytes],
        vectors: VectorSettings,
        ranking: RankingSettings,
    ) -> "Embedded":
        """Of memories with these texts (ordinal → key), with what the sidecar has of them."""
        embedded = cls(embedder, sidecar, codes, vectors, ranking)
        rest = texts if sidecar is None else embedded._adopt(sidecar.mapped(list(texts.values())), texts)
        known = ((ordinal, key, sidecar.get(key) if sidecar is not None else None) for ordinal, key in rest.items())
        embedded.apply(known, [])
        return embedded

    def _adopt(self, mapped: Mapped, texts: Mapping[int, bytes]) -> Mapping[int, bytes]:
        """Take in the vectors that lie in the file; the texts that have none there, or share them, are left over."""
        _, lone = np.unique(mapped.first, return_index=True)
        chosen = np.zeros(len(texts), np.bool_)
        chosen[lone] = mapped.first[lone] >= 0
        ordinals = np.fromiter(texts, np.int64, len(texts))
        left = {ordinal: texts[ordinal] for ordinal in ordinals[~chosen].tolist()}
        self._keys = {ordinal: key for ordinal, key in texts.items() if ordinal not in left} if left else dict(texts)
        self.vectors.adopt(mapped.of(chosen), ordinals[chosen])
        return left

    @property
    def coverage(self) -> Coverage:
        """Of the memories placed here."""
        return Coverage(len(self._keys) - self._waiting_count, len(self._keys))

    def apply(self, added: Iterable[tuple[int, bytes, Windows | None]], removed: Sequence[int]) -> None:
        """Place memories (ordinal, key of the text, its vectors where known) and take others away."""
        found: list[tuple[int, Windows]] = []
        if self._keys:
            added = list(added)
            self._bury((*removed, *(ordinal for ordinal, _, _ in added)))
        for ordinal, key, windows in added:
            if ordinal in self._keys:  # given twice
                self._drop(ordinal)
            self._keys[ordinal] = key
            if windows is None:
                self._waiting.setdefault(key, []).append(ordinal)
                self._waiting_count += 1
            else:
                found.append((ordinal, windows))
        self.vectors.apply(found, [])
        self._judge()

    def missing(self, limit: int) -> list[tuple[bytes, int]]:
        """(key, an ordinal with that text) of texts without vectors, newest first."""
        newest = reversed(self._waiting.items())
        return [(key, ordinals[-1]) for (key, ordinals), _ in zip(newest, range(limit), strict=False)]

    def store(self, items: Sequence[tuple[bytes, Windows]]) -> None:
        """The vectors of some texts have come; texts nobody waits for any more are let go."""
        found = [(ordinal, windows) for key, windows in items for ordinal in self._waiting.pop(key, ())]
        self._waiting_count -= len(found)
        self.vectors.apply(found, [])
        self._judge()

    def waiting(self) -> NDArray[np.int64]:
        """Ordinals of placed memories that have no vector yet."""
        ordinals = (ordinal for places in self._waiting.values() for ordinal in places)
        return np.fromiter(ordinals, np.int64, self._waiting_count)

    def live_keys(self) -> frozenset[bytes]:
        """Keys of all placed texts: what the sidecar must keep."""
        return frozenset(self._keys.values())

    def load(self) -> KeptCodes | None:
        """The compressed copy that an earlier process kept."""
        return self.codes.load()

    def keys(self, ordinals: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The first 64 bits of the key of each text, (len(ordinals),); 0 where none is placed."""
        known = b"".join([self._keys.get(ordinal, _NO_KEY)[:_FINGERPRINT_BYTES] for ordinal in ordinals.tolist()])
        return np.frombuffer(known, "<u8").astype(np.uint64)

    def _bury(self, ordinals: Sequence[int]) -> None:
        """Rows die before their keys become others: see `Vectors.codes`."""
        placed = {ordinal for ordinal in ordinals if ordinal in self._keys}
        if placed:
            self.vectors.apply([], list(placed))
        for ordinal in placed:
            self._drop(ordinal)

    def _drop(self, ordinal: int) -> None:
        key = self._keys.pop(ordinal)
        waiting = self._waiting.get(key)
        if waiting is not None and ordinal in waiting:
            waiting.remove(ordinal)
            self._waiting_count -= 1
            if not waiting:
                del self._waiting[key]

    def _judge(self) -> None:
        share = self.coverage.share
        if self.scored:
            self.scored = share >= self._settings.coverage_lost
        else:
            self.scored = share >= self._settings.coverage_ready
