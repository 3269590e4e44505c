"""Writes a golden data folder of this release: `make golden NAME=…`. Every later one must open it, see tests/golden.

A folder that is there is never written again: what counts is what that release wrote, not what this one would. So what
the log learns within a release goes into a second folder of it, under a name of its own.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from equal_banks import facts
from ticking import Ticking

from recall.memory import reviewing
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.beginning import History
from recall.memory.events import Body, Entry, Sum, encode
from recall.memory.falling import SourceFell
from recall.memory.files import DiskFiles
from recall.memory.lifecycle import Action
from recall.memory.merging import MergeLoser
from recall.memory.moving import Leave
from recall.memory.moving import move as bank_move
from recall.memory.record import (
    LOCAL,
    Actor,
    BankInfo,
    Evidence,
    ImportedMemory,
    InfoChanges,
    Kind,
    MemoryChanges,
    NewMemory,
    PastEvent,
    Saved,
    ScopeKind,
    Source,
    SourceKind,
    Status,
)
from recall.memory.replacing import Replace
from recall.memory.rule_book import RuleBook
from recall.memory.run_book import RunBook
from recall.memory.segments import FOLDER as HISTORY
from recall.memory.settings import StorageSettings
from recall.memory.vacuum import vacuum
from recall.review.likeness import near_duplicate_of_text

ROOT = Path(__file__).parents[1] / "golden"
EXPECTED = "expected.json"
JOB, REVIEWER = Actor("sweep", "job"), Actor("eve", "reviewer")
TIMES = 1_767_225_600_000_000
TORN = b'{"seq":99,"prev":"torn by a crash \xe4\xb8'


def write(folder: Path) -> None:
    """A data folder, and what stands in it as JSON beside it."""
    data = folder / "data"
    clock = Ticking()
    banks = Banks(data, StorageSettings(), DiskFiles(), clock)
    every_op(banks.create(DEFAULT_TENANT, "every-op", BankInfo(description="one of each", half_life_days=7.5)), clock)
    reviews_and_runs(banks.create(DEFAULT_TENANT, "reviews-and-runs"))
    moves(banks)
    vacuums(banks)
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


def reviews_and_runs(bank: Bank) -> None:
    """What consolidation does and takes back, and what reviewers do besides deciding and take back."""
    runs(bank)
    sources = [kept(bank, "refunds take five days"), kept(bank, "refunds are paid in five days")]
    evidence = (Evidence("eval/7", "accuracy", 0.5, 0.75), Evidence("eval/8"))
    merged = NewMemory(text="refunds are paid within five days", title="Refunds", evidence=evidence)
    both = reviewing.replace(bank, Replace(sources, "", "one rule"), merged, REVIEWER).record
    reviewing.undo_decision(bank, both.id, "two rules after all", REVIEWER)
    again = NewMemory(text="refunds: within five days")
    reviewing.replace(bank, Replace(sources, "", "one rule"), again, REVIEWER)
    texts = ("edited", "promoted too soon", "rejected too soon", "of a source that fell", "quarantined, then rejected")
    for text in texts:
        source = Source(SourceKind.DOCUMENT, "guide") if "source" in text else None
        bank.nominate([NewMemory(text=text, source=source)], Actor("bot", "agent"))
    edited, promoted, rejected, fallen, twice = [record.id for record in bank.records()[-len(texts) :]]
    reviewing.edit(bank, edited, MemoryChanges(text="edited by a reviewer", title="Edited"), "shorter", REVIEWER)
    bank.transition(promoted, Action.PROMOTE, REVIEWER)
    reviewing.undo_decision(bank, promoted, "wait", REVIEWER)
    bank.transition(rejected, Action.REJECT, REVIEWER, "no")
    reviewing.undo_decision(bank, rejected, "yes", REVIEWER)
    for memory_id in (fallen, twice):
        bank.transition(memory_id, Action.PROMOTE, REVIEWER)
    reviewing.source_fell(bank, SourceFell(SourceKind.DOCUMENT, "guide", "it was retracted"), JOB)
    reviewing.undo_decision(bank, fallen, "it stands", REVIEWER)
    bank.transition(twice, Action.QUARANTINE, REVIEWER, "odd")
    bank.transition(twice, Action.REACCEPT, REVIEWER, "fine")
    reviewing.undo_decision(bank, twice, "not so fine", REVIEWER)
    bank.transition(twice, Action.REJECT, REVIEWER, "wrong")
    reviewing.undo_decision(bank, twice, "not wrong", REVIEWER)


def moves(banks: Banks) -> None:
    """A preference in a bank of a user, a memory that moved with its history, and one that was sent back."""
    scope = BankInfo(scope_kind=ScopeKind.USER, scope_ref="dana")
    mine, there = banks.create(DEFAULT_TENANT, "of-dana", scope), banks.create(DEFAULT_TENANT, "moved-to")
    preference = NewMemory(text="I like short answers", kind=Kind.PREFERENCE)
    _, compared = near_duplicate_of_text(mine, preference.text, TIMES)
    reviewing.prefer(mine, preference, compared, "request-2", Actor("dana", "user"))
    misfiled = kept(mine, NewMemory(text="misfiled", source=Source(SourceKind.TASK, "9")))
    bank_move(mine, there, misfiled, "belongs there", REVIEWER)
    sent = bank_move(mine, there, kept(mine, "sent and sent back"), "", REVIEWER).arrived
    there.write(Leave(sent.id, Action.RETURN, note="it could not leave"), REVIEWER)


def vacuums(banks: Banks) -> None:
    """A log that was written anew twice with all its history, and one whose history was archived and taken away."""
    twice, archived = banks.create(DEFAULT_TENANT, "vacuumed"), banks.create(DEFAULT_TENANT, "archived")
    for bank in (twice, archived):
        reviewed(bank)
        changed = kept(bank, NewMemory(text="said anew", source=Source(SourceKind.TASK, "7")), "request-3")
        bank.update(changed, MemoryChanges(text="said anew, and again"))
        gone = kept(bank, "a text that nobody holds")
        bank.update(gone, MemoryChanges(text="another"))
        bank.delete(kept(bank, "a text that nobody holds"))
        for name in ("style", "gone"):
            RuleBook(bank).set(name, "# Be brief\n", REVIEWER)
        RuleBook(bank).delete("gone", REVIEWER)
        runs(bank)
    vacuum(twice, History.KEEP, LOCAL)
    kept(twice, "between two vacuums")
    vacuum(twice, History.KEEP, JOB)
    vacuum(archived, History.ARCHIVE, LOCAL)
    archived.outfit.files.remove_tree(archived.place.folder / HISTORY)
    for bank in (twice, archived):
        kept(bank, "after the vacuum")
        RuleBook(bank).set("gone", "# Be brief, again\n", REVIEWER)
        RuleBook(bank).delete("gone", REVIEWER)


def runs(bank: Bank) -> None:
    """Two runs, each merging a pair; the first is taken back."""
    for run in ("run-1", "run-2"):
        winner = kept(bank, NewMemory(text=f"Dana likes dark mode ({run})", tags=("ui",)))
        loser = kept(bank, NewMemory(text=f"Dana likes the dark mode ({run})", tags=("taste",), entities=("dana",)))
        losers = [MergeLoser(loser, bank.get(loser).revision, "same wording")]
        RunBook(bank).merge(run, winner, bank.get(winner).revision, losers, JOB)
        RunBook(bank).record(run, '{"merged":1}', JOB, mined=1)
    RunBook(bank).undo("run-1", LOCAL)


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
    """Writes the folder of the installed release, or one of the name that is given; 1 when it is there already."""
    folder = ROOT / (sys.argv[1] if len(sys.argv) > 1 else version("recall-service"))
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
