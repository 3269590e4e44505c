"""`recall serve`: starts the service."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recall.commands.failure import CommandError, ExitCode
from recall.commands.heap import give_large_blocks_back
from recall.commands.options import Config, Data, Set, pairs

if TYPE_CHECKING:
    from recall.settings import Settings

Listen = Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to answer; port 0 picks a free one.")]


def serve(data: Data = "", listen: Listen = "", config: Config = None, set_: Set = []) -> None:  # noqa: B006
    """Serves until SIGTERM or Ctrl-C."""
    one_native_thread_a_call()  # before the settings: a section of theirs may load numpy
    give_large_blocks_back()
    settings = settings_of(as_flags(data, listen, set_), config)
    try:
        from recall.server.app import serve as run_server

        code = run_server(settings)
    except Exception as error:
        if settings.server.log_level == "debug":
            traceback.print_exc(file=sys.stderr)
        raise CommandError(f"cannot serve: {error or type(error).__name__}") from error
    if code:
        raise typer.Exit(code)


def one_native_thread_a_call() -> None:
    """Let each call compute on its own thread alone, unless the environment says otherwise.

    BLAS and OpenMP start a thread a core for every product, and theirs and the server's then wait for each other: with
    2 cores a scan of 10,000 vectors took 16 ms instead of 1.8. They read these names once, when they are loaded.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def settings_of(flags: dict[str, str], config: Path | None) -> Settings:
    """The settings in force in this folder and environment. Raises CommandError."""
    from recall.settings import load_settings
    from recall.settings_sources import SettingsError

    try:
        return load_settings(flags, config=config)
    except SettingsError as error:
        raise CommandError(str(error), ExitCode.WRONG_INPUT) from error


def as_flags(data: str, listen: str, set_: list[str]) -> dict[str, str]:
    """The settings given by flags, by path."""
    flags = pairs("--set", set_)
    if data:
        flags["data"] = str(Path(data).expanduser())
    if listen:
        flags["listen"] = listen
    return flags
