"""How well texts answer a query, token by token, within a time limit: a bounded memory of the texts' token vectors.

A text is encoded once, on a thread of its own, and kept under its hash until others need the room. Who cannot wait
goes without: the encoding goes on, and the next asker finds it. Nothing is on disk: after a restart texts are encoded
as they come up.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray

from index.sidecar import text_key
from index.token_encoder import CompactTokens, TokenEncoder, max_similarity

Load = Callable[[], TokenEncoder]


class LateInteraction:
    """Thread-safe. Loads its encoder in the background; until then every answer is None."""

    def __init__(self, load: Load, cache_bytes: int, most_pending: int, monotonic: Callable[[], float]) -> None:
        """Keeps up to `cache_bytes` of token vectors; at most `most_pending` texts wait to be encoded."""
        self._load = load
        self._room = cache_bytes
        self._most_pending = most_pending
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, CompactTokens] = OrderedDict()
        self._pending: dict[bytes, Future[None]] = {}
        self._used = 0
        self._encoder: TokenEncoder | None = None
        self._problem = ""
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="encode-tokens")

    def start(self) -> None:
        """Begins to load."""
        self._executor.submit(self._load_encoder)

    @property
    def problem(self) -> str:
        """Why it will not answer; empty while it may."""
        return self._problem

    def scores(self, query: str, texts: Sequence[str], until: float) -> NDArray[np.float64] | None:
        """(texts,), cosines averaged over the query's tokens; None when they are not there by `until` (monotonic)."""
        encoder = self._encoder
        if encoder is None or not texts:
            return None
        keys = [text_key(text) for text in texts]
        waiting = self._ask(encoder, keys, texts)
        asked = encoder.query(query)
        if wait(waiting, max(0.0, until - self._monotonic())).not_done:
            return None
        found = self._documents(keys)
        return None if found is None else max_similarity(asked, found)

    def close(self) -> None:
        """What waits is dropped."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _load_encoder(self) -> None:
        try:
            self._encoder = self._load()
        except Exception as error:  # noqa: BLE001 - a model of any kind may break in any way; answers tell it
            self._problem = str(error) or type(error).__name__

    def _ask(self, encoder: TokenEncoder, keys: Sequence[bytes], texts: Sequence[str]) -> list[Future[None]]:
        """Futures of what is not kept yet; what finds no room in the queue gets one that never ends."""
        with self._lock:
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
            return [self._pending.get(key) or self._submit(encoder, key, text) for key, text in missing.items()]

    def _submit(self, encoder: TokenEncoder, key: bytes, text: str) -> Future[None]:
        if len(self._pending) >= self._most_pending:
            return Future()
        try:
            self._pending[key] = self._executor.submit(self._encode, encoder, key, text)
        except RuntimeError:  # closing
            return Future()
        return self._pending[key]

    def _encode(self, encoder: TokenEncoder, key: bytes, text: str) -> None:
        try:
            tokens = encoder.document(text)
        except Exception as error:  # noqa: BLE001 - the recall goes on without the second stage and says so
            self._problem = str(error) or type(error).__name__
            return
        finally:
            with self._lock:
                self._pending.pop(key, None)
        self._keep(key, tokens)

    def _keep(self, key: bytes, tokens: CompactTokens) -> None:
        with self._lock:
            self._kept[key] = tokens
            self._used += tokens.nbytes
            while self._used > self._room and len(self._kept) > 1:
                self._used -= self._kept.popitem(last=False)[1].nbytes

    def _documents(self, keys: Sequence[bytes]) -> list[CompactTokens] | None:
        """None when one was put out meanwhile, or never came."""
        with self._lock:
            found = [self._kept.get(key) for key in keys]
            for key in keys:
                if key in self._kept:
                    self._kept.move_to_end(key)
        known = [tokens for tokens in found if tokens is not None]
        return known if len(known) == len(found) else None
