"""When a bank's vectors are scanned as they are, compressed and rewritten."""

from __future__ import annotations

from dataclasses import dataclass

from index.compressed import CompressedSettings


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """When a bank's vectors are scanned, compressed and rewritten."""

    dense_limit: int = 50_000
    """Rows up to which `dense` may be asked and every search scans all rows; a compressed copy proposes above."""
    compressed_from: int = 4_000
    """Rows from which a compressed copy is kept, that `near` scans instead of the rows; it is quicker from here on."""
    fine_rows: int = 300_000
    """Rows up to which a code of the copy stands for two dimensions, and for four beyond."""
    error_deviations: float = 4.0
    """How far off an estimate may be, in deviations of the errors seen; 3.5 holds for all in 99 of 100 queries."""
    coarse_deviations: float = 3.0
    """The same where a code stands for four dimensions; such answers count as approximate."""
    rerank: int = 400
    """Least number of rows whose exact cosine is computed after a compressed scan."""
    retrain_growth: float = 4.0
    """By what the rows may have grown since the codebook was learnt before it is learnt anew."""
    extend_growth: float = 0.02
    """Share of rows that may be newer than the copy before it is extended, which costs little."""
    most_newer: int = 256
    """Rows newer than the copy past which it is extended, whatever share they are; they are scanned as they are."""
    most_shared: int = 1_000
    """Rows of memories of several windows up to which `near` answers; all of them are looked at."""
    train_rows: int = 20_000
    """Rows a codebook is trained on."""
    narrow_share: float = 0.1
    """Share of the rows below which a filter is scanned exactly instead of filtering a compressed scan."""
    dead_share: float = 0.1
    """Share of dead rows at which the matrix is rewritten."""
    least_dead: int = 256
    """Dead rows below which it is never rewritten."""
    sample_rows: int = 512
    """Rows that mean and deviation of the cosines are taken from where not all can be told quickly."""

    def extend_after(self, rows: int) -> int:
        """Rows newer than the copy past which it is extended."""
        return min(int(self.extend_growth * rows), self.most_newer)

    def of_codes(self) -> CompressedSettings:
        """How the copy is made."""
        return CompressedSettings(self.train_rows, self.fine_rows, self.retrain_growth)
