"""`recall settings`: every setting in force, and where its value comes from."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recall.commands.failure import CommandError, ExitCode
from recall.commands.options import Config, Data, Json, Set
from recall.commands.output import line, one_line
from recall.commands.serve import Listen, as_flags

if TYPE_CHECKING:
    from recall.settings_sources import InForce


def settings(
    data: Data = "",
    listen: Listen = "",
    config: Config = None,
    set_: Set = [],  # noqa: B006 - typer copies it
    changed: Annotated[bool, typer.Option("--changed", help="Only what is not at its default.")] = False,
    as_json: Json = False,
) -> None:
    """Shows what `recall serve` with the same flags, in the same folder, would use."""
    from recall.settings import Settings
    from recall.settings_sources import SettingsError, load

    try:
        loaded = load(Settings, as_flags(data, listen, set_), config, os.environ, Path.cwd())
    except SettingsError as error:
        raise CommandError(str(error), ExitCode.WRONG_INPUT) from error
    shown = [each for each in loaded.in_force if not changed or each.origin != "default"]
    if as_json:
        line(json.dumps([_as_json(each) for each in shown], indent=2))
    else:
        _show(shown)


def _as_json(each: InForce) -> dict[str, Any]:
    return {
        "setting": each.known.path,
        "value": _plain(each.shown),
        "default": _plain(each.known.default),
        "origin": each.origin,
        "variable": each.known.variable,
        "doc": each.known.doc,
    }


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _show(shown: list[InForce]) -> None:
    from rich.text import Text

    from recall.commands.tables import console, table

    rows = table("setting", "value", "from", leading=1)
    for each in shown:
        style = "" if each.origin == "default" else "bold"
        setting = Text.assemble((each.known.path, style), "\n", (each.known.doc, "dim"))
        rows.add_row(setting, Text(one_line(_text(each.shown)), style=style), one_line(each.origin))
    console().print(rows if shown else "everything is at its default")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
