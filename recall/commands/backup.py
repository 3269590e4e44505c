"""`recall backup` and `recall restore`: all banks in one file, and back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from recall.commands.calling import connected
from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import DEFAULT_SERVER, DEFAULT_TIMEOUT_S, Config, Data, Json, Server, Set, Timeout
from recall.commands.output import json_document, line, note, one_line
from recall.commands.serve import as_flags, settings_of

if TYPE_CHECKING:
    from recall.client import RecallClient
    from recall.v1 import admin_service_pb2


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; a new file.")],
    server: Server = DEFAULT_SERVER,
    timeout: Timeout = DEFAULT_TIMEOUT_S,
    as_json: Json = False,
) -> None:
    """Backs up while the service runs. The file is there whole or not at all; exit code 7 when a bank is left out."""
    if file.exists():
        raise CommandError(f"{file} exists: name a new file", ExitCode.REFUSED)
    with connected(server, timeout) as client, _whole_file(file) as target:
        summary = _copy(client, target)
    if as_json:
        json_document(summary)
    else:
        memories = f"{len(summary.banks)} banks, {sum(bank.log_bytes for bank in summary.banks):,} bytes of logs"
        line(f"backed up {memories} to {file}")
    for bank in summary.left_out:
        note(f"recall: bank {bank.bank} is not in the backup: {one_line(bank.reason)}")
    if summary.left_out:
        raise typer.Exit(ExitCode.DAMAGED)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `recall backup` wrote.")],
    data: Data = "",
    config: Config = None,
    set_: Set = [],  # noqa: B006 - typer copies it
) -> None:
    """Restores without a server, into a folder that is empty or not there yet; verified, whole or not at all."""
    from recall.backup_format import BackupDamaged
    from recall.memory.errors import DataFolderUnusable, DiskFull, MemoryServiceError
    from recall.memory.files import DiskFiles
    from recall.restore import NotEmpty
    from recall.restore import restore as restore_into

    settings = settings_of(as_flags(data, "", set_), config)
    try:
        with file.open("rb") as source:
            manifest = restore_into(source, settings.data, DiskFiles(), settings.storage)
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror}", ExitCode.WRONG_INPUT) from error
    except NotEmpty as error:
        raise CommandError(str(error), ExitCode.REFUSED) from error
    except (BackupDamaged, DataFolderUnusable) as error:
        raise CommandError(f"{file}: {error}", ExitCode.DAMAGED) from error
    except DiskFull as error:
        raise CommandError(str(error), ExitCode.NO_ROOM) from error
    except MemoryServiceError as error:
        raise CommandError(str(error)) from error
    line(f"restored {len(manifest.banks)} banks into {settings.data}: start it with `recall serve`")
    for bank in manifest.left_out:
        note(f"recall: bank {bank.bank} was not in the backup: {one_line(bank.reason)}")


def _copy(client: RecallClient, target: IO[bytes]) -> admin_service_pb2.BackupSummary:
    from recall.commands.progress import progress

    digest = sha256()
    with progress() as bars:
        task = bars.add_task("bytes backed up", total=None)
        for part in client.backup():
            if part.HasField("summary"):
                return _verified(part.summary, digest.hexdigest())
            target.write(part.data)
            digest.update(part.data)
            bars.advance(task, len(part.data))
    raise CommandError("the backup ended before its end: try again")


def _verified(summary: admin_service_pb2.BackupSummary, found: str) -> admin_service_pb2.BackupSummary:
    if summary.sha256 != found:
        raise CommandError("the backup did not arrive as it was sent: try again", ExitCode.DAMAGED)
    return summary


@contextmanager
def _whole_file(file: Path) -> Iterator[IO[bytes]]:
    part = file.with_name(file.name + ".part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        part.rename(file)
        _sync_names(file.parent)
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}", ExitCode.WRONG_INPUT) from error
    finally:
        part.unlink(missing_ok=True)


def _sync_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
