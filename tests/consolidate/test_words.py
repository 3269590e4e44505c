"""What the canonical form folds, and what it must not."""

from __future__ import annotations

import pytest

from consolidate.words import canonical, normal_text, same_but_synonyms, same_wording, singular, words


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The User likes TEA.", "user likes tea"),
        ("He can't swim", "He cannot swim"),
        ("The job won't retry", "the job will not retry"),
        ("The user's moving to Canada", "The user is moving to Canada"),
        ("It's been fixed", "It has been fixed"),
        ("I'd like tea", "I would like tea"),
        ("I'd been there", "I had been there"),
        ("They’ve moved", "They have moved"),
        ("colour and behaviour", "color and behavior"),
        ("Organise the catalogue", "Organize the catalog"),
        ("travelled, cancelled, modelling", "traveled canceled modeling"),
        ("The user practises yoga", "The user practices yoga"),
        ("Feature branches are deleted", "Feature branch is deleted"),
        ("a left-handed user", "left handed user"),
        ("The log in page", "The login page"),
        ("Note that the cache is shared", "The cache is shared"),
        ("As a reminder, the cache is shared", "The cache is shared"),
        ("Please just use tabs", "Use tabs"),
        ("Four spaces", "4 spaces"),
        ("1,200 rows", "1200 rows"),
        ("The user knows that it rains", "The user knows it rains"),
    ],
)
def test_restatements_have_one_wording(a: str, b: str) -> None:
    assert same_wording(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The user has a few friends", "The user has few friends"),
        ("The user needs a little help", "The user needs little help"),
        ("The coffee is too hot", "The coffee is hot"),
        ("The user sleeps well", "The user sleeps"),
        ("Write clearly to clients", "Write to clients"),
        ("Just admins can deploy", "Admins can deploy"),
        ("Notify just the admins", "Notify the admins"),
        ("The API is not really stable", "The API is not stable"),
        ("The user takes vitamin A daily", "The user takes vitamin daily"),
        ("The user filled the form", "The user filed the form"),
        ("polling the queue", "poling the queue"),
        ("Remember passwords in the browser", "Passwords in the browser"),
        ("Alice manages Bob", "Bob manages Alice"),
        ("the users' folder", "the user's folder"),
        ("re-sign the contract", "resign the contract"),
        ("use that server", "use server"),
        ("", ""),
        ("...", "!!!"),
    ],
)
def test_what_carries_meaning_is_not_folded(a: str, b: str) -> None:
    assert not same_wording(a, b)


@pytest.mark.parametrize(
    ("plural", "single"),
    [
        ("cats", "cat"), ("stories", "story"), ("branches", "branch"), ("classes", "class"), ("news", "news"),
        ("bus", "bus"), ("kubernetes", "kubernetes"), ("gas", "gas"), ("is", "is"),
    ],
)  # fmt: skip
def test_only_regular_plurals_become_singular(plural: str, single: str) -> None:
    assert singular(plural) == single


def test_listed_synonyms_are_one_wording_only_when_asked() -> None:
    assert same_but_synonyms("The user prefers dark mode", "The user likes dark mode")
    assert not same_wording("The user prefers dark mode", "The user likes dark mode")
    assert not same_but_synonyms("", "")


def test_words_spell_out_and_keep_possessives() -> None:
    assert words("Don't touch Ann's 5pm call") == ("do", "not", "touch", "ann", "'s", "5", "pm", "call")
    assert normal_text("  Tea, PLEASE!  ") == "tea please"
    assert canonical("The\0user") == ("user",) or canonical("The\0user") == ("the", "user")


@pytest.mark.parametrize(
    "text", ["\0" * 10, "\ud800 x", "😀" * 1000, "a" * 100_000, "'" * 10_000, "- " * 50_000, "a-" * 50_000]
)
def test_odd_texts_are_read_in_linear_time(text: str) -> None:
    assert isinstance(canonical(text), tuple)
    assert isinstance(normal_text(text), str)
