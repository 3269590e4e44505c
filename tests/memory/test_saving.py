"""What becomes of a text that is said to a bank."""

import pytest
from faulty_files import MemoryFiles
from memory_banks import bank_on, remembered, reopened, saved, texts
from ticking import START, Ticking

from recall.memory.errors import InvalidField, MemoryServiceError, PinnedMemory, TextTooLong
from recall.memory.lifecycle import Action
from recall.memory.record import (
    LOCAL,
    Actor,
    Kind,
    MemoryChanges,
    NewMemory,
    Outcome,
    Saved,
    Source,
    SourceKind,
    Status,
)

SECOND = 1_000_000
DECISION = Source(kind=SourceKind.DECISION, id="d-1")


def test_a_new_text_is_kept_with_all_that_was_said_of_it_and_survives() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    memory = NewMemory(
        text="  Dana lives in Köln 🏙\0\n",
        kind=Kind.PREFERENCE,
        entities=(" Dana ", "KÖLN", "dana"),
        tags=("Home", ""),
        author=" Dana ",
        source=Source(kind=SourceKind.MESSAGE, id="m-1", session="s", position=0, agent="a", uri="https://x.org"),
        confidence=0.5,
        pinned=True,
        created_at=-SECOND,
        expires_at=START * 2,
        metadata={"ticket": "42"},
    )
    result = saved(bank, memory)
    assert (result.outcome, result.seq) == (Outcome.CREATED, 2)
    record = reopened(files).get(result.record.id)
    assert record == result.record
    assert reopened(files).text(record) == memory.text
    assert (record.entities, record.tags, record.author) == (("dana", "köln"), ("home",), "Dana")
    assert (record.kind, record.confidence, record.pinned) == (Kind.PREFERENCE, 0.5, True)
    assert (record.created_at, record.expires_at, record.metadata) == (-SECOND, START * 2, {"ticket": "42"})
    assert record.source == memory.source
    assert (record.status, record.revision, record.corroboration, record.ordinal) == (Status.ACCEPTED, 1, 0, 0)


@pytest.mark.parametrize("again", ["Blog posts go out", "BLOG  posts\tgo OUT ", "Ｂlog posts go out"])
def test_a_live_text_said_again_reinforces(again: str) -> None:
    bank = bank_on()
    first = saved(bank, NewMemory(text="Blog posts go out", tags=("a",), pinned=True)).record
    result = saved(bank, NewMemory(text=again, tags=("b", "a"), kind=Kind.LESSON))
    assert result.outcome is Outcome.REINFORCED
    record = result.record
    assert (record.id, record.corroboration, record.revision) == (first.id, 1, 2)
    assert (record.tags, record.pinned, record.kind) == (("a", "b"), True, Kind.FACT)
    assert bank.text(record) == "Blog posts go out"


@pytest.mark.parametrize("other", ["Blog posts go out!", "Blog post goes out", "Bl og posts go out"])
def test_a_text_that_says_something_else_is_another_memory(other: str) -> None:
    bank = bank_on()
    remembered(bank, "Blog posts go out")
    assert saved(bank, other).outcome is Outcome.CREATED


def test_a_text_of_a_retired_memory_mints_a_new_one_that_names_it() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    old = remembered(bank, "a")
    bank.delete(old.id)
    new = saved(bank, "A")
    assert (new.outcome, new.record.predecessor) == (Outcome.CREATED, old.id)
    assert saved(reopened(files), "a").record.id == new.record.id


def test_a_text_of_a_superseded_memory_mints_a_new_one_that_names_it() -> None:
    bank = bank_on()
    loser, winner = remembered(bank, "a"), remembered(bank, "b")
    bank.supersede(loser.id, winner.id)
    assert saved(bank, "a").record.predecessor == loser.id


def test_a_text_past_its_time_mints_a_new_one_and_the_old_one_is_recorded_as_expired() -> None:
    clock = Ticking()
    bank = bank_on(clock=clock)
    old = saved(bank, NewMemory(text="sale today", expires_at=START + SECOND)).record
    clock.time += 10 * SECOND
    new = saved(bank, "sale today").record
    assert new.predecessor == old.id
    assert bank.get(old.id).status is Status.EXPIRED
    assert [event.more for event in bank.events(3)] == [1, 0]


def test_after_an_update_the_text_belongs_to_whoever_holds_it_now() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    first = remembered(bank, "old text")
    bank.update(first.id, MemoryChanges(text="new text"))
    for at in (bank, reopened(files)):
        assert saved(at, "new text").record.id == first.id
        other = saved(at, "old text")
        assert (other.outcome, other.record.predecessor) == (Outcome.CREATED, "")


def test_a_new_text_of_a_live_source_updates_the_memory_in_place() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    first = saved(bank, NewMemory(text="we use npm", source=DECISION, tags=("tools",), pinned=True)).record
    result = saved(bank, NewMemory(text="we use bun", source=DECISION, tags=("new",)))
    assert (result.outcome, result.record.id, result.record.revision) == (Outcome.UPDATED, first.id, 2)
    assert (result.record.tags, result.record.pinned) == (("tools", "new"), True)
    assert texts(reopened(files)) == ["we use bun"]
    assert saved(reopened(files), "we use npm").outcome is Outcome.CREATED


