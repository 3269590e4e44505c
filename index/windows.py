"""Long text → overlapping windows that each fit the model, cut at words, so that nothing of the text is unread.

tokens   |0 1 2 3 4 5 6 7 8 9 …|
window 0 |0 1 2 3 4|                  `size` tokens
window 1       |3 4 5 6 7|            shares `overlap` tokens with the one before
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text with lone surrogates replaced, character by character: tokenizers take UTF-8 only."""
    return _SURROGATE.sub("\ufffd", text)


def split_windows(
    text: str, spans: Sequence[tuple[int, int]], words: Sequence[int | None], size: int, overlap: int, limit: int
) -> list[str]:
    """The pieces of `text`, at most `limit`; `[text]` when its tokens fit one window.

    `spans` are the tokens' (start, end) characters and `words` the word each token belongs to, both in order.
    """
    if len(spans) <= size:
        return [text]
    pieces: list[str] = []
    start = 0
    while len(pieces) < limit:
        stop = _window_end(words, start, size)
        pieces.append(text[spans[start][0] : spans[stop - 1][1]])
        if stop == len(spans):
            break
        start = _next_start(words, start, stop, min(overlap, size - 1))
    return pieces


def _window_end(words: Sequence[int | None], start: int, size: int) -> int:
    """The token after the window: moved back to where a word begins, unless one word fills the window."""
    stop = min(start + size, len(words))
    cut = stop
    while start < cut < len(words) and _inside_word(words, cut):
        cut -= 1
    return cut if cut > start else stop


def _next_start(words: Sequence[int | None], start: int, stop: int, overlap: int) -> int:
    """Where the next window begins: `overlap` tokens back, at the next word, always past `start`."""
    begin = max(start + 1, stop - overlap)
    while begin < stop and _inside_word(words, begin):
        begin += 1
    return begin


def _inside_word(words: Sequence[int | None], token: int) -> bool:
    return words[token] is not None and words[token] == words[token - 1]
