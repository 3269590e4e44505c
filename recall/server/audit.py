"""Pages of the audit trail: check → read → convert, for `AdminService.ListAudit`."""

from __future__ import annotations

import hashlib

from msgspec import UNSET, UnsetType

from recall.memory.bank import Bank
from recall.memory.beginning import VACUUM
from recall.memory.events import Event
from recall.memory.lifecycle import Action
from recall.memory.names import LIMITS
from recall.review.audit import Wanted, audit_page
from recall.server import checks, convert, paging
from recall.server.checks import Check
from recall.v1 import admin_service_pb2 as pb

DEFAULT_PAGE, MAX_PAGE = 100, 1_000
OF_THE_BANK = ("bank", "run", "rule", "unrule", VACUUM)
KNOWN = frozenset(Action) | set(OF_THE_BANK)


def check_list(request: pb.ListAuditRequest) -> None:
    """Raises InvalidRequest with every bad field; the page token is checked where it is read."""
    check = Check()
    checks.bank_name(check, request.bank)
    checks.int_between(check, request.page_size, 0, MAX_PAGE, "page_size")
    checks.at_most(check, request.actor, LIMITS.author, "actor")
    checks.at_most(check, request.memory_id, checks.MAX_ID, "memory_id")
    for place, action in enumerate(request.actions):
        known = f"{checks.shown(action)} is none of {', '.join(sorted(KNOWN))}"
        check.require(action in KNOWN, f"actions[{place}]", known)
    for field in ("after", "before"):
        if request.HasField(field):
            checks.timestamp(check, getattr(request, field), field)
    check.done()


def answer(bank: Bank, request: pb.ListAuditRequest) -> pb.ListAuditResponse:
    """One page."""
    asked = _asked(request)
    after = paging.ordinal_before(request.page_token, asked) or 0
    wanted = Wanted(
        actor=request.actor,
        actions=frozenset(request.actions),
        memory_id=request.memory_id,
        after=convert.micros_of(request.after) if request.HasField("after") else None,
        before=convert.micros_of(request.before) if request.HasField("before") else None,
    )
    page = audit_page(bank, wanted, after, request.page_size or DEFAULT_PAGE)
    events = [_message(bank, event) for event in page.events]
    token = paging.token(page.next_after, asked) if page.next_after else ""
    last_seq = bank.last_seq
    return pb.ListAuditResponse(events=events, next_page_token=token, last_seq=last_seq, head=bank.stamp(last_seq))


def _asked(request: pb.ListAuditRequest) -> str:
    bare = pb.ListAuditRequest()
    bare.CopyFrom(request)
    bare.ClearField("page_token")
    bare.ClearField("page_size")
    return hashlib.blake2b(bare.SerializeToString(deterministic=True), digest_size=8).hexdigest()


def _message(bank: Bank, event: Event) -> pb.AuditEvent:
    message = pb.AuditEvent(
        seq=event.seq,
        actor=event.actor.id,
        role=event.actor.role,
        action=event.op,
        memory_id=event.id,
        note=_or_empty(event.note),
        winner_id=_or_empty(event.winner),
        loser_id=_or_empty(event.loser),
        run=_or_empty(event.run),
        replaces=() if event.replaces is UNSET else event.replaces,
        undoes=0 if event.of is UNSET else event.of,
        request_id="" if event.request is UNSET else event.request.id,
        previous_sum=event.prev,
        sum=bank.stamp(event.seq),
    )
    convert.set_time(message.at, event.at)
    return message


def _or_empty(value: str | UnsetType) -> str:
    return "" if value is UNSET else value
