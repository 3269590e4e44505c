"""Check and repair of a data folder, without a server."""

from __future__ import annotations

from pathlib import Path

import pytest
import service_process
from command_line import CommandLine, Done

from recall.v1.memory_service_pb2 import NewMemory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with two banks, left by a server that was killed."""
    with service_process.serving(tmp_path / "data") as service:
        with service.client() as client:
            for bank in ("good", "bad"):
                for text in ("one", "two", "three"):
                    client.save(bank=bank, memory=NewMemory(text=text))
        service.kill()
    return tmp_path / "data"


@pytest.fixture
def recall(monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine("127.0.0.1:1", "none", monkeypatch)


def damage(folder: Path) -> Path:
    (log,) = folder.rglob("bad/log.jsonl")
    content = log.read_bytes()
    log.write_bytes(content.replace(b"two", b"TWO"))
    return log


def checked(recall: CommandLine, folder: Path, *flags: str) -> Done:
    return recall("check", "--data", str(folder), *flags)


def test_a_sound_folder_is_called_sound(recall: CommandLine, folder: Path) -> None:
    done = checked(recall, folder)
    assert (done.code, done.err) == (0, "")
    assert "is sound: 2 banks" in " ".join(done.out.split())


def test_damage_is_told_with_its_place_and_the_exit_code_says_so(recall: CommandLine, folder: Path) -> None:
    log = damage(folder)
    done = checked(recall, folder)
    assert done.code == 7
    assert "line " in done.out
    (finding,) = checked(recall, folder, "--json").document["findings"]
    assert (finding["bank"], finding["file"], finding["severity"]) == ("bad", str(log), "damage")
    assert finding["line"] > 1
    assert finding["remedy"]


def test_repair_makes_the_bank_open_and_keeps_what_was_there(recall: CommandLine, folder: Path) -> None:
    log = damage(folder)
    before = log.read_bytes()
    repaired = recall.ok("repair", "bad", "--data", str(folder))
    assert "bank bad opens again" in repaired.out
    assert checked(recall, folder).code == 0
    assert before in [path.read_bytes() for path in log.parent.glob("log.broken-*")]
    assert "is sound" in recall.ok("repair", "good", "--data", str(folder)).out


def test_folders_and_banks_that_are_not_there(recall: CommandLine, folder: Path) -> None:
    assert checked(recall, folder / "gone").code == 2
    assert recall("repair", "no-such-bank", "--data", str(folder)).code == 4
