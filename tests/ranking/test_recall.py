"""What a recall finds, leaves out, and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ranked_bank import DAY, NOW, RankedBank, ranked_bank, turn

from recall.memory.record import InfoChanges, Kind, MemoryChanges, NewMemory
from recall.ranking.errors import QueryHasNoWords
from recall.ranking.query import Mode, Weights
from recall.ranking.results import DegradedReason, Ranked
from recall.ranking.settings import RankingSettings

STRANGE_QUERIES = [
    "https://x.org/a?b=c#d",
    'title:"tuesday',
    "(tuesday",
    "-tuesday +blog",
    "tuesday\\>\\>",
    "tuesday\x00blog",
    "🎉 tuesday",
    "tuesday AND NOT blog OR",
    "星期二 tuesday",
    "t" * 100_000 + " tuesday",
]


def test_a_word_of_the_query_finds_the_memory(small: RankedBank) -> None:
    small.save("Blog posts go out on Tuesday mornings", "The office plant is called Fernando")
    assert small.texts("when on tuesday", Mode.LEXICAL) == ["Blog posts go out on Tuesday mornings"]


@pytest.mark.parametrize("query", STRANGE_QUERIES, ids=range(len(STRANGE_QUERIES)))
def test_any_text_with_a_word_is_a_query(small: RankedBank, query: str) -> None:
    small.save("Blog posts go out on Tuesday mornings")
    assert isinstance(small.ask(query), Ranked)


@pytest.mark.parametrize("query", ["", "  \n\t", "?!… --", "\x00\x01", "()[]{}"])
def test_a_query_without_words_is_refused(small: RankedBank, query: str) -> None:
    small.save("Blog posts go out on Tuesday mornings")
    with pytest.raises(QueryHasNoWords):
        small.ask(query)


def test_a_memory_that_matches_nothing_never_comes_however_pinned_and_confirmed(small: RankedBank) -> None:
    record, *_ = small.save("Deploys happen from the release branch", "The cat likes tuna")
    small.bank.pin(record.id, True)
    small.save(*["Deploys happen from the release branch"] * 3)
    assert small.texts("tuna") == ["The cat likes tuna"]


def test_a_deleted_memory_leaves_every_leg_at_once(small: RankedBank) -> None:
    kept, gone = small.save(
        NewMemory(text="Dana prefers the window seat", author="dana", entities=("dana",)),
        NewMemory(text="Dana prefers the aisle seat", author="dana", entities=("dana",)),
    )
    small.bank.delete(gone.id)
    for mode in Mode:
        assert [r.record.id for r in small.ask("the seat Dana prefers", mode).results] == [kept.id]


def test_a_superseded_memory_comes_only_when_asked_for_and_only_when_it_matches(small: RankedBank) -> None:
    loser, winner, other = small.save("Standup is at nine", "Standup is at ten", "Lunch is at noon")
    small.bank.supersede(loser.id, winner.id)
    small.bank.delete(other.id)
    assert small.texts("when is standup") == ["Standup is at ten"]
    shown = small.ask("when is standup", include_superseded=True).results
    assert {result.record.id for result in shown} == {loser.id, winner.id}


def test_an_archive_that_was_built_follows_later_writes(small: RankedBank) -> None:
    first, second = small.save("Standup is at nine", "Standup is at ten")
    small.bank.delete(first.id)
    assert len(small.texts("standup", include_superseded=True)) == 2
    small.bank.delete(second.id)
    assert small.texts("standup") == []
    assert len(small.texts("standup", include_superseded=True)) == 2


def test_a_memory_past_its_time_is_not_recalled(small: RankedBank) -> None:
    small.save(NewMemory(text="The guest password is otter", expires_at=NOW + DAY))
    assert small.texts("guest password") == ["The guest password is otter"]
    small.clock.time = NOW + 2 * DAY
    assert small.texts("guest password") == []
    assert small.texts("guest password", include_superseded=True) == ["The guest password is otter"]


def test_an_episode_is_never_recalled(small: RankedBank) -> None:
    small.save(NewMemory(text="Run 7 failed on the otter test", kind=Kind.EPISODE))
    assert small.texts("otter test") == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tags": ("ops",)}, "otter one"),
        ({"tags": ("ops", "eu")}, "otter one"),
        ({"kinds": (Kind.LESSON,)}, "otter two"),
        ({"created_after": NOW - 3 * DAY}, "otter two"),
        ({"created_before": NOW - 3 * DAY}, "otter one"),
    ],
)
def test_filters_hold_before_the_cut(small: RankedBank, fields: dict[str, Any], expected: str) -> None:
    small.save(
        NewMemory(text="otter one", tags=("ops", "eu"), created_at=NOW - 5 * DAY),
        NewMemory(text="otter two", kind=Kind.LESSON, created_at=NOW - DAY),
        *[NewMemory(text=f"otter otter {n}", kind=Kind.GLOSSARY, created_at=NOW - 4 * DAY) for n in range(20)],
    )
    found = small.texts("otter", limit=30, **fields)
    assert expected in found
    assert small.texts("otter", limit=1, **fields) == found[:1]


def test_a_filter_changes_no_score(small: RankedBank) -> None:
    small.save(NewMemory(text="otter one", tags=("a",)), NewMemory(text="otter two otter", tags=("b",)), "a heron")
    scores = {result.text: result.score for result in small.ask("otter").results}
    (only,) = small.ask("otter", tags=("b",)).results
    assert only.score == scores["otter two otter"]


def test_equal_scores_come_newest_first_then_by_id(small: RankedBank) -> None:
    records = small.save(*[NewMemory(text="the same otter", entities=(f"e{n}",)) for n in range(1)])
    records += small.save("the same\u00a0 otter!", "The same otter?!")
    found = [result.record for result in small.ask("otter", Mode.LEXICAL).results]
    scores = [result.score for result in small.ask("otter", Mode.LEXICAL).results]
    assert found == sorted(found, key=lambda r: (-scores[found.index(r)], -r.updated_at, r.id))


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID, Mode.SEMANTIC])
def test_the_best_k_are_a_prefix_of_the_best_k_plus_one(small: RankedBank, mode: Mode) -> None:
    small.save(*[f"otter {'river ' * (n % 4)} number {n % 7} of {n}" for n in range(40)])
    longest = small.texts("otter river number 3", mode, limit=40)
    assert len(set(longest)) == len(longest) > 20
    for limit in (1, 2, 3, 10, 39):
        assert small.texts("otter river number 3", mode, limit=limit) == longest[:limit]


def test_first_person_words_reach_what_is_known_of_the_user(small: RankedBank) -> None:
    small.save("User is called Dana", "The server is called Fernando")
    assert small.texts("who am I")[0] == "User is called Dana"
    small.bank.update_info(InfoChanges(user_handle="Captain"))
    small.save("Captain takes tea at four")
    assert "Captain takes tea at four" in small.texts("what do I drink", Mode.LEXICAL)


def test_the_user_is_one_word_among_those_of_the_question(small: RankedBank) -> None:
    small.save("User writes columns", "The mill grinds at dawn")
    alone, among = small.ask("who am I", Mode.LEXICAL), small.ask("when do I publish articles", Mode.LEXICAL)
    assert among.results[0].text == alone.results[0].text == "User writes columns"
    assert among.results[0].score == pytest.approx(alone.results[0].score / 3)


def test_the_user_is_not_counted_twice(small: RankedBank) -> None:
    small.save("User is called Dana", "A heron stands by the river")
    once, twice = small.ask("who am I", Mode.LEXICAL), small.ask("who am I the user", Mode.LEXICAL)
    assert once.results[0].score == pytest.approx(twice.results[0].score)


def test_what_a_named_person_said_comes_before_what_others_said(small: RankedBank) -> None:
    small.save(
        turn("I adopted a dog last week", "Caroline", "s", 0),
        turn("I adopted a dog as well", "Melanie", "t", 0),
        *[turn(f"chat {n} about the weather", ("Caroline", "Melanie")[n % 2], f"u{n}", 0) for n in range(6)],
    )
    assert small.texts("What did Caroline adopt?")[0] == "I adopted a dog last week"
    assert small.texts("What is Melanie's dog?")[0] == "I adopted a dog as well"


def test_neighbours_in_a_session_lend_evidence(small: RankedBank) -> None:
    small.save(
        turn("What colour shall the kitchen wall be", "a", "s1", 0),
        turn("Sage, definitely", "b", "s1", 1),
        turn("Sage, certainly", "b", "s2", 1),
        *[f"filler {n} about herons" for n in range(30)],
    )
    assert small.texts("colour of the kitchen wall")[:2] == [
        "What colour shall the kitchen wall be",
        "Sage, definitely",
    ]
    assert "Sage, certainly" not in small.texts("colour of the kitchen wall")


def test_a_memory_past_its_time_lends_nothing(small: RankedBank) -> None:
    asked, answered = (
        turn("What colour shall the kitchen wall be", "a", "s1", 0),
        turn("Sage, definitely", "b", "s1", 1),
    )
    passing = NewMemory(text=asked.text, author="a", source=asked.source, expires_at=NOW + DAY)
    small.save(passing, answered, *[f"filler {n} about herons" for n in range(30)])
    assert answered.text in small.texts("colour of the kitchen wall", Mode.LEXICAL)
    small.clock.time = NOW + 2 * DAY
    assert small.texts("colour of the kitchen wall", Mode.LEXICAL) == []


def test_a_memory_without_a_session_is_untouched_by_sessions(tmp_path: Path) -> None:
    with ranked_bank(tmp_path) as bank:
        bank.save("An otter swims", *[turn(f"herons {n}", "a", "s", n) for n in range(5)])
        (result,) = bank.ask("otter", explain=True).results
        assert "neighbour" not in {signal.name for signal in result.signals}


def test_a_date_in_the_query_prefers_memories_of_that_time(small: RankedBank) -> None:
    may, june = 1_683_590_400_000_000, 1_686_268_800_000_000  # 9 May and 9 June 2023
    small.save(
        NewMemory(text="We went hiking with the dog", created_at=june),
        NewMemory(text="We went hiking with the kids", created_at=may),
    )
    assert small.texts("Who went hiking in May 2023?")[0] == "We went hiking with the kids"
    assert small.texts("Who went hiking in June 2023?")[0] == "We went hiking with the dog"


def test_the_newer_of_two_equal_matches_is_first_and_an_old_perfect_match_beats_recent_noise(small: RankedBank) -> None:
    small.save(
        NewMemory(text="The staging database is called heron", created_at=NOW - 900 * DAY),
        *[NewMemory(text=f"A database note {n} about other things", created_at=NOW - n) for n in range(10)],
        NewMemory(text="Otters hold hands (old)", created_at=NOW - 400 * DAY),
        NewMemory(text="Otters hold hands (new)", created_at=NOW),
    )
    assert small.texts("what is the staging database called", Mode.LEXICAL)[0].startswith("The staging database")
    assert small.texts("otters hold hands", Mode.LEXICAL)[:2] == ["Otters hold hands (new)", "Otters hold hands (old)"]


def test_pins_and_confirmations_raise_a_score_strictly(small: RankedBank) -> None:
    plain, pinned, confirmed = small.save("otter alpha", "otter bravo", "otter delta")
    small.bank.pin(pinned.id, True)
    small.save("otter delta")
    scores = {result.record.id: result.score for result in small.ask("otter", Mode.LEXICAL).results}
    assert scores[pinned.id] > scores[plain.id]
    assert scores[confirmed.id] > scores[plain.id]


def test_min_score_leaves_out_and_counts(small: RankedBank) -> None:
    small.save("otter otter otter", "an otter among many other animals of the river bank", "heron")
    best, second = small.ask("otter", Mode.LEXICAL).results
    ranked = small.ask("otter", Mode.LEXICAL, min_score=(best.score + second.score) / 2)
    assert [result.text for result in ranked.results] == [best.text]
    assert ranked.below_min_score == 1
    assert small.ask("otter", Mode.LEXICAL, min_score=0.0).below_min_score == 0
    assert small.ask("otter", Mode.LEXICAL, min_score=1e9).results == ()


def test_scores_are_positive_and_tell_apart(small: RankedBank) -> None:
    small.save("otter", "otter and heron", "otter heron river", *[f"filler {n}" for n in range(5)])
    scores = [result.score for result in small.ask("otter heron river").results]
    assert len(set(scores)) == len(scores) >= 3
    assert all(0.0 < score < 100.0 for score in scores)


def test_explained_parts_add_up_to_the_score(small: RankedBank) -> None:
    record, *_ = small.save(NewMemory(text="Dana keeps an otter", entities=("dana",)), "heron", "a river otter")
    small.bank.pin(record.id, True)
    best = small.ask("Dana otter", explain=True).results[0]
    parts = {signal.name: signal for signal in best.signals}
    assert {"lexical", "semantic", "entity", "pinned", "recency"} <= parts.keys()
    assert best.score == pytest.approx(sum(s.contribution for s in best.signals if s.name != "recency"))
    assert small.ask("Dana otter").results[0].signals == ()


def test_weights_of_a_request_change_the_order(small: RankedBank) -> None:
    plain, pinned = small.save("otter otter river", "otter among the many animals of the river bank")
    small.bank.pin(pinned.id, True)
    first = [small.ask("otter", Mode.LEXICAL, weights=w).results[0].record.id for w in (None, Weights(pinned=10.0))]
    assert first == [plain.id, pinned.id] or small.settings.pinned > 0.4
    assert first[1] == pinned.id
    assert small.ask("otter", Mode.LEXICAL, weights=Weights(pinned=0.0)).results[0].record.id == plain.id


def test_weights_out_of_bounds_are_named() -> None:
    problems = Weights(lexical=-1.0, semantic=11.0, half_life_days=0.0, pinned=float("nan")).out_of_bounds(
        RankingSettings()
    )
    assert [field for field, _ in problems] == ["lexical", "semantic", "pinned", "half_life_days"]
    assert Weights(lexical=0.0, half_life_days=1.0).out_of_bounds(RankingSettings()) == ()


def test_an_over_long_query_is_capped_and_says_so(small: RankedBank) -> None:
    small.save("An otter swims in the river")
    many = small.ask("otter " + " ".join(f"word{n}" for n in range(500)))
    huge = small.ask("otter " + "x" * 100_000)
    for ranked in (many, huge):
        assert [result.text for result in ranked.results] == ["An otter swims in the river"]
        assert DegradedReason.QUERY_CAPPED in {one.reason for one in ranked.degraded}


def test_an_edit_moves_a_memory_to_its_new_words_and_meaning(small: RankedBank) -> None:
    (record,) = small.save("The launch is on Monday")
    small.bank.update(record.id, MemoryChanges(text="The kickoff takes place on Friday"))
    small.embed()
    assert small.texts("monday launch", Mode.LEXICAL) == []
    assert small.texts("friday kickoff", Mode.SEMANTIC) == ["The kickoff takes place on Friday"]


def test_a_fact_at_the_end_of_a_long_memory_is_found_by_meaning(small: RankedBank) -> None:
    long = " ".join(f"word{n}" for n in range(900)) + " the vault code is heronry"
    small.save(long, *[f"short note {n}" for n in range(10)])
    assert small.texts("vault code heronry", Mode.SEMANTIC)[:1] == [long]
