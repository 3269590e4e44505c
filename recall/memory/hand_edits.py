"""A line that a person wrote holds what a caller may send: the same limits, the same kept form of names and lines."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from recall.memory import names
from recall.memory.errors import InvalidField, MemoryServiceError
from recall.memory.events import HandEdit, LineError, Past, Request
from recall.memory.names import LIMITS, checked_line, checked_names, checked_time
from recall.memory.record import Actor

_Check = Callable[[Any], Any]


def checked_edit(edit: HandEdit) -> HandEdit:
    """The line in its kept form. Raises LineError, naming the first field that is wrong."""
    try:
        return replace(edit, **_kept(edit, _FIELDS))
    except MemoryServiceError as error:
        raise LineError(f"holds what no caller may send: {error}") from None


def _kept(line: HandEdit | Past, checks: dict[str, _Check]) -> dict[str, Any]:
    given = ((name, getattr(line, name)) for name in line.__struct_fields__ if name in checks)
    return {name: checks[name](value) for name, value in given if value not in (UNSET, None)}


def _line(field: str, limit: int) -> _Check:
    return lambda value: checked_line(field, value, limit)


def _time(field: str) -> _Check:
    return lambda value: checked_time(field, value)


def _replaced(ids: tuple[str, ...]) -> tuple[str, ...]:
    if len(ids) > LIMITS.replaced:
        raise InvalidField("replaces", f"has {len(ids)} entries; the limit is {LIMITS.replaced}")
    return tuple(checked_line("replaces", one, LIMITS.request_id) for one in ids)


def _source(source: Any) -> Any:
    return names.checked_source(source) or UNSET


def _actor(actor: Actor) -> Actor:
    limit = LIMITS.author
    return Actor(checked_line("actor.id", actor.id, limit), checked_line("actor.role", actor.role, limit))


def _request(request: Request) -> Request:
    return replace(request, id=names.checked_request_id(request.id))


def _past(events: tuple[Past, ...]) -> tuple[Past, ...]:
    if len(events) > LIMITS.past_events:
        raise InvalidField("past", f"has {len(events):,} entries; the limit is {LIMITS.past_events:,}")
    return tuple(replace(event, **_kept(event, _OF_A_MEMORY)) for event in events)


_OF_A_MEMORY: dict[str, _Check] = {
    "at": _time("at"),
    "actor": _actor,
    "note": _line("note", LIMITS.note),
    "text": names.checked_text,
    "entities": lambda given: checked_names("entities", given, LIMITS.entity),
    "tags": lambda given: checked_names("tags", given, LIMITS.tag),
    "author": _line("author", LIMITS.author),
    "source": _source,
    "confidence": names.checked_confidence,
    "created_at": _time("created_at"),
    "updated_at": _time("updated_at"),
    "expires_at": _time("expires_at"),
    "metadata": names.checked_metadata,
    "title": _line("title", LIMITS.title),
    "evidence": names.checked_evidence,
    "predecessor": _line("predecessor", LIMITS.request_id),
    "replaces": _replaced,
}
_FIELDS: dict[str, _Check] = _OF_A_MEMORY | {
    "id": lambda given: names.memory_id(given) if given else given,
    "winner": _line("winner", LIMITS.request_id),
    "loser": _line("loser", LIMITS.request_id),
    "run": _line("run", LIMITS.request_id),
    "info": names.checked_info,
    "request": _request,
    "past": _past,
}
