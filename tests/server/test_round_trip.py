"""Export → import into an empty bank gives an equal bank, history and all; with plain dicts in between."""

from __future__ import annotations

import io
from collections.abc import Set

import pytest
from equal_banks import histories, memories
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from memory_banks import banks_on, saved, texts
from ticking import Ticking

from recall.commands.jsonl import Reading, as_row
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.errors import MemoryServiceError
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
)
from recall.server import streams
from recall.v1 import memory_service_pb2 as pb

BATCH = 3
TEXTS = st.sampled_from(["one", "two", "three words here", "四 五", "ONE", "tab\tand\nline", "😀 \u200d"])
WHO = st.sampled_from([LOCAL, Actor("dana", "reviewer"), Actor("sweep", "job"), Actor("bot", "agent")])
WORDS = st.lists(st.sampled_from(["a", "b", "ç"]), max_size=2).map(tuple)
SOURCES = st.none() | st.builds(
    Source,
    kind=st.none() | st.sampled_from(SourceKind),
    id=st.sampled_from(["", "7", "8"]),
    session=st.sampled_from(["", "s"]),
    position=st.none() | st.integers(0, 3),
)
TIMES = st.integers(0, 4) | st.just(-62_135_596_800_000_000) | st.just(253_402_300_799_000_000)
NEW = st.builds(
    NewMemory,
    text=TEXTS,
    kind=st.sampled_from(Kind),
    entities=WORDS,
    tags=WORDS,
    author=st.sampled_from(["", "Dana"]),
    source=SOURCES,
    confidence=st.sampled_from([0.0, 0.25, 1.0]),
    pinned=st.booleans(),
    created_at=st.none() | TIMES,
    expires_at=st.sampled_from([0, 0, 0, 1_900_000_000_000_000, 5]),
    metadata=st.dictionaries(st.sampled_from(["k", "l"]), st.sampled_from(["", "v"]), max_size=2),
)
CHANGES = st.builds(MemoryChanges, text=TEXTS, tags=WORDS, confidence=st.sampled_from([0.0, 0.5]))
STEPS = st.lists(
    st.tuples(st.sampled_from(["save", "save", "nominate", "change", "move"]), NEW, CHANGES, WHO, st.randoms()),
    max_size=14,
)


def played(bank: Bank, steps: list[tuple[str, NewMemory, MemoryChanges, Actor, object]]) -> None:
    """Whatever the bank lets happen of the steps."""
    for verb, new, changes, who, chance in steps:
        ids = [record.id for record in bank.records()]
        pick = chance.choice  # type: ignore[attr-defined]
        try:
            if verb == "save" or not ids:
                bank.save([new], who)
            elif verb == "nominate":
                bank.nominate([new], who)
            elif verb == "change":
                bank.update(pick(ids), changes, who)
            else:
                move(bank, pick(ids), pick(ids), who, pick(range(7)))
        except MemoryServiceError:
            continue


def move(bank: Bank, memory_id: str, other_id: str, who: Actor, number: int) -> None:
    match number:
        case 0:
            bank.delete(memory_id, who)
        case 1:
            bank.supersede(memory_id, other_id, who)
        case 2:
            bank.pin(memory_id, True, who)
        case 3:
            bank.pin(memory_id, False, who)
        case 4:
            bank.expire([memory_id], who)
        case 5:
            bank.transition(memory_id, Action.QUARANTINE, who, "looks odd")
        case _:
            bank.transition(memory_id, Action.REACCEPT, who, "is fine")


def rows(bank: Bank, include_history: bool = True) -> str:
    """What `recall export --all --history` writes."""
    request = pb.ExportRequest(bank=bank.name, include_retired=True, include_history=include_history)
    return "".join(as_row(answer) + "\n" for answer in streams.give_out(bank, request))


def taken_in(bank: Bank, written: str) -> pb.ImportResponse:
    """What `recall import` makes of it."""
    reading = Reading({}, ignore_unknown=False)
    requests = (request for _, request in reading.requests(io.BytesIO(written.encode())))
    answer = streams.take_in(requests, bank, LOCAL, BATCH)
    assert not reading.problems
    return answer


@given(STEPS)
@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_a_bank_comes_back_equal(steps: list[tuple[str, NewMemory, MemoryChanges, Actor, object]]) -> None:
    banks = banks_on(clock=Ticking())
    bank, copy, again = (banks.open_or_create(DEFAULT_TENANT, name) for name in ("bank", "copy", "again"))
    played(bank, steps)
    answer = taken_in(copy, rows(bank))
    assert (answer.refused, list(answer.errors), answer.events_left_out) == (0, [], 0)
    assert memories(copy) == memories(bank)
    assert histories(copy) == histories(bank)
    assert texts(copy) == texts(bank)
    taken_in(again, rows(copy))
    assert (memories(again), histories(again)) == (memories(bank), histories(bank))
    replayed = reopened(banks, "copy")
    assert (memories(replayed), histories(replayed)) == (memories(bank), histories(bank))
    assert outcomes(bank) == outcomes(copy)


def reopened(banks: Banks, name: str) -> Bank:
    banks.reload(DEFAULT_TENANT, name)
    return banks.open(DEFAULT_TENANT, name)


