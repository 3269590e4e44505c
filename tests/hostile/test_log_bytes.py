"""Whatever lies in a log file: the bank opens with what can be trusted, or says where the damage is.

Three kinds of hostile log: bytes of a good one changed at random, events with right sums and senseless fields, and the
same as hand edits without sums. A bank that opens can be read, served, indexed and written to.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from faulty_files import MemoryFiles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_banks import DATA, banks_on, log_path, saved
from mutants import mutants
from ranked_bank import ANALYZER

from recall.check import check
from recall.memory.bank import Bank
from recall.memory.banks import DEFAULT_TENANT
from recall.memory.errors import BankDamaged
from recall.memory.events import Body, Header, Sum, checksum
from recall.memory.fold import OPS_OF_A_MEMORY
from recall.memory.record import BankName, MemoryChanges, NewMemory, Source, SourceKind
from recall.memory.tally import counted, tags_in_use
from recall.ranking.bank_index import BankIndex
from recall.ranking.index_settings import IndexSettings
from recall.server import convert

QUICK, DEEP, MUTANTS = 500, 5_000, 17
LEAST = 100_000
_SETTINGS: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": (HealthCheck.too_slow, HealthCheck.data_too_large),
}


def _good_log() -> bytes:
    files = MemoryFiles()
    bank = banks_on(files).create(DEFAULT_TENANT, "main")
    first = saved(bank, NewMemory(text="Zoë moved to Bern", tags=("a",), metadata={"k": "v"})).record
    second = saved(bank, NewMemory(text="two", source=Source(SourceKind.DOCUMENT, "d")), request_id="r").record
    bank.save([NewMemory(text="three"), NewMemory(text="four")])
    saved(bank, "three")
    bank.update(first.id, MemoryChanges(text="Zoë moved to Basel"))
    bank.pin(first.id, True)
    bank.supersede(second.id, first.id)
    bank.delete(bank.records()[2].id)
    bank.close()
    return files.read(log_path())


GOOD = _good_log()
LINES = GOOD.splitlines(keepends=True)
OLD_IDS = [msgspec.json.decode(line).get("id", "") for line in LINES]

splices = st.tuples(
    st.integers(0, len(GOOD)),
    st.integers(0, 200),
    st.binary(max_size=20) | st.sampled_from((b"\n", b"\0", b"\0" * 64, b"\r\n", b"}\n{", b"\xff", b'"', b"9" * 30)),
)
shuffles = st.lists(st.sampled_from(LINES), max_size=12).map(b"".join)
changed = st.lists(splices, min_size=1, max_size=3).map(lambda cuts: _spliced(GOOD, cuts)) | shuffles

_ODD = st.sampled_from(
    (None, True, -1, 0, 1, 1.5, 1e308, 2**31, 2**32, 2**53, 2**63, 2**64, -(2**63), 10**30, "", "\0", "x" * 9_000)
) | st.sampled_from(("\ud800", [], {}, ["a"] * 99, {"k": 1}, {"bank": "b"}, "accepted", "retired", "fact", "nothing"))
_FIELDS = st.sampled_from(sorted({*Body.__struct_fields__, *Header.__struct_fields__}))
_OPS = st.sampled_from((*sorted(OPS_OF_A_MEMORY), "bank", "run", "settle", "rule", "unrule", "odd"))
_TIMES = st.integers(-(2**65), 2**65) | st.sampled_from((0, -62_135_596_800_000_000, 253_402_300_799_999_999))
_EVENTS = st.fixed_dictionaries(
    {
        "op": _OPS,
        "id": st.sampled_from(("new", *filter(None, OLD_IDS))),
        "text": st.text(max_size=20) | st.just("three"),
    },
    optional={
        "created_at": _TIMES,
        "updated_at": _TIMES,
        "expires_at": _TIMES,
        "corroboration": st.integers(-(2**65), 2**65),
        "revision": st.integers(-(2**65), 2**65),
        "confidence": st.floats(allow_nan=False, allow_infinity=False),
        "status": st.sampled_from(("accepted", "superseded", "retired", "nominated")),
        "winner": st.sampled_from(OLD_IDS),
        "source": st.fixed_dictionaries({}, optional={"position": st.integers(-(2**65), 2**65), "id": st.text()}),
        "info": st.fixed_dictionaries(
            {}, optional={"half_life_days": st.floats(), "default_limit": st.integers(), "created_at": _TIMES}
        ),
        "actor": st.fixed_dictionaries({"id": st.text(max_size=5), "role": st.text(max_size=5)}),
    },
)
events = st.tuples(_EVENTS, st.lists(st.tuples(_FIELDS, _ODD), max_size=2)).map(
    lambda given: {**given[0], **dict(given[1])}
)


def _spliced(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    for start, length, put in cuts:
        data = data[:start] + put + data[start + length :]
    return data


def _with_sum(event: dict[str, object]) -> bytes:
    """The event as the last line of the good log, with a right chain and sum."""
    prev = LINES[-1][-35:-3].decode()
    whole = {"seq": len(LINES) + 1, "prev": prev, "at": 1, "actor": {"id": "x", "role": "admin"}, **event}
    body = msgspec.json.encode(whole)[:-1] if _encodable(whole) else b'{"text":"\xed\xa0\x80"'
    return GOOD + b'%b,"sum":"%b"}\n' % (body, Sum(checksum(body)).encode())


def _by_hand(event: dict[str, object]) -> bytes:
    return GOOD + (msgspec.json.encode(event) if _encodable(event) else b'{"text":"\xed\xa0\x80"}') + b"\n"


def _encodable(event: dict[str, object]) -> bool:
    try:
        msgspec.json.encode(event)
    except (UnicodeEncodeError, OverflowError):
        return False
    return True


def _files_with(log: bytes) -> MemoryFiles:
    files = MemoryFiles()
    banks_on(files).create(DEFAULT_TENANT, "main")
    files.forget_locks()
    files.replace(log_path(), log)
    return files


def judged(log: bytes, folder: Path, reload: bool = False) -> bool:
    """Whether the bank opens; what was found must be the same a second time, and it must be of use."""
    files = _files_with(log)
    check(DATA, files)
    banks = banks_on(files)
    try:
        if reload:
            banks.reload(DEFAULT_TENANT, "main")
        bank = banks.open(DEFAULT_TENANT, "main")
    except BankDamaged as damage:
        return _told(damage, banks.trouble())
    _use(bank, folder)
    before = [(record, bank.text(record)) for record in bank.records()]
    banks.close()
    again = banks_on(files).open(DEFAULT_TENANT, "main")
    assert [(record, again.text(record)) for record in again.records()] == before
    assert check(DATA, files).sound
    return True


def _told(damage: BankDamaged, trouble: dict[BankName, str]) -> bool:
    assert damage.line >= 1
    assert damage.offset >= 0
    assert "main" in trouble
    return False


def _use(bank: Bank, folder: Path) -> None:
    for record in bank.records():
        message = convert.memory_message(record, bank.text(record), bank.name)
        message.SerializeToString()
        message.created_at.ToJsonString()
        bank.history(record.id)
    index = BankIndex.open(bank, folder, ANALYZER, IndexSettings(), lambda: None)
    counted(bank.records(), 1)
    tags_in_use(bank.records(), 1)
    saved(bank, "a text that was never there")
    assert not bank.stale
    index.close()


@pytest.mark.parametrize("log", [GOOD, GOOD[:-1], b"", b"\0" * 4_096, b"{}\n", b"\n" * 9, GOOD * 2, LINES[0]])
def test_logs_at_the_edge_are_judged(log: bytes, tmp_path: Path) -> None:
    assert judged(log, tmp_path) == (log in (GOOD, GOOD[:-1], LINES[0]))


@settings(max_examples=QUICK, derandomize=True, **_SETTINGS)
@given(changed)
def test_changed_bytes_open_or_are_told(log: bytes) -> None:
    judged(log, Path("/nonexistent"))


@settings(max_examples=QUICK, derandomize=True, **_SETTINGS)
@given(events)
def test_senseless_events_with_right_sums_open_or_are_told(event: dict[str, object]) -> None:
    judged(_with_sum(event), Path("/nonexistent"))


@settings(max_examples=QUICK, derandomize=True, **_SETTINGS)
@given(events)
def test_senseless_hand_edits_open_or_are_told(event: dict[str, object]) -> None:
    judged(_by_hand(event), Path("/nonexistent"), reload=True)


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_hostile_logs_open_or_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts: Counter[bool] = Counter()

    @settings(max_examples=DEEP, **_SETTINGS)
    @given(changed, events)
    def run(log: bytes, event: dict[str, object]) -> None:
        dice = random.Random(log)
        for mutant in mutants(log, dice, MUTANTS):
            verdicts[judged(mutant, Path("/nonexistent"), reload=dice.random() < 0.5)] += 1
        verdicts[judged(_with_sum(event), Path("/nonexistent"))] += 1
        verdicts[judged(_by_hand(event), Path("/nonexistent"), reload=True)] += 1

    run()
    with capsys.disabled():
        print(f"\n{verdicts.total():,} hostile logs: {verdicts[True]:,} open, {verdicts[False]:,} told")  # noqa: T201
    assert verdicts.total() >= LEAST
