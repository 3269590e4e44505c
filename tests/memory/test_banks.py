"""The banks of one data folder: names, room, trash, the lock, and folders that are not ours."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from faulty_files import MemoryFiles
from memory_banks import DATA, banks_on, log_path, remembered, saved, texts
from ticking import START

from recall.memory.bank import Bank
from recall.memory.banks import Banks
from recall.memory.clock import SystemClock
from recall.memory.errors import (
    BankDamaged,
    BankExists,
    BankNotFound,
    Closed,
    DataFolderInUse,
    ForeignDataFolder,
    InvalidField,
    TrashNotFound,
)
from recall.memory.files import DiskFiles
from recall.memory.record import BankInfo, NewMemory
from recall.memory.settings import StorageSettings


def on_disk(data: Path) -> Banks:
    return Banks(data, StorageSettings(), DiskFiles(), SystemClock())


@pytest.mark.parametrize("name", ["a", "0", "main", "a-b_c", "x" * 64])
def test_a_good_name_is_taken(name: str) -> None:
    banks = banks_on()
    assert banks.create("default", name).name == name
    assert banks.list() == [name]


TRAVERSALS = ["..", "../x", "a/b", "a\\b", ".a", "a.", "~", "CON:"]
LOOK_ALIKES = ["A", "é", "а", "ａ", "a b", "a\0", "a\n", "", "-a", "_a", "x" * 65]
BAD_NAMES = [*TRAVERSALS, *LOOK_ALIKES]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_bad_name_is_refused_by_every_verb_and_makes_nothing(name: str) -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    before = files.list_dir(DATA)
    for verb in (banks.open, banks.create, banks.open_or_create, banks.delete, banks.reload, banks.folder):
        for tenant, bank in (("default", name), (name, "main")):
            with pytest.raises(InvalidField):
                verb(tenant, bank)
    assert files.list_dir(DATA) == before


def test_a_bank_that_does_not_exist_is_not_made_by_looking() -> None:
    banks = banks_on()
    for verb in (banks.open, banks.delete, banks.reload):
        with pytest.raises(BankNotFound):
            verb("default", "no")
    assert banks.list() == []


def test_create_keeps_the_settings_and_refuses_a_name_that_is_taken() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    bank = banks.create("default", "main", BankInfo(description="d", user_handle="dana"))
    assert (bank.info.description, bank.info.user_handle, bank.last_seq) == ("d", "dana", 1)
    assert START < bank.info.created_at < 2 * START
    with pytest.raises(BankExists):
        banks.create("default", "main")
    assert banks_on(files.after_crash()).open("default", "main").info == bank.info


def test_tenants_do_not_see_each_other() -> None:
    banks = banks_on()
    remembered(banks.open_or_create("acme", "main"), "of acme")
    remembered(banks.open_or_create("other", "main"), "of other")
    assert texts(banks.open("acme", "main")) == ["of acme"]
    assert (banks.list("acme"), banks.list()) == (["main"], [])
    assert banks.tenants() == ["acme", "other"]
    gone = banks.delete("acme", "main")
    assert (banks.list("other"), banks.trashed("other")) == (["main"], [])
    with pytest.raises(TrashNotFound):
        banks.restore("other", gone.trash_id)


def test_a_trashed_bank_is_intact_and_its_name_is_free_for_an_empty_one() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    remembered(banks.open_or_create("default", "main"), "old")
    gone = banks.delete("default", "main")
    with pytest.raises(BankNotFound):
        banks.open("default", "main")
    fresh = banks.create("default", "main")
    assert fresh.records() == ()
    with pytest.raises(BankExists):
        banks.restore("default", gone.trash_id)
    assert texts(banks.restore("default", gone.trash_id, "older")) == ["old"]
    assert banks.trashed() == []
    again = banks_on(files.after_crash())
    assert again.list() == ["main", "older"]


def test_two_banks_of_one_name_lie_in_the_trash_apart_newest_first() -> None:
    banks = banks_on()
    ids = []
    for text in ("first", "second", "third"):
        remembered(banks.create("default", "a-1"), text)
        ids.append(banks.delete("default", "a-1").trash_id)
    assert [trashed.trash_id for trashed in banks.trashed()] == ids[::-1]
    assert {trashed.name for trashed in banks.trashed()} == {"a-1"}
    assert texts(banks.restore("default", ids[1])) == ["second"]


@pytest.mark.parametrize("trash_id", ["", "no", "main", "../main-1", "main-1"])
def test_what_is_not_in_the_trash_cannot_be_restored(trash_id: str) -> None:
    with pytest.raises(TrashNotFound):
        banks_on().restore("default", trash_id)


def test_a_bank_held_over_its_own_deletion_writes_nowhere() -> None:
    banks = banks_on()
    bank = banks.create("default", "main")
    banks.delete("default", "main")
    with pytest.raises(BankNotFound):
        bank.save([NewMemory(text="lost")])
    banks.create("default", "main")
    assert bank.records() == ()


def test_a_thousand_banks_opened_in_turn_stay_within_the_room() -> None:
    opened: list[str] = []
    closed: list[str] = []
    files = MemoryFiles()
    banks = banks_on(files, settings=StorageSettings(max_open_banks=8))
    for number in range(1_000):
        banks.create("default", f"b{number}")
    banks.close()
    limited = Banks(
        DATA,
        StorageSettings(max_open_banks=8),
        files,
        SystemClock(),
        lambda bank: opened.append(bank.name),
        lambda bank: closed.append(bank.name),
    )
    for name in limited.list():
        limited.open("default", name)
        assert len(limited.opened()) <= 8
    assert len(opened) == 1_000
    assert closed == opened[:-8]
    limited.close()
    assert closed == opened


def test_the_least_recently_used_bank_goes_first_but_never_one_that_is_leased() -> None:
    banks = banks_on(settings=StorageSettings(max_open_banks=2))
    with banks.lease("default", banks.create("default", "a").name) as leased:
        banks.create("default", "b")
        banks.create("default", "c")
        assert [bank.name for bank in banks.opened()] == ["a", "c"]
        assert banks.open("default", "a") is leased
    banks.open("default", "c")
    banks.create("default", "d")
    assert [bank.name for bank in banks.opened()] == ["c", "d"]


def test_who_opens_a_bank_waits_for_none_to_be_closed_and_few_more_are_open_meanwhile(tmp_path: Path) -> None:
    put_off: list[Callable[[], None]] = []
    told: list[tuple[str, bool]] = []

    def surplus(bank: Bank) -> None:
        told.append((bank.name, bank in banks.opened()))

    settings = StorageSettings(max_open_banks=8)
    banks = Banks(tmp_path / "data", settings, DiskFiles(), SystemClock(), on_surplus=surplus, later=put_off.append)
    for number in range(9):
        banks.create("default", f"b{number}")
    assert (len(banks.opened()), len(put_off), told) == (9, 1, [])
    put_off.pop()()
    assert [bank.name for bank in banks.opened()] == [f"b{number}" for number in range(1, 9)]
    assert told == [("b0", True)]
    for number in range(9, 11):
        banks.create("default", f"b{number}")
    assert len(banks.opened()) == 8  # nobody came to close the ninth, so who opened the tenth did
    banks.close()


def test_a_bank_closed_for_room_reads_and_writes_through_its_successor() -> None:
    banks = banks_on(settings=StorageSettings(max_open_banks=1))
    held = banks.create("default", "a")
    record = remembered(held, "before")
    banks.create("default", "b")
    assert [bank.name for bank in banks.opened()] == ["b"]
    again = saved(held, "before").record
    assert (again.id, again.corroboration) == (record.id, 1)
    assert held.get(record.id) == again
    assert held.text(record) == "before"
    assert held.last_seq == 3


def test_after_close_everything_is_refused_and_the_folder_is_free() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    bank = banks.create("default", "main")
    banks.close()
    with pytest.raises(Closed):
        bank.save([NewMemory(text="late")])
    with pytest.raises(Closed):
        banks.open("default", "main")
    banks_on(files).open("default", "main")


def test_a_bank_whose_log_is_gone_is_reported_and_can_be_deleted() -> None:
    files = MemoryFiles()
    banks = banks_on(files)
    banks.create("default", "main")
    banks.close()
    files.remove(log_path())
    banks = banks_on(files)
    with pytest.raises(BankDamaged, match="missing"):
        banks.open("default", "main")
    with pytest.raises(BankDamaged):
        banks.open_or_create("default", "main")
    assert "missing" in banks.trouble()["main"]  # type: ignore[index]
    banks.delete("default", "main")
    assert banks.trouble() == {}
    banks.create("default", "main")


def test_a_second_server_in_this_process_is_refused(tmp_path: Path) -> None:
    first = on_disk(tmp_path / "data")
    with pytest.raises(DataFolderInUse):
        on_disk(tmp_path / "data")
    first.close()
    on_disk(tmp_path / "data").close()


HOLDER = """
import sys
from collections.abc import Callable
from pathlib import Path
from recall.memory.banks import Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings
banks = Banks(Path(sys.argv[1]), StorageSettings(), DiskFiles(), SystemClock())
banks.open_or_create("default", "main").save([NewMemory(text="of the killed one")])
print("holds", flush=True)
sys.stdin.read()
"""


def test_a_second_server_in_another_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "data")]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holds\n"
        with pytest.raises(DataFolderInUse):
            on_disk(tmp_path / "data")
        holder.kill()
        holder.wait()
    banks = on_disk(tmp_path / "data")
    assert texts(banks.open("default", "main")) == ["of the killed one"]
    banks.close()


@pytest.mark.parametrize("foreign", ["notes.txt", "LOCK.txt", ".git/config", "default/main/log.jsonl"])
def test_a_folder_that_holds_something_else_is_refused_and_left_alone(tmp_path: Path, foreign: str) -> None:
    path = tmp_path / foreign
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    with pytest.raises(ForeignDataFolder, match=foreign.split("/", maxsplit=1)[0]):
        on_disk(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [foreign.split("/", maxsplit=1)[0]]


@pytest.mark.parametrize(
    "marker", ['{"app":"leveldb","format":1}', '{"app":"recall","format":2}', "MANIFEST-000001\n", ""]
)
def test_a_marker_of_somebody_else_or_of_a_later_release_is_refused(tmp_path: Path, marker: str) -> None:
    (tmp_path / "FORMAT").write_text(marker)
    with pytest.raises(ForeignDataFolder):
        on_disk(tmp_path)


def test_leftovers_of_a_start_that_was_cut_off_are_no_foreign_folder(tmp_path: Path) -> None:
    for name in ("LOCK", ".write-probe", "FORMAT.new"):
        (tmp_path / name).write_text("")
    on_disk(tmp_path).close()
    assert not (tmp_path / ".write-probe").exists()


def test_the_real_disk_does_what_the_disk_in_ram_does(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"
    banks = on_disk(data)
    bank = banks.open_or_create("default", "main")
    record = remembered(bank, "kept é")
    banks.delete("default", "main")
    banks.restore("default", banks.trashed()[0].trash_id)
    banks.close()
    log = data / "default" / "main" / "log.jsonl"
    log.write_bytes(log.read_bytes() + b'{"seq":3')
    banks = on_disk(data)
    bank = banks.open("default", "main")
    assert bank.text(bank.get(record.id)) == "kept é"
    assert (log.parent / "log.broken-1").read_bytes() == b'{"seq":3'
    assert log.stat().st_mode & 0o077 == 0
    banks.close()
    assert sorted(path.name for path in data.iterdir()) == [".new", ".trash", "FORMAT", "LOCK", "default"]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_descriptors_do_not_pile_up(tmp_path: Path) -> None:
    banks = Banks(tmp_path / "data", StorageSettings(max_open_banks=2), DiskFiles(), SystemClock())
    banks.create("default", "warm")
    before = descriptors()
    for number in range(20):
        remembered(banks.create("default", f"b{number}"), "a")
        banks.reload("default", f"b{number}")
    assert descriptors() <= before + 2


def logs_held(data: Path) -> list[str]:
    """The bank of each log that this process holds open, a name for each descriptor."""
    held = (str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink())
    return sorted(Path(path).parent.name for path in held if path.startswith(str(data)) and "log.jsonl" in path)


def test_a_log_is_let_go_of_with_its_bank_whoever_still_holds_the_bank(tmp_path: Path) -> None:
    data = tmp_path / "data"
    banks = Banks(data, StorageSettings(max_open_banks=1), DiskFiles(), SystemClock())
    held = [banks.create("default", name) for name in ("evicted", "main")]
    assert logs_held(data) == ["main"]
    banks.reload("default", "main")
    assert logs_held(data) == ["main"]
    images = [banks.image("default", name) for name in ("evicted", "main")]
    assert logs_held(data) == ["evicted", "main", "main"]
    for image in images:
        image.log.close()
    assert logs_held(data) == ["main"]
    assert held[0].text(remembered(held[0], "by its successor")) == "by its successor"
    assert logs_held(data) == ["evicted"]
    banks.delete("default", "evicted")
    assert logs_held(data) == []
    banks.open("default", "main")
    banks.close()
    assert logs_held(data) == []


def test_a_log_that_cannot_be_taken_is_let_go_of(tmp_path: Path) -> None:
    data = tmp_path / "data"
    banks = on_disk(data)
    banks.create("default", "main")
    banks.close()
    (data / "default" / "main" / "log.jsonl").write_bytes(b"{}\n")
    banks = on_disk(data)
    kept = []
    for refused in (banks.open, banks.reload, banks.image):
        with pytest.raises(BankDamaged) as error:
            refused("default", "main")
        kept.append(error)
    assert logs_held(data) == []


def test_a_read_that_runs_holds_its_log_until_it_ends(tmp_path: Path) -> None:
    data = tmp_path / "data"
    banks = on_disk(data)
    bank = banks.create("default", "main")
    for number in range(3):
        remembered(bank, f"text {number}")
    events = bank.events(1)
    next(events)
    bank.close()
    assert logs_held(data) == ["main"]
    assert len(list(events)) == 3
    assert logs_held(data) == []


def test_a_read_in_flight_survives_the_close_of_its_bank(tmp_path: Path) -> None:
    banks = on_disk(tmp_path / "data")
    bank: Bank = banks.create("default", "main")
    for number in range(200):
        remembered(bank, f"text {number}")
    events = bank.events(1)
    next(events)
    bank.close()
    assert len(list(events)) == 200
