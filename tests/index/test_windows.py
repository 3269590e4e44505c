import time

import pytest

from index.hashing import HashingEmbedder
from index.windows import encodable, split_windows


def _word_tokens(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    spans, start = [], 0
    for word in text.split(" "):
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return spans, list(range(len(spans)))


@pytest.mark.parametrize(
    ("words", "size", "overlap", "expected"),
    [
        pytest.param(3, 5, 1, ["0 1 2"], id="fits"),
        pytest.param(5, 5, 1, ["0 1 2 3 4"], id="fits exactly"),
        pytest.param(6, 5, 2, ["0 1 2 3 4", "3 4 5"], id="one word too long"),
        pytest.param(6, 3, 0, ["0 1 2", "3 4 5"], id="no overlap"),
        pytest.param(4, 2, 9, ["0 1", "1 2", "2 3"], id="an overlap as large as the window still moves on"),
        pytest.param(3, 1, 0, ["0", "1", "2"], id="a window of one token"),
    ],
)
def test_a_long_text_is_cut_into_overlapping_windows(words: int, size: int, overlap: int, expected: list[str]) -> None:
    text = " ".join(str(number) for number in range(words))
    assert split_windows(text, *_word_tokens(text), size, overlap, 100) == expected


def test_no_word_is_cut_while_the_window_holds_a_whole_one() -> None:
    text = "ab cd ef"
    spans = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8)]  # two tokens a word
    assert split_windows(text, spans, [0, 0, 1, 1, 2, 2], 3, 1, 100) == ["ab", "cd", "ef"]


def test_a_word_longer_than_the_window_is_cut_inside() -> None:
    text = "abcdefgh"
    pieces = split_windows(text, [(at, at + 1) for at in range(8)], [0] * 8, 3, 0, 100)
    assert pieces == ["abc", "def", "gh"]


def test_the_number_of_windows_is_bounded() -> None:
    text = " ".join("w" for _ in range(1000))
    assert len(split_windows(text, *_word_tokens(text), 10, 0, 7)) == 7


def test_every_word_of_a_text_is_in_some_window() -> None:
    words = [f"word{number}" for number in range(1_000)]
    windows = HashingEmbedder(16).windows(" ".join(words))
    assert {word for window in windows for word in window.split()} == set(words)


@pytest.mark.parametrize("text", ["", " ", "\0", "...", "🎉", "世界"])
def test_a_text_that_fits_comes_back_as_it_is(text: str) -> None:
    assert HashingEmbedder(16).windows(text) == [text]


def test_a_hundred_kilobytes_are_split_in_linear_time() -> None:
    began = time.process_time()
    HashingEmbedder(16, max_windows=10_000).windows("ab " * 33_000)
    assert time.process_time() - began < 2.0


def test_lone_surrogates_are_replaced_one_for_one() -> None:
    assert encodable("a\ud800b🎉") == "a\ufffdb🎉"
