"""Texts longer than a memory may be."""

from __future__ import annotations

import pytest

from benchmarks.quality.parts import parts


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 10, ("short",)),
        ("  padded  ", 10, ("padded",)),
        ("exactly ten", 11, ("exactly ten",)),
        (" \n ", 10, ()),
        ("", 10, ()),
        ("one two three", 8, ("one two", "three")),
        ("aaaa aaaa\n\nbbbb", 12, ("aaaa aaaa", "bbbb")),
        ("abcdefghij", 4, ("abcd", "efgh", "ij")),
    ],
)
def test_a_text_is_cut_where_it_hurts_least(text: str, limit: int, expected: tuple[str, ...]) -> None:
    assert parts(text, limit) == expected


def test_no_character_but_white_space_is_lost_and_no_part_is_too_long() -> None:
    text = "".join(f"word{number}. \n" if number % 7 else f"line{number}\n\n" for number in range(3_000))
    cut = parts(text, 500)
    assert all(0 < len(part) <= 500 for part in cut)
    assert "".join("".join(cut).split()) == "".join(text.split())
