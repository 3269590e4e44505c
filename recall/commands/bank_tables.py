"""How banks look in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.text import Text

from recall.commands.moments import age
from recall.commands.output import one_line
from recall.commands.tables import console, facts, size, table, time_of, when

if TYPE_CHECKING:
    from recall.v1 import bank_service_pb2


def show_banks(banks: Sequence[bank_service_pb2.Bank]) -> None:
    """One bank a row."""
    if not banks:
        console().print("no banks: the first save to one makes it, or `recall bank create NAME`")
        return
    now = datetime.now(UTC)
    rows = table("bank", "live", "embedded", "seq", "log", "used", "", right=["live", "embedded", "seq", "log"])
    for bank in banks:
        trouble = _trouble(bank)
        remark = Text(trouble, style="red") if trouble else Text(one_line(bank.description), style="dim")
        log = size(bank.sizes.log_bytes)
        rows.add_row(
            one_line(bank.name),
            str(bank.counts.live),
            percent(bank.coverage),
            str(bank.last_seq),
            log,
            used(bank, now),
            remark,
        )
    console().print(rows)


def show_bank(bank: bank_service_pb2.Bank) -> None:
    """Everything about one bank."""
    counts = {name: getattr(bank.counts, name) for name in bank.counts.DESCRIPTOR.fields_by_name}
    others = ", ".join(f"{count} {name}" for name, count in counts.items() if count and name != "live")
    coverage = f"{bank.coverage.embedded} of {bank.coverage.total} ({percent(bank.coverage)})"
    rows = [
        ("bank", one_line(bank.name)),
        ("description", one_line(bank.description)),
        ("memories", f"{bank.counts.live} live" + (f", {others}" if others else "")),
        ("embedded", coverage if bank.coverage.model else "no model in force"),
        ("model", one_line(bank.coverage.model)),
        ("stalled", one_line(bank.coverage.stalled_reason)),
        ("half-life", f"{bank.half_life_days:g} days" if bank.half_life_days else "the server's setting"),
        ("default limit", str(bank.default_limit or "the server's setting")),
        ("user", one_line(bank.user_handle) or "user"),
        ("policy", policy(bank.policy)),
        ("scope", scope(bank)),
        ("title", one_line(bank.title)),
        ("preamble", one_line(bank.preamble)),
        ("agents", ", ".join(one_line(name) for name in bank.agents)),
        ("used", used(bank, datetime.now(UTC))),
        ("created", when(bank.created_at)),
        ("last seq", str(bank.last_seq)),
        ("on disk", _on_disk(bank)),
        ("trouble", _trouble(bank)),
    ]
    console().print(facts(rows))


def show_trash(trash: Sequence[bank_service_pb2.TrashedBank]) -> None:
    """One trashed bank a row."""
    if not trash:
        console().print("the trash is empty")
        return
    now = datetime.now(UTC)
    rows = table("bank", "deleted", "trash id")
    for each in trash:
        rows.add_row(one_line(each.name), age(time_of(each.deleted_at), now), one_line(each.trash_id))
    console().print(rows)


def policy(number: bank_service_pb2.BankPolicy.ValueType) -> str:
    """`open` or `governed`."""
    from recall.v1 import bank_service_pb2

    return bank_service_pb2.BankPolicy.Name(number).removeprefix("BANK_POLICY_").lower()


def scope(bank: bank_service_pb2.Bank) -> str:
    """`agent mara`; empty without one."""
    from recall.v1 import bank_service_pb2

    if not bank.scope_kind:
        return ""
    kind = bank_service_pb2.ScopeKind.Name(bank.scope_kind).removeprefix("SCOPE_KIND_").lower()
    return f"{kind} {one_line(bank.scope_ref)}".strip()


def used(bank: bank_service_pb2.Bank, now: datetime) -> str:
    """When a turn was last given something of it."""
    return age(time_of(bank.last_used_at), now) if bank.HasField("last_used_at") else "never used"


def percent(coverage: bank_service_pb2.Coverage) -> str:
    """Coverage rounded down, so that 100 % means all."""
    if not coverage.model:
        return "–"
    return f"{100 * coverage.embedded // coverage.total if coverage.total else 100} %"


def _trouble(bank: bank_service_pb2.Bank) -> str:
    if bank.unavailable_reason:
        return f"unavailable: {one_line(bank.unavailable_reason)}"
    return f"read-only: {one_line(bank.read_only_reason)}" if bank.read_only_reason else ""


def _on_disk(bank: bank_service_pb2.Bank) -> str:
    sizes = bank.sizes
    told = f"{size(sizes.log_bytes)} log, {size(sizes.derived_bytes)} derived"
    return f"{told}, {size(sizes.history_bytes)} history" if sizes.history_bytes else told
