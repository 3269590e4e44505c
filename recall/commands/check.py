"""`recall check` and `recall repair`: the files of a data folder, without a server."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import Config, Data, Json, Set
from recall.commands.output import line, one_line
from recall.commands.serve import as_flags, settings_of

if TYPE_CHECKING:
    from recall.check import Checked


def check(data: Data = "", config: Config = None, set_: Set = [], as_json: Json = False) -> None:  # noqa: B006
    """Reads every log from its first byte and changes nothing; exit code 7 when one is damaged."""
    from recall.check import check as check_folder
    from recall.memory.errors import MemoryServiceError
    from recall.memory.files import DiskFiles

    folder = settings_of(as_flags(data, "", set_), config).data
    if not folder.is_dir():
        raise CommandError(f"no data folder {folder}: name one with --data", ExitCode.WRONG_INPUT)
    try:
        checked = check_folder(folder, DiskFiles())
    except MemoryServiceError as error:
        raise CommandError(str(error)) from error
    if as_json:
        line(json.dumps(asdict(checked), indent=2, default=str))
    else:
        _show(checked, folder)
    if not checked.sound:
        raise typer.Exit(ExitCode.DAMAGED)


def repair(
    bank: Annotated[str, typer.Argument(metavar="BANK", help="The bank whose log is damaged.")],
    data: Data = "",
    config: Config = None,
    set_: Set = [],  # noqa: B006 - typer copies it
) -> None:
    """Makes a damaged bank open again, on a folder that no server holds; what it replaces is kept."""
    from recall.check import repair as repair_bank
    from recall.memory.banks import DEFAULT_TENANT
    from recall.memory.errors import BankNotFound, Damaged, MemoryServiceError
    from recall.memory.files import DiskFiles

    settings = settings_of(as_flags(data, "", set_), config)
    if not settings.data.is_dir():
        raise CommandError(f"no data folder {settings.data}: name one with --data", ExitCode.WRONG_INPUT)
    try:
        done = repair_bank(settings.data, DEFAULT_TENANT, bank, DiskFiles(), settings.storage)
    except BankNotFound as error:
        raise CommandError(str(error), ExitCode.NOT_FOUND) from error
    except Damaged as error:
        raise CommandError(str(error), ExitCode.DAMAGED) from error
    except MemoryServiceError as error:
        raise CommandError(str(error)) from error
    for each in done:
        line(one_line(each))
    line(f"bank {bank} opens again" if done else f"bank {bank} is sound")


def _show(checked: Checked, folder: Path) -> None:
    from rich.text import Text

    from recall.commands.tables import console, table

    screen = console()
    rows = table("bank", "", "found")
    for finding in checked.findings:
        where = f"{finding.file}, line {finding.line}, offset {finding.offset}"
        found = Text(f"{one_line(finding.problem)}\n{one_line(where)}\n→ {one_line(finding.remedy)}")
        rows.add_row(one_line(finding.bank), finding.severity.value, found)
    if checked.findings:
        screen.print(rows)
    if checked.chains:
        unbroken = sum(chain.unbroken for chain in checked.chains)
        screen.print(f"the chain of events is unbroken in {unbroken} of {len(checked.chains)} logs")
    state = "sound" if checked.sound else "damaged"
    screen.print(f"{one_line(str(folder))} is {state}: {checked.banks} banks, {checked.events} events read")
