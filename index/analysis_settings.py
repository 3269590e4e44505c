"""What texts are analysed with, as people choose it. Apart from the analyzer: reading settings loads no stemmer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NONE: Literal["none"] = "none"


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """The words of the lexical leg. A change has every bank's words indexed anew at the next start."""

    stop_words: Literal["english", "none"] = "english"
    """Words that are left out of texts and queries."""
    stemmer: str = "english"
    """The Snowball language whose endings are cut off, or `none`."""

    def __post_init__(self) -> None:
        if self.stemmer in ("english", NONE):
            return
        import Stemmer  # noqa: PLC0415 - only for those who want another

        if self.stemmer not in Stemmer.algorithms():
            raise ValueError(f"stemmer must be {NONE} or one of {', '.join(Stemmer.algorithms())}")
