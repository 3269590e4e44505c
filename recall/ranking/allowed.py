"""Which memories a query may have at all: filters hold before the cut, and never change a score."""

import numpy as np
from numpy.typing import NDArray

from recall.memory.record import Kind, Record
from recall.ranking.columns import KIND_CODES, Columns
from recall.ranking.query import RecallQuery

Mask = NDArray[np.bool_]


def allowed(columns: Columns, query: RecallQuery, now: int) -> Mask:
    """(size,) True for memories in use, and archived ones where asked, that pass every filter."""
    usable = columns.selectable(now).copy()
    if query.include_superseded:
        usable |= columns.archived(now)
    return _filtered(usable, columns, query)


def _filtered(usable: Mask, columns: Columns, query: RecallQuery) -> Mask:
    if query.tags:
        usable &= columns.tags.mask(query.tags, columns.size)
    if query.kinds:
        usable &= _kinds(columns, query.kinds)
    if query.created_after is not None:
        usable &= columns.created_at >= query.created_after
    if query.created_before is not None:
        usable &= columns.created_at < query.created_before
    return usable


def _kinds(columns: Columns, kinds: tuple[Kind, ...]) -> Mask:
    wanted = np.zeros(len(KIND_CODES), np.bool_)
    wanted[[KIND_CODES[kind] for kind in kinds]] = True
    chosen: Mask = wanted[columns.kind]
    return chosen


def why_not_allowed(columns: Columns, query: RecallQuery, record: Record, now: int) -> str:
    """Why this memory cannot be a result of `query` at all; empty if it can."""
    at = record.ordinal
    if not columns.selectable(now)[at] and not (query.include_superseded and columns.archived(now)[at]):
        return _out_of_use(record, now)
    missing = [tag for tag in query.tags if tag not in record.tags]
    if missing:
        return f"filtered out by tags: it does not carry {', '.join(missing)}"
    if query.kinds and record.kind not in query.kinds:
        return f"filtered out by kinds: it is a {record.kind.value}"
    if query.created_after is not None and record.created_at < query.created_after:
        return "filtered out by created_after: it is older"
    if query.created_before is not None and record.created_at >= query.created_before:
        return "filtered out by created_before: it is newer"
    return ""


def _out_of_use(record: Record, now: int) -> str:
    if record.kind is Kind.EPISODE:
        return "episodes are kept to be mined, never recalled"
    if record.expired(now):
        return "it is past its expires_at"
    return f"status is {record.status.name}"
