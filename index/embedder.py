"""Text → vector: what every embedder promises, and the slot in which the service holds the one it was given.

Invariants: vectors are float32, L2-normalised, finite and never zero; `model_id` names everything a vector depends
on (weights, quantisation, windows), so vectors of two ids are never compared. The slot loads in the background and
never blocks a caller: whoever finds no embedder goes on without vectors and says so.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from index.embedding_settings import EmbeddingSettings
from index.errors import EmbedderUnavailable
from index.loader import Loaded, Loader

__all__ = ["NO_MODEL", "Embedder", "EmbedderSlot", "EmbedderState", "EmbeddingSettings", "LoaderLike"]

NO_MODEL = "none"


class Embedder(Protocol):
    """Turns texts into vectors; safe to call from several threads."""

    @property
    def model_id(self) -> str:
        """Names model, weights hash, quantisation and windows; the key of everything derived from the vectors."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    @property
    def window_tokens(self) -> int:
        """Tokens that one vector can read, special tokens included; 0 when the embedder does not know."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, dimensions), L2-normalised; what lies past the window of a text is not read.

        Raises EmbedderUnavailable when asking again later may help, EmbeddingError when it will not.
        """

    def windows(self, text: str) -> list[str]:
        """`[text]` when it fits the window, else overlapping pieces that together cover it (index/windows.py)."""


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """What status, doctor and degraded reasons tell about the embedder."""

    state: Literal["off", "loading", "ready", "down"]
    backend: str = ""
    """`onnx-int8`, `sentence-transformers`, `openai`, `hashing`; empty while nothing is loaded."""
    dimensions: int = 0
    detail: str = ""
    """Why it is down, or why a slower backend serves; empty when all is well."""
    model_id: str = ""


class EmbedderSlot:
    """Holds the one embedder of the service. Loads it in the background; every other method returns at once."""

    def __init__(self, settings: EmbeddingSettings, cache_dir: Path, loader: LoaderLike | None = None) -> None:
        self._settings = settings
        self._loader = loader if loader is not None else Loader(settings, cache_dir)
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self._state = EmbedderState("off" if settings.model == NO_MODEL else "loading")
        self._settled = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._load, name="embedder-load", daemon=True)

    def start(self) -> None:
        """Begins to load; nothing to do for `none`."""
        if self._settings.model == NO_MODEL:
            self._settled.set()
        else:
            self._thread.start()

    def current(self) -> Embedder | None:
        """The loaded embedder, also while it is down (see `state`); None before it is loaded."""
        loaded = self._loaded
        return loaded.embedder if loaded is not None else None

    def state(self) -> EmbedderState:
        """What to tell people."""
        return self._state

    def wait(self, timeout_s: float) -> bool:
        """True once loading has succeeded, has failed for the first time, or was never wanted."""
        return self._settled.wait(timeout_s)

    def report_failure(self, error: Exception) -> None:
        """The embedder gave no answer: down until a success is reported."""
        with self._lock:
            if self._loaded is not None:
                self._state = replace(self._state, state="down", detail=str(error))

    def report_success(self) -> None:
        """The embedder answered: ready again."""
        if self._state.state == "down":
            with self._lock:
                self._settle_ready()

    def close(self) -> None:
        """Gives up loading; an embedder that is loaded goes on serving whoever holds it."""
        self._closing.set()
        self._loader.close()
        self._settled.set()

    def _load(self) -> None:
        """Until it is loaded, cannot be, or nobody wants it any more; waits double between tries."""
        wait_s = self._settings.retry_first_s
        while not self._closing.is_set() and self._try_to_load():
            self._closing.wait(wait_s)
            wait_s = min(2.0 * wait_s, self._settings.retry_longest_s)

    def _try_to_load(self) -> bool:
        """True when another try may help."""
        try:
            loaded = self._loader.load()
        except EmbedderUnavailable as error:
            self._settle_down(str(error))
            return True
        except Exception as error:  # noqa: BLE001 - a model of any kind may break in any way; the state tells it
            self._settle_down(str(error) or type(error).__name__)
            return False
        with self._lock:
            self._loaded = loaded
            self._settle_ready()
        return False

    def _settle_ready(self) -> None:
        loaded = self._loaded
        if loaded is not None:
            embedder = loaded.embedder
            self._state = EmbedderState("ready", loaded.backend, embedder.dimensions, loaded.detail, embedder.model_id)
            self._settled.set()

    def _settle_down(self, detail: str) -> None:
        with self._lock:
            self._state = EmbedderState("down", detail=detail)
        self._settled.set()


class LoaderLike(Protocol):
    """What makes the embedder; index/loader.py is the real one."""

    def load(self) -> Loaded:
        """Raises EmbedderUnavailable to be asked again, anything else to be given up."""

    def close(self) -> None:
        """Ends a load under way."""
