"""Texts longer than a memory may be are saved in parts; a document ranks where its best part ranks."""

from __future__ import annotations

MEMORY_LIMIT_CHARS = 8_000
_BREAKS = ("\n\n", "\n", ". ", "。", " ")


def parts(text: str, limit: int = MEMORY_LIMIT_CHARS) -> tuple[str, ...]:
    """The text in pieces of 1 to ``limit`` characters, cut at paragraphs, lines, sentences or words where possible.

    Blank pieces are left out, so a text of white space gives none. Cuts lie in the second half of a piece: the
    number of pieces is at most twice what it must be.
    """
    pieces: list[str] = []
    rest = text.strip()
    while len(rest) > limit:
        cut = _cut(rest, limit)
        pieces.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return tuple(piece for piece in [*pieces, rest] if piece)


def _cut(text: str, limit: int) -> int:
    for mark in _BREAKS:
        found = text.rfind(mark, limit // 2, limit)
        if found >= 0:
            return found + len(mark) if found + len(mark) <= limit else found
    return limit
