"""Every bad field of a request is told, by name, and what would be right; good requests pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.timestamp_pb2 import Timestamp

from recall.ranking.settings import RankingSettings
from recall.server import checks, checks_bank, checks_memory, checks_recall
from recall.server.refusals import InvalidRequest
from recall.v1 import bank_service_pb2 as banks
from recall.v1 import memory_pb2
from recall.v1 import memory_service_pb2 as memories
from recall.v1 import recall_service_pb2 as recalls

NAN = float("nan")
INFINITE = float("inf")


def recall(request: recalls.RecallRequest) -> None:
    checks_recall.recall(request, RankingSettings())


def recall_batch(request: recalls.RecallBatchRequest) -> None:
    checks_recall.recall_batch(request)
    for place, one in enumerate(request.requests):
        checks_recall.batch_query(one, place, RankingSettings())


def asking(**fields: Any) -> recalls.RecallRequest:
    return recalls.RecallRequest(**{"bank": "demo", "query": "who", **fields})


def saving(**fields: Any) -> memories.SaveRequest:
    return memories.SaveRequest(bank="demo", memory=memories.NewMemory(**{"text": "a fact", **fields}))


def updating(*paths: str, **fields: Any) -> memories.UpdateRequest:
    memory = memory_pb2.Memory(**{"id": "m", **fields})
    return memories.UpdateRequest(bank="demo", memory=memory, update_mask=FieldMask(paths=paths))


def source(**fields: Any) -> memory_pb2.Source:
    return memory_pb2.Source(**fields)


BAD: list[tuple[Callable[[Any], None], Any, list[str]]] = [
    (recall, recalls.RecallRequest(), ["bank", "query"]),
    (recall, asking(bank="../etc"), ["bank"]),
    (recall, asking(bank="Demo"), ["bank"]),
    (recall, asking(bank="a" * 65), ["bank"]),
    (recall, asking(bank="dеmo"), ["bank"]),
    (recall, asking(bank="demo\0"), ["bank"]),
    (recall, asking(bank="demo\n"), ["bank"]),
    (recall, asking(query=" \t\n"), ["query"]),
    (recall, asking(limit=101), ["limit"]),
    (recall, asking(tags=["ok", " ", "x" * 65]), ["tags[1]", "tags[2]"]),
    (recall, asking(tags=["t"] * 17), ["tags"]),
    (recall, asking(kinds=[0, 1, 99]), ["kinds[0]", "kinds[2]"]),
    (recall, asking(mode=99), ["mode"]),
    (recall, asking(min_score=NAN), ["min_score"]),
    (recall, asking(min_score=INFINITE), ["min_score"]),
    (recall, asking(time_budget=Duration()), ["time_budget"]),
    (recall, asking(time_budget=Duration(seconds=-1)), ["time_budget"]),
    (recall, asking(time_budget=Duration(seconds=1, nanos=2_000_000_000)), ["time_budget"]),
    (recall, asking(created_after=Timestamp(seconds=-62_135_596_801)), ["created_after"]),
    (recall, asking(created_before=Timestamp(seconds=253_402_300_800)), ["created_before"]),
    (recall, asking(created_before=Timestamp(nanos=-1)), ["created_before"]),
    (recall, asking(created_after=Timestamp(seconds=2), created_before=Timestamp(seconds=2)), ["created_before"]),
    (recall, asking(why_not_id="x" * 129), ["why_not_id"]),
    (recall, asking(weights=recalls.WeightOverrides(lexical=-1, entity=11)), ["weights.lexical", "weights.entity"]),
    (recall, asking(weights=recalls.WeightOverrides(semantic=NAN)), ["weights.semantic"]),
    (recall, asking(weights=recalls.WeightOverrides(half_life_days=0)), ["weights.half_life_days"]),
    (recall_batch, recalls.RecallBatchRequest(), ["requests"]),
    (recall_batch, recalls.RecallBatchRequest(requests=[asking()] * 101), ["requests"]),
    (recall_batch, recalls.RecallBatchRequest(requests=[asking(), asking(limit=101)]), ["requests[1].limit"]),
    (checks_memory.save, memories.SaveRequest(), ["bank", "memory"]),
    (checks_memory.save, saving(text=""), ["memory.text"]),
    (checks_memory.save, saving(text="x" * 8_001), ["memory.text"]),
    (checks_memory.save, saving(kind=99), ["memory.kind"]),
    (checks_memory.save, saving(entities=[f"e{n}" for n in range(17)]), ["memory.entities"]),
    (checks_memory.save, saving(entities=["x" * 129], tags=["y" * 65]), ["memory.entities", "memory.tags"]),
    (checks_memory.save, saving(author="x" * 129), ["memory.author"]),
    (checks_memory.save, saving(confidence=1.5), ["memory.confidence"]),
    (checks_memory.save, saving(confidence=NAN), ["memory.confidence"]),
    (checks_memory.save, saving(created_at=Timestamp(nanos=1_000_000_000)), ["memory.created_at"]),
    (checks_memory.save, saving(expires_at=Timestamp(seconds=253_402_300_800)), ["memory.expires_at"]),
    (checks_memory.save, saving(metadata={"k": "v" * 4_096}), ["memory.metadata"]),
    (checks_memory.save, saving(metadata={"id": "stolen"}), ["memory.metadata"]),
    (checks_memory.save, saving(source=source(kind=99)), ["memory.source.kind"]),
    (checks_memory.save, saving(source=source(id="x" * 257)), ["memory.source.id"]),
    (checks_memory.save, saving(source=source(uri="x" * 2_049)), ["memory.source.uri"]),
    (
        checks_memory.save,
        memories.SaveRequest(bank="demo", memory=memories.NewMemory(text="a"), request_id="r" * 129),
        ["request_id"],
    ),
    (checks_memory.save_batch, memories.SaveBatchRequest(bank="demo"), ["memories"]),
    (
        checks_memory.save_batch,
        memories.SaveBatchRequest(bank="demo", memories=[memories.NewMemory(text="a")] * 1_001),
        ["memories"],
    ),
    (checks_memory.by_id, memories.GetRequest(), ["bank", "id"]),
    (checks_memory.by_id, memories.GetRequest(bank="demo", id="x" * 129), ["id"]),
    (checks_memory.write_by_id, memories.DeleteRequest(bank="demo", request_id="r" * 129), ["id", "request_id"]),
    (checks_memory.supersede, memories.SupersedeRequest(), ["bank", "loser_id", "winner_id"]),
    (checks_memory.list_memories, memories.ListRequest(bank="demo", page_size=1_001), ["page_size"]),
    (
        checks_memory.list_memories,
        memories.ListRequest(bank="demo", statuses=[0, 42]),  # type: ignore[list-item]
        ["statuses[0]", "statuses[1]"],
    ),
    (checks_memory.list_memories, memories.ListRequest(bank="demo", source_kind=42), ["source_kind"]),  # type: ignore[arg-type]
    (checks_memory.list_memories, memories.ListRequest(bank="demo", session="s" * 257), ["session"]),
    (checks_memory.update, updating(), ["update_mask"]),
    (checks_memory.update, updating("text", "id", text="new"), ["update_mask.paths[1]"]),
    (checks_memory.update, updating("tags", "tags"), ["update_mask.paths[1]"]),
    (checks_memory.update, updating("text", text=""), ["memory.text"]),
    (checks_memory.update, updating("kind", id=""), ["memory.id"]),
    (checks_memory.update, memories.UpdateRequest(bank="demo", update_mask=FieldMask(paths=["text"])), ["memory"]),
    (checks_memory.bank_only, memories.ExportRequest(), ["bank"]),
    (checks_memory.first_import, memories.ImportRequest(), ["bank"]),
    (checks_memory.import_record, memories.ImportRequest(), ["memory"]),
    (
        checks_memory.import_record,
        memories.ImportRequest(memory=memory_pb2.Memory(text="a", status=42)),  # type: ignore[arg-type]
        ["memory.status"],
    ),
    (checks_bank.create, banks.BankServiceCreateRequest(), ["name"]),
    (checks_bank.create, banks.BankServiceCreateRequest(name="a", default_limit=101), ["default_limit"]),
    (checks_bank.create, banks.BankServiceCreateRequest(name="a", half_life_days=-1), ["half_life_days"]),
    (checks_bank.create, banks.BankServiceCreateRequest(name="a", half_life_days=NAN), ["half_life_days"]),
    (
        checks_bank.create,
        banks.BankServiceCreateRequest(name="a", description="d" * 1_001, user_handle="u" * 129),
        ["description", "user_handle"],
    ),
    (checks_bank.name, banks.BankServiceGetRequest(), ["name"]),
    (checks_bank.list_banks, banks.BankServiceListRequest(page_size=1_001), ["page_size"]),
    (checks_bank.update, banks.BankServiceUpdateRequest(), ["update_mask", "bank"]),
    (
        checks_bank.update,
        banks.BankServiceUpdateRequest(bank=banks.Bank(name="a"), update_mask=FieldMask(paths=["name"])),
        ["update_mask.paths[0]"],
    ),
    (checks_bank.restore, banks.RestoreRequest(name="A"), ["trash_id", "name"]),
    (checks_bank.watch, banks.WatchRequest(from_seq=3), ["from_seq"]),
    (checks_bank.watch, banks.WatchRequest(ops=["save", "explode"]), ["ops[1]"]),
]


@pytest.mark.parametrize(("check", "request_", "fields"), BAD)
def test_a_bad_request_is_refused_field_by_field(
    check: Callable[[Any], None], request_: Any, fields: list[str]
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        check(request_)
    assert [violation.field for violation in refused.value.violations] == fields
    assert all(violation.problem for violation in refused.value.violations)


GOOD: list[tuple[Callable[[Any], None], Any]] = [
    (recall, asking()),
    (recall, asking(query='\0 or 🦊 AND ("')),
    (recall, asking(limit=100, kinds=[1, 7], mode=3, min_score=-3.5, time_budget=Duration(nanos=1))),
    (
        recall,
        asking(created_after=Timestamp(seconds=-62_135_596_800), created_before=Timestamp(seconds=253_402_300_799)),
    ),
    (recall, asking(weights=recalls.WeightOverrides(lexical=0, semantic=10, half_life_days=0.01))),
    (recall_batch, recalls.RecallBatchRequest(requests=[asking()] * 100)),
    (checks_memory.save, saving(text="x" * 8_000, confidence=0.0, tags=[" A ", "a"] * 16)),
    (checks_memory.update, updating("expires_at", "metadata")),
    (checks_memory.update, updating("tags", text="")),
    (
        checks_memory.list_memories,
        memories.ListRequest(bank="a" * 64, page_size=1_000, statuses=[memory_pb2.STATUS_RETIRED]),
    ),
    (checks_bank.create, banks.BankServiceCreateRequest(name="0_-", default_limit=100, half_life_days=0.5)),
    (checks_bank.watch, banks.WatchRequest(ops=["save", "bank_deleted"])),
]


@pytest.mark.parametrize(("check", "request_"), GOOD)
def test_a_good_request_passes(check: Callable[[Any], None], request_: Any) -> None:
    check(request_)


def test_no_more_violations_are_told_than_a_status_can_carry() -> None:
    check = checks.Check()
    for number in range(200):
        check.require(False, f"field_{number}", "is bad")
    with pytest.raises(InvalidRequest) as refused:
        check.done()
    assert len(refused.value.violations) == checks.MOST_VIOLATIONS + 1
    assert refused.value.violations[-1].problem == f"and {200 - checks.MOST_VIOLATIONS} more bad fields"


def test_a_callers_long_value_is_cut_before_it_is_quoted() -> None:
    with pytest.raises(InvalidRequest) as refused:
        checks_bank.watch(banks.WatchRequest(bank="B" * 100_000))
    assert len(str(refused.value)) < 400
