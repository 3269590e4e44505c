"""Hostile import files, settings files, bank names, ids, sizes and times: told in words, never with a traceback."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hostile_messages import BANK_NAMES, TEXTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutants import mutants
from service_process import ServiceProcess, environment

from recall.client import ClientOptions, RecallClient
from recall.commands.jsonl import Reading
from recall.settings import Settings
from recall.settings_sources import SettingsError, known_settings, load
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import ImportRequest, NewMemory

QUICK, DEEP, MUTANTS = 800, 10_000, 9
LEAST = 100_000
_COMMON: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": (HealthCheck.too_slow, HealthCheck.data_too_large),
}
_FIRST, _LAST = -62_135_596_800, 253_402_300_799

_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(TEXTS)
    | st.sampled_from(
        ("2024-01-01", "2024-01-01T00:00:00", "2024-01-01T00:00:00+14:00", "0000-01-01", "9999-12-31T24:00")
    )
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner), max_leaves=5
)
_fields = st.sampled_from([field.name for field in Memory.DESCRIPTOR.fields] + ["events", "other", "", "text.x"])
_rows = st.dictionaries(_fields, _values, max_size=5) | _values
lines = _rows.map(lambda row: json.dumps(row).encode()) | st.binary(max_size=80) | st.just(b"[" * 100_000)


def counted(inputs: st.SearchStrategy[bytes], attack: Callable[[bytes], None]) -> int:
    """Try what Hypothesis finds, and each of it changed here and there; how many were tried."""
    tried = 0

    @settings(max_examples=DEEP, **_COMMON)
    @given(inputs)
    def run(one: bytes) -> None:
        nonlocal tried
        for mutant in mutants(one, random.Random(one), MUTANTS):
            tried += 1
            attack(mutant)

    run()
    return tried


def _read(row: bytes) -> None:
    reading = Reading({"note": "text"}, ignore_unknown=False)
    requests = list(reading.requests([row]))
    assert len(requests) + len(reading.problems) <= 1
    for _, request in requests:
        request.SerializeToString()


@settings(max_examples=QUICK, derandomize=True, **_COMMON)
@given(lines)
def test_a_row_of_an_import_is_a_memory_or_a_problem(row: bytes) -> None:
    _read(row)


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_rows_of_an_import_are_memories_or_problems(capsys: pytest.CaptureFixture[str]) -> None:
    tried = counted(lines, _read)
    with capsys.disabled():
        print(f"\n{tried:,} hostile rows of an import")  # noqa: T201
    assert tried >= LEAST


@pytest.mark.parametrize("row", ['{"text":"t","\\ud800":1}', '{"text":"t","source":{"\\uDC00":1}}', '"\\ud800"'])
def test_a_lone_surrogate_anywhere_in_a_row_is_told(row: str) -> None:
    reading = Reading({}, ignore_unknown=True)
    assert next(reading.requests([row.encode(), b'"\\ud83d\\ude00"']))[1].memory.text == "\U0001f600"
    assert reading.problems == [(1, "the row holds a lone surrogate, which is no character")]


def test_rows_that_read_well_are_imported_or_refused_by_the_server(client: RecallClient, bank: str) -> None:
    rows = [json.dumps(text).encode() for text in TEXTS]
    rows += [json.dumps({"text": "t", field: TEXTS[3]}).encode() for field in ("id", "author", "superseded_by")]
    rows += [b'{"text":"t","created_at":"%b"}' % time for time in (b"0001-01-01T00:00:00Z", b"9999-12-31T23:59:59Z")]
    requests = [request for _, request in Reading({}, ignore_unknown=False).requests(rows)]
    answer = client.import_memories([ImportRequest(bank=bank, memory=request.memory) for request in requests])
    told = answer.created + answer.reinforced + answer.unchanged + answer.updated + answer.refused
    assert told == len(requests)


_keys = st.sampled_from([known.path for known in known_settings()]) | st.text(max_size=12)
_toml = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.sampled_from(("", "x", "127.0.0.1:0", "\\u0000", "-1", "1e999"))
).map(json.dumps)
tables = st.lists(st.tuples(_keys, _toml), max_size=4).map(
    lambda pairs: "\n".join(f"{key} = {value}" for key, value in pairs).encode("utf-8", "replace")
)


def _load(folder: Path, content: bytes) -> None:
    file = folder / "recall.toml"
    file.write_bytes(content)
    with suppress(SettingsError):
        load(Settings, {}, file, {}, folder)


@settings(max_examples=QUICK // 4, derandomize=True, **_COMMON)
@given(content=tables | st.binary(max_size=60))
def test_a_settings_file_is_taken_or_told_about(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    _load(tmp_path_factory.getbasetemp(), content)


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_settings_files_are_taken_or_told_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = counted(tables | st.binary(max_size=60), partial(_load, tmp_path))
    with capsys.disabled():
        print(f"\n{tried:,} hostile settings files")  # noqa: T201
    assert tried >= LEAST


def test_no_bank_name_leaves_the_data_folder(client: RecallClient, service: ServiceProcess) -> None:
    outside = sorted(path.name for path in service.data.parent.iterdir())
    for name in BANK_NAMES:
        well_formed = name in ("a" * 64, "con", "default")
        for call in (client.create_bank, client.get_bank, client.reload_bank, client.delete_bank):
            try:
                call(name=name)
                code = grpc.StatusCode.OK
            except grpc.RpcError as error:
                code = error.code()
            assert code is (grpc.StatusCode.OK if well_formed else grpc.StatusCode.INVALID_ARGUMENT), (name, call)
    assert sorted(path.name for path in service.data.parent.iterdir()) == outside


@pytest.mark.parametrize("trash_id", ["../main-1", "..", "/etc/passwd-1", "a/../../b-1", "\0-1", "x-" + "9" * 100])
def test_no_trash_id_leaves_the_trash(client: RecallClient, trash_id: str) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        client.restore_bank(trash_id=trash_id, name="stolen")
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("memory_id", ["a%2Fb", "..", "a b", "a\nb", "a/b", 'a"b', "é", "*", "a'b", "\x1b[2J"])
def test_an_id_that_would_need_escaping_is_kept_out_and_never_found(
    client: RecallClient, bank: str, memory_id: str
) -> None:
    answer = client.import_memories([ImportRequest(bank=bank, memory=Memory(id=memory_id, text="t"))])
    assert (answer.created, answer.refused) == (0, 1)
    with pytest.raises(grpc.RpcError) as missing:
        client.get(bank=bank, id=memory_id)
    assert missing.value.code() is grpc.StatusCode.NOT_FOUND


def test_messages_over_the_limit_are_refused_on_both_sides_and_the_limit_is_named(service: ServiceProcess) -> None:
    small = 4 * 1024 * 1024
    memories = [NewMemory(text="x" * 7_000, metadata={"k": "v" * 4_000}) for _ in range(500)]
    with service.client(ClientOptions(max_message_bytes=small, attempts=1)) as client:
        with pytest.raises(grpc.RpcError) as sent:
            client.save_batch(bank="large", memories=memories)
        assert sent.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert str(small) in str(sent.value.details())
    with service.client() as client:
        assert len(client.save_batch(bank="large", memories=memories).results) == 500
    vast = ClientOptions(timeout_s=30, max_message_bytes=-1, attempts=1)
    with service.client(vast) as client, pytest.raises(grpc.RpcError) as received:
        client.save(bank="large", memory=NewMemory(text="y" * 68_000_000))
    assert received.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "67108864" in str(received.value.details())


@pytest.mark.parametrize("seconds", [_FIRST, _LAST, -1, 0])
def test_times_at_the_ends_of_the_range_come_back_as_given(client: RecallClient, bank: str, seconds: int) -> None:
    memory = NewMemory(text=f"at {seconds}", created_at=Timestamp(seconds=seconds))
    saved = client.save(bank=bank, memory=memory).memory
    assert saved.created_at.seconds == seconds
    assert client.get(bank=bank, id=saved.id).memory.created_at.seconds == seconds
    answer = client.recall(bank=bank, query=f"at {seconds}", explain=True)
    assert [result.memory.id for result in answer.results][:1] == [saved.id]
    bounded = client.list_memories(bank=bank, created_after=Timestamp(seconds=seconds))
    assert saved.id in [one.id for one in bounded.memories]


@pytest.mark.parametrize(("seconds", "nanos"), [(_FIRST - 1, 0), (_LAST + 1, 0), (0, -1), (0, 10**9)])
def test_times_outside_the_range_are_refused_with_the_field(
    client: RecallClient, bank: str, seconds: int, nanos: int
) -> None:
    for field in ("created_at", "expires_at"):
        memory = NewMemory(text="t", **{field: Timestamp(seconds=seconds, nanos=nanos)})  # type: ignore[arg-type]
        with pytest.raises(grpc.RpcError) as refused:
            client.save(bank=bank, memory=memory)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert field in str(refused.value.details())


ZONED = """
import json, sys
from recall.commands.jsonl import Reading
rows = [json.dumps({"text": "t", "created_at": time}).encode() for time in json.loads(sys.argv[1])]
reading = Reading({}, ignore_unknown=False)
print(json.dumps([request.memory.created_at.ToJsonString() for _, request in reading.requests(rows)]))
"""
TIMES = {
    "2026-03-08T02:30:00": "2026-03-08T02:30:00Z",  # does not exist in New York
    "2026-11-01T01:30:00": "2026-11-01T01:30:00Z",  # exists twice there
    "2026-11-01T01:30:00-04:00": "2026-11-01T05:30:00Z",
    "2026-11-01T01:30:00-05:00": "2026-11-01T06:30:00Z",
    "2026-01-01T00:00:00+08:00": "2025-12-31T16:00:00Z",
    "2026-01-01": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York", "UTC"])
def test_naive_times_are_utc_and_offsets_hold_wherever_the_process_runs(zone: str) -> None:
    command = [sys.executable, "-c", ZONED, json.dumps(list(TIMES))]
    ran = subprocess.run(
        command, env=environment() | {"TZ": zone}, capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert json.loads(ran.stdout) == list(TIMES.values())
