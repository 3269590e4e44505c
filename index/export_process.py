"""Runs the one-time export in a process of its own, so that torch never enters the server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from index.errors import EmbedderUnavailable, ModelUnusable

if TYPE_CHECKING:
    from index.embedding_settings import EmbeddingSettings

_BACKEND = "onnx export"
_MODULE = "index.onnx_export"
_LAST_LINES = 1


class ExportProcess:
    """At most one export at a time."""

    def __init__(self, cache_dir: Path, settings: EmbeddingSettings) -> None:
        self._cache_dir = cache_dir
        self._settings = settings
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False

    def run(self, folder: Path) -> None:
        """Returns when the export is installed or refused (the cache knows which).

        Raises ModelUnusable when it broke, took too long, or was ended by `close` (EmbedderUnavailable).
        """
        child = self._start(folder)
        try:
            _, errors = child.communicate(timeout=self._settings.export_timeout_s)
        except subprocess.TimeoutExpired as error:
            child.kill()
            child.communicate()
            raise ModelUnusable(_BACKEND, f"not done after {self._settings.export_timeout_s:g} s") from error
        if self._closed:
            raise EmbedderUnavailable(_BACKEND, "ended while closing")
        if child.returncode != 0:
            lines = errors.decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
            raise ModelUnusable(_BACKEND, f"exit {child.returncode}: {' '.join(lines) or 'no word'}")

    def close(self) -> None:
        """Ends a running export."""
        with self._lock:
            self._closed = True
            if self._child is not None and self._child.poll() is None:
                self._child.kill()

    def _start(self, folder: Path) -> subprocess.Popen[bytes]:
        probe_cosine = str(self._settings.probe_cosine)
        command = [sys.executable, "-P", "-m", _MODULE, str(folder), str(self._cache_dir), probe_cosine]
        with self._lock:
            if self._closed:
                raise EmbedderUnavailable(_BACKEND, "closing")
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(),
            )
            return self._child


def _environment() -> dict[str, str]:
    """Offline, on few threads, and able to import this very package wherever it lies."""
    here = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    return os.environ | offline | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
