"""What a request of BankService must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recall.memory import names
from recall.memory.lifecycle import Action
from recall.memory.names import LIMITS
from recall.memory.record import BankInfo
from recall.server import checks
from recall.server.checks import Check
from recall.v1 import bank_service_pb2 as pb

CHANGEABLE = (
    *("description", "half_life_days", "default_limit", "user_handle", "policy"),
    *("scope_kind", "scope_ref", "title", "preamble", "agents"),
)

MEMORY_OPS = (
    *(action.value for action in Action),
    *("reinforce", "update", "pin", "unpin", "import"),
)
BANK_OPS = ("bank_created", "bank_updated", "bank_deleted", "bank_restored", "bank_reloaded", "bank_vacuumed")


def create(request: pb.BankServiceCreateRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.name, "name")
    _fields(check, request, CHANGEABLE)
    check.done()


def name(request: pb.BankServiceGetRequest | pb.BankServiceDeleteRequest | pb.ReloadRequest) -> None:
    """Raises InvalidRequest unless the request names a bank."""
    check = Check()
    checks.bank_name(check, request.name, "name")
    check.done()


def list_banks(request: pb.BankServiceListRequest) -> None:
    """Raises InvalidRequest with every bad field; the page token is checked where it is read."""
    check = Check()
    checks.int_between(check, request.page_size, 0, checks.MAX_PAGE, "page_size")
    check.done()


def update(request: pb.BankServiceUpdateRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.mask(check, request.update_mask.paths, CHANGEABLE)
    if checks.present(check, request, "bank"):
        inside = check.inside("bank")
        checks.bank_name(inside, request.bank.name, "name")
        _fields(inside, request.bank, request.update_mask.paths)
    check.done()


def restore(request: pb.RestoreRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    check.require(bool(request.trash_id), "trash_id", "is required")
    checks.at_most(check, request.trash_id, checks.MAX_ID, "trash_id")
    if request.name:
        checks.bank_name(check, request.name, "name")
    check.done()


def vacuum(request: pb.VacuumRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    checks.bank_name(check, request.name, "name")
    checks.known(check, request.history, pb.VacuumHistory, "history")
    check.done()


def watch(request: pb.WatchRequest) -> None:
    """Raises InvalidRequest with every bad field."""
    check = Check()
    if request.bank:
        checks.bank_name(check, request.bank)
    check.require(not request.from_seq or bool(request.bank), "from_seq", "needs a bank: every bank counts its own seq")
    checks.filter_tags(check, request.tags)
    for place, op in enumerate(request.ops):
        if op not in MEMORY_OPS and op not in BANK_OPS:
            check.require(False, f"ops[{place}]", f"must be one of {', '.join((*MEMORY_OPS, *BANK_OPS))}")
    check.done()


def _fields(check: Check, bank: Any, given: Sequence[str]) -> None:
    if "description" in given:
        checks.as_kept(check, names.checked_info, BankInfo(description=bank.description))
    if "half_life_days" in given:
        checks.as_kept(check, names.checked_info, BankInfo(half_life_days=bank.half_life_days))
    if "default_limit" in given:
        checks.as_kept(check, names.checked_info, BankInfo(default_limit=bank.default_limit))
    if "user_handle" in given:
        checks.as_kept(check, names.checked_info, BankInfo(user_handle=bank.user_handle))
    if "scope_kind" in given:
        checks.known(check, bank.scope_kind, pb.ScopeKind, "scope_kind")
    if "scope_ref" in given:
        checks.at_most(check, bank.scope_ref.strip(), LIMITS.scope_ref, "scope_ref")
    if "title" in given:
        checks.as_kept(check, names.checked_info, BankInfo(title=bank.title))
    if "preamble" in given:
        checks.as_kept(check, names.checked_info, BankInfo(preamble=bank.preamble))
    if "agents" in given:
        checks.as_kept(check, names.checked_info, BankInfo(agents=tuple(bank.agents)))
    if "policy" in given:
        checks.known(check, bank.policy, pb.BankPolicy, "policy")
