"""Consolidation of a real server: rpcs, command line, restart, and files that a dry run leaves as they are."""

from __future__ import annotations

import hashlib
from pathlib import Path

import grpc
import pytest
import service_process
from command_line import CommandLine
from service_process import ServiceProcess

from recall.client import RecallClient
from recall.v1 import consolidate_service_pb2 as pb
from recall.v1 import memory_pb2
from recall.v1.memory_service_pb2 import NewMemory

SAME = ("Dana likes dark mode", "dana likes dark mode!", "Dana likes the dark mode")
APART = ("Always deploy on Fridays", "Never deploy on Fridays")


def fill(client: RecallClient, bank: str) -> None:
    client.save_batch(bank=bank, memories=[NewMemory(text=text) for text in (*SAME, *APART)])


def report_of(client: RecallClient, **fields: object) -> pb.RunReport:
    parts = list(client.consolidate(**fields))  # type: ignore[arg-type]
    assert [part.HasField("report") for part in parts] == [False] * (len(parts) - 1) + [True]
    assert {part.progress.stage for part in parts[:-1]} <= {"list", "plan", "merge", "judge"}
    return parts[-1].report


def live(client: RecallClient, bank: str) -> set[str]:
    return {memory.text for memory in client.list_memories(bank=bank, page_size=100).memories}


def test_a_run_merges_is_listed_and_is_undone(client: RecallClient, bank: str) -> None:
    fill(client, bank)
    report = report_of(client, bank=bank)
    [tended] = report.banks
    assert (tended.superseded, list(tended.errors)) == (2, [])
    [group] = tended.merges
    assert (group.winner.text, {other.outcome for other in group.others}) == (SAME[0], {"merged"})
    assert [{finding.guard for finding in other.guards} for pair in tended.kept for other in pair.others] == [
        {"negation"}
    ]
    assert live(client, bank) == {SAME[0], *APART}
    [run] = client.list_runs(bank=bank).runs
    assert (run.run, run.superseded, run.finished) == (report.run, 2, True)
    for _ in range(2):
        client.undo_run(run=report.run, bank=bank)
        assert live(client, bank) == {*SAME, *APART}
    assert len(client.get_run(run=report.run, bank=bank).report.banks[0].restored) == 2
    assert report_of(client, bank=bank).banks[0].superseded <= 1  # what was parted stays apart


def test_runs_survive_a_restart_and_a_dry_run_leaves_every_file_as_it_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with service_process.serving(data) as service, service.client() as client:
        fill(client, "one")
        report = report_of(client, bank="one", max_supersedes=1)
        assert report.banks[0].capped == 1
        assert service.stop() == 0
    with service_process.serving(data) as service, service.client() as client:
        client.list_memories(bank="one")
        before = digests(data)
        dry = report_of(client, dry_run=True)
        assert digests(data) == before
        assert [other.outcome for group in dry.banks[0].merges for other in group.others] == ["planned"]
        assert client.get_run(run=dry.run).report.dry_run
        assert client.get_run(run=report.run).report.banks[0].superseded == 1
        assert client.undo_run(run=report.run).banks[0].restored
        assert live(client, "one") == {*SAME, *APART}


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_schedule_tends_a_bank_after_the_grace(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with service_process.serving(data) as service, service.client() as client:
        fill(client, "one")
        assert service.stop() == 0
    settings = ("consolidate.enabled=true", "consolidate.boot_grace_seconds=0.0", "consolidate.look_seconds=0.2")
    with service_process.serving(data, service_process.HASHING, *settings) as service, service.client() as client:
        watch = client.within(20).watch(bank="one", ops=["supersede"], from_seq=1)
        assert [change.op for _, change in zip(range(2), watch, strict=False)] == ["supersede"] * 2
        watch.cancel()
        status = client.get_consolidate_status(bank="one")
        assert (status.enabled, status.interval.seconds) == (True, 86_400)


@pytest.mark.parametrize(
    ("call", "fields", "code"),
    [
        ("get_run", {"run": "none"}, grpc.StatusCode.NOT_FOUND),
        ("undo_run", {"run": "none"}, grpc.StatusCode.NOT_FOUND),
        ("undo_run", {}, grpc.StatusCode.INVALID_ARGUMENT),
        ("list_runs", {"bank": "NO"}, grpc.StatusCode.INVALID_ARGUMENT),
        ("list_runs", {"limit": 1_001}, grpc.StatusCode.INVALID_ARGUMENT),
        ("sweep", {}, grpc.StatusCode.INVALID_ARGUMENT),
        ("sweep", {"bank": "missing"}, grpc.StatusCode.NOT_FOUND),
    ],
)
def test_bad_requests_are_refused(
    client: RecallClient, call: str, fields: dict[str, object], code: grpc.StatusCode
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        getattr(client, call)(**fields)
    assert refused.value.code() is code


def test_bad_thresholds_are_refused(client: RecallClient, bank: str) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        list(client.consolidate(bank=bank, merge_cosine=2.0, propose_cosine=float("nan")))
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_the_sweep_takes_out_what_stands_on_a_fallen_source(client: RecallClient, bank: str) -> None:
    source = memory_pb2.Source(kind=memory_pb2.SOURCE_KIND_TASK, id="T-1")
    saved = client.save(bank=bank, memory=NewMemory(text="stands on a task", source=source)).memory
    swept = client.sweep(bank=bank, fallen=[pb.FallenSource(kind=memory_pb2.SOURCE_KIND_TASK, id="T-1")])
    assert list(swept.quarantined) == [saved.id]
    assert client.get(bank=bank, id=saved.id).memory.status == memory_pb2.STATUS_QUARANTINED


def test_the_verbs_show_what_is_planned_done_and_undone(
    service: ServiceProcess, client: RecallClient, bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(client, bank)
    recall = CommandLine(service.address, bank, monkeypatch)
    shown = recall.ok("consolidate", "--bank", bank, "--dry-run", "--kept").out
    assert "2 would be retired" in shown
    assert "negation" in shown
    done = recall.ok("consolidate", "--bank", bank, "--json").document
    assert done["banks"][0]["superseded"] == "2"
    assert done["run"] in recall.ok("runs", "--bank", bank).out
    assert SAME[1] in recall.ok("runs", done["run"], "--bank", bank).out
    assert "2 memories are in use again" in recall.ok("undo", done["run"], "--bank", bank).out
    assert recall("undo", "none", "--bank", bank).code == 4
    failed = recall("consolidate", "--bank", "missing")
    assert failed.code == 1
    assert "no bank named" in failed.out
    assert "0 would be quarantined" in recall.ok("sweep", "--dry-run", "--fallen", "task:T-1").out
