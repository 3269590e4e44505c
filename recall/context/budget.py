"""Counting and cutting: tokens, and where a text may end without splitting what is read as one character."""

from __future__ import annotations

import unicodedata

BYTES_A_TOKEN = 4
_JOINER = "\u200d"


def tokens(text: str) -> int:
    """A token is counted as four bytes of UTF-8, rounded up: more than a tokenizer counts in most languages."""
    return -(-len(text.encode()) // BYTES_A_TOKEN)


def cut(text: str, most: int) -> str:
    """At most `most` characters from the start, less what would split a combining sequence, an emoji or a flag."""
    if len(text) <= most:
        return text
    end = max(0, most)
    while end and _one(text, end):
        end -= 1
    return text[:end]


def _one(text: str, end: int) -> bool:
    """Whether the characters on both sides of `end` are read as one."""
    before, after = text[end - 1], text[end]
    if _JOINER in (before, after) or unicodedata.category(after)[0] == "M" or _modifies(after):
        return True
    if (before, after) == ("\r", "\n") or (_jamo(before) and _jamo(after)) or "\u1160" <= after <= "\u11ff":
        return True
    return _flag(after) and _flags_before(text, end) % 2 == 1


def _modifies(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff" or "\U000e0020" <= character <= "\U000e007f"


def _jamo(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff"


def _flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, end: int) -> int:
    start = end
    while start and _flag(text[start - 1]):
        start -= 1
    return end - start
