"""`recall hook --help`. The hook itself is `recall/hook.py`; `cli.py` runs it before typer is imported."""

from __future__ import annotations

import typer


def hook(
    _server: str = typer.Option("127.0.0.1:50051", "--server", metavar="HOST:PORT", help="Else RECALL_SERVER."),
    _bank: str = typer.Option("", "--bank", metavar="NAME", help="Else RECALL_BANK, else the project folder's name."),
    _limit: int = typer.Option(0, "--limit", metavar="N", help="Most notes; 0 leaves it to the bank."),
    _timeout_ms: int = typer.Option(150, "--timeout-ms", metavar="N", help="Longest wait for the server."),
    _context: bool = typer.Option(False, "--context", help="Rules, standing memories and changes too."),
    _agent: str = typer.Option("", "--agent", metavar="NAME", help="With --context: the agent whose turn it is."),
    _user: str = typer.Option("", "--user", metavar="NAME", help="With --context: the user whose turn it is."),
) -> None:
    """Reads UserPromptSubmit or SessionStart JSON on stdin, prints the additional context, always exits 0."""
    raise AssertionError("cli.py runs the hook")
