"""Data folders that earlier releases wrote are opened by this one, and say the same."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from equal_banks import facts
from golden_folder import EXPECTED, TORN, every_op, moves, reviews_and_runs, vacuums
from memory_banks import banks_on
from ticking import Ticking

from recall.backup import Backup
from recall.check import Severity, check
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.beginning import OPS_OF_A_VACUUM
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.fold import OPS_OF_A_MEMORY
from recall.memory.record import NewMemory, Outcome, Saved
from recall.memory.settings import StorageSettings
from recall.restore import restore

FOLDERS = sorted(path.parent for path in Path(__file__).parent.glob(f"*/{EXPECTED}"))

OF_THE_BANK = ("bank", "run", "settle", "rule", "unrule", *OPS_OF_A_VACUUM)


@pytest.fixture(params=FOLDERS, ids=[folder.name for folder in FOLDERS])
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A copy of the data folder of one release, and what it holds."""
    folder: Path = request.param
    data = tmp_path / "data"
    shutil.copytree(folder / "data", data)
    return data, json.loads((folder / EXPECTED).read_text(encoding="utf-8"))


def opened(data: Path) -> Banks:
    return Banks(data, StorageSettings(), DiskFiles(), SystemClock())


def test_there_is_a_golden_folder() -> None:
    assert FOLDERS


def test_every_bank_says_what_it_said_then(golden: tuple[Path, dict[str, Any]]) -> None:
    data, expected = golden
    for _ in range(2):
        banks = opened(data)
        assert {name: facts(banks.open(DEFAULT_TENANT, name)) for name in banks.list()} == expected["banks"]
        banks.close()


def test_a_torn_tail_is_cut_and_kept(golden: tuple[Path, dict[str, Any]]) -> None:
    data, _ = golden
    found = check(data, DiskFiles())
    assert [(one.bank, one.severity) for one in found.findings] == [("torn", Severity.NOTE)]
    opened(data).open(DEFAULT_TENANT, "torn")
    assert (data / DEFAULT_TENANT / "torn" / "log.broken-1").read_bytes() == TORN
    assert check(data, DiskFiles()).findings == ()


def test_the_trash_gives_its_bank_back(golden: tuple[Path, dict[str, Any]]) -> None:
    data, expected = golden
    bank = opened(data).restore(DEFAULT_TENANT, expected["trash_id"])
    assert [bank.text(record) for record in bank.records()] == ["in the trash"]


def test_an_old_bank_takes_writes_and_knows_its_requests(golden: tuple[Path, dict[str, Any]]) -> None:
    data, _ = golden
    bank = opened(data).open(DEFAULT_TENANT, "every-op")
    (first,) = bank.save([NewMemory(text="whatever")], request_id="request-1")
    (second,) = bank.save([NewMemory(text="said otherwise")])
    assert isinstance(first, Saved)
    assert isinstance(second, Saved)
    assert (first.outcome, second.outcome) == (Outcome.REPEATED, Outcome.REINFORCED)


def test_an_old_folder_survives_backup_and_restore(golden: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    data, expected = golden
    backup = b"".join(Backup(opened(data), "0", 0))
    restore(io.BytesIO(backup), tmp_path / "restored", DiskFiles(), StorageSettings())
    banks = opened(tmp_path / "restored")
    assert {name: facts(banks.open(DEFAULT_TENANT, name)) for name in banks.list()} == expected["banks"]
    assert (tmp_path / "restored" / DEFAULT_TENANT / "every-op" / "rules" / "1.md").exists()


def test_the_script_that_writes_them_leaves_no_op_out() -> None:
    clock = Ticking()
    banks = banks_on(clock=clock)
    every_op(first := banks.create(DEFAULT_TENANT, "every-op"), clock)
    reviews_and_runs(second := banks.create(DEFAULT_TENANT, "reviews-and-runs"))
    moves(banks)
    vacuums(banks)
    made = (first, second, *(banks.open(DEFAULT_TENANT, name) for name in ("of-dana", "moved-to", "vacuumed")))
    assert {event.op for bank in made for event in bank.events(1)} == {*OF_THE_BANK, *OPS_OF_A_MEMORY}


def test_one_of_the_golden_folders_has_every_op() -> None:
    logs = (log for folder in FOLDERS for log in folder.glob(f"data/{DEFAULT_TENANT}/*/log.jsonl"))
    lines = (line for log in logs for line in log.read_bytes().splitlines() if not TORN.startswith(line))
    assert {json.loads(line)["op"] for line in lines} == {*OF_THE_BANK, *OPS_OF_A_MEMORY}
