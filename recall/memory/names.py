"""What names and fields may hold: checked once, here, before anything else looks at them.

Checked values come back in their kept form: names trimmed, lower-cased and distinct, times in range.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from msgspec import UNSET
from msgspec.structs import fields, replace

from recall.memory.errors import InvalidField, TextTooLong
from recall.memory.record import BankInfo, BankName, Evidence, MemoryChanges, NewMemory, Record, ScopeKind, Source

_BANK = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_FREE = frozenset({"title", "replaces", "evidence", "review", "moved_to"})
"""Fields that came later than metadata of these names."""
_RESERVED = frozenset(field.name for field in fields(Record)) - _FREE | {"bank", "tenant", "text"}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a field may hold; lengths in characters unless the name says bytes."""

    text: int = 8_000
    names: int = 16
    entity: int = 128
    tag: int = 64
    author: int = 128
    source_id: int = 256
    session: int = 256
    agent: int = 128
    uri: int = 2_048
    position: int = 2**32 - 1
    metadata_bytes: int = 4_096
    request_id: int = 128
    note: int = 2_000
    title: int = 200
    measure: int = 128
    replaced: int = 100
    """Memories that one may replace."""
    past_events: int = 10_000
    """Events of its life elsewhere that an imported memory may bring."""
    description: int = 1_000
    user_handle: int = 128
    half_life_days: float = 36_500.0
    count: int = 2**32 - 1
    seq: int = 2**63 - 1
    default_limit: int = 100
    scope_ref: int = 256
    preamble: int = 2_000
    agents: int = 64
    """Agents that a bank may be for."""
    rule: int = 24_000
    rules: int = 64
    """Rules of one bank."""
    learned: int = 500
    """Characters of one line of the rule `learned`."""
    earliest: int = -62_135_596_800_000_000
    """0001-01-01T00:00:00Z in microseconds."""
    latest: int = 253_402_300_799_999_999
    """9999-12-31T23:59:59.999999Z in microseconds."""


LIMITS = Limits()


def bank_name(name: str, field: str = "bank") -> BankName:
    """`[a-z0-9][a-z0-9_-]{0,63}`, so a name is also a safe folder name on every system."""
    if not _BANK.fullmatch(name):
        raise InvalidField(
            field, f"{name[:80]!r} is not a name: a lower-case letter or digit, then up to 63 of a-z, 0-9, '-' and '_'"
        )
    return BankName(name)


def memory_id(value: str) -> str:
    """An id from elsewhere."""
    if not _ID.fullmatch(value):
        raise InvalidField("id", f"{value[:80]!r} is not an id: up to 128 letters, digits, '.', '_', ':' and '-'")
    return value


def text_hash(text: str) -> bytes:
    """16 bytes, equal for texts that say the same: NFKC, case-folded, white space collapsed; punctuation counts."""
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return blake2b(" ".join(folded.split()).encode(), digest_size=16).digest()


def checked_text(text: str) -> str:
    """1 to 8,000 characters, not only white space, no lone surrogate; kept as it is."""
    if len(text) > LIMITS.text:
        raise TextTooLong(len(text), LIMITS.text)
    if not text.strip():
        raise InvalidField("text", "is empty")
    return _encodable("text", text)


def checked_memory(memory: NewMemory) -> NewMemory:
    """The memory in its kept form. Raises InvalidField, naming the first field that is wrong."""
    return replace(
        memory,
        text=checked_text(memory.text),
        entities=checked_names("entities", memory.entities, LIMITS.entity),
        tags=checked_names("tags", memory.tags, LIMITS.tag),
        author=checked_line("author", memory.author, LIMITS.author),
        source=None if memory.source is None else checked_source(memory.source),
        confidence=checked_confidence(memory.confidence),
        created_at=None if memory.created_at is None else checked_time("created_at", memory.created_at),
        expires_at=checked_time("expires_at", memory.expires_at),
        metadata=checked_metadata(memory.metadata),
        title=checked_line("title", memory.title, LIMITS.title),
        evidence=checked_evidence(memory.evidence),
    )


def checked_changes(changes: MemoryChanges) -> MemoryChanges:
    """The changes in their kept form. Raises InvalidField, naming the first field that is wrong."""
    wanted = {
        name: _FIELDS[name](value)
        for name in changes.__struct_fields__
        if (value := getattr(changes, name)) is not UNSET
    }
    return MemoryChanges(**wanted)


def checked_names(field: str, names: Sequence[str], limit: int) -> tuple[str, ...]:
    """Trimmed, lower-cased, distinct, in order; empty ones are left out."""
    if not names:
        return ()
    kept = dict.fromkeys(" ".join(name.lower().split()) for name in names)
    kept.pop("", None)
    if len(kept) > LIMITS.names:
        raise InvalidField(field, f"has {len(kept)} entries; the limit is {LIMITS.names}")
    for name in kept:
        _within(field, name, limit)
    return tuple(kept)


def checked_line(field: str, value: str, limit: int) -> str:
    """Trimmed, at most `limit` characters."""
    return _within(field, value.strip(), limit) if value else ""


def checked_source(source: Source) -> Source | None:
    """None when nothing is said."""
    if source.position is not None and not 0 <= source.position <= LIMITS.position:
        raise InvalidField("source.position", f"{source.position} is not between 0 and {LIMITS.position}")
    kept = Source(
        kind=source.kind,
        id=checked_line("source.id", source.id, LIMITS.source_id),
        session=checked_line("source.session", source.session, LIMITS.session),
        position=source.position,
        agent=checked_line("source.agent", source.agent, LIMITS.agent),
        uri=checked_line("source.uri", source.uri, LIMITS.uri),
    )
    return None if kept == Source() else kept


