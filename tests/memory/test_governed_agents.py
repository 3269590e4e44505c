"""Whatever an agent or a job calls, in whatever order: in a governed bank nothing of it comes into use."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from memory_banks import bank_on, remembered

from recall.memory.bank import Bank
from recall.memory.deciding import STARTS, Decide
from recall.memory.errors import MemoryServiceError
from recall.memory.lifecycle import Action, Role
from recall.memory.merging import MergeLoser
from recall.memory.record import (
    LOCAL,
    Actor,
    ImportedMemory,
    InfoChanges,
    MemoryChanges,
    NewMemory,
    Policy,
    Source,
    SourceKind,
    Status,
)
from recall.memory.run_book import RunBook

SEQUENCES_A_BANK = 100
CALLS = 8
TEXTS = ("red", "green", "blue", "kept one", "kept two", "kept three")

Call = Callable[[Bank, random.Random, Actor, str], object]


def memory(dice: random.Random) -> NewMemory:
    source = Source(kind=SourceKind.TASK, id=dice.choice("ab")) if dice.random() < 0.4 else None
    return NewMemory(text=dice.choice(TEXTS) + dice.choice(("", "!", "?")), source=source, pinned=dice.random() < 0.3)


def merge(bank: Bank, dice: random.Random, who: Actor, id_: str) -> object:
    loser = dice.choice(bank.records())
    return RunBook(bank).merge("run", id_, bank.get(id_).revision, [MergeLoser(loser.id, loser.revision)], who)


REACHABLE: tuple[Call, ...] = (
    lambda b, d, w, _: b.save([memory(d)], w),
    lambda b, d, w, _: b.nominate([memory(d)], w),
    lambda b, d, w, i: b.update(i, MemoryChanges(text=d.choice(TEXTS) + str(d.random())), w),
    lambda b, d, w, i: b.update(i, MemoryChanges(expires_at=d.choice((0, 1))), w),
    lambda b, _, w, i: b.delete(i, w),
    lambda b, d, w, i: b.pin(i, d.random() < 0.5, w),
    lambda b, d, w, i: b.supersede(i, d.choice(b.records()).id, w),
    lambda b, d, w, i: b.decide(Decide(i, d.choice(list(STARTS)), "because"), w),
    lambda b, d, w, i: b.transition(i, d.choice((Action.PROMOTE, Action.REACCEPT, Action.QUARANTINE)), w, "so"),
    lambda b, _, w, i: b.expire([i], w),
    merge,
    lambda b, _, w, __: RunBook(b).undo("run", w),
    lambda b, d, w, _: b.import_records([ImportedMemory(text=d.choice(TEXTS) + " again")], w),
)


def influence(bank: Bank) -> dict[str, tuple[str, bool, int]]:
    """What is in use: its text, pin and when it ends."""
    in_use = (record for record in bank.records() if record.status is Status.ACCEPTED)
    return {record.id: (bank.text(record), record.pinned, record.expires_at) for record in in_use}


def governed() -> Bank:
    bank = bank_on()
    for text in TEXTS[3:]:
        remembered(bank, text)
    bank.transition(remembered(bank, "kept no more").id, Action.QUARANTINE, LOCAL, "doubt")
    bank.pin(bank.records()[0].id, True)
    bank.update_info(InfoChanges(policy=Policy.GOVERNED))
    return bank


def nothing_comes_into_use(sequences: int, role: Role, seed: int) -> None:
    dice, who = random.Random(seed), Actor("automatic", role)
    bank, before = governed(), {}
    for number in range(sequences):
        if number % SEQUENCES_A_BANK == 0:
            bank = governed()
        before = influence(bank)
        for _ in range(CALLS):
            seq = bank.last_seq
            id_ = dice.choice(bank.records()).id
            try:
                dice.choice(REACHABLE)(bank, dice, who, id_)
            except MemoryServiceError:
                assert bank.last_seq == seq
        after = influence(bank)
        assert after.items() <= before.items()
        assert role is not Role.AGENT or after == before


@pytest.mark.parametrize("role", [Role.READER, Role.AGENT, Role.JOB])
def test_nothing_automatic_comes_into_use_in_a_governed_bank(role: Role) -> None:
    nothing_comes_into_use(400, role, seed=7)


@pytest.mark.deep
@pytest.mark.parametrize("role", [Role.AGENT, Role.JOB])
def test_nor_in_many_sequences(role: Role) -> None:
    nothing_comes_into_use(12_000, role, seed=11)
