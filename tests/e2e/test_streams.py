"""Import, Export and Watch of a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import service_process

from recall.client import RecallClient
from recall.v1 import memory_pb2
from recall.v1.bank_service_pb2 import WatchResponse
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import ImportRequest, NewMemory


def records(bank: str, memories: list[Memory]) -> Iterator[ImportRequest]:
    for place, memory in enumerate(memories):
        yield ImportRequest(bank="" if place else bank, memory=memory)


def test_an_export_imported_into_an_empty_bank_gives_an_equal_bank(client: RecallClient, bank: str) -> None:
    ids = [client.save(bank=bank, memory=NewMemory(text=f"fact {n}", tags=[f"t{n}"])).memory.id for n in range(6)]
    client.save(bank=bank, memory=NewMemory(text="fact 0"))
    client.pin(bank=bank, id=ids[1], pinned=True)
    client.delete(bank=bank, id=ids[2])
    client.supersede(bank=bank, loser_id=ids[3], winner_id=ids[4])
    exported = list(client.export(bank=bank, include_retired=True))
    assert {(one.as_of_seq, one.total) for one in exported} == {(exported[0].as_of_seq, 6)}
    target = f"{bank}-copy"
    answer = client.import_memories(records(target, [one.memory for one in exported]))
    assert (answer.created, answer.refused) == (6, 0), answer
    copied = [one.memory for one in client.export(bank=target, include_retired=True)]
    for memory in copied:
        assert memory.bank == target
        memory.bank = bank
    assert copied == [one.memory for one in exported]
    again = client.import_memories(records(target, [one.memory for one in exported]))
    assert (again.created, again.unchanged) == (0, 6)


def test_an_export_leaves_out_what_is_not_live_unless_asked(client: RecallClient, bank: str) -> None:
    client.save(bank=bank, memory=NewMemory(text="stays"))
    gone = client.save(bank=bank, memory=NewMemory(text="goes")).memory.id
    client.delete(bank=bank, id=gone)
    assert [one.memory.text for one in client.export(bank=bank)] == ["stays"]
    assert len(list(client.export(bank=bank, include_retired=True))) == 2


def test_a_bad_record_is_counted_with_its_place_and_stops_no_other(client: RecallClient, bank: str) -> None:
    memories = [Memory(text="one"), Memory(), Memory(text="one"), Memory(text="two", status=99)]  # type: ignore[arg-type]
    memories += [Memory(text=f"more {n}") for n in range(600)]
    answer = client.import_memories(records(bank, memories))
    assert (answer.created, answer.reinforced, answer.refused) == (601, 1, 2)
    assert [error.record for error in answer.errors] == [2, 4]
    assert answer.errors[0].message.startswith("memory.text: ")
    assert client.get_bank(name=bank).bank.last_seq == answer.last_seq


def test_a_first_message_that_only_names_the_bank_is_no_record(client: RecallClient, bank: str) -> None:
    requests = [ImportRequest(bank=bank), ImportRequest(memory=Memory(text="one"))]
    answer = client.import_memories(requests)
    assert (answer.created, answer.refused) == (1, 0)


def told(change: WatchResponse) -> tuple[int, str, str]:
    return change.seq, change.op, change.memory.text


def test_a_watch_replays_from_a_seq_and_goes_on_live_without_gap_or_double(client: RecallClient, bank: str) -> None:
    first = client.save(bank=bank, memory=NewMemory(text="one")).memory
    client.save(bank=bank, memory=NewMemory(text="two"))
    stream = client.within(20).watch(bank=bank, from_seq=2)
    assert [told(next(stream)) for _ in range(2)] == [(2, "save", "one"), (3, "save", "two")]
    client.pin(bank=bank, id=first.id, pinned=True)
    client.delete(bank=bank, id=first.id)
    assert [told(next(stream)) for _ in range(2)] == [(4, "pin", "one"), (5, "delete", "one")]
    stream.cancel()


def test_a_watch_filters_by_tag_and_op_and_sees_bank_changes(client: RecallClient, bank: str) -> None:
    tagged = client.within(20).watch(bank=bank, from_seq=1, tags=["Keep"])
    deletes = client.within(20).watch(bank=bank, from_seq=1, ops=["delete", "bank_deleted"])
    kept = client.save(bank=bank, memory=NewMemory(text="kept", tags=["keep"])).memory
    client.save(bank=bank, memory=NewMemory(text="not kept"))
    client.delete(bank=bank, id=kept.id)
    assert [told(next(tagged)) for _ in range(2)] == [(2, "save", "kept"), (4, "delete", "kept")]
    assert told(next(deletes)) == (4, "delete", "kept")
    client.delete_bank(name=bank)
    last = next(deletes)
    assert (last.op, last.bank, last.seq) == ("bank_deleted", bank, 0)
    tagged.cancel()
    deletes.cancel()


def test_many_writers_and_watchers_agree_on_order(client: RecallClient, bank: str) -> None:
    streams = [client.within(60).watch(bank=bank, from_seq=2) for _ in range(3)]

    def write(writer: int) -> None:
        for number in range(25):
            client.save(bank=bank, memory=NewMemory(text=f"writer {writer} number {number}"))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    seen = [[told(next(stream)) for _ in range(100)] for stream in streams]
    for thread in threads:
        thread.join()
    assert [seq for seq, _, _ in seen[0]] == list(range(2, 102))
    assert seen[0] == seen[1] == seen[2]
    for stream in streams:
        stream.cancel()


def test_watchers_eat_no_thread_of_calls_and_one_too_many_is_refused(tmp_path: Path) -> None:
    limits = ("server.workers=1", "server.max_watchers=3")
    with service_process.serving(tmp_path / "data", service_process.HASHING, *limits) as service:
        client = service.client()
        client.create_bank(name="demo")
        streams = [client.within(30).watch(bank="demo", from_seq=1) for _ in range(3)]
        client.save(bank="demo", memory=NewMemory(text="hello"))
        assert [told(next(stream)) for stream in streams] == [(2, "save", "hello")] * 3
        with pytest.raises(grpc.RpcError) as refused:
            next(client.within(10).watch(bank="demo"))
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert client.status().watchers == 3
        streams[0].cancel()
        while client.status().watchers == 3:
            pass
        extra = client.within(30).watch(bank="demo", from_seq=1)
        assert told(next(extra)) == (2, "save", "hello")
        client.close()
        assert service.stop() == 0


def test_saved_times_survive_as_given(client: RecallClient, bank: str) -> None:
    memory = Memory(text="old", status=memory_pb2.STATUS_RETIRED)
    memory.created_at.FromJsonString("1999-12-31T23:59:59.5+05:30")
    client.import_memories(records(bank, [memory]))
    exported = next(iter(client.export(bank=bank, include_retired=True))).memory
    assert exported.created_at.ToJsonString() == "1999-12-31T18:29:59.500Z"
    assert exported.status == memory_pb2.STATUS_RETIRED
