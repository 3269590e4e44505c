"""Import, export and watch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from command_line import CommandLine
from service_process import ServiceProcess, environment


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(row) for row in path.read_text().splitlines()]


def test_a_bank_goes_out_and_comes_back_the_same(recall: CommandLine, tmp_path: Path) -> None:
    ids = [recall.save(text, "--tag", "t", "--meta", "k=v") for text in ("one 一", "two\nlines", "three")]
    recall.ok("pin", ids[0])
    recall.ok("supersede", ids[1], ids[2])
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    told = recall.ok("export", str(first), "--all").err
    assert told == f"exported 3 memories to {first}, 5 events of their history left out (--history)\n"
    copy = f"{recall.bank}-copy"
    imported = recall.ok("import", str(first), "--bank", copy)
    assert imported.out == f"imported into {copy}: 3 new, 0 strengthened, 0 updated, 0 unchanged, 0 refused\n"
    recall.ok("export", str(second), "--all", "--bank", copy)
    assert [dict(row, bank="") for row in rows(first)] == [dict(row, bank="") for row in rows(second)]
    assert "3 unchanged" in recall.ok("import", str(first), "--bank", copy).out
    assert len(recall.ok("export").out.splitlines()) == 2


def test_any_json_lines_are_imported_with_a_map(recall: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '\ufeff{"content": "Hello Caroline", "role": "Melanie", "at": "2023-05-08T13:56:00+02:00", "n": 1}\n'
        "\n"
        '"a bare text"\n'
    )
    refused = recall("import", str(file))
    assert refused.code == 1
    assert "record 1: a memory has no field 'content': rename it with --map" in refused.err
    maps = [part for pair in ("content=text", "role=author", "at=created_at") for part in ("--map", pair)]
    recall.ok("import", str(file), *maps, "--ignore-unknown")
    found = {row["text"]: row for row in map(json.loads, recall.ok("export").out.splitlines())}
    assert set(found) == {"Hello Caroline", "a bare text"}
    assert (found["Hello Caroline"]["author"], found["Hello Caroline"]["created_at"]) == (
        "Melanie",
        "2023-05-08T11:56:00Z",
    )


def test_refused_rows_are_told_by_their_line_and_the_others_are_kept(recall: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    bad = [
        b"not json",
        b'{"text": 7}',
        b'{"text": "kind", "kind": "rumour"}',
        b'{"text": "when", "created_at": "someday"}',
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"text": "' + b"x" * 8_001 + b'"}',
        b'{"text": "tags", "tags": "not a list"}',
        b'{"text": "source", "source": 1}',
    ]
    file.write_bytes(b"\n".join([b'{"text": "first"}', *bad, b'{"text": "last"}']))
    done = recall("import", str(file), "--json")
    assert done.code == 1
    assert (int(done.document["created"]), int(done.document["refused"])) == (2, len(bad))
    assert [int(error["record"]) for error in done.document["errors"]] == list(range(2, 2 + len(bad)))
    told = recall("import", str(file)).err.splitlines()
    assert len(told) == 6
    assert told[-1] == "recall: 5 more were refused (--json lists the first 100)"


def test_an_export_that_fails_leaves_no_file(recall: CommandLine, tmp_path: Path) -> None:
    assert recall("export", str(tmp_path / "out.jsonl"), "--bank", "no-such-bank").code == 4
    assert list(tmp_path.iterdir()) == []


def test_import_waits_for_vectors_when_asked(recall: CommandLine) -> None:
    recall.ok("import", "-", "--wait", stdin='{"text": "one"}\n{"text": "two"}\n')
    coverage = recall.ok("bank", "show", "--wait", "--json").document["coverage"]
    assert (coverage["embedded"], coverage["total"]) == ("2", "2")


def test_watch_replays_and_follows(recall: CommandLine, service: ServiceProcess) -> None:
    id_ = recall.save("seen by the watcher")
    command = [sys.executable, "-m", "recall", "watch", "--from-seq", "1", "--op", "save", "--op", "delete", "--json"]
    command += ["--server", service.address, "--bank", recall.bank]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as watcher:
        assert watcher.stdout is not None
        first = json.loads(watcher.stdout.readline())
        recall.ok("rm", id_)
        second = json.loads(watcher.stdout.readline())
        watcher.terminate()
    assert (first["op"], second["op"]) == ("save", "delete")
    assert first["memory"]["id"] == second["memory"]["id"] == id_
