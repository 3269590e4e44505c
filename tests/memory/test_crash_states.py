"""Whatever a crash leaves: every acknowledged event is there, no other is half there, and the bank goes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from faulty_files import Crash, MemoryFiles, image
from memory_banks import bank_on, log_path, reopened, saved, texts
from ticking import Ticking

from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.errors import MemoryServiceError
from recall.memory.events import decode
from recall.memory.record import InfoChanges, MemoryChanges, NewMemory, Outcome
from recall.memory.settings import StorageSettings

DATA = Path("/data")
SETTINGS = StorageSettings(max_open_banks=2)
LEAST_STATES = 10_000

Step = Callable[[Banks], object]


def open_banks(files: MemoryFiles) -> Banks:
    return Banks(DATA, SETTINGS, files, Ticking())


@dataclass(frozen=True, slots=True)
class Kept:
    """What a data folder holds: the log of each bank by name, and those in the trash."""

    banks: dict[str, bytes]
    trash: tuple[bytes, ...]

    @classmethod
    def of(cls, banks: Banks, files: MemoryFiles) -> "Kept":
        logs = {}
        for name in banks.list():
            banks.open(DEFAULT_TENANT, name)
            logs[str(name)] = files.read(DATA / DEFAULT_TENANT / name / "log.jsonl")
        folder = DATA / ".trash" / DEFAULT_TENANT
        trash = tuple(files.read(folder / trashed.trash_id / "log.jsonl") for trashed in banks.trashed())
        return cls(logs, trash)


def save(bank: str, *texts: str, request_id: str = "") -> Step:
    def step(banks: Banks) -> None:
        items = [NewMemory(text=text, tags=("crash",)) for text in texts]
        banks.open_or_create(DEFAULT_TENANT, bank).save(items, request_id=request_id)

    return step


def change(bank: str, what: Callable[[Banks], object]) -> Step:
    def step(banks: Banks) -> None:
        if bank in banks.list():
            try:
                what(banks)
            except MemoryServiceError:
                return

    return step


def on_some_memory(bank: str, place: int, verb: str, text: str) -> Step:
    def what(banks: Banks) -> None:
        opened = banks.open(DEFAULT_TENANT, bank)
        records = opened.records()
        if not records:
            return
        record = records[place % len(records)]
        if verb == "update":
            opened.update(record.id, MemoryChanges(text=text, tags=("new",)))
        elif verb == "delete":
            opened.delete(record.id)
        elif verb == "pin":
            opened.pin(record.id, not record.pinned)
        elif verb == "supersede":
            opened.supersede(record.id, records[(place + 1) % len(records)].id)
        else:
            opened.update_info(InfoChanges(description=text))

    return change(bank, what)


def trash(bank: str) -> Step:
    return change(bank, lambda banks: banks.delete(DEFAULT_TENANT, bank))


def restore(banks: Banks) -> None:
    for trashed in banks.trashed():
        if trashed.name not in banks.list():
            banks.restore(DEFAULT_TENANT, trashed.trash_id)
            return


SCRIPTED: list[Step] = [
    save("a", "Blog posts go out on Tuesday"),
    save("a", "Dana lives in Köln 🏙", "世界大战", "Blog posts go out on tuesday", request_id="r1"),
    on_some_memory("a", 0, "update", "Blog posts go out on Friday"),
    save("b", "another bank"),
    on_some_memory("a", 1, "supersede", ""),
    on_some_memory("a", 2, "pin", ""),
    on_some_memory("a", 0, "delete", ""),
    save("a", "Blog posts go out on Friday"),
    on_some_memory("a", 0, "info", "for people"),
    trash("a"),
    save("a", "a fresh one"),
    trash("b"),
    restore,
    save("b", "after the trash"),
]


def generated(seed: int) -> list[Step]:
    random = Random(seed)
    steps: list[Step] = []
    for number in range(7):
        bank = random.choice("ab")
        text = f"{random.choice(['note', 'é', '日本'])} {random.randrange(5)} of {seed}"
        verb = random.choice(["save", "save", "batch", "update", "delete", "supersede", "pin", "trash", "restore"])
        if verb == "save":
            steps.append(save(bank, text))
        elif verb == "batch":
            steps.append(save(bank, text, f"{text} and", f"{text} more", request_id=f"r{number}"))
        elif verb == "trash":
            steps.append(trash(bank))
        elif verb == "restore":
            steps.append(restore)
        else:
            steps.append(on_some_memory(bank, number, verb, f"{text} again"))
    return steps


def crashes(steps: list[Step]) -> Iterator[tuple[Crash, Kept, Kept]]:
    """Each moment of a history, with what was acknowledged before the running step and what will be after it."""
    moments: list[Crash] = []
    files = MemoryFiles(on_operation=lambda files: moments.append(Crash.now(files)))
    banks = open_banks(files)
    before = Kept.of(banks, files)
    yield from ((moment, before, before) for moment in moments)
    for step in steps:
        moments.clear()
        step(banks)
        after = Kept.of(banks, files)
        yield from ((moment, before, after) for moment in moments)
        before = after


def check_between(found: Kept, before: Kept, after: Kept) -> None:
    if set(before.banks) == set(after.banks):
        assert set(found.banks) == set(before.banks)
        assert found.trash == before.trash == after.trash
    else:
        assert (set(found.banks), found.trash) in [(set(k.banks), k.trash) for k in (before, after)]
    for name, log in found.banks.items():
        if name in before.banks:
            assert log.startswith(before.banks[name]), "an acknowledged event is gone"
        if name in after.banks:
            assert after.banks[name].startswith(log), "an event that nobody wrote is there"
        assert log.endswith(b"\n")
        assert decode(log[:-1].rsplit(b"\n", 1)[-1])[0].more == 0, "half a command is there"


def check(files: MemoryFiles, before: Kept, after: Kept) -> None:
    for _ in range(2):
        banks = open_banks(files)
        first = Kept.of(banks, files)
        check_between(first, before, after)
        banks.close()
    banks = open_banks(files)
    saved = {
        name: banks.open(DEFAULT_TENANT, name).save([NewMemory(text="after the crash")])[0] for name in first.banks
    }
    banks.close()
    banks = open_banks(files)
    for name, result in saved.items():
        assert not isinstance(result, MemoryServiceError)
        bank = banks.open(DEFAULT_TENANT, name)
        assert bank.text(bank.get(result.record.id)) == "after the crash"
        assert files.read(DATA / DEFAULT_TENANT / name / "log.jsonl").startswith(first.banks[name])
    banks.close()


def test_what_was_seen_after_a_kill_is_there_after_a_power_loss() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    acknowledged = files.read(log_path())
    saved(bank, "written, not synced", request_id="r")
    line = files.read(log_path())[len(acknowledged) :]
    files = MemoryFiles()
    bank_on(files)
    files.open_append(log_path()).append(line)  # and then the process was killed
    files.forget_locks()
    assert saved(bank_on(files), "written, not synced", request_id="r").outcome is Outcome.REPEATED
    assert texts(reopened(files)) == ["written, not synced"]


def explored(steps: list[Step], stride: int, known: set[int]) -> int:
    """Check each `stride`-th state of a history unless it is `known`; returns how many."""
    count = 0
    for crash, before, after in crashes(steps):
        for files in crash.states(stride):
            state = hash((image(files), repr(before)))
            if state in known:
                continue
            known.add(state)
            check(files, before, after)
            count += 1
    return count


@pytest.mark.timeout(600)
def test_every_state_a_crash_may_leave_opens_with_all_that_was_acknowledged() -> None:
    known: set[int] = set()
    checked = explored(SCRIPTED, 1, known)
    checked += sum(explored(generated(seed), 20, known) for seed in range(20))
    assert checked >= LEAST_STATES


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20, 60))
def test_every_state_of_longer_exploration_opens_too(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    checked = explored(generated(seed), 1, set())
    with capsys.disabled():
        print(f"\n{checked:,} states of history {seed}")  # noqa: T201
    assert checked
