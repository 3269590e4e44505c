"""Check and repair of a data folder, without a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import service_process
from command_line import CommandLine, Done

from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory as Memory
from recall.memory.settings import StorageSettings
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


def lines(*changed: tuple[int, bytes | None]) -> Callable[[bytes], bytes]:
    """Puts other lines (from 1) in the place of some, or none."""

    def spoil(content: bytes) -> bytes:
        rows = content.splitlines(keepends=True)
        for number, row in changed:
            rows[number - 1] = b"" if row is None else row
        return b"".join(rows)

    return spoil


SPOILED: dict[str, tuple[Callable[[bytes], bytes], int, set[str]]] = {
    "a flipped bit": (lambda c: c.replace(b"two", b"twn"), 0, {"one", "twn", "three"}),
    "a missing line": (lines((3, None)), 0, {"one", "three"}),
    "a doubled line": (lambda c: lines((3, c.splitlines(keepends=True)[2] * 2))(c), 0, {"one", "two", "three"}),
    "a line of noise": (lines((3, b"\x00\xff noise\n")), 0, {"one", "three"}),
    "CRLF": (lambda c: c.replace(b"\n", b"\r\n"), 0, {"one", "two", "three"}),
    "a BOM": (lambda c: b"\xef\xbb\xbf" + c, 0, {"one", "two", "three"}),
    "an empty file": (lambda _: b"", 7, set()),
    "a foreign file": (lambda _: b"PK\x03\x04 no log at all\n", 7, set()),
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A data folder with two banks, without a server."""
    banks = Banks(tmp_path / "data", StorageSettings(), DiskFiles(), SystemClock())
    for name in ("good", "bad"):
        bank = banks.create(DEFAULT_TENANT, name)
        for text in ("one", "two", "three"):
            bank.save([Memory(text=text)])
    banks.close()
    return tmp_path / "data"


@pytest.mark.parametrize("how", SPOILED)
def test_check_and_repair_walk_through_every_damage(recall: CommandLine, small: Path, how: str) -> None:
    spoil, code, kept = SPOILED[how]
    log = small / DEFAULT_TENANT / "bad" / "log.jsonl"
    log.write_bytes(spoil(log.read_bytes()))
    found, good = log.read_bytes(), (small / DEFAULT_TENANT / "good" / "log.jsonl").read_bytes()
    assert checked(recall, small).code == 7
    assert log.read_bytes() == found, "a check changes nothing"
    repaired = recall("repair", "bad", "--data", str(small))
    assert repaired.code == code, repaired.err
    if code:
        assert log.read_bytes() == found
        assert len(repaired.err.splitlines()) == 1
    else:
        assert found in [path.read_bytes() for path in log.parent.glob("log.broken-*")]
        assert checked(recall, small).code == 0
    banks = Banks(small, StorageSettings(), DiskFiles(), SystemClock())
    assert len(banks.open(DEFAULT_TENANT, "good").records()) == 3
    if not code:
        bad = banks.open(DEFAULT_TENANT, "bad")
        assert {bad.text(record) for record in bad.records()} == kept
    banks.close()
    assert (small / DEFAULT_TENANT / "good" / "log.jsonl").read_bytes() == good


def test_a_folder_that_a_server_holds_is_checked_but_not_repaired(recall: CommandLine, small: Path) -> None:
    banks = Banks(small, StorageSettings(), DiskFiles(), SystemClock())
    assert checked(recall, small).code == 0
    done = recall("repair", "bad", "--data", str(small))
    assert (done.code, len(done.err.splitlines())) == (1, 1)
    banks.close()
