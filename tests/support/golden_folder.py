"""Writes the golden data folder of this release: `make golden`. Every later release must open it, see tests/golden.

A folder that is there is never written again: what counts is what that release wrote, not what this one would.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from equal_banks import facts
from ticking import Ticking

from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.events import Body, Entry, Sum, encode
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Action
from recall.memory.record import (
    LOCAL,
    Actor,
    BankInfo,
    ImportedMemory,
    InfoChanges,
    Kind,
    MemoryChanges,
    NewMemory,
    PastEvent,
    Saved,
    Source,
    SourceKind,
    Status,
)
from recall.memory.settings import StorageSettings

ROOT = Path(__file__).parents[1] / "golden"
EXPECTED = "expected.json"
JOB = Actor("sweep", "job")
TIMES = 1_767_225_600_000_000
TORN = b'{"seq":99,"prev":"torn by a crash \xe4\xb8'


def write(folder: Path) -> None:
    """A data folder, and what stands in it as JSON beside it."""
    data = folder / "data"
    clock = Ticking()
    banks = Banks(data, StorageSettings(), DiskFiles(), clock)
    every_op(banks.create(DEFAULT_TENANT, "every-op", BankInfo(description="one of each", half_life_days=7.5)), clock)
    torn = banks.create(DEFAULT_TENANT, "torn")
    kept(torn, "whole before the tear")
    kept(banks.create(DEFAULT_TENANT, "trashed"), "in the trash")
    trash_id = banks.delete(DEFAULT_TENANT, "trashed").trash_id
    banks.create(DEFAULT_TENANT, "empty")
    older(data / DEFAULT_TENANT / "older" / "log.jsonl")
    (data / DEFAULT_TENANT / "every-op" / "rules").mkdir()
    (data / DEFAULT_TENANT / "every-op" / "rules" / "1.md").write_text("# Be brief\n", encoding="utf-8")
    expected = {name: facts(banks.open(DEFAULT_TENANT, name)) for name in banks.list()}
    banks.close()
    with (data / DEFAULT_TENANT / "torn" / "log.jsonl").open("ab") as log:
        log.write(TORN)
    (data / "LOCK").unlink(missing_ok=True)
    document = {"release": version("recall-service"), "trash_id": trash_id, "banks": expected}
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True)
    (folder / EXPECTED).write_text(text + "\n", encoding="utf-8")


def kept(bank: Bank, memory: NewMemory | str, request_id: str = "") -> str:
    """Saves; the id."""
    item = NewMemory(text=memory) if isinstance(memory, str) else memory
    (saved,) = bank.save([item], request_id=request_id)
    assert isinstance(saved, Saved), saved
    return saved.record.id


def every_op(bank: Bank, clock: Ticking) -> None:
    """Every op of a memory and of the bank, every kind, every status, every field."""
    source = Source(SourceKind.CONVERSATION, "D1:1", "session 1", 0, "agent", "https://example.org/1")
    full = NewMemory(
        text="Every field é 世界大战 😀\nand a line",
        kind=Kind.PREFERENCE,
        entities=("dana", "bergen"),
        tags=("ops", "blog"),
        author="Dana",
        source=source,
        confidence=0.0,
        pinned=True,
        created_at=-1,
        expires_at=TIMES * 2,
        metadata={"k": "v", "empty": ""},
    )
    first = kept(bank, full, request_id="request-1")
    for kind in Kind:
        kept(bank, NewMemory(text=f"of kind {kind}", kind=kind))
    again = kept(bank, "said twice")
    kept(bank, NewMemory(text="said twice", tags=("more",)))
    bank.update(again, MemoryChanges(text="said otherwise", tags=("less",), metadata={"a": "b"}))
    bank.pin(again, True)
    bank.pin(again, False)
    kept(bank, NewMemory(text="the same source, another text", source=Source(SourceKind.TASK, "7")))
    kept(bank, NewMemory(text="updated in place", source=Source(SourceKind.TASK, "7")))
    bank.supersede(kept(bank, "the loser"), first)
    deleted = kept(bank, "deleted and said again")
    bank.delete(deleted)
    kept(bank, "deleted and said again")
    late = kept(bank, NewMemory(text="past its time", expires_at=clock.now() + 2))
    clock.now()
    bank.expire([late], JOB)
    reviewed(bank)
    bank.import_records([ImportedMemory(text="from elsewhere", id="elsewhere-1", status=Status.ACCEPTED, revision=3)])
    past = PastEvent(seq=4, at=TIMES, actor=LOCAL, op="save", memory=ImportedMemory(text="with a past", id="p-1"))
    bank.import_records([ImportedMemory(text="with a past", id="p-1", status=Status.RETIRED, past=(past,))])
    bank.update_info(InfoChanges(user_handle="dana", default_limit=9))


def reviewed(bank: Bank) -> None:
    """What reviewers do."""
    texts = ("promoted", "rejected", "quarantined", "accepted again", "still waiting")
    found = bank.nominate([NewMemory(text=f"a nomination that is {text}") for text in texts], Actor("bot", "agent"))
    ids = [one.record.id for one in found if isinstance(one, Saved)]
    bank.transition(ids[0], Action.PROMOTE, Actor("eve", "reviewer"), "well put")
    bank.transition(ids[1], Action.REJECT, Actor("eve", "reviewer"), "not so")
    for memory_id in ids[2:4]:
        bank.transition(memory_id, Action.PROMOTE, LOCAL)
        bank.transition(memory_id, Action.QUARANTINE, JOB, "looks odd")
    bank.transition(ids[3], Action.REACCEPT, LOCAL, "is fine")


def older(log: Path) -> None:
    """Lines with nothing but what no line can do without, as the first releases wrote them."""
    bodies = [
        Body(op="bank", info=BankInfo()),
        Body(op="save", id="older-1", text="an old record"),
        Body(op="reinforce", id="older-1"),
        Body(op="import", id="older-2", text="an old import", status=Status.SUPERSEDED, winner="older-1"),
    ]
    log.parent.mkdir(parents=True)
    last, lines = Sum(""), []
    for seq, body in enumerate(bodies, 1):
        line, last = encode(Entry(body, TIMES + seq, LOCAL), seq, last, seq)
        lines.append(line)
    log.write_bytes(b"".join(lines))


def main() -> int:
    """Writes the folder of the installed release; 1 when it is there already."""
    folder = ROOT / version("recall-service")
    if folder.exists():
        sys.stderr.write(f"{folder} is there: a golden folder is written once\n")
        return 1
    folder.mkdir(parents=True)
    try:
        write(folder)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
