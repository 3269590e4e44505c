"""`recall consolidate`, `recall runs`, `recall undo`, `recall sweep`: keeping banks small and true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands.calling import connected
from recall.commands.failure import ExitCode
from recall.commands.options import (
    DEFAULT_SERVER,
    DEFAULT_TIMEOUT_S,
    Bank,
    Json,
    Server,
    Timeout,
    bank_name,
    source_kind_of,
)
from recall.commands.output import json_document, line, note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recall.client import RecallClient
    from recall.v1 import consolidate_service_pb2 as pb

AnyBank = Annotated[str, typer.Option("--bank", "-b", metavar="NAME", help="One bank; all when left out.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done; nothing is written.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id, as `recall runs` shows it.")]


def consolidate(
    bank: AnyBank = "",
    dry_run: DryRun = False,
    merge_cosine: Annotated[
        float | None, typer.Option(min=-1, max=1, metavar="COSINE", help="Merge texts that say the same from here on.")
    ] = None,
    propose_cosine: Annotated[
        float | None, typer.Option(min=-1, max=1, metavar="COSINE", help="Offer texts to a reviewer from here on.")
    ] = None,
    most: Annotated[
        int | None, typer.Option("--max-supersedes", min=0, help="Memories the run may retire, over all banks.")
    ] = None,
    proposals: Annotated[bool, typer.Option("--proposals", help="Also show what is left to a reviewer.")] = False,
    kept: Annotated[bool, typer.Option("--kept", help="Also show look-alikes that stay apart, and why.")] = False,
    server: Server = DEFAULT_SERVER,
    as_json: Json = False,
) -> None:
    """Runs to the end, however long it takes. A pass with errors makes the exit code 1."""
    with connected(server, DEFAULT_TIMEOUT_S) as client:
        report = _followed(
            client.consolidate(
                bank=bank,
                dry_run=dry_run,
                merge_cosine=merge_cosine,
                propose_cosine=propose_cosine,
                max_supersedes=most,
            )
        )
    if as_json:
        json_document(report)
    else:
        from recall.commands.consolidate_tables import show_report

        show_report(report, proposals, kept)
    if any(each.errors for each in report.banks):
        raise typer.Exit(ExitCode.FAILED)


def runs(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="Show this run in full.")] = "",
    bank: AnyBank = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Most runs.")] = 50,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Lists runs, or shows one."""
    with connected(server, timeout) as client:
        if run:
            _show_run(client, run, bank, as_json)
            return
        found = client.list_runs(bank=bank, limit=limit)
        state = client.get_consolidate_status(bank=bank)
    if as_json:
        json_document(found)
        return
    from recall.commands.consolidate_tables import show_runs

    show_runs(found, state)


def undo(
    run: RunId,
    bank: AnyBank = "",
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Brings back what a run retired."""
    with connected(server, timeout) as client:
        undone = client.undo_run(run=run, bank=bank)
    if as_json:
        json_document(undone)
        return
    for each in undone.banks:
        line(f"{each.bank}: {len(each.restored)} memories are in use again")
        for left in each.left:
            note(f"recall: {each.bank}: {left.id} stays retired: {left.problem}")


def sweep(
    bank: Bank = "",
    fallen: Annotated[
        list[str], typer.Option("--fallen", metavar="[KIND:]ID", help="A source that was retracted; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Takes out of use what is past its time or stands on a source that fell."""
    with connected(server, timeout) as client:
        swept = client.sweep(bank=bank_name(bank), fallen=list(_sources(fallen)), dry_run=dry_run)
    if as_json:
        json_document(swept)
        return
    would = "would be " if dry_run else ""
    line(f"{len(swept.expired)} {would}recorded as expired, {len(swept.quarantined)} {would}quarantined")
    for left in swept.left:
        note(f"recall: {left.id} was left alone: {left.problem}")


def _followed(parts: Iterable[pb.ConsolidateResponse]) -> pb.RunReport:
    """The report at the end of the stream, with a bar on the way."""
    from recall.commands.failure import CommandError
    from recall.commands.progress import progress

    with progress() as bars:
        bar = bars.add_task("consolidate", total=None)
        for part in parts:
            if part.HasField("report"):
                return part.report
            step = part.progress
            bars.update(bar, description=f"{step.bank}: {step.stage}", completed=step.done, total=step.total or None)
    raise CommandError("the server ended the run without a report", ExitCode.FAILED)


def _show_run(client: RecallClient, run: str, bank: str, as_json: bool) -> None:
    found = client.get_run(run=run, bank=bank)
    if as_json:
        json_document(found)
        return
    from recall.commands.consolidate_tables import show_report

    show_report(found.report, proposals=True, kept=True)


def _sources(words: Iterable[str]) -> Iterable[pb.FallenSource]:
    from recall.v1 import consolidate_service_pb2 as pb

    for word in words:
        kind, colon, id_ = word.partition(":")
        named = bool(colon) and kind.isidentifier()
        yield pb.FallenSource(kind=source_kind_of(kind if named else ""), id=id_ if named else word)