def outcomes(bank: Bank) -> list[tuple[str, str]]:
    """What saving every text again does; it shows the maps behind the memories.

    What is new has an id of its own, also when the next text is the same one in other letters; and its predecessor may
    be another one: of several that held its text and are gone.
    """
    known = {record.id for record in bank.records()}
    return [_outcome(bank, text, known) for text in sorted({str(one["text"]) for one in memories(bank)})]


def _outcome(bank: Bank, text: str, known: Set[str]) -> tuple[str, str]:
    result = bank.save([NewMemory(text=text)])[0]
    if not isinstance(result, Saved):
        return "", str(result)
    return result.outcome, result.record.id if result.record.id in known else ""


def test_a_text_that_is_new_in_two_spellings_is_no_difference() -> None:
    banks = banks_on()
    bank, copy = (banks.open_or_create(DEFAULT_TENANT, name) for name in ("bank", "copy"))
    for text in ("ONE", "one"):
        bank.delete(saved(bank, text).record.id)
    taken_in(copy, rows(bank))
    assert outcomes(bank) == outcomes(copy) == [(Outcome.CREATED, ""), (Outcome.REINFORCED, "")]


def full_of_events() -> tuple[Banks, Bank, str]:
    banks = banks_on()
    bank = banks.open_or_create(DEFAULT_TENANT, "bank")
    first = saved(bank, "one").record.id
    saved(bank, "one")
    bank.update(first, MemoryChanges(text="two"))
    bank.delete(first)
    saved(bank, "three")
    return banks, bank, first


def test_what_is_left_out_is_counted() -> None:
    banks, bank, _ = full_of_events()
    bare = pb.ExportRequest(bank="bank")
    assert [(a.memory.text, a.events_left_out) for a in streams.give_out(bank, bare)] == [("three", 1)]
    whole = pb.ExportRequest(bank="bank", include_retired=True, include_history=True)
    assert [(len(a.events), a.events_left_out) for a in streams.give_out(bank, whole)] == [(4, 0), (1, 0)]
    copy = banks.open_or_create(DEFAULT_TENANT, "copy")
    first, second = taken_in(copy, rows(bank)), taken_in(copy, rows(bank))
    assert (first.created, first.events, first.events_left_out) == (2, 5, 0)
    assert (second.unchanged, second.events, second.events_left_out) == (2, 0, 5)
    left_out = pb.ExportRequest(bank="copy", include_retired=True)
    assert [a.events_left_out for a in streams.give_out(copy, left_out)] == [5, 2]


def test_an_export_tells_a_text_once() -> None:
    _, bank, _ = full_of_events()
    request = pb.ExportRequest(bank="bank", include_retired=True, include_history=True)
    first = next(iter(streams.give_out(bank, request)))
    assert [event.memory.text for event in first.events] == ["one", "", "two", ""]


def test_a_history_is_as_of_the_seq_of_the_export() -> None:
    _, bank, first = full_of_events()
    assert [entry.op for entry in bank.history(first, 3)] == ["save", "reinforce"]
    assert bank.history_length(bank.get(first), 3) == 2


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda r: r.memory.ClearField("id"), "events"),
        (lambda r: r.events[0].memory.ClearField("text"), "text"),
        (lambda r: r.events[0].ClearField("memory"), "events.memory"),
        (lambda r: setattr(r.events[0], "actor", "a" * 129), "events.actor"),
        (lambda r: setattr(r.events[0], "seq", 2**63), "events.seq"),
        (lambda r: setattr(r.events[0].at, "seconds", 2**50), "events.at"),
        (lambda r: r.events[1].memory.tags.append("t" * 65), "tags"),
        (lambda r: setattr(r.events[0].memory.updated_at, "nanos", -1), "events.memory.updated_at"),
    ],
)  # fmt: skip
def test_a_bad_history_is_refused_with_its_field(spoil: object, named: str) -> None:
    banks, bank, _ = full_of_events()
    exported = next(iter(streams.give_out(bank, pb.ExportRequest(include_retired=True, include_history=True))))
    request = pb.ImportRequest(bank="copy", memory=exported.memory, events=exported.events)
    spoil(request)  # type: ignore[operator]
    copy = banks.open_or_create(DEFAULT_TENANT, "copy")
    answer = streams.take_in(iter([request]), copy, LOCAL, BATCH)
    assert (answer.refused, answer.created, answer.events_left_out) in {(1, 0, 0), (1, 0, 4)}
    assert named in answer.errors[0].message
    assert not copy.records()


def test_a_history_without_times_of_its_memory_has_those_of_its_events() -> None:
    banks, bank, first = full_of_events()
    exported = next(iter(streams.give_out(bank, pb.ExportRequest(include_retired=True, include_history=True))))
    request = pb.ImportRequest(bank="copy", memory=exported.memory, events=exported.events)
    for event in request.events:
        event.memory.ClearField("created_at")
        event.memory.ClearField("updated_at")
    copy = banks.open_or_create(DEFAULT_TENANT, "copy")
    assert streams.take_in(iter([request]), copy, LOCAL, BATCH).created == 1
    banks.reload(DEFAULT_TENANT, "copy")
    entries = copy.history(first)[:-1]
    assert [entry.record.updated_at for entry in entries] == [entry.at for entry in entries]


def test_rows_that_are_memories_alone_still_import() -> None:
    banks = banks_on()
    bank = banks.open_or_create(DEFAULT_TENANT, "bank")
    assert taken_in(bank, '{"text": "one"}\n"two"\n').created == 2
    assert texts(bank) == ["one", "two"]
