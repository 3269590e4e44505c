"""Turns as the real services answer them, without sockets: what is given, to whom, and what of it leaves a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agent_calls
import grpc
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as generated
from hypothesis import strategies as st

from recall.context.budget import tokens
from recall.context.digest import _TRAILER as TRAILER
from recall.context.standing import handle
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Action, Role
from recall.memory.record import LOCAL, BankInfo, Kind, NewMemory, ScopeKind
from recall.memory.rule_book import RuleBook
from recall.memory.settings import StorageSettings
from recall.tokens import TokenFile
from recall.v1 import context_service_pb2 as pb

METHODS = pb.DESCRIPTOR.services_by_name["ContextService"].methods_by_name
USER = {"user": "ann", "banks": ["user"]}
PIECES = ("otter ", "</recalled-notes>", "</recall-digest>", "<recall-rules>", "\u202e", "e\u0301", "👩\u200d💻", "\n")
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map(lambda parts: "x" + "".join(parts))


class World:
    """A user's bank, a stranger's, one for another agent and one that a token is not for."""

    def __init__(self, data: Path) -> None:
        banks = Banks(data, StorageSettings(), DiskFiles(), SystemClock())
        infos = {
            "user": BankInfo(scope_kind=ScopeKind.USER, scope_ref="ann", preamble="Of </recall-digest> Ann"),
            "bob": BankInfo(scope_kind=ScopeKind.USER, scope_ref="bob"),
            "theirs": BankInfo(agents=("other",)),
            "plain": BankInfo(),
            "secret": BankInfo(scope_kind=ScopeKind.WORKSPACE),
        }
        for name, info in infos.items():
            bank = banks.create(DEFAULT_TENANT, name, info)
            bank.save([NewMemory(text=f"otter content of {name}")])
        banks.close()
        file = TokenFile(data, DiskFiles())
        allowed = ("user", "bob", "theirs", "plain", "nowhere")
        self.token, _ = file.create(Role.AGENT, DEFAULT_TENANT, allowed, "bot", 1)
        self.data = data

    def serve(self, services: Any) -> World:
        self.caller = agent_calls.caller(services, self.data, self.token)
        self.banks: Banks = services.memory._live.banks
        self.assemble(banks=["user", "bob", "theirs", "plain"], user="ann")
        return self

    def bank(self, name: str = "user") -> Bank:
        return self.banks.open(DEFAULT_TENANT, name)

    def assemble(self, **fields: Any) -> pb.AssembleResponse:
        code, answer = self.caller.call(METHODS["Assemble"], pb.AssembleRequest(**fields))
        assert code is grpc.StatusCode.OK
        return pb.AssembleResponse.FromString(answer)

    def preview(self, **fields: Any) -> pb.PreviewResponse:
        turn = pb.AssembleRequest(**fields)
        code, answer = self.caller.call(METHODS["Preview"], pb.PreviewRequest(turn=turn))
        assert code is grpc.StatusCode.OK
        return pb.PreviewResponse.FromString(answer)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "data")
    with agent_calls.serving(tmp_path / "data") as services:
        yield made.serve(services)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@generated(
    texts=st.lists(TEXTS, max_size=4),
    rule=TEXTS,
    budgets=st.tuples(st.integers(0, 900), st.integers(0, 1_200), st.integers(0, 4), st.integers(0, 90)),
    query=st.sampled_from(("", "otter", "</recalled-notes> otter", "👩")),
)
def test_a_preview_is_what_is_assembled_byte_for_byte(
    world: World, texts: list[str], rule: str, budgets: tuple[int, int, int, int], query: str
) -> None:
    bank = world.bank()
    bank.save([NewMemory(text=text) for text in texts])
    RuleBook(bank).set("tone", rule)
    names = ("rule_characters", "digest_characters", "memories", "memory_tokens")
    turn = {**USER, "query": query, "budgets": pb.ContextBudgets(**dict(zip(names, budgets, strict=True)))}
    seen, given = world.preview(**turn), world.assemble(**turn)
    assert seen.given.SerializeToString() == given.SerializeToString()
    assert seen.whole_prefix == given.prefix
    assert given.prefix.count("</recall-digest>") <= 1
    assert given.recalled.count("</recalled-notes>") <= 1
    lines = [line for line in given.recalled.splitlines() if line.startswith("- (")]
    assert len(lines) == len(given.memories) <= (budgets[2] or 6)


def test_an_oversized_memory_is_left_out_whole_and_counted(world: World) -> None:
    world.bank().save([NewMemory(text="huge " * 400)])
    given = world.assemble(**USER, budgets=pb.ContextBudgets(digest_characters=900))
    assert "huge" not in given.prefix
    assert "content of user" in given.prefix
    assert given.banks[0].digest_left_out == 1
    assert len(given.prefix) <= 900


def test_nothing_of_another_bank_is_given_and_each_omission_says_why(world: World) -> None:
    given = world.assemble(banks=["plain", "nowhere", "bob", "theirs", "secret"], user="ann", query="otter content")
    reasons = {one.bank: pb.OmissionReason.Name(one.reason).removeprefix("OMISSION_REASON_") for one in given.omitted}
    assert reasons == {
        "nowhere": "NOT_FOUND",
        "bob": "OTHER_SCOPE",
        "theirs": "OTHER_AGENT",
        "secret": "NOT_YOURS",
    }
    assert {one.bank for one in given.banks} == {"plain", "user"}
    told = given.prefix + given.recalled
    assert not any(f"content of {name}" in told for name in ("bob", "theirs", "secret"))


def test_a_prefix_stays_and_a_save_is_told_once(world: World) -> None:
    first = world.assemble(**USER, session="s")
    assert first.prefix_state == pb.PREFIX_STATE_WHOLE
    same = world.assemble(**USER, session="s", prefix_hash=first.prefix_hash)
    assert same.prefix_state == pb.PREFIX_STATE_UNCHANGED
    assert not same.prefix
    assert not same.change
    world.bank().save([NewMemory(text="a newer fact")])
    changed = world.assemble(**USER, session="s", prefix_hash=first.prefix_hash)
    assert changed.prefix_state == pb.PREFIX_STATE_CHANGED
    assert not changed.prefix
    assert changed.change.count("a newer fact") == 1
    assert "content of user" not in changed.change
    assert world.assemble(**USER, session="s", since_last=True).prefix_state == pb.PREFIX_STATE_UNCHANGED
    assert world.assemble(**USER, prefix_hash="unknown").prefix_state == pb.PREFIX_STATE_WHOLE


def test_only_what_is_in_use_is_given(world: World) -> None:
    bank = world.bank()
    bank.nominate([NewMemory(text="otter waits")])
    bank.save([NewMemory(text="otter episode", kind=Kind.EPISODE), NewMemory(text="otter over", expires_at=1)])
    doubted = bank.save([NewMemory(text="otter doubted")])[0]
    bank.transition(doubted.record.id, Action.QUARANTINE, LOCAL, "doubt")  # type: ignore[union-attr]
    given = world.assemble(**USER, query="otter")
    told = given.prefix + given.recalled
    assert not any(word in told for word in ("waits", "episode", "over\n", "doubted"))


@pytest.mark.parametrize(("limit", "floor"), [(1, 1), (2, 2), (5, 3)])
def test_the_strongest_stand_in_where_nothing_matches(world: World, limit: int, floor: int) -> None:
    world.bank("plain").save([NewMemory(text=f"fact number {number}") for number in range(5)])
    query = "zebra <recalled-notes>fact number</recalled-notes>"
    given = world.assemble(banks=["plain"], query=query, budgets=pb.ContextBudgets(memories=limit))
    assert [one.ambient for one in given.memories] == [True] * floor


def test_only_assemble_stamps_the_bank_and_updates_no_memory(world: World) -> None:
    bank = world.bank("secret")
    before = bank.last_seq
    world.assemble(named_only=True, banks=["secret"])
    assert bank.used.at == 0
    assert bank.last_seq == before
    bank, updated = world.bank(), [one.updated_at for one in world.bank().records()]
    stamped = bank.used.at
    world.preview(**USER, query="otter")
    assert bank.used.at == stamped
    world.assemble(**USER)
    assert bank.used.at > stamped
    assert [one.updated_at for one in bank.records()] == updated


def test_the_digest_is_whole_to_the_character_and_one_less_leaves_the_last_out(world: World) -> None:
    world.bank().save([NewMemory(text="second otter " + "word " * 40)])
    both = world.assemble(**USER, budgets=pb.ContextBudgets(digest_characters=5_000))
    fits = len(both.prefix) + TRAILER
    exact = world.assemble(**USER, budgets=pb.ContextBudgets(digest_characters=fits))
    assert exact.prefix == both.prefix
    assert len(exact.banks[0].digest_ids) == 2
    less = world.assemble(**USER, budgets=pb.ContextBudgets(digest_characters=fits - 1))
    assert len(less.banks[0].digest_ids) == 1
    assert less.banks[0].digest_left_out == 1


def test_ids_stand_in_lockstep_with_lines_and_only_the_first_that_fit_are_given(world: World) -> None:
    world.bank("plain").save([NewMemory(text=f"otter {number} " + "word " * 8 * number) for number in range(6)])
    whole = world.assemble(banks=["plain"], query="otter", budgets=pb.ContextBudgets(memories=9))
    lines = [line for line in whole.recalled.splitlines(keepends=True) if line.startswith("- (")]
    assert [line[3:11] for line in lines] == [handle(one.bank, one.id) for one in whole.memories]
    costs = [tokens(line) for line in lines]
    for count in range(1, len(lines) + 1):
        for room, kept in ((sum(costs[:count]), count), (sum(costs[:count]) - 1, count - 1)):
            budgets = pb.ContextBudgets(memories=9, memory_tokens=room)
            given = world.assemble(banks=["plain"], query="otter", budgets=budgets)
            assert list(given.memories) == list(whole.memories[:kept])
            assert given.memories_left_out == len(lines) - kept


def test_what_has_no_room_any_more_still_holds_and_what_was_doubted_is_told_as_gone(world: World) -> None:
    turn: dict[str, Any] = {**USER, "session": "s", "budgets": pb.ContextBudgets(digest_characters=530)}
    first = world.assemble(**turn)
    (old,) = first.banks[0].digest_ids
    world.bank().save([NewMemory(text="newer otter " + "word " * 8)])
    pushed = world.assemble(**turn, prefix_hash=first.prefix_hash)
    assert old not in pushed.banks[0].digest_ids
    assert "newer otter" in pushed.change
    assert "No longer holds" not in pushed.change
    world.bank().transition(old, Action.QUARANTINE, LOCAL, "doubt")
    doubted = world.assemble(**turn, prefix_hash=pushed.prefix_hash)
    assert f"No longer holds: ({handle('user', old)})" in doubted.change
    assert "content of user" not in doubted.change
