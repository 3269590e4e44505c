"""Backup of a running server, and restore without one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import service_process
from command_line import CommandLine
from service_process import ServiceProcess

from recall.v1.memory_service_pb2 import NewMemory


def test_a_running_service_is_backed_up_and_comes_back(
    recall: CommandLine, service: ServiceProcess, tmp_path: Path
) -> None:
    kept = recall.save("kept in the backup")
    file, data = tmp_path / "all.tar", tmp_path / "new"

    def writes() -> list[str]:
        with service.client() as client:
            memories = (NewMemory(text=f"written meanwhile {n}") for n in range(30))
            return [client.save(bank=recall.bank, memory=memory).memory.id for memory in memories]

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(writes)
        assert "backed up" in recall.ok("backup", str(file)).out
        later = set(written.result())
    assert recall("backup", str(file)).code == 5
    assert "restored" in recall.ok("restore", str(file), "--data", str(data)).out
    assert recall("restore", str(file), "--data", str(data)).code == 5
    assert recall.ok("check", "--data", str(data)).code == 0
    with service_process.serving(data) as copy, copy.client() as client:
        found = [answer.memory.id for answer in client.export(bank=recall.bank)]
        assert found[0] == kept
        assert set(found[1:]) <= later


def test_what_is_no_backup_is_refused_and_nothing_is_left(recall: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "no.tar"
    file.write_bytes(b"not a tar file" * 1_000)
    done = recall("restore", str(file), "--data", str(tmp_path / "new"))
    assert (done.code, len(done.err.splitlines())) == (7, 1)
    assert recall("restore", str(tmp_path / "gone.tar"), "--data", str(tmp_path / "new")).code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["no.tar"]


def test_history_goes_out_and_comes_back(recall: CommandLine, tmp_path: Path) -> None:
    id_ = recall.save("first words")
    recall.ok("edit", id_, "--text", "second words")
    recall.ok("rm", id_)
    file, copy = tmp_path / "bank.jsonl", f"{recall.bank}-copy"
    assert recall.ok("export", str(file), "--all", "--history").err == f"exported 1 memories to {file}\n"
    assert "events of history: 3 taken in, 0 left out" in recall.ok("import", str(file), "--bank", copy).out
    events = recall.ok("history", id_, "--bank", copy, "--json").document["events"]
    assert [event["op"] for event in events] == ["save", "update", "delete", "import"]
    assert [event["memory"]["text"] for event in events] == ["first words"] + ["second words"] * 3
