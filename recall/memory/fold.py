"""One event onto one memory: (record before, event) → record after. Pure; the state and the history share it."""

from collections.abc import Callable
from typing import TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from recall.memory.beginning import KEPT
from recall.memory.events import Body
from recall.memory.fold_error import FoldError
from recall.memory.names import text_hash
from recall.memory.ranges import MOST
from recall.memory.record import Kind, MemoryId, Record, Review, Status

_Value = TypeVar("_Value")


def folded(before: Record | None, ordinal: int, seq: int, at: int, body: Body) -> Record:
    """The memory after an event. Raises FoldError."""
    if body.op in _BIRTHS:
        if before is not None:
            raise FoldError(f"makes memory {body.id!r} a second time")
        return _born(ordinal, seq, at, body, _BIRTHS[body.op])
    step = _STEPS.get(body.op)
    if step is None:
        raise FoldError(f"has the unknown op {body.op!r}")
    if before is None:
        raise FoldError(f"changes memory {body.id!r}, which does not exist")
    if not before.status.live and _REVIVES.get(body.op) is not before.status:
        raise FoldError(f"changes memory {body.id!r}, which is {before.status}")
    return step(before, seq, at, body)


def _or(value: _Value | UnsetType, otherwise: _Value) -> _Value:
    return otherwise if value is UNSET else value


def _born(ordinal: int, seq: int, at: int, body: Body, status: Status) -> Record:
    if body.text is UNSET or not body.id:
        raise FoldError("makes a memory without text or id")
    return Record(
        id=MemoryId(body.id),
        ordinal=ordinal,
        kind=_or(body.kind, Kind.FACT),
        entities=_or(body.entities, ()),
        tags=_or(body.tags, ()),
        author=_or(body.author, ""),
        source=None if body.source is UNSET else body.source,
        confidence=_or(body.confidence, 1.0),
        corroboration=_or(body.corroboration, 0),
        pinned=_or(body.pinned, False),
        status=_or(body.status, status),
        created_at=_or(body.created_at, at),
        updated_at=_or(body.updated_at, at),
        expires_at=_or(body.expires_at, 0),
        superseded_by=_or(body.winner, ""),
        predecessor=_or(body.predecessor, ""),
        revision=_or(body.revision, 1),
        metadata=_or(body.metadata, {}),
        text_seq=seq,
        text_hash=text_hash(body.text),
        title=_or(body.title, ""),
        replaces=_or(body.replaces, ()),
        evidence=_or(body.evidence, ()),
        review=_first_review(seq, body),
        moved_to=_or(body.to, "") if body.op == KEPT else "",
    )


def _first_review(seq: int, body: Body) -> Review | None:
    """What an import tells of reviews elsewhere stands in its one event."""
    if body.op == KEPT:
        return None if body.review is UNSET else body.review
    if body.op == "nominate":
        return Review(nominated=seq)
    return None if body.past is UNSET else Review(seq, seq, seq)


def _reinforce(before: Record, _seq: int, at: int, body: Body) -> Record:
    return replace(
        before,
        corroboration=min(MOST, before.corroboration + 1),
        tags=_or(body.tags, before.tags),
        pinned=before.pinned or body.pinned is True,
        updated_at=at,
        revision=before.revision + 1,
    )


def _update(before: Record, seq: int, at: int, body: Body) -> Record:
    return replace(
        before,
        kind=_or(body.kind, before.kind),
        entities=_or(body.entities, before.entities),
        tags=_or(body.tags, before.tags),
        author=_or(body.author, before.author),
        source=_or(body.source, before.source),
        confidence=_or(body.confidence, before.confidence),
        pinned=_or(body.pinned, before.pinned),
        created_at=_or(body.created_at, before.created_at),
        expires_at=_or(body.expires_at, before.expires_at),
        metadata=_or(body.metadata, before.metadata),
        title=_or(body.title, before.title),
        evidence=_or(body.evidence, before.evidence),
        text_seq=before.text_seq if body.text is UNSET else seq,
        text_hash=before.text_hash if body.text is UNSET else text_hash(body.text),
        updated_at=at,
        revision=before.revision + 1,
    )


def _pin(before: Record, _seq: int, at: int, _body: Body) -> Record:
    return replace(before, pinned=True, updated_at=at, revision=before.revision + 1)


def _unpin(before: Record, _seq: int, at: int, _body: Body) -> Record:
    return replace(before, pinned=False, updated_at=at, revision=before.revision + 1)


