"""How the review queue looks in a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from recall.commands.output import one_line
from recall.commands.tables import console, memory_cell, table

if TYPE_CHECKING:
    from recall.v1 import review_service_pb2


def show_queue(queue: review_service_pb2.ListQueueResponse) -> None:
    """One waiting memory a row."""
    if not queue.entries:
        console().print("nothing waits")
        return
    now = datetime.now(UTC)
    rows = table("memory", "from", "why, and what in use is like it", leading=1)
    for entry in queue.entries:
        who = one_line(f"{entry.actor} ({entry.role})")
        rows.add_row(memory_cell(entry.memory, now), who, Group(*_beside(entry)))
    console().print(rows)
    if queue.next_page_token:
        console().print(f"{len(queue.entries)} of {queue.total}: --limit shows more")


def _beside(entry: review_service_pb2.QueueEntry) -> list[RenderableType]:
    shown: list[RenderableType] = [Text(one_line(entry.note))] if entry.note else []
    if entry.original_text:
        shown.append(Text(f"first: {one_line(entry.original_text)}", style="dim"))
    for one in entry.similar:
        shown += [Text(f"{one.score:.2f} {one_line(one.diff)}"), Text(one.id, style="dim", no_wrap=True)]
    return shown
