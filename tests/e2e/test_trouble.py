"""A bank in trouble, end to end: Status, the bank itself, health by name, gauges and the watch of a health check."""

from __future__ import annotations

import shutil
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from service_process import ServiceProcess, serving

from recall.client import RecallClient
from recall.v1.memory_service_pb2 import NewMemory

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
READING, WRITING = "recall.v1.RecallService", "recall.v1.MemoryService"


def health(service: ServiceProcess, name: str) -> int:
    with grpc.insecure_channel(service.address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        return int(stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=5).status)


def code_of_health(service: ServiceProcess, name: str) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as refused:
        health(service, name)
    code: grpc.StatusCode = refused.value.code()
    return code


def states(client: RecallClient) -> dict[str, str]:
    return {one.bank: one.state for one in client.status().trouble}


def test_a_read_only_bank_says_so_everywhere_until_it_was_reloaded(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, service.client() as client:
        for bank in ("well", "ill"):
            client.save(bank=bank, memory=NewMemory(text=f"a fact of {bank}"))
        assert [health(service, f"{one}/ill") for one in (READING, WRITING)] == [SERVING, SERVING]
        with (tmp_path / "data" / "default" / "ill" / "log.jsonl").open("a") as log:
            log.write("somebody else was here\n")
        with pytest.raises(grpc.RpcError) as second:
            client.save(bank="ill", memory=NewMemory(text="not kept"))
        assert second.value.code() is grpc.StatusCode.FAILED_PRECONDITION

        assert states(client) == {"ill": "read_only"}
        reason = client.status().trouble[0].reason
        assert "another program" in reason
        assert client.get_bank(name="ill").bank.read_only_reason == reason
        assert dict(client.status().gauges)["banks.read_only"] == 1
        assert health(service, f"{READING}/ill") == SERVING
        assert health(service, f"{WRITING}/ill") == NOT_SERVING
        assert [health(service, one) for one in ("", READING, WRITING, f"{WRITING}/well")] == [SERVING] * 4
        assert len(client.recall(bank="ill", query="fact").results) == 1
        client.save(bank="well", memory=NewMemory(text="others are not touched"))

        with pytest.raises(grpc.RpcError):  # what was written cannot be taken in
            client.reload_bank(name="ill")
        log_file = tmp_path / "data" / "default" / "ill" / "log.jsonl"
        log_file.write_bytes(log_file.read_bytes().replace(b"somebody else was here\n", b""))
        client.reload_bank(name="ill")
        assert states(client) == {}
        assert dict(client.status().gauges)["banks.read_only"] == 0
        assert client.get_bank(name="ill").bank.read_only_reason == ""
        assert health(service, f"{WRITING}/ill") == SERVING
        client.save(bank="ill", memory=NewMemory(text="kept again"))
        assert service.stop() == 0
        assert "Traceback" not in service.logged()


def test_health_of_a_bank_that_cannot_be_opened_or_does_not_exist(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, service.client() as client:
        client.save(bank="bad", memory=NewMemory(text="a fact"))
        assert service.stop() == 0
    log = tmp_path / "data" / "default" / "bad" / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"a fact", b"a fect"))
    with serving(tmp_path / "data") as service, service.client() as client:
        with pytest.raises(grpc.RpcError):
            client.recall(bank="bad", query="fact")
        assert states(client) == {"bad": "unavailable"}
        assert [health(service, f"{one}/bad") for one in (READING, WRITING)] == [NOT_SERVING, NOT_SERVING]
        for name in (f"{READING}/none", f"{READING}/../bad", "recall.v1.Nothing/bad", f"{READING}/", "/"):
            assert code_of_health(service, name) is grpc.StatusCode.NOT_FOUND


def test_a_watch_of_a_banks_health_hears_of_its_trouble_and_of_its_end(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "data") as service,
        service.client() as client,
        grpc.insecure_channel(service.address) as channel,
    ):
        client.save(bank="ill", memory=NewMemory(text="a fact"))
        asked = health_pb2.HealthCheckRequest(service=f"{WRITING}/ill")
        heard = health_pb2_grpc.HealthStub(channel).Watch(asked, timeout=30)
        assert next(heard).status == SERVING
        log = tmp_path / "data" / "default" / "ill" / "log.jsonl"
        whole = log.read_bytes()
        log.write_bytes(whole + b"x")
        with pytest.raises(grpc.RpcError):
            client.save(bank="ill", memory=NewMemory(text="not kept"))
        assert next(heard).status == NOT_SERVING
        log.write_bytes(whole)
        client.reload_bank(name="ill")
        assert next(heard).status == SERVING
        client.delete_bank(name="ill")
        assert next(heard).status == UNKNOWN
        heard.cancel()


def test_derived_data_that_cannot_be_kept_is_told_and_costs_nothing(tmp_path: Path) -> None:
    often = ("server.flush_every_s=0.1",)
    with serving(tmp_path / "data", "hashing:64", *often) as service, service.client() as client:
        client.create_bank(name="demo")
        derived = tmp_path / "data" / "default" / "demo" / "derived"
        while not (derived / "lexical.stamp").exists():
            client.save(bank="demo", memory=NewMemory(text="a first fact"))
        shutil.rmtree(derived)
        derived.write_text("no folder")
        saved = client.save(bank="demo", memory=NewMemory(text="kept all the same")).memory
        while states(client) != {"demo": "not_kept"}:
            pass
        assert dict(client.status().gauges)["banks.not_kept"] == 1
        assert client.recall(bank="demo", query="kept").results[0].memory.id == saved.id
        assert health(service, f"{WRITING}/demo") == SERVING
        derived.unlink()
        while states(client):
            pass
        assert service.stop() == 0
        assert "Traceback" not in service.logged()
