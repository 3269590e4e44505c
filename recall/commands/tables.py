"""How answers look in a terminal: tables that can be read at 80 columns, of text that cannot drive the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from recall.commands.moments import age
from recall.commands.output import one_line
from recall.review.visible import visible
from recall.v1 import memory_pb2

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

    from recall.v1 import memory_service_pb2

SHORT_TEXT = 280
"""Characters of a memory's text in a list."""


def console() -> Console:
    """Where tables go: stdout, without markup, so that no text can style or hide anything."""
    return Console(markup=False, emoji=False, highlight=False)


def table(*columns: str, right: Sequence[str] = (), leading: int = 0) -> Table:
    """An empty table; the columns in `right` hold numbers, `leading` empty lines part the rows."""
    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold", leading=leading)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


def facts(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Names and values below each other; empty values are left out."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value != "":
            made.add_row(name, value)
    return made


def memory_cell(memory: memory_pb2.Memory, now: datetime, longest: int = SHORT_TEXT) -> RenderableType:
    """A memory as it stands in a list: its text, and below it what there is to know and the id."""
    text = visible(memory.text)
    if len(text) > longest:
        text = text[:longest].rstrip() + " …"
    about = " · ".join(_about(memory, now))
    return Group(Text(text), Text(about, style="dim"), Text(memory.id, style="dim", no_wrap=True))


def memory_facts(memory: memory_pb2.Memory) -> Table:
    """A memory with all its fields."""
    source = memory.source
    metadata = ", ".join(f"{one_line(key)}={one_line(memory.metadata[key])}" for key in sorted(memory.metadata))
    rows: list[tuple[str, RenderableType]] = [
        ("id", memory.id),
        ("bank", one_line(memory.bank)),
        ("text", Text(visible(memory.text))),
        ("title", one_line(memory.title)),
        ("kind", kind(memory.kind)),
        ("status", status(memory.status)),
        ("author", one_line(memory.author)),
        ("tags", ", ".join(map(one_line, memory.tags))),
        ("entities", ", ".join(map(one_line, memory.entities))),
        ("pinned", "yes" if memory.pinned else ""),
        ("confidence", f"{memory.confidence:g}"),
        ("saved again", f"{memory.corroboration} times" if memory.corroboration else ""),
        ("source", source_kind(source.kind) if source.kind else ""),
        ("source id", one_line(source.id)),
        ("session", one_line(source.session)),
        ("position", str(source.position) if source.HasField("position") else ""),
        ("agent", one_line(source.agent)),
        ("uri", one_line(source.uri)),
        ("created", when(memory.created_at)),
        ("updated", when(memory.updated_at)),
        ("expires", when(memory.expires_at) if memory.HasField("expires_at") else ""),
        ("superseded by", memory.superseded_by),
        ("predecessor", memory.predecessor),
        ("replaces", ", ".join(memory.replaces)),
        ("evidence", "; ".join(map(_evidence, memory.evidence))),
        ("nominated by", _who(memory.standing.nominated_by, memory.standing.nominated_at)),
        ("promoted by", _who(memory.standing.promoted_by, memory.standing.promoted_at)),
        ("decision", _decision(memory.standing)),
        ("revision", str(memory.revision)),
        ("metadata", metadata),
    ]
    return facts(rows)


def _evidence(one: memory_pb2.Evidence) -> str:
    figures = [f"{one.before:g}" if one.HasField("before") else "?", f"{one.after:g}" if one.HasField("after") else "?"]
    told = f"{one_line(one.ref)} {one_line(one.measure)}".rstrip()
    return f"{told}: {' → '.join(figures)}" if figures != ["?", "?"] else told


def _who(name: str, at: Timestamp) -> str:
    return f"{one_line(name)}, {when(at)}" if name else ""


def _decision(standing: memory_pb2.Standing) -> str:
    if not standing.decision:
        return ""
    why = f": {one_line(standing.note)}" if standing.note else ""
    return f"{standing.decision} by {_who(standing.decided_by, standing.decided_at)}{why}"


def history_table(events: Iterable[memory_service_pb2.MemoryEvent]) -> Table:
    """The events of a memory, oldest first."""
    made = table("seq", "when", "what", "who", "text", right=["seq"])
    before = ""
    for event in events:
        text = one_line(event.memory.text)
        shown = text if text != before else ""
        who = one_line(f"{event.actor} ({event.role})" if event.role else event.actor)
        made.add_row(str(event.seq), when(event.at), one_line(event.op), who, Text(shown))
        before = text
    return made


def kind(number: memory_pb2.Kind.ValueType) -> str:
    """`fact`, `lesson`, …"""
    return memory_pb2.Kind.Name(number).removeprefix("KIND_").lower()


def status(number: memory_pb2.Status.ValueType) -> str:
    """`accepted`, `superseded`, …"""
    return memory_pb2.Status.Name(number).removeprefix("STATUS_").lower()


def source_kind(number: memory_pb2.SourceKind.ValueType) -> str:
    """`task`, `document`, …"""
    return memory_pb2.SourceKind.Name(number).removeprefix("SOURCE_KIND_").lower()


def time_of(stamp: Timestamp) -> datetime:
    """A message's time as an aware datetime."""
    return stamp.ToDatetime(tzinfo=UTC)


def when(stamp: Timestamp) -> str:
    """A message's time to the second, UTC."""
    return f"{time_of(stamp):%Y-%m-%d %H:%M:%SZ}"


def size(count: int) -> str:
    """Bytes in the largest unit that leaves at least 1."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def _about(memory: memory_pb2.Memory, now: datetime) -> Iterable[str]:
    if memory.status != memory_pb2.STATUS_ACCEPTED:
        yield status(memory.status).upper()
    if memory.pinned:
        yield "pinned"
    yield kind(memory.kind)
    if memory.author:
        yield one_line(memory.author)
    yield age(time_of(memory.created_at), now)
    if memory.corroboration:
        yield f"saved again {memory.corroboration} ×"
    yield from (f"#{one_line(tag)}" for tag in memory.tags)
