"""A real server in a process of its own, for tests to call, stop and kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recall.client import ClientOptions, RecallClient

HASHING = "hashing:64"
STOP_S = 30.0


@dataclass
class ServiceProcess:
    """A running server. `log` is what it wrote to stderr."""

    process: subprocess.Popen[str]
    address: str
    data: Path
    log: Path

    def client(self, options: ClientOptions | None = None) -> RecallClient:
        """A new client of it."""
        return RecallClient(self.address, options or ClientOptions(timeout_s=20))

    def stop(self, signum: int = signal.SIGTERM) -> int:
        """Sends the signal and waits; the exit code."""
        self.process.send_signal(signum)
        return self.process.wait(STOP_S)

    def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self.process.kill()
        self.process.wait(STOP_S)

    def logged(self) -> str:
        """Everything written to stderr so far."""
        return self.log.read_text()


def command(data: Path, model: str = HASHING, listen: str = "127.0.0.1:0", *settings: str) -> list[str]:
    """The command line of a server; `settings` are `section.key=value`."""
    given = [f"embedding.model={model}", *settings]
    flags = [flag for one in given for flag in ("--set", one)]
    return [sys.executable, "-m", "recall", "serve", "--data", str(data), "--listen", listen, *flags]


def environment() -> dict[str, str]:
    """The environment without settings of whoever runs the tests, and offline."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECALL_")}
    return kept | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path(__file__).parents[2])}


def start(data: Path, model: str = HASHING, *settings: str) -> ServiceProcess:
    """A server that answers, on a free port. Raises AssertionError with its log when it does not start."""
    data.parent.mkdir(parents=True, exist_ok=True)
    log = data.parent / f"{data.name}.log"
    with log.open("a") as stderr:
        process = subprocess.Popen(
            command(data, model, "127.0.0.1:0", *settings),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=data.parent,
            env=environment(),
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith("listening on "):
        process.kill()
        process.wait()
        raise AssertionError(f"the server did not start: {line}{log.read_text()}")
    process.stdout.close()
    return ServiceProcess(process, line.removeprefix("listening on ").strip(), data, log)


@contextmanager
def serving(data: Path, model: str = HASHING, *settings: str) -> Iterator[ServiceProcess]:
    """A server for the length of the `with`; it may be stopped or killed inside."""
    service = start(data, model, *settings)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.kill()
