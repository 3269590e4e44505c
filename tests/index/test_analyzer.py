"""Text to terms."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.analysis_settings import AnalysisSettings
from index.analyzer import Analyzer, AnalyzerSettings, QueryTerms, analyzer_of

ANALYZER = Analyzer()
LARGE = 100_000
SECONDS_FOR_LARGE = 2.0
"""Far above what linear time needs (0.2 s), far below what square time needs."""


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Running runs, runner ran", ["run", "run", "runner", "ran"]),
        ("Dana's dogs", ["dana", "dog"]),
        ("Dana’s dogs", ["dana", "dog"]),
        ("O'Brien", ["obrien"]),
        ("she'll say we don't", ["say"]),
        ("GB/s", ["gb", "s"]),
        ("GBs", ["gbs"]),
        ("max_retries", ["max", "retri"]),
        ("Downloads/transcripts", ["download", "transcript"]),
        ("C++ and C#", ["c++", "c#"]),
        ("a+b", ["b"]),
        ("Python 3.11, 1,000 users", ["python", "3.11", "1000", "user"]),
        ("1,2,3", ["1", "2", "3"]),
        ("2024-05-06", ["2024", "05", "06"]),
        ("Café ÉCOLE", ["cafe", "ecol"]),
        ("ﬁle Ⅷ", ["file", "viii"]),
        ("STRASSE straße", ["strass", "strass"]),
        ("世界大战", ["世", "界", "大", "战", "世界", "界大", "大战"]),
        ("docker部署", ["docker", "部", "署", "部署"]),
        ("서울", ["서", "울", "서울"]),
        ("हिन्दी", ["हिन्दी"]),
        ("party 🎉", ["parti", "🎉"]),
        ("to be or not to be", ["not"]),
        ("who am I", ["who", "am", "i"]),
        ("\x00\x01 tea\x00pot", ["tea", "pot"]),
        ("\ud800tea\udfff", ["tea"]),
        ('following: >>> "" - \\ ( ) *', ["follow"]),
        ("...", []),
        ("", []),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert ANALYZER.tokens(text) == terms


@pytest.mark.parametrize(
    ("text", "cap", "expected"),
    [
        ("tea tea coffee", 9, QueryTerms({"tea": 2, "coffe": 1}, capped=False, had_words=True)),
        ("tea tea coffee milk", 2, QueryTerms({"tea": 2, "coffe": 1}, capped=True, had_words=True)),
        ("tea coffee", 2, QueryTerms({"tea": 1, "coffe": 1}, capped=False, had_words=True)),
        ("who am I", 9, QueryTerms({"who": 1, "am": 1, "i": 1}, capped=False, had_words=True, topical=False)),
        ("who is the one with tea", 9, QueryTerms({"one": 1, "tea": 1}, capped=False, had_words=True)),
        ("?!", 9, QueryTerms({}, capped=False, had_words=False, topical=False)),
        ("   ", 9, QueryTerms({}, capped=False, had_words=False, topical=False)),
    ],
)
def test_terms_of_a_query(text: str, cap: int, expected: QueryTerms) -> None:
    assert ANALYZER.query_terms(text, cap) == expected


@pytest.mark.parametrize(
    "unit",
    ["a", "a ", "1.", "111,", "1,111,", "a'", "c#", "a+", "\x00", "🎉", "界", "\ud800", "é", "a\u0301", "हि", "'", "_"],
)
def test_any_text_is_analysed_in_linear_time(unit: str) -> None:
    started = time.monotonic()
    Analyzer().tokens(unit * (LARGE // len(unit)))
    assert time.monotonic() - started < SECONDS_FOR_LARGE


def test_endless_marks_on_one_letter_are_analysed_in_linear_time() -> None:
    started = time.monotonic()
    assert len(Analyzer().tokens("a" + "\u0301\u0327" * (LARGE // 2))) == 1
    assert time.monotonic() - started < SECONDS_FOR_LARGE


def test_long_words_are_cut() -> None:
    assert Analyzer(AnalyzerSettings(max_term_chars=5)).tokens("12345678") == ["12345"]


@given(st.text())
def test_terms_can_be_indexed_as_words_between_spaces(text: str) -> None:
    terms = ANALYZER.tokens(text)
    assert " ".join(terms).split() == terms
    assert "\n".join(terms).encode().decode().split("\n") == (terms or [""])


@given(st.text())
def test_documents_and_queries_are_analysed_alike(text: str) -> None:
    terms = ANALYZER.tokens(text)
    query = ANALYZER.query_terms(text, cap=1_000)
    assert query.terms == {term: terms.count(term) for term in terms}
    assert query.had_words == bool(terms)


def test_threads_share_an_analyzer_whose_memory_overflows() -> None:
    words = [f"walking{n} runs jumping{n % 7}" for n in range(300)]
    expected = [Analyzer().tokens(text) for text in words]
    shared = Analyzer(AnalyzerSettings(cached_words=10))
    wrong: list[list[str]] = []

    def analyse() -> None:
        for text, terms in zip(words, expected, strict=True):
            if shared.tokens(text) != terms:
                wrong.append(terms)

    threads = [threading.Thread(target=analyse) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_identity_tells_analyses_apart() -> None:
    assert Analyzer().identity == Analyzer().identity
    assert Analyzer(AnalyzerSettings(max_term_chars=5)).identity != Analyzer().identity
    assert Analyzer(AnalyzerSettings(stop_words=frozenset({"tea"}))).identity != Analyzer().identity


def test_stemming_and_stop_words_are_settings() -> None:
    text = "The otters were swimming"
    plain = analyzer_of(AnalysisSettings(stop_words="none", stemmer="none"))
    assert analyzer_of(AnalysisSettings()).tokens(text) == Analyzer().tokens(text) == ["otter", "swim"]
    assert plain.tokens(text) == ["the", "otters", "were", "swimming"]
    assert analyzer_of(AnalysisSettings(stemmer="german")).tokens("Häuser") == ["haus"]
    assert plain.identity != Analyzer().identity
    with pytest.raises(ValueError, match="one of"):
        AnalysisSettings(stemmer="klingon")
