"""Whatever rpcs an agent calls, in whatever order: nothing of it comes into use in a governed bank, no rule changes,
and nothing of another bank or tenant is told."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import agent_calls
import grpc
import pytest
from agent_calls import Caller

from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Action, Role
from recall.memory.record import LOCAL, BankInfo, NewMemory, Policy, Source, SourceKind, Status
from recall.memory.settings import StorageSettings
from recall.server.checks_memory import CHANGEABLE
from recall.tokens import TokenFile

CALLS = 6
RECENT = 12
"""Memories last made that the next calls are aimed at, besides those of the beginning."""
SECRET = "SECRET"
MINE, OTHER, TENANT = "mine", "other", "acme"
SPARED = frozenset({"Doctor", "Backup"})


@dataclass
class World:
    """A governed bank that is the agent's, a bank that is not, and one of the same name of another tenant."""

    agent: Caller
    banks: Banks
    names: dict[str, tuple[str, ...]]

    def bank(self, name: str = MINE, tenant: str = DEFAULT_TENANT) -> Bank:
        return self.banks.open(tenant, name)

    def influence(self) -> dict[str, tuple[str, bool, int, int]]:
        """What is in use: its text, its pin, when it ends, and how strong it is."""
        bank = self.bank()
        used = (one for one in bank.records() if one.status is Status.ACCEPTED)
        return {one.id: (bank.text(one), one.pinned, one.expires_at, one.corroboration) for one in used}

    def rules(self) -> object:
        """Every rule, and the bank's own settings."""
        bank = self.bank()
        folder = bank.place.folder / "rules"
        files = {path.name: path.read_bytes() for path in sorted(folder.glob("*"))} if folder.exists() else {}
        return files, bank.info

    def said_of_the_bank(self, after: int) -> list[str]:
        """Ops of events that concern no memory: rules, settings, runs."""
        return [event.op for event in self.bank().events(after + 1) if not event.id]

    def others(self) -> tuple[int, int]:
        """How far the logs are that are none of the agent's."""
        return self.bank(OTHER).last_seq, self.bank(MINE, TENANT).last_seq


def seeded(bank: Bank, text: str) -> list[str]:
    """Memories in every live status."""
    source = Source(SourceKind.TASK, "T-1")
    made = [
        *bank.save([NewMemory(text=f"{text} otter policy", source=source), NewMemory(text=f"{text} refund release")]),
        *bank.nominate([NewMemory(text=f"{text} waits")]),
    ]
    ids = [str(one.record.id) for one in made if not isinstance(one, Exception)]
    bank.transition(ids[1], Action.QUARANTINE, LOCAL, f"{text} doubt")
    bank.pin(bank.save([NewMemory(text=f"{text} pinned")])[0].record.id, True)  # type: ignore[union-attr]
    return ids


@contextmanager
def world(folder: Path) -> Iterator[World]:
    data = folder / "data"
    banks = Banks(data, StorageSettings(), DiskFiles(), SystemClock())
    governed = BankInfo(policy=Policy.GOVERNED)
    mine = banks.create(DEFAULT_TENANT, MINE, governed)
    ids = [*seeded(mine, "mine"), *seeded(banks.create(DEFAULT_TENANT, OTHER), SECRET)]
    ids += seeded(banks.create(TENANT, MINE, governed), f"{SECRET} of acme")
    (mine.place.folder / "rules").mkdir(exist_ok=True)
    (mine.place.folder / "rules" / "tone.md").write_text("Be brief.\n")
    banks.close()
    tokens = TokenFile(data, DiskFiles())
    token, _ = tokens.create(Role.AGENT, DEFAULT_TENANT, (MINE,), "bot", 1)
    names = {
        "bank": (MINE, MINE, MINE, MINE, OTHER, "nowhere"),
        "banks": (MINE, OTHER, "nowhere"),
        "name": (MINE, OTHER, "tone", "learned"),
        "id": (*ids, "nobody"),
        "paths": CHANGEABLE,
        "source_id": ("T-1", *ids[:2]),
        "request_id": ("r1", "r2", ""),
        "page_token": ("", "", "x"),
    }
    with agent_calls.serving(data) as services:
        service_banks = services.memory._live.banks  # type: ignore[attr-defined]
        made = World(agent_calls.caller(services, data, token), service_banks, names)
        made.bank()
        yield made


def play(world: World, sequences: int, seed: int) -> Counter[str]:
    """Sequences of calls; what is in use, the rules and all other banks are looked at after each."""
    dice, codes = random.Random(seed), Counter[str]()
    methods = [one for one in agent_calls.reachable(Role.AGENT) if one.name not in SPARED]
    before, rules, others = world.influence(), world.rules(), world.others()
    seeds = world.names["id"]
    for number in range(sequences):
        world.names["id"] = (*seeds, *(one.id for one in world.bank().records()[-RECENT:]))
        calls, seq = [], world.bank().last_seq
        for _ in range(CALLS):
            method = dice.choice(methods)
            request = agent_calls.request(dice, method, world.names)
            calls.append(f"{method.full_name}({request})")
            code, answer = world.agent.call(method, request)
            codes[method.name if code is grpc.StatusCode.OK else code.name] += 1
            assert SECRET.encode() not in answer, calls
        assert world.influence() == before, (number, calls)
        assert world.rules() == rules, (number, calls)
        assert world.others() == others, (number, calls)
        assert world.said_of_the_bank(seq) == [], (number, calls)
    return codes


def test_no_sequence_of_an_agents_calls_grants_influence_or_reads_what_is_not_its_own(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        codes = play(made, 250, seed=7)
    methods = {one.name for one in agent_calls.reachable(Role.AGENT)} - SPARED
    assert methods >= {"Save", "Nominate", "Update", "Delete", "Recall", "Watch", "ListQueue", "GetBySource"}
    assert {"Save", "Nominate", "Recall", "List", "Get", "ListQueue"} <= set(codes)
    assert codes[grpc.StatusCode.PERMISSION_DENIED.name] > 0


@pytest.mark.deep
def test_nor_do_ten_thousand_sequences(tmp_path: Path) -> None:
    for seed in range(20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with world(folder) as made:
            play(made, 600, seed)
