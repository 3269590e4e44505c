"""Labelled pairs of texts.

A file is tab-separated: a, b, same (1 or 0), and perhaps a kind. A header line names the columns in any order; without
one they stand in this order. Kinds that begin with ``wording`` are restatements that differ in wording only.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_COLUMNS = ("a", "b", "same", "kind")
_TRUE, _FALSE = frozenset({"1", "true", "yes"}), frozenset({"0", "false", "no"})
BUILT_IN = {name: Path(__file__).with_name(f"pairs_{name}.tsv") for name in ("seen", "unseen")}


class PairFileError(ValueError):
    """A line that is not a labelled pair."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts, whether they say the same, and what kind of pair it is ("" when nobody said)."""

    a: str
    b: str
    same: bool
    kind: str = ""


def read(path: Path) -> list[LabelledPair]:
    """The pairs of a file, in its order. Raises PairFileError, OSError, UnicodeDecodeError."""
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    columns = _header(lines[0])
    numbered = enumerate(lines, start=1)
    if columns is None:
        columns = _COLUMNS
    else:
        next(numbered)
    return [_pair(path, number, line, columns) for number, line in numbered if line.strip()]


def _header(line: str) -> tuple[str, ...] | None:
    names = tuple(cell.strip().casefold() for cell in line.split("\t"))
    return names if {"a", "b", "same"} <= set(names) else None


def _pair(path: Path, number: int, line: str, columns: tuple[str, ...]) -> LabelledPair:
    cells = dict(zip(columns, line.rstrip("\r").split("\t"), strict=False))
    if not {"a", "b", "same"} <= cells.keys():
        raise PairFileError(path, number, "fewer than three tab-separated columns")
    label = cells["same"].strip().casefold()
    if label not in _TRUE | _FALSE:
        raise PairFileError(path, number, f"same is {label!r}, not 1 or 0")
    return LabelledPair(cells["a"], cells["b"], label in _TRUE, cells.get("kind", "").strip())
