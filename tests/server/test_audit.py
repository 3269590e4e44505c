"""The audit trail: every transition is one event of it, whatever is asked for, and pages stay in place."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from faulty_files import MemoryFiles
from memory_banks import DATA, bank_on, log_path, remembered

from recall.check import check
from recall.memory.bank import Bank
from recall.memory.deciding import Decide
from recall.memory.lifecycle import Action
from recall.memory.record import Actor, NewMemory, Saved
from recall.review.audit import Wanted, audit_page
from recall.server import audit
from recall.server.refusals import InvalidRequest
from recall.v1 import admin_service_pb2 as pb

BOT, DANA, EVE = Actor("bot", "agent"), Actor("dana", "reviewer"), Actor("eve", "reviewer")


def reviewed() -> tuple[Bank, list[str]]:
    """A bank with three proposals: one promoted, one rejected, one that waits."""
    bank = bank_on()
    ids = []
    for text in ("first", "second", "third"):
        [saved] = bank.nominate([NewMemory(text=text)], BOT)
        assert isinstance(saved, Saved)
        ids.append(saved.record.id)
    bank.decide(Decide(ids[0], Action.PROMOTE, "good"), DANA)
    bank.decide(Decide(ids[1], Action.REJECT, "bad"), EVE)
    bank.supersede(remembered(bank, "loser").id, ids[0], EVE)
    return bank, [str(one) for one in ids]


def trail(bank: Bank, wanted: Wanted, size: int = 100) -> list[tuple[int, str, str]]:
    events, after = [], 0
    while True:
        page = audit_page(bank, wanted, after, size)
        events += [(event.seq, event.op, event.actor.id) for event in page.events]
        after = page.next_after
        if not after:
            return events


def test_filters_take_what_they_say_and_pages_add_up_to_the_whole() -> None:
    bank, ids = reviewed()
    whole = trail(bank, Wanted())
    assert [op for _, op, _ in whole] == [
        *("bank", "nominate", "nominate", "nominate", "promote", "reject", "save", "supersede")
    ]
    assert [seq for seq, _, _ in whole] == list(range(1, bank.last_seq + 1))
    for size in (1, 2, 3, 8):
        assert trail(bank, Wanted(), size) == whole
    assert trail(bank, Wanted(actor="dana")) == [(5, "promote", "dana")]
    assert trail(bank, Wanted(actions=frozenset({"reject", "supersede"})), 1) == [
        (6, "reject", "eve"),
        (8, "supersede", "eve"),
    ]
    assert [op for _, op, _ in trail(bank, Wanted(memory_id=ids[0]))] == ["nominate", "promote", "supersede"]
    times = [event.at for event in bank.events(1)]
    assert trail(bank, Wanted(after=times[4], before=times[6])) == whole[4:6]
    assert trail(bank, Wanted(actor="nobody")) == []


def test_a_page_stays_in_place_while_others_write() -> None:
    bank, _ = reviewed()
    request = pb.ListAuditRequest(bank="main", page_size=5)
    first = audit.answer(bank, request)
    remembered(bank, "meanwhile")
    request.page_token = first.next_page_token
    second = audit.answer(bank, request)
    assert [event.seq for event in (*first.events, *second.events)] == list(range(1, bank.last_seq + 1))
    assert (second.last_seq, second.head) == (bank.last_seq, second.events[-1].sum)
    chain = [*first.events, *second.events]
    assert all(later.previous_sum == earlier.sum for earlier, later in itertools.pairwise(chain))
    with pytest.raises(InvalidRequest, match="page_token"):
        audit.answer(bank, pb.ListAuditRequest(bank="main", actor="eve", page_token=first.next_page_token))


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ListAuditRequest(), "bank"),
        (pb.ListAuditRequest(bank="b", page_size=1_001), "page_size"),
        (pb.ListAuditRequest(bank="b", actions=["promote", "grant"]), "actions[1]"),
        (pb.ListAuditRequest(bank="b", actor="x" * 129), "actor"),
    ],
)
def test_a_bad_request_is_refused_by_field(request_: pb.ListAuditRequest, field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        audit.check_list(request_)
    assert [one.field for one in refused.value.violations] == [field]


def test_each_success_is_exactly_one_event_also_when_many_ask_for_the_same() -> None:
    bank = bank_on()
    asked = [NewMemory(text=f"text {number}") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(lambda _: bank.nominate(asked, BOT, "request-1"), range(8)))
        ids = [one.record.id for one in saved[0] if isinstance(one, Saved)]
        decisions = [(id_, action) for id_ in ids for action in (Action.PROMOTE, Action.REJECT) for _ in range(2)]
        decided = list(pool.map(lambda it: bank.decide(Decide(it[0], it[1], "so"), DANA), decisions))
    assert sum(not one.already for one in decided) == len(ids)
    events = list(bank.events(2))
    assert [event.op for event in events].count("nominate") == len(asked)
    assert len(events) == 2 * len(asked)


def test_a_check_tells_of_the_chain_and_of_the_log_in_which_it_breaks() -> None:
    files = MemoryFiles()
    bank = bank_on(files)
    remembered(bank, "one")
    head = bank.stamp(bank.last_seq)
    (chain,) = check(DATA, files).chains
    assert (chain.bank, chain.events, chain.head, chain.unbroken) == ("main", 2, head, True)
    altered = files.read(log_path()).replace(b'"text":"one"', b'"text":"two"')
    files.write(Path(log_path()), altered)
    (chain,) = check(DATA, files).chains
    assert (chain.events, chain.unbroken) == (1, False)
