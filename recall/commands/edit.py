"""`recall edit`: changes fields of a memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from recall.commands import moments
from recall.commands.calling import connected
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    STDIN,
    Bank,
    Json,
    MemoryId,
    Revision,
    Server,
    Timeout,
    bank_name,
    evidence_of,
    kind_of,
    pairs,
    standard_input,
)
from recall.commands.output import json_document, line


def edit(
    id: MemoryId,
    bank: Bank = "",
    text: Annotated[str | None, typer.Option(help="The new text; - reads it from stdin.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", "-k", help="The new kind.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", "-t", help="The new tags, all of them; '' for none.")
    ] = None,
    entity: Annotated[list[str] | None, typer.Option("--entity", "-e", help="The new entities; '' for none.")] = None,
    author: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    confidence: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="How sure, 0 to 1.")] = None,
    expires: Annotated[str | None, typer.Option(metavar="TIME", help="A time, 30d, or '' for never.")] = None,
    meta: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="All the free facts; '' for none.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The new heading.")] = None,
    evidence: Annotated[list[str] | None, typer.Option(metavar="REF,…", help="As in save, all of it.")] = None,
    revision: Revision = None,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Changes the fields that are given, and no other."""
    from google.protobuf.field_mask_pb2 import FieldMask

    from recall.v1 import memory_pb2

    changed = memory_pb2.Memory(id=id)
    given = {
        "text": text is not None,
        "kind": kind is not None,
        "tags": tag is not None,
        "entities": entity is not None,
        "author": author is not None,
        "confidence": confidence is not None,
        "expires_at": expires is not None,
        "metadata": meta is not None,
        "title": title is not None,
        "evidence": evidence is not None,
    }
    paths = [path for path, named in given.items() if named]
    if not paths:
        raise CommandError("nothing to change: name a field, as --text or --tag", ExitCode.WRONG_INPUT)
    changed.text = standard_input() if text == STDIN else text or ""
    if kind is not None:
        changed.kind = kind_of(kind)
    changed.tags.extend(filter(None, tag or []))
    changed.entities.extend(filter(None, entity or []))
    changed.author = author or ""
    changed.title = title or ""
    changed.evidence.extend(map(evidence_of, filter(None, evidence or [])))
    changed.confidence = confidence or 0.0
    if expires:
        changed.expires_at.FromDatetime(moments.future("--expires", expires, datetime.now(UTC)))
    changed.metadata.update(pairs("--meta", [word for word in meta or [] if word]))
    with connected(server, timeout) as client:
        answer = client.update(
            bank=bank_name(bank), memory=changed, update_mask=FieldMask(paths=paths), expected_revision=revision
        )
    if as_json:
        json_document(answer)
    else:
        line(f"changed {id}, now at revision {answer.memory.revision}" if answer.seq else f"{id} is like that already")
