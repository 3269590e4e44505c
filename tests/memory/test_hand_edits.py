"""What a person writes into a log passes the limits of a call, and the answer names the line and the field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from faulty_files import MemoryFiles
from memory_banks import DATA, bank_on, banks_on, log_path, remembered, saved, texts

from recall.check import repair
from recall.memory.errors import BankDamaged
from recall.memory.record import NewMemory
from recall.memory.settings import StorageSettings

PAST = {"seq": 1, "at": 1, "actor": {"id": "a", "role": "b"}, "op": "save"}
TOO_MUCH: list[tuple[str, dict[str, Any]]] = [
    ("text: has 8,001 characters", {"text": "x" * 8_001}),
    ("text: is empty", {"text": " "}),
    ("tags: has 17 entries", {"tags": [str(number) for number in range(17)]}),
    ("tags: has 65 characters", {"tags": ["x" * 65]}),
    ("entities: has 129 characters", {"entities": ["x" * 129]}),
    ("author: has 129 characters", {"author": "x" * 129}),
    ("source.uri: has 2,049 characters", {"source": {"uri": "x" * 2_049}}),
    ("metadata: has 4,097 bytes", {"metadata": {"k": "x" * 4_096}}),
    ("metadata: 'pinned' is a field", {"metadata": {"pinned": "yes"}}),
    ("title: has 201 characters", {"title": "x" * 201}),
    ("note: has 2,001 characters", {"note": "x" * 2_001}),
    ("id: 'a/b' is not an id", {"id": "a/b"}),
    ("confidence", {"confidence": 1.5}),
    ("created_at", {"created_at": 2**60}),
    ("expires_at", {"expires_at": -(2**60)}),
    ("predecessor: has 129 characters", {"predecessor": "x" * 129}),
    ("replaces: has 101 entries", {"replaces": ["x"] * 101}),
    ("actor.id: has 129 characters", {"actor": {"id": "x" * 129, "role": "admin"}}),
    (
        "past: has 10,001 entries",
        {"past": [{"seq": 1, "at": 1, "actor": {"id": "a", "role": "b"}, "op": "x"}] * 10_001},
    ),
    (
        "text: has 8,001",
        {"past": [{"seq": 1, "at": 1, "actor": {"id": "a", "role": "b"}, "op": "x", "text": "x" * 8_001}]},
    ),
    ("request_id: has 129", {"request": {"id": "x" * 129, "verb": "save"}}),
]


def edited(fields: dict[str, Any]) -> tuple[MemoryFiles, bytes]:
    """A bank whose third line a person wrote."""
    files = MemoryFiles()
    remembered(bank_on(files), "one")
    line = json.dumps({"op": "save", "id": "mine", "text": "by hand", **fields}).encode()
    found = files.read(log_path()) + line + b"\n"
    files.replace(log_path(), found)
    files.forget_locks()
    return files, found


@pytest.mark.parametrize(("told", "fields"), TOO_MUCH, ids=[told for told, _ in TOO_MUCH])
def test_a_line_over_a_limit_is_refused_by_line_and_field_and_the_file_stays(told: str, fields: dict[str, Any]) -> None:
    files, found = edited(fields)
    with pytest.raises(BankDamaged) as refused:
        banks_on(files).reload("default", "main")
    assert refused.value.line == 3
    assert told in str(refused.value)
    assert files.read(log_path()) == found


def test_names_and_lines_are_kept_in_the_form_a_call_would_give_them() -> None:
    files, _ = edited({"tags": [" Ops ", "ops", ""], "entities": ["Dana  Ek"], "author": " Dana "})
    banks = banks_on(files)
    assert banks.reload("default", "main")
    record = banks.open("default", "main").get("mine")
    assert (record.tags, record.entities, record.author) == (("ops",), ("dana ek",), "Dana")


def test_a_repair_keeps_what_is_over_a_limit() -> None:
    files, _ = edited({"text": "x" * 8_001})
    repair(DATA, "default", "main", files, StorageSettings())
    assert texts(banks_on(files).open("default", "main")) == ["one", "x" * 8_001]


def test_a_line_the_service_wrote_is_not_judged_by_the_limits_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    files = MemoryFiles()
    saved(bank_on(files), NewMemory(text="one", tags=("a", "b")))
    found = files.read(log_path()) + b'{"op":"save","id":"mine","text":"by hand"}\n'
    files.replace(log_path(), found)
    files.forget_locks()
    monkeypatch.setattr("recall.memory.hand_edits._FIELDS", {"tags": lambda _tags: pytest.fail("was judged")})
    assert banks_on(files).reload("default", "main")
