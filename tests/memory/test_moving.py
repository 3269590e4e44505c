"""A memory that moves is in one bank afterwards, whatever fails and whenever the process dies."""

from __future__ import annotations

from contextlib import suppress

import pytest
from equal_banks import memories
from faulty_files import MemoryFiles
from memory_banks import banks_on, remembered, saved

from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.errors import IllegalTransition, MemoryServiceError, StaleRevision, TextTaken
from recall.memory.moving import move
from recall.memory.record import Actor, MemoryChanges, NewMemory, Source, SourceKind, Status

BOT, DANA = Actor("bot", "agent"), Actor("dana", "reviewer")
WRITES = 3
"""Writes of a move: arrive, depart, settle."""


def two(files: MemoryFiles | None = None) -> tuple[Banks, Bank, Bank]:
    banks = banks_on(files)
    here, there = (banks.create(DEFAULT_TENANT, name) for name in ("here", "there"))
    return banks, here, there


def live(*banks: Bank) -> list[str]:
    return [bank.name for bank in banks for record in bank.records() if record.status.live]


def test_a_memory_moves_with_all_it_says_and_its_history() -> None:
    _, here, there = two()
    source = Source(SourceKind.TASK, "7")
    record = saved(here, NewMemory(text="misfiled", tags=("a",), source=source, title="T")).record
    here.update(record.id, MemoryChanges(author="Eve"))
    before = memories(here)[0]
    done = move(here, there, record.id, "belongs there", DANA)
    assert memories(there) == [before]
    assert (done.departed.status, done.departed.moved_to) == (Status.RETIRED, f"there/{record.id}")
    assert [entry.op for entry in there.history(record.id)] == ["save", "update", "arrive"]
    assert [event.op for event in here.events(1)] == ["bank", "save", "update", "depart"]
    assert there.arrivals() == {}
    back = move(there, here, record.id, "", DANA).arrived
    assert back.id != record.id  # here knows that id already
    assert live(here, there) == ["here"]


@pytest.mark.parametrize("case", ["text", "agent", "stale"])
def test_a_move_that_is_refused_moves_nothing(case: str) -> None:
    _, here, there = two()
    record = remembered(here, "misfiled")
    expected: type[MemoryServiceError] = TextTaken
    who, revision = DANA, None
    if case == "text":
        remembered(there, "Misfiled")
    elif case == "agent":
        who, expected = BOT, IllegalTransition
    else:
        revision, expected = 9, StaleRevision
    before = memories(here), memories(there)
    with pytest.raises(expected):
        move(here, there, record.id, "", who, revision)
    assert (memories(here), memories(there)) == before


@pytest.mark.parametrize("written", range(WRITES + 1))
@pytest.mark.parametrize("since", [False, True])
def test_a_crash_after_any_write_of_a_move_leaves_the_memory_in_one_bank(written: int, since: bool) -> None:
    files = MemoryFiles()
    _, here, there = two(files)
    record = remembered(here, "misfiled")
    crash_after(here, there, written)
    with suppress(Crash):
        move(here, there, record.id, "", DANA)
    left = files.after_crash()
    after = banks_on(left)
    origin = after.open(DEFAULT_TENANT, "here")
    if since and origin.get(record.id).status.live:
        origin.update(record.id, MemoryChanges(author="somebody"))
    target = after.open(DEFAULT_TENANT, "there")
    assert target.arrivals() == {}
    stays = written == 0 or (written == 1 and since)
    assert live(origin, target) == (["here"] if stays else ["there"])
    again = banks_on(left.after_crash())
    assert live(again.open(DEFAULT_TENANT, "here"), again.open(DEFAULT_TENANT, "there")) == live(origin, target)


def test_a_departure_that_fails_takes_the_arrival_back() -> None:
    _, here, there = two()
    record = remembered(here, "misfiled")
    whole = there.write

    def meanwhile(command: object, actor: Actor) -> object:
        result: object = whole(command, actor)  # type: ignore[arg-type]
        if type(command).__name__ == "Arrive":
            here.update(record.id, MemoryChanges(author="somebody"))
        return result

    there.write = meanwhile  # type: ignore[method-assign, assignment]
    with pytest.raises(StaleRevision):
        move(here, there, record.id, "", DANA)
    assert live(here, there) == ["here"]
    assert there.arrivals() == {}


class Crash(BaseException):
    """The process ends here."""


def crash_after(here: Bank, there: Bank, writes: int) -> None:
    """The process dies after so many writes of either bank."""
    left = [writes]
    for bank in (here, there):
        whole = bank.write

        def counted(command: object, actor: Actor, whole: object = whole) -> object:
            if not left[0]:
                raise Crash
            left[0] -= 1
            return whole(command, actor)  # type: ignore[operator]

        bank.write = counted  # type: ignore[method-assign, assignment]
