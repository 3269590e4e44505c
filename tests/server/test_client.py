"""The client: light to import, a deadline on every call, sync and asyncio alike."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time

import grpc
import pytest
from service_process import ServiceProcess

from recall import client as module
from recall.client import AsyncRecallClient, ClientOptions, RecallClient, retry_config, server_address
from recall.server.edge import DESCRIPTORS
from recall.v1 import admin_service_pb2, memory_service_pb2
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import ImportRequest, NewMemory

HEAVY = ("torch", "numpy", "pydantic", "msgspec", "transformers", "onnxruntime", "tantivy", "faiss", "rich", "typer")
NOBODY = "127.0.0.1:1"


def test_importing_it_imports_nothing_heavy() -> None:
    script = "import json, sys, recall.client; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.split(".")[0] for name in json.loads(answer.stdout)}
    assert loaded.isdisjoint(HEAVY)
    ours = [name for name in json.loads(answer.stdout) if name.startswith("recall")]
    light = {"recall", "recall.client", "recall.connection"}
    assert all(name in light or name.startswith("recall.v1") for name in ours)


def test_every_rpc_of_the_contract_is_a_verb() -> None:
    paths = {f"{service.name}/{method.name}" for service in DESCRIPTORS for method in service.methods}
    verbs = [verb.path for verb in vars(module._Verbs).values() if hasattr(verb, "path")]
    assert sorted(verbs) == sorted(paths)


def test_the_server_is_the_argument_or_the_environment_or_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECALL_SERVER", raising=False)
    assert server_address() == "127.0.0.1:50051"
    monkeypatch.setenv("RECALL_SERVER", "memory.example:7")
    assert server_address() == "memory.example:7"
    assert server_address("other:8") == "other:8"


def test_a_server_that_is_not_there_is_unavailable_after_some_attempts() -> None:
    options = ClientOptions(timeout_s=10, attempts=3, backoff_s=0.01)
    with RecallClient(NOBODY, options) as client, pytest.raises(grpc.RpcError) as failed:
        client.status()
    assert failed.value.code() is grpc.StatusCode.UNAVAILABLE


def test_every_call_has_a_deadline(service: ServiceProcess) -> None:
    started = time.monotonic()
    with service.client().within(1e-6) as client, pytest.raises(grpc.RpcError) as failed:
        client.doctor()
    assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - started < 5


def test_within_changes_the_deadline_of_streams_too(client: RecallClient, bank: str) -> None:
    with pytest.raises(grpc.RpcError) as failed:
        next(client.within(0.2).watch(bank=bank))
    assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def test_unavailable_is_retried_with_growing_pauses() -> None:
    policy = json.loads(retry_config(ClientOptions()))["methodConfig"][0]["retryPolicy"]
    assert "UNAVAILABLE" in policy["retryableStatusCodes"]
    assert policy["backoffMultiplier"] > 1
    assert "retryPolicy" not in json.loads(retry_config(ClientOptions(attempts=1)))["methodConfig"][0]


def test_a_write_without_a_request_id_gets_one_and_one_with_keeps_it() -> None:
    first = module.harmless_to_repeat(memory_service_pb2.SaveRequest())
    second = module.harmless_to_repeat(memory_service_pb2.SaveRequest())
    assert first.request_id
    assert first.request_id != second.request_id
    assert module.harmless_to_repeat(memory_service_pb2.PinRequest(request_id="mine")).request_id == "mine"
    assert module.harmless_to_repeat(admin_service_pb2.StatusRequest()) == admin_service_pb2.StatusRequest()


def test_a_message_beyond_the_limit_of_the_client_is_refused_with_both_sizes(
    service: ServiceProcess, bank: str
) -> None:
    options = ClientOptions(max_message_bytes=10_000)
    with service.client(options) as client, pytest.raises(grpc.RpcError) as failed:
        client.save_batch(bank=bank, memories=[NewMemory(text="x" * 8_000)] * 2)
    assert failed.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "10000" in (failed.value.details() or "")


def test_asyncio_has_the_same_verbs(service: ServiceProcess, bank: str) -> None:
    async def talk() -> list[str]:
        async with AsyncRecallClient(service.address) as client:
            saved = await client.save(bank=bank, memory=NewMemory(text="said in a coroutine"))
            await client.import_memories([ImportRequest(bank=bank, memory=Memory(text="imported"))])
            answers = await asyncio.gather(*(client.recall(bank=bank, query="coroutine") for _ in range(8)))
            assert {answer.results[0].memory.id for answer in answers} == {saved.memory.id}
            changes = client.watch(bank=bank, from_seq=2)
            first = await anext(aiter(changes))
            assert first.memory.text == "said in a coroutine"
            changes.cancel()
            with pytest.raises(grpc.RpcError):
                await client.within(0.05).get(bank=bank, id="unknown")
            return [one.memory.text async for one in client.export(bank=bank)]

    assert asyncio.run(talk()) == ["said in a coroutine", "imported"]
