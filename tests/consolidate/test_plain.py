"""Values in one way of writing, so that guards compare what they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.plain import plain

PIECES = st.lists(
    st.sampled_from(
        ["May", "3", "2024", "2024-05-03", "3 p.m.", "15:00", "$", "5", "USD", "twenty", "five", "a dozen", "a hundred",
         "%", "km", ",", ".", "on", "Mon", "the", "1st", "&", "U.S.", "12 am", "12:30", "v1.2", "Jan"]
    ),
    max_size=8,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("due on 2024-05-03", "due on May 3, 2024"),
        ("due on 3 May 2024", "due on May 3rd, 2024"),
        ("daily at 3 p.m.", "daily at 15:00"),
        ("daily at 12 am", "daily at 0:00"),
        ("twenty-five users", "25 users"),
        ("one hundred and twenty users", "120 users"),
        ("costs $5", "costs 5 dollars"),
        ("rose by 5%", "rose by 5 percent"),
        ("16 GB of RAM", "16 gigabytes of RAM"),
        ("salt & pepper", "salt  and  pepper"),
    ],
)
def test_one_value_in_two_spellings_reads_the_same(text: str, other: str) -> None:
    assert plain(text).split() == plain(other).split()


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("due on 2024-05-03", "due on May 4, 2024"),
        ("daily at 3 p.m.", "daily at 3 a.m."),
        ("daily at 12 pm", "daily at 12 am"),
        ("twenty-five users", "52 users"),
        ("a thirty second break", "a 32nd break"),
        ("costs $5", "costs 5 euros"),
        ("16 GB of RAM", "16 MB of RAM"),
    ],
)
def test_two_values_stay_two(text: str, other: str) -> None:
    assert plain(text).split() != plain(other).split()


@pytest.mark.parametrize(
    "text", ["on 05/06/2024", "2024-13-45", "5 pounds", "release-2024-05-03-rc1", "25:61", "13 pm"]
)
def test_what_is_no_plain_value_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


@given(PIECES)
def test_what_is_plain_stays_so(pieces: list[str]) -> None:
    once = plain(" ".join(pieces))
    assert plain(once) == once
