"""The entry point `recall`. The hook is on every turn's path, so it is dispatched before anything else is imported."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Runs the command line of this process and exits with its code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        from recall.hook import main as hook

        os._exit(hook(arguments[1:]))  # at once: nothing that happens while Python shuts down may change the code
    from recall.commands.run import run

    sys.exit(run(arguments))
