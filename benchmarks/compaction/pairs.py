"""Labelled pairs of texts.

A file is tab-separated: a, b, same (1 or 0), and perhaps a kind. A header line names the columns in any order; without
one they stand in this order. Headers of known sets (sentence1, sentence2, label) are understood, and cells in quotes as
spreadsheets write them. Kinds that begin with ``wording`` are restatements that differ in wording only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_COLUMNS = ("a", "b", "same", "kind")
_ALIASES = {"sentence1": "a", "sentence2": "b", "text1": "a", "text2": "b", "label": "same", "is_duplicate": "same"}
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
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
    names = tuple(cell.strip().strip('"').casefold() for cell in line.split("\t"))
    names = tuple(_ALIASES.get(name, name) for name in names)
    return names if {"a", "b", "same"} <= set(names) else None


def _pair(path: Path, number: int, line: str, columns: tuple[str, ...]) -> LabelledPair:
    cells = dict(zip(columns, map(_unquoted, line.rstrip("\r").split("\t")), strict=False))
    if not {"a", "b", "same"} <= cells.keys():
        raise PairFileError(path, number, "fewer than three tab-separated columns")
    label = cells["same"].strip().casefold()
    if label not in _TRUE | _FALSE:
        raise PairFileError(path, number, f"same is {label!r}, not 1, 0, true, false, yes or no")
    return LabelledPair(cells["a"], cells["b"], label in _TRUE, cells.get("kind", "").strip())


def _unquoted(cell: str) -> str:
    """A cell without the quotes around it, two within it as one; quotes around a part of a text belong to it."""
    whole = _QUOTED.fullmatch(cell.strip())
    return cell if whole is None else whole.group(1).replace('""', '"')
