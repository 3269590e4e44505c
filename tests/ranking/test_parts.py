"""The small parts of the ranking, each against something simpler."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranked_bank import DAY, NOW, RankedBank

from recall.memory.record import Kind, MemoryId, NewMemory, Record, Source, Status
from recall.ranking.columns import Columns
from recall.ranking.cut import top
from recall.ranking.dates import NamedDate, fit, named_dates
from recall.ranking.fuse import positive, sum_of
from recall.ranking.question import in_first_person, without
from recall.ranking.recency import recency
from recall.ranking.scale import Scale, with_prior
from recall.ranking.sessions import NONE, Sessions
from recall.ranking.settings import RankingSettings


def record(ordinal: int, session: str = "", position: int | None = None, **fields: Any) -> Record:
    """An accepted memory."""
    source = Source(session=session, position=position) if session else None
    known: dict[str, Any] = {
        "id": MemoryId(f"{ordinal:04}"),
        "ordinal": ordinal,
        "kind": Kind.FACT,
        "entities": (),
        "tags": (),
        "author": "",
        "source": source,
        "confidence": 1.0,
        "corroboration": 0,
        "pinned": False,
        "status": Status.ACCEPTED,
        "created_at": NOW,
        "updated_at": NOW,
        "expires_at": 0,
        "superseded_by": "",
        "predecessor": "",
        "revision": 1,
        "metadata": {},
        "text_seq": ordinal + 1,
        "text_hash": b"",
    }
    return Record(**{**known, **fields})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What happened on 16 August, 2023?", [NamedDate(2023, 8, 16)]),
        ("on August 16", [NamedDate(None, 8, 16)]),
        ("the 3rd of May 2022", [NamedDate(2022, 5, 3)]),
        ("in August 2023", [NamedDate(2023, 8, None)]),
        ("during October", [NamedDate(None, 10, None)]),
        ("on 2023-05-09", [NamedDate(2023, 5, 9)]),
        ("between May 3, 2023 and in June", [NamedDate(2023, 5, 3), NamedDate(None, 6, None)]),
        ("may I march in 2023", []),
        ("what may happen", []),
    ],
)
def test_dates_are_read_as_far_as_they_are_named(text: str, expected: list[NamedDate]) -> None:
    assert sorted(named_dates(text), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("date", "moment", "expected"),
    [
        (NamedDate(2023, 5, 9), (2023, 5, 9, 23), 1.0),
        (NamedDate(2023, 5, 9), (2023, 5, 8, 0), 1.0),
        (NamedDate(2023, 5, 9), (2023, 5, 20, 0), 0.5),
        (NamedDate(2023, 5, 9), (2023, 5, 30, 0), 0.0),
        (NamedDate(2023, 5, 9), (2024, 5, 9, 0), 0.0),
        (NamedDate(None, 5, 9), (2024, 5, 9, 0), 1.0),
        (NamedDate(2023, 5, None), (2023, 5, 31, 23), 1.0),
        (NamedDate(2023, 5, None), (2023, 6, 7, 0), 0.5),
        (NamedDate(2023, 5, None), (2023, 6, 8, 0), 0.0),
        (NamedDate(2023, 5, None), (2022, 5, 5, 0), 0.0),
        (NamedDate(None, 12, None), (2024, 1, 3, 0), 0.5),
        (NamedDate(None, 5, None), (1969, 5, 3, 0), 1.0),
        (NamedDate(2023, 2, 31), (2023, 3, 3, 0), 1.0),
    ],
)
def test_a_memory_fits_a_date_when_it_was_said_then_or_shortly_after(
    date: NamedDate, moment: tuple[int, int, int, int], expected: float
) -> None:
    at = int(datetime(*moment, tzinfo=UTC).timestamp() * 1_000_000)
    assert fit((date,), np.array([at])) == [expected]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=30),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_the_cut_is_the_head_of_the_whole_order(rows: list[tuple[int, int]], limit: int, random: Random) -> None:
    ids = [f"{n:02}" for n in range(len(rows))]
    random.shuffle(ids)
    scores, updated = np.array([float(s) for s, _ in rows]), np.array([u for _, u in rows], np.int64)
    records = [SimpleNamespace(id=one) for one in ids]
    ordinals = np.arange(len(rows))
    whole = sorted(range(len(rows)), key=lambda at: (-rows[at][0], -rows[at][1], ids[at]))
    assert top(scores, ordinals, updated, records, limit).tolist() == whole[:limit]  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [1, 6, 40])
@pytest.mark.parametrize("levels", [3, 50, 10**9])
def test_the_cut_of_a_whole_bank_is_the_head_of_its_order(limit: int, levels: int) -> None:
    rng = np.random.default_rng(limit)
    ordinals = rng.permutation(3_000)
    scores = rng.integers(0, levels, 2_999).astype(np.float64)
    updated = rng.integers(0, 2, 3_000)
    records = [SimpleNamespace(id=f"{n:04}") for n in rng.permutation(3_000)]
    found = ordinals[:2_999]
    whole = sorted(range(2_999), key=lambda at: (-scores[at], -updated[found[at]], records[found[at]].id))
    assert top(scores, found, updated, records, limit).tolist() == whole[:limit]  # type: ignore[arg-type]


@given(
    st.lists(
        st.tuples(st.integers(0, 11), st.sampled_from(["", "a", "b"]), st.integers(0, 6), st.booleans()), max_size=40
    )
)
def test_neighbours_are_those_of_sorting_each_session(steps: list[tuple[int, str, int, bool]]) -> None:
    sessions, live = Sessions(reach=2), dict[int, tuple[str, int]]()
    for ordinal, session, position, removes in steps:
        if removes:
            sessions.remove(ordinal)
            live.pop(ordinal, None)
        else:
            sessions.place(record(ordinal, session, position))
            live.pop(ordinal, None)
            if session:
                live[ordinal] = (session, position)
    columns = [column.tolist() for column in sessions.neighbours(12)]
    codes = sessions.codes(12)
    for ordinal in range(12):
        mates = sorted((p, o) for o, (s, p) in live.items() if s == live.get(ordinal, ("?",))[0])
        order = [o for _, o in mates]
        at = order.index(ordinal) if ordinal in order else None
        for column, step in zip(columns, (-2, -1, 1, 2), strict=True):
            inside = at is not None and 0 <= at + step < len(order)
            assert column[ordinal] == (order[at + step] if at is not None and inside else NONE)
        assert (codes[ordinal] > 0) == (ordinal in live)


def test_columns_and_sessions_filled_at_once_are_those_of_one_memory_after_the_other() -> None:
    random = Random(5)
    records = [
        record(
            n,
            random.choice(["", "a", "b"]),
            random.randint(0, 6),
            author=random.choice(["", "Dana", "eve"]),
            status=random.choice(list(Status)),
            kind=random.choice(list(Kind)),
            corroboration=random.choice([0, 0, 3]),
            pinned=random.random() < 0.2,
            expires_at=random.choice([0, NOW]),
            updated_at=NOW + n,
            tags=("x",) if n % 3 else (),
        )
        for n in range(300)
    ]
    filled, put, at_once, placed = Columns(), Columns(), Sessions(reach=2), Sessions(reach=2)
    filled.fill(records)
    at_once.fill(records)
    for one in records:
        put.put(one)
        placed.place(one)
    for name in ("created_at", "said_at", "updated_at", "corroboration", "pinned", "kind", "author", "any_boosted"):
        np.testing.assert_array_equal(getattr(filled, name), getattr(put, name))
    np.testing.assert_array_equal(filled.selectable(NOW), put.selectable(NOW))
    np.testing.assert_array_equal(filled.archived(NOW), put.archived(NOW))
    np.testing.assert_array_equal(filled.tags.mask(("x",), 300), put.tags.mask(("x",), 300))
    assert (filled.accepted_count, filled.author_share("DANA")) == (put.accepted_count, put.author_share("dana"))
    filled.put(record(0, author="Dana", status=Status.RETIRED))
    put.put(record(0, author="Dana", status=Status.RETIRED))
    assert (filled.accepted_count, filled.author_share("dana")) == (put.accepted_count, put.author_share("dana"))
    np.testing.assert_array_equal(at_once.neighbours(300), placed.neighbours(300))
    assert len(at_once) == len(placed)


def test_recency_is_bounded_and_falls_with_age() -> None:
    ages = np.array([0, 15, 30, 60, 5_000, -10])
    found = recency(NOW - ages * DAY, np.ones(6, np.bool_), NOW, half_life_days=30.0, floor=0.35)
    assert found.factors == pytest.approx([1.0, 2**-0.5, 0.5, 0.35, 0.35, 1.0], abs=1e-4)
    old = recency(NOW - ages * 0 - 900 * DAY, np.ones(6, np.bool_), NOW, 30.0, 0.35)
    assert old.factors / old.norm == pytest.approx(np.ones(6))


def test_a_memory_said_again_is_fresh_an_edit_is_not() -> None:
    columns = Columns()
    columns.put(record(0, created_at=NOW - 90 * DAY, updated_at=NOW))
    columns.put(record(1, created_at=NOW - 90 * DAY, updated_at=NOW, corroboration=1))
    assert columns.said_at.tolist() == [NOW - 90 * DAY, NOW]


def test_a_prior_rules_small_banks_and_fades_in_large_ones() -> None:
    prior = Scale(0.1, 0.12)
    empty = with_prior(Scale(0.0, 0.0), 0, prior, 5.0)
    assert [empty.mean, empty.deviation] == pytest.approx([0.1, 0.12])
    alone = with_prior(Scale(0.5, 0.0), 1, prior, 5.0)
    assert 0.1 < alone.mean < 0.5
    assert alone.deviation > 0.1
    many = with_prior(Scale(0.3, 0.2), 100_000, prior, 5.0)
    assert [many.mean, many.deviation] == pytest.approx([0.3, 0.2], abs=1e-4)
    assert not Scale(0.0, 0.0).standard(np.array([1.0])).any()


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_a_score_is_positive_keeps_the_order_and_can_be_read_back(one: float, other: float) -> None:
    assert positive(one) > 0.0
    assert (positive(one) <= positive(other)) == (one <= other) or math.isclose(one, other, abs_tol=1e-9)
    assert sum_of(positive(one)) == pytest.approx(one, abs=1e-6)
    assert sum_of(0.0) == -math.inf


@pytest.mark.parametrize(
    ("text", "names", "spoken", "bare"),
    [
        ("What is Caroline's dog called?", ["caroline"], "What is my dog called?", "What is dog called?"),
        ("Where does Caroline live?", ["caroline"], "Where do I live?", "Where does live?"),
        ("Is Dana Whitfield tall?", ["dana whitfield"], "Am I tall?", "Is tall?"),
        ("Is Dana's sister tall?", ["dana whitfield"], "Is my sister tall?", "Is sister tall?"),
        ("Anna planned it", ["ann"], "Anna planned it", "Anna planned it"),
        ("what of (dana)?", ["dana"], "what of (I)?", "what of ( )?"),
    ],
)
def test_names_are_asked_of_in_the_first_person(text: str, names: list[str], spoken: str, bare: str) -> None:
    assert in_first_person(text, names) == spoken
    assert without(text, names) == bare


def test_tags_follow_the_last_state_of_a_memory() -> None:
    columns = Columns()
    columns.put(record(0, tags=("a", "b")))
    columns.put(record(1, tags=("b",)))
    columns.put(record(0, tags=("b", "c"), revision=2))
    assert columns.tags.mask(("b",), 2).tolist() == [True, True]
    assert columns.tags.mask(("a",), 2).tolist() == [False, False]
    assert columns.tags.mask(("b", "c"), 2).tolist() == [True, False]
    assert columns.tags.mask((), 2).all()


def test_an_author_counts_only_while_the_memory_is_in_use() -> None:
    columns = Columns()
    columns.put(record(0, author="Dana"))
    columns.put(record(1, author="Eve"))
    assert columns.author_share("dana") == 0.5
    columns.put(record(0, author="Dana", status=Status.RETIRED))
    assert (columns.author_share("dana"), columns.author_share("eve")) == (0.0, 1.0)
    assert columns.author_share("nobody") == 0.0


def test_settings_have_a_share_for_every_step_of_reach() -> None:
    shares = RankingSettings().near_shares
    assert list(shares) == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    ("memory", "fields", "reason"),
    [
        (NewMemory(text="otter", kind=Kind.EPISODE), {}, "episode"),
        (NewMemory(text="otter", expires_at=NOW + 1), {}, "expires_at"),
        (NewMemory(text="otter", tags=("a",)), {"tags": ("a", "b")}, "tags"),
        (NewMemory(text="otter"), {"kinds": (Kind.LESSON,)}, "kinds"),
        (NewMemory(text="otter", created_at=5), {"created_after": 6}, "created_after"),
        (NewMemory(text="otter", created_at=5), {"created_before": 5}, "created_before"),
        (NewMemory(text="heron"), {}, "matches the query"),
    ],
)
def test_why_not_tells_what_keeps_a_memory_out(
    small: RankedBank, memory: NewMemory, fields: dict[str, Any], reason: str
) -> None:
    (saved,) = small.save(memory)
    small.clock.time = NOW + DAY
    told = small.ask("otter", why_not_id=saved.id, **fields).why_not
    assert told is not None
    assert reason in told.excluded
    assert told.rank == 0


def test_why_not_tells_the_place_of_a_memory_in_every_leg(small: RankedBank) -> None:
    small.save("otter otter", "otter and a heron by the river", "moss")
    results = small.ask("otter", limit=10).results
    second = results[1]
    told = small.ask("otter", limit=1, why_not_id=second.record.id).why_not
    assert told is not None
    assert (told.excluded, told.rank) == ("", 2)
    assert told.score == pytest.approx(second.score)
    assert {leg.leg: (leg.rank, leg.best) for leg in told.legs} == {
        "lexical": (2, results[0].record.id),
        "semantic": (2, results[0].record.id),
    }
    assert all(leg.best_score > leg.score > 0.0 for leg in told.legs)
    assert told.signals
