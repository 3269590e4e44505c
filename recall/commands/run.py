"""The command line as a whole: which verbs there are, and what happens when one fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from recall.commands.failure import CommandError, ExitCode
from recall.commands.output import one_line
from recall.commands.verbs import GROUPS, VERBS


def run(arguments: Sequence[str]) -> int:
    """Runs one command; gives the exit code."""
    try:
        return _run(arguments)
    except CommandError as error:
        return _complain(str(error), error.code)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", ExitCode.INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # our reader is gone, as with `| head`; typer makes an exit of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except OSError as error:
        return _complain(f"{error.filename or 'input or output'}: {error.strerror or error}", ExitCode.FAILED)


def application(called: str) -> typer.Typer:
    """The tree of verbs, of which only the one that is called has its options: building those takes time."""
    app = _group("Recall: a durable memory that agents ask before a turn and feed after it.")
    for verb in VERBS:
        app.command(verb.name, help=verb.help)(verb.load() if verb.name == called else _not_called)
    for group in GROUPS:
        if called != group.name:
            app.command(group.name, help=group.help)(_not_called)
            continue
        below = _group(group.help)
        for verb in group.verbs:
            below.command(verb.name, help=verb.help)(verb.load())
        app.add_typer(below, name=group.name, help=group.help)
    return app


def _group(help_: str) -> typer.Typer:
    return typer.Typer(
        help=help_,
        add_completion=False,
        rich_markup_mode=None,  # plain help: rich would double its time
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _not_called() -> None:
    """Stands for a verb that this command line does not call."""


def _run(arguments: Sequence[str]) -> int:
    words = list(arguments) or ["--help"]
    if len(words) == 1 and words[0] in {group.name for group in GROUPS}:
        words.append("--help")
    command = typer.main.get_command(application(words[0]))
    try:
        result = command.main(words, prog_name="recall", standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.TyperException as error:
        raise CommandError(f"{error.format_message()} (see `{_path(error)} --help`)", ExitCode.WRONG_INPUT) from error
    return result if isinstance(result, int) else ExitCode.DONE


def _path(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context else "recall"


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"recall: {one_line(message)}\n")
    return code
