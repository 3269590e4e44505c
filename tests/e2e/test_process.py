"""The life of a server process: starting, stopping, being killed, and what stands in its way."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
import service_process
from grpc_health.v1 import health_pb2, health_pb2_grpc
from service_process import ServiceProcess, serving

from recall.client import ClientOptions, RecallClient
from recall.v1.memory_service_pb2 import SAVE_OUTCOME_REPEATED, NewMemory

HASTY = ClientOptions(timeout_s=5, attempts=4, backoff_s=0.01, max_backoff_s=0.1)


def refused_to_start(data: Path, listen: str = "127.0.0.1:0") -> str:
    """Starts a server that cannot; the one line it wrote to stderr."""
    ended = subprocess.run(
        service_process.command(data, service_process.HASHING, listen),
        capture_output=True,
        text=True,
        timeout=60,
        env=service_process.environment(),
        cwd=data.parent,
        check=False,
    )
    assert ended.returncode not in {0, -signal.SIGABRT, -signal.SIGSEGV}
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    return ended.stderr


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen(1)
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        assert f"{address}: the port is in use" in refused_to_start(tmp_path / "data", address)


def test_a_port_of_another_recall_server_is_in_use_too(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        assert "the port is in use" in refused_to_start(tmp_path / "other", service.address)


def test_a_second_server_on_the_same_data_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        assert "another recall server uses it" in refused_to_start(service.data)
        with service.client() as client:
            client.save(bank="demo", memory=NewMemory(text="still here"))


def test_a_foreign_data_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "holiday.jpg").write_bytes(b"jpg")
    assert "holiday.jpg" in refused_to_start(folder)
    assert [path.name for path in folder.iterdir()] == ["holiday.jpg"]


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    assert str(tmp_path / "data") in refused_to_start(tmp_path / "data")


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_cleanly_and_all_is_there_after_it(tmp_path: Path, signum: int) -> None:
    with serving(tmp_path / "data") as service:
        with service.client() as client:
            saved = client.save(bank="demo", memory=NewMemory(text="kept over a stop")).memory
        assert service.stop(signum) == 0
        assert "Traceback" not in service.logged()
    with serving(tmp_path / "data") as service, service.client() as client:
        assert client.get(bank="demo", id=saved.id).memory == saved
        assert client.recall(bank="demo", query="kept").results[0].memory == saved


def test_running_calls_finish_and_watches_end_while_the_server_stops(tmp_path: Path) -> None:
    patient = "server.grace_s=600"
    with serving(tmp_path / "data", service_process.HASHING, patient) as service:
        codes: list[grpc.StatusCode] = []
        acknowledged: list[str] = []
        writers = [threading.Thread(target=write, args=(service, codes, acknowledged, n)) for n in range(4)]
        watching = service.client(HASTY)
        watching.save(bank="demo", memory=NewMemory(text="the bank is there before anybody watches it"))
        for writer in writers:
            writer.start()
        stream = watching.within(30).watch(bank="demo", from_seq=1)
        next(stream)
        assert service.stop() == 0
        for writer in writers:
            writer.join()
        with pytest.raises(grpc.RpcError) as ended:
            for _ in stream:
                pass
        assert ended.value.code() is grpc.StatusCode.UNAVAILABLE
        # gRPC itself cancels a call that it had taken in but not begun when it was told to stop
        assert set(codes) <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
        assert "Traceback" not in service.logged()
    with serving(tmp_path / "data") as service, service.client() as client:
        kept = {one.memory.id for one in client.export(bank="demo")}
        assert set(acknowledged) <= kept
        assert len(acknowledged) >= 1


def write(service: ServiceProcess, codes: list[grpc.StatusCode], acknowledged: list[str], writer: int) -> None:
    """Saves until the server does not take it any more."""
    with service.client(HASTY) as client:
        for number in range(100_000):
            try:
                saved = client.save(bank="demo", memory=NewMemory(text=f"writer {writer} number {number}"))
            except grpc.RpcError as error:
                codes.append(error.code())
                return
            acknowledged.append(saved.memory.id)


def test_what_was_acknowledged_before_a_kill_is_there_after_it_once_each(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    for _ in range(3):
        with serving(tmp_path / "data") as service:
            before = len(acknowledged)
            writers = [threading.Thread(target=write, args=(service, [], acknowledged, n)) for n in range(4)]
            for writer in writers:
                writer.start()
            while len(acknowledged) < before + 40:
                pass
            service.kill()
            for writer in writers:
                writer.join()
        with serving(tmp_path / "data") as service, service.client() as client:
            kept = [one.memory for one in client.export(bank="demo")]
            assert set(acknowledged) <= {memory.id for memory in kept}
            assert len({memory.text for memory in kept}) == len(kept)
            assert "Traceback" not in service.logged()


def test_a_request_id_holds_over_a_kill(tmp_path: Path) -> None:
    def once(client: RecallClient) -> tuple[int, str, int]:
        saved = client.save(bank="demo", memory=NewMemory(text="just once"), request_id="r-1")
        return saved.outcome, saved.memory.id, saved.memory.corroboration

    with serving(tmp_path / "data") as service, service.client() as client:
        _, first_id, _ = once(client)
        service.kill()
    with serving(tmp_path / "data") as service, service.client() as client:
        assert once(client) == (SAVE_OUTCOME_REPEATED, first_id, 0)


def test_a_client_tries_again_until_a_restarted_server_answers(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        port = service.address
        service.kill()
    options = ClientOptions(timeout_s=30, attempts=5, backoff_s=1.0, max_backoff_s=5.0)
    answers: list[str] = []

    def ask() -> None:
        with RecallClient(port, options) as client:
            answers.append(client.status().version)

    asking = threading.Thread(target=ask)
    asking.start()
    command = service_process.command(tmp_path / "data", service_process.HASHING, port)
    again = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
    asking.join()
    again.terminate()
    assert again.wait(30) == 0
    assert len(answers) == 1


SERVICES = ("", *(f"recall.v1.{name}Service" for name in ("Recall", "Memory", "Bank", "Admin")))


def test_health_is_told_per_service_and_changes_while_stopping(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service, grpc.insecure_channel(service.address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for name in SERVICES:
            answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.RpcError) as unknown:
            health.Check(health_pb2.HealthCheckRequest(service="recall.v1.Nothing"), timeout=5)
        assert unknown.value.code() is grpc.StatusCode.NOT_FOUND
        watching = health.Watch(health_pb2.HealthCheckRequest(service=""), timeout=30)
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        service.process.send_signal(signal.SIGTERM)
        assert next(watching).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watching.cancel()
        assert service.process.wait(30) == 0


def reflected(address: str) -> Callable[[], list[str]]:
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

    def ask() -> list[str]:
        with grpc.insecure_channel(address) as channel:
            stub = reflection_pb2_grpc.ServerReflectionStub(channel)
            request = reflection_pb2.ServerReflectionRequest(list_services="")
            answer = next(iter(stub.ServerReflectionInfo(iter([request]), timeout=5)))
            return [service.name for service in answer.list_services_response.service]

    return ask


def test_reflection_lists_the_services_and_can_be_switched_off(service: ServiceProcess, tmp_path: Path) -> None:
    assert set(SERVICES[1:]) <= set(reflected(service.address)())
    with serving(tmp_path / "data", service_process.HASHING, "server.reflection=false") as silent:
        with pytest.raises(grpc.RpcError) as refused:
            reflected(silent.address)()
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_banks_are_not_made_by_a_save_when_the_settings_say_so(tmp_path: Path) -> None:
    strict = "server.create_banks_on_save=false"
    with serving(tmp_path / "data", service_process.HASHING, strict) as service, service.client() as client:
        with pytest.raises(grpc.RpcError) as refused:
            client.save(bank="demo", memory=NewMemory(text="hello"))
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
        client.create_bank(name="demo")
        client.save(bank="demo", memory=NewMemory(text="hello"))
