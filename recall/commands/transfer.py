"""`recall import` and `recall export`: banks as JSON lines, one memory a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TextIO

import typer

from recall.commands.calling import connected
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    STDIN,
    Bank,
    Json,
    Server,
    Timeout,
    bank_name,
    pairs,
)
from recall.commands.output import json_document, line, note

if TYPE_CHECKING:
    from recall.client import RecallClient
    from recall.v1 import memory_service_pb2

SHOWN_ERRORS = 5
"""Refused records that are told one by one."""


def import_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines, a memory or any object each; - is stdin.")],
    bank: Bank = "",
    map_: Annotated[
        list[str], typer.Option("--map", metavar="THEIRS=OURS", help="Rename a field, as content=text; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    ignore_unknown: Annotated[bool, typer.Option("--ignore-unknown", help="Skip fields no memory has.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the imported memories have vectors.")] = False,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Imports; refused records are told and make the exit code 1, the others are kept."""
    from recall.commands.jsonl import Reading

    reading = Reading(pairs("--map", map_), ignore_unknown)
    name = bank_name(bank)
    with _input(file) as source, connected(server, timeout) as client:
        answer = client.import_memories(_requests(reading, source, name, _size(file)))
        _add_unread(answer, reading)
        if wait:
            from recall.commands.coverage import wait_for_coverage

            wait_for_coverage(client, name)
    if as_json:
        json_document(answer)
    else:
        _tell(answer, name)
    if answer.refused:
        raise typer.Exit(ExitCode.FAILED)


def export(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="Where to; - or nothing is stdout.")] = STDIN,
    bank: Bank = "",
    all_: Annotated[bool, typer.Option("--all", help="Also what is no longer live.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Also what happened to each memory.")] = False,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
) -> None:
    """Exports. A file is written whole or not at all."""
    with connected(server, timeout) as client, _output(file) as target:
        count, left_out = _copy(client, bank_name(bank), all_, history, target)
    if file != STDIN:
        without = f", {left_out} events of their history left out" if left_out else ""
        note(f"exported {count} memories to {file}{without}{'' if history or not left_out else ' (--history)'}")


def _requests(
    reading: object, source: BinaryIO, bank: str, size: int | None
) -> Iterator[memory_service_pb2.ImportRequest]:
    from recall.commands.jsonl import Reading
    from recall.commands.progress import progress
    from recall.v1 import memory_service_pb2

    assert isinstance(reading, Reading)
    yield memory_service_pb2.ImportRequest(bank=bank)
    with progress() as bars:
        task = bars.add_task("importing bytes", total=size)
        for row, request in reading.requests(source):
            bars.advance(task, len(row))
            yield request


def _copy(
    client: RecallClient, bank: str, include_retired: bool, include_history: bool, target: TextIO
) -> tuple[int, int]:
    """How many memories were written, and how many of their events were not."""
    from recall.commands.jsonl import as_row
    from recall.commands.progress import progress

    count = left_out = 0
    with progress() as bars:
        task = bars.add_task("exporting", total=None)
        for answer in client.export(bank=bank, include_retired=include_retired, include_history=include_history):
            target.write(as_row(answer) + "\n")
            count, left_out = count + 1, left_out + answer.events_left_out
            bars.update(task, completed=count, total=answer.total)
    return count, left_out


def _tell(answer: memory_service_pb2.ImportResponse, bank: str) -> None:
    line(
        f"imported into {bank}: {answer.created} new, {answer.reinforced} strengthened, "
        f"{answer.updated} updated, {answer.unchanged} unchanged, {answer.refused} refused"
    )
    if answer.events or answer.events_left_out:
        line(f"events of history: {answer.events} taken in, {answer.events_left_out} left out")
    for error in answer.errors[:SHOWN_ERRORS]:
        note(f"recall: record {error.record}: {error.message}")
    if answer.refused > SHOWN_ERRORS:
        note(f"recall: {answer.refused - SHOWN_ERRORS} more were refused (--json lists the first 100)")


def _add_unread(answer: memory_service_pb2.ImportResponse, reading: object) -> None:
    from recall.commands.jsonl import Reading

    assert isinstance(reading, Reading)
    for error in answer.errors:
        error.record = reading.row_of(error.record)
    for row, problem in reading.problems:
        answer.refused += 1
        answer.errors.add(record=row, message=problem)
    answer.errors.sort(key=lambda error: error.record)


@contextmanager
def _input(file: str) -> Iterator[BinaryIO]:
    if file == STDIN:
        yield sys.stdin.buffer
        return
    try:
        source = Path(file).open("rb")  # noqa: SIM115 - opening alone is what may fail here
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror}", ExitCode.WRONG_INPUT) from error
    with source:
        yield source


def _size(file: str) -> int | None:
    return None if file == STDIN else Path(file).stat().st_size


@contextmanager
def _output(file: str) -> Iterator[TextIO]:
    if file == STDIN:
        yield sys.stdout
        return
    part = Path(file + ".part")
    try:
        with part.open("w", encoding="utf-8") as target:
            yield target
        part.replace(file)
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}", ExitCode.WRONG_INPUT) from error
    finally:
        part.unlink(missing_ok=True)