def checked_evidence(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """At most as many as names; each with a reference, figures finite. Whether the reference leads anywhere is open."""
    if not evidence:
        return ()
    if len(evidence) > LIMITS.names:
        raise InvalidField("evidence", f"has {len(evidence)} entries; the limit is {LIMITS.names}")
    return tuple(_checked_evidence(f"evidence[{place}]", one) for place, one in enumerate(evidence))


def _checked_evidence(field: str, one: Evidence) -> Evidence:
    for name in ("before", "after"):
        figure = getattr(one, name)
        if figure is not None and not math.isfinite(figure):
            raise InvalidField(f"{field}.{name}", f"{figure} is not a finite number")
    kept = Evidence(
        ref=checked_line(f"{field}.ref", one.ref, LIMITS.source_id),
        measure=checked_line(f"{field}.measure", one.measure, LIMITS.measure),
        before=one.before,
        after=one.after,
    )
    if not kept.ref:
        raise InvalidField(f"{field}.ref", "is required: name the evaluation")
    return kept


def checked_confidence(value: float) -> float:
    """0 to 1, finite."""
    if not (math.isfinite(value) and 0.0 <= value <= 1.0):
        raise InvalidField("confidence", f"{value} is not between 0 and 1")
    return float(value)


def checked_time(field: str, value: int) -> int:
    """Microseconds UTC, years 1 to 9999."""
    if not LIMITS.earliest <= value <= LIMITS.latest:
        raise InvalidField(field, "is outside the years 1 to 9999")
    return value


def checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """At most 4 KiB of UTF-8 in all; names of the memory's own fields are refused."""
    if not metadata:
        return {}
    for key, value in metadata.items():
        if key in _RESERVED:
            raise InvalidField("metadata", f"{key!r} is a field of the memory itself and cannot be set as metadata")
        if not key:
            raise InvalidField("metadata", "has an empty key")
        _encodable("metadata", key)
        _encodable("metadata", value)
    size = sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items())
    if size > LIMITS.metadata_bytes:
        raise InvalidField("metadata", f"has {size:,} bytes; the limit is {LIMITS.metadata_bytes:,}")
    return dict(metadata)


def checked_request_id(value: str) -> str:
    """At most 128 characters; "" means none."""
    return _within("request_id", value, LIMITS.request_id) if value else ""


def checked_info(info: BankInfo) -> BankInfo:
    """A bank's own settings, in range."""
    if not (math.isfinite(info.half_life_days) and 0.0 <= info.half_life_days <= LIMITS.half_life_days):
        raise InvalidField("half_life_days", f"{info.half_life_days} is not between 0 and {LIMITS.half_life_days:,.0f}")
    if not 0 <= info.default_limit <= LIMITS.default_limit:
        raise InvalidField("default_limit", f"{info.default_limit} is not between 0 and {LIMITS.default_limit}")
    ref = checked_line("scope_ref", info.scope_ref, LIMITS.scope_ref)
    check_scope(info.scope_kind, ref)
    return replace(
        info,
        scope_ref=ref,
        title=checked_line("title", info.title, LIMITS.title),
        preamble=checked_line("preamble", info.preamble, LIMITS.preamble),
        agents=checked_agents(info.agents),
        description=checked_line("description", info.description, LIMITS.description),
        user_handle=checked_line("user_handle", info.user_handle, LIMITS.user_handle),
    )


def check_scope(kind: ScopeKind | None, ref: str) -> None:
    """A workspace has no reference, every other kind needs one."""
    if ref and kind in (None, ScopeKind.WORKSPACE):
        raise InvalidField("scope_ref", f"must be empty for {'no scope_kind' if kind is None else 'a workspace'}")
    if not ref and kind not in (None, ScopeKind.WORKSPACE):
        raise InvalidField("scope_ref", f"is required: say which {kind}")


def checked_agents(agents: Iterable[str]) -> tuple[str, ...]:
    """Trimmed, distinct, in order."""
    kept = dict.fromkeys(name.strip() for name in agents)
    kept.pop("", None)
    if len(kept) > LIMITS.agents:
        raise InvalidField("agents", f"has {len(kept)} entries; the limit is {LIMITS.agents}")
    for name in kept:
        _within("agents", name, LIMITS.scope_ref)
    return tuple(kept)


def checked_rule(text: str, field: str = "text") -> str:
    """1 to 24,000 characters, line ends LF, one at the end; not only white space, no zero, no lone surrogate."""
    kept = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not kept.strip():
        raise InvalidField(field, "is empty")
    if "\0" in kept:
        raise InvalidField(field, "holds a zero byte")
    return _within(field, kept + "\n", LIMITS.rule)


def _within(field: str, value: str, limit: int) -> str:
    if len(value) > limit:
        raise InvalidField(field, f"has {len(value):,} characters; the limit is {limit:,}")
    return _encodable(field, value)


def _encodable(field: str, value: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidField(field, "holds a lone surrogate, which is no character") from None
    return value


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "text": checked_text,
    "kind": lambda kind: kind,
    "entities": lambda entities: checked_names("entities", entities, LIMITS.entity),
    "tags": lambda tags: checked_names("tags", tags, LIMITS.tag),
    "author": lambda author: checked_line("author", author, LIMITS.author),
    "confidence": checked_confidence,
    "expires_at": lambda expires_at: checked_time("expires_at", expires_at),
    "metadata": checked_metadata,
    "title": lambda title: checked_line("title", title, LIMITS.title),
    "evidence": checked_evidence,
}