def _absorb(before: Record, _seq: int, at: int, body: Body) -> Record:
    return replace(
        before,
        corroboration=min(MOST, before.corroboration + _or(body.corroboration, 0)),
        tags=before.tags + _or(body.tags, ()),
        entities=before.entities + _or(body.entities, ()),
        updated_at=_or(body.updated_at, at),
        revision=before.revision + 1,
    )


def _release(before: Record, _seq: int, _at: int, body: Body) -> Record:
    return replace(
        before,
        corroboration=max(0, before.corroboration - _or(body.corroboration, 0)),
        tags=_without(before.tags, _or(body.tags, ())),
        entities=_without(before.entities, _or(body.entities, ())),
        revision=before.revision + 1,
    )


def _without(names: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in taken)


def _restore(before: Record, _seq: int, at: int, body: Body) -> Record:
    return replace(
        before,
        status=Status.ACCEPTED,
        superseded_by="",
        updated_at=_or(body.updated_at, at),
        revision=before.revision + 1,
    )


def _depart(before: Record, _seq: int, at: int, body: Body) -> Record:
    return replace(
        before, status=Status.RETIRED, moved_to=_or(body.to, ""), updated_at=at, revision=before.revision + 1
    )


def _decide(status: Status) -> Callable[[Record, int, int, Body], Record]:
    def step(before: Record, seq: int, at: int, body: Body) -> Record:
        return replace(
            before,
            status=status,
            review=replace(before.review or Review(), decided=seq),
            updated_at=_or(body.updated_at, at),
            revision=before.revision + 1,
        )

    return step


def _promote(before: Record, seq: int, at: int, body: Body) -> Record:
    return replace(
        before,
        status=Status.ACCEPTED,
        corroboration=min(MOST, before.corroboration + _or(body.corroboration, 0)),
        replaces=_or(body.replaces, before.replaces),
        review=replace(before.review or Review(), promoted=seq, decided=seq),
        updated_at=at,
        revision=before.revision + 1,
    )


def _undo_promote(before: Record, seq: int, at: int, body: Body) -> Record:
    return replace(
        before,
        status=Status.NOMINATED,
        corroboration=max(0, before.corroboration - _or(body.corroboration, 0)),
        replaces=_or(body.replaces, before.replaces),
        review=replace(before.review or Review(), promoted=0, decided=seq),
        updated_at=_or(body.updated_at, at),
        revision=before.revision + 1,
    )


def _move(status: Status) -> Callable[[Record, int, int, Body], Record]:
    def step(before: Record, _seq: int, at: int, body: Body) -> Record:
        return replace(
            before, status=status, superseded_by=_or(body.winner, ""), updated_at=at, revision=before.revision + 1
        )

    return step


_BIRTHS = {
    "save": Status.ACCEPTED,
    "nominate": Status.NOMINATED,
    "import": Status.ACCEPTED,
    "prefer": Status.ACCEPTED,
    "arrive": Status.ACCEPTED,
    KEPT: Status.ACCEPTED,
}
_STEPS: dict[str, Callable[[Record, int, int, Body], Record]] = {
    "reinforce": _reinforce,
    "update": _update,
    "pin": _pin,
    "unpin": _unpin,
    "promote": _promote,
    "reject": _decide(Status.REJECTED),
    "quarantine": _decide(Status.QUARANTINED),
    "reaccept": _decide(Status.ACCEPTED),
    "supersede": _move(Status.SUPERSEDED),
    "expire": _move(Status.EXPIRED),
    "delete": _move(Status.RETIRED),
    "absorb": _absorb,
    "release": _release,
    "restore": _restore,
    "edit": _update,
    "depart": _depart,
    "return": _move(Status.RETIRED),
    "undo-promote": _undo_promote,
    "undo-reject": _decide(Status.NOMINATED),
    "undo-reject-quarantined": _decide(Status.QUARANTINED),
    "undo-quarantine": _decide(Status.ACCEPTED),
    "undo-reaccept": _decide(Status.QUARANTINED),
}
OPS_OF_A_MEMORY = frozenset((*_BIRTHS, *_STEPS)) - {KEPT}
"""Ops that make or change a memory."""
DECISIONS = frozenset(op for op in _STEPS if op.startswith("undo-")) | {"promote", "reject", "quarantine", "reaccept"}
"""Ops of a reviewer's decisions and of what takes them back."""
_REVIVES = {
    "restore": Status.SUPERSEDED,
    "undo-reject": Status.REJECTED,
    "undo-reject-quarantined": Status.REJECTED,
}
"""Ops that bring a memory back from a terminal status, and from which."""