def test_a_source_of_a_retired_memory_is_free() -> None:
    bank = bank_on()
    old = saved(bank, NewMemory(text="we use npm", source=DECISION)).record
    bank.delete(old.id)
    assert saved(bank, NewMemory(text="we use bun", source=DECISION)).outcome is Outcome.CREATED
    assert len(texts(bank)) == 1


def test_a_source_without_an_id_is_no_provenance() -> None:
    bank = bank_on()
    loose = Source(kind=SourceKind.MANUAL, session="s")
    saved(bank, NewMemory(text="a", source=loose))
    assert saved(bank, NewMemory(text="b", source=loose)).outcome is Outcome.CREATED


def test_an_automatic_path_cannot_rewrite_a_pinned_memory_through_its_source() -> None:
    bank = bank_on()
    saved(bank, NewMemory(text="a", source=DECISION, pinned=True))
    with pytest.raises(PinnedMemory):
        saved(bank, NewMemory(text="b", source=DECISION), Actor("sweep", "job"))


def test_a_bad_item_does_not_keep_the_others_out() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    results = bank.save([NewMemory(text="a"), NewMemory(text=" \n"), NewMemory(text="b"), NewMemory(text="A")])
    assert [r.outcome if isinstance(r, Saved) else type(r) for r in results] == [
        Outcome.CREATED,
        InvalidField,
        Outcome.CREATED,
        Outcome.REINFORCED,
    ]
    assert texts(reopened(files)) == ["a", "b"]


@pytest.mark.parametrize(
    ("memory", "field"),
    [
        (NewMemory(text=""), "text"),
        (NewMemory(text="\ud800"), "text"),
        (NewMemory(text="a", entities=tuple(str(n) for n in range(17))), "entities"),
        (NewMemory(text="a", entities=("x" * 129,)), "entities"),
        (NewMemory(text="a", tags=("x" * 65,)), "tags"),
        (NewMemory(text="a", author="x" * 129), "author"),
        (NewMemory(text="a", confidence=1.1), "confidence"),
        (NewMemory(text="a", confidence=float("nan")), "confidence"),
        (NewMemory(text="a", created_at=2**62), "created_at"),
        (NewMemory(text="a", expires_at=-(2**62)), "expires_at"),
        (NewMemory(text="a", metadata={"a": "x" * 4_096}), "metadata"),
        (NewMemory(text="a", metadata={"status": "accepted"}), "metadata"),
        (NewMemory(text="a", metadata={"tenant": "other"}), "metadata"),
        (NewMemory(text="a", source=Source(uri="x" * 2_049)), "source.uri"),
        (NewMemory(text="a", source=Source(position=-1)), "source.position"),
    ],
)
def test_a_field_out_of_bounds_is_named_and_nothing_is_written(memory: NewMemory, field: str) -> None:
    bank = bank_on()
    with pytest.raises(InvalidField) as caught:
        saved(bank, memory)
    assert caught.value.field == field
    assert bank.last_seq == 1


def test_a_text_at_the_limit_is_kept_and_one_beyond_is_refused_with_the_limit() -> None:
    bank = bank_on()
    assert bank.text(remembered(bank, "é" * 8_000)) == "é" * 8_000
    with pytest.raises(TextTooLong, match="8,001 characters; the limit is 8,000"):
        saved(bank, "x" * 8_001)


def test_a_retry_with_the_same_request_id_changes_nothing_and_gives_the_first_answer() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    batch = [NewMemory(text="a"), NewMemory(text=""), NewMemory(text="b")]
    first = bank.save(batch, request_id="r")
    for at in (bank, reopened(files)):
        last_seq = at.last_seq
        again = at.save(batch, request_id="r")
        assert at.last_seq == last_seq
        assert isinstance(again[1], InvalidField)
        for before, after in ((first[0], again[0]), (first[2], again[2])):
            assert isinstance(before, Saved)
            assert isinstance(after, Saved)
            assert (after.outcome, after.record.id, after.seq) == (Outcome.REPEATED, before.record.id, before.seq)


def test_a_request_id_of_another_verb_is_refused() -> None:
    bank = bank_on()
    record = saved(bank, "a", request_id="r").record
    with pytest.raises(InvalidField, match="was used for another write"):
        bank.delete(record.id, request_id="r")


def test_a_nomination_waits_and_never_touches_what_is_in_use() -> None:
    bank = bank_on()
    in_use = remembered(bank, "a")
    again, new = bank.nominate([NewMemory(text="a"), NewMemory(text="b")], Actor("agent", "agent"))
    assert isinstance(again, Saved)
    assert isinstance(new, Saved)
    assert (again.outcome, again.record) == (Outcome.UNCHANGED, in_use)
    assert new.record.status is Status.NOMINATED
    once_more = bank.nominate([NewMemory(text="B")])[0]
    assert isinstance(once_more, Saved)
    assert (once_more.record.id, once_more.record.status) == (new.record.id, Status.NOMINATED)
    assert once_more.record.corroboration == 1
    assert bank.transition(new.record.id, Action.PROMOTE, LOCAL).record.status is Status.ACCEPTED


def test_a_reader_can_save_nothing() -> None:
    bank = bank_on()
    assert isinstance(bank.save([NewMemory(text="a")], Actor("eve", "reader"))[0], MemoryServiceError)
    assert bank.last_seq == 1
