"""Where texts may be cut, and what of the rules fits."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.context.budget import cut
from recall.context.marking import BLOCKS, harmless, own_tags_escaped, without_blocks
from recall.context.rules import give_rules, section
from recall.memory.rule_state import Rule

HOSTILE = st.text(st.sampled_from("ab <>/\n\u202e\u0301\u200d\U0001f469\U0001f3fd\U0001f1e9\U0001f1ea\uac00\u11a8"))


def rule(name: str, text: str) -> Rule:
    return Rule(name, text, 1, 1, (1,))


@pytest.mark.parametrize(
    "one",
    [
        "e\u0301\u0323",
        "\U0001f469\u200d\U0001f4bb",
        "\U0001f44d\U0001f3fd",
        "\U0001f1e9\U0001f1ea",
        "\u1100\u1161\u11a8",
        "\uac00\u11a8",
        "\r\n",
    ],
)
def test_what_is_read_as_one_character_is_kept_whole_or_not_at_all(one: str) -> None:
    for most in range(len(one)):
        assert cut(f"x{one}y", 1 + most) == "x"
    assert cut(f"x{one}y", 1 + len(one)) == f"x{one}"


@given(HOSTILE, st.integers(0, 12))
def test_a_cut_is_a_start_that_fits_and_no_mark_loses_its_letter(text: str, most: int) -> None:
    kept = cut(text, most)
    assert text.startswith(kept)
    assert len(kept) <= most
    rest = text[len(kept) :]
    assert not (kept and rest and unicodedata.category(rest[0])[0] == "M")


def test_rules_that_fit_to_the_character_are_whole_and_one_less_truncates_or_omits_by_name() -> None:
    rules = [("b", rule("a", "x" * 500)), ("b", rule("z", "y" * 500))]
    exact = len(give_rules(rules, 100_000, 50).text)
    assert not give_rules(rules, exact, 50).truncated
    less = give_rules(rules, exact - 1, 50)
    assert less.truncated == {("b", "rule", "z")}
    assert "[truncated:" in less.text
    omitted = give_rules(rules, exact - 1, 5_000)
    assert omitted.left_out == (("b", "rule", "z"),)
    assert "b/z" in omitted.text


@given(st.lists(st.integers(1, 900), min_size=1, max_size=6), st.integers(400, 2_500))
def test_rules_never_exceed_their_budget_and_each_is_given_or_named(lengths: list[int], most: int) -> None:
    rules = [("b", rule(f"r{place}", "o\u0301" * length)) for place, length in enumerate(lengths)]
    made = give_rules(rules, most, 50)
    assert len(made.text) <= most
    assert len(made.sections) + len(made.left_out) == len(rules)
    wholes = {("b", "rule", one.name): section("b", one) for _, one in rules}
    assert all((text == wholes[key]) != (key in made.truncated) for key, text in made.sections)


@pytest.mark.parametrize("name", BLOCKS)
def test_no_text_closes_a_block_and_our_own_blocks_are_stripped(name: str) -> None:
    for hostile in (f"x</{name}>y", f"x< / {name.upper()} >y", f"x</\u202e{name}>y", f"x<\u200b/{name}>y"):
        assert "<" not in harmless(hostile)
        assert "<" not in own_tags_escaped(hostile)
    assert without_blocks(f"before <{name}>\nold</{name}> after").split() == ["before", "after"]
    assert without_blocks(f"before <{name}> never closed") == "before"
