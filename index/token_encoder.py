"""Text → one vector a token, for late interaction (ColBERT): an ONNX folder served without torch.

model.onnx        (input_ids, attention_mask[, token_type_ids]) → token states (1, tokens, dim)
tokenizer.json    with [unused0] and [unused1], which mark a query and a document behind [CLS] (Santhanam et al., 2022)

Rows are unit vectors. Those of documents are kept as int8, a quarter of the room: a cosine is off by less than .01.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.errors import ModelUnusable
from index.windows import encodable

_BACKEND = "late interaction"
_QUERY_MARK, _DOCUMENT_MARK = "[unused0]", "[unused1]"
_SCALE = 127.0
_LONGEST_CHARACTERS = 16_384
_ERRORS_ONLY = 3

Tokens = NDArray[np.float32]
CompactTokens = NDArray[np.int8]


class TokenEncoder:
    """One onnxruntime session; runs are independent, so any thread may call."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        """Texts are read up to `max_tokens`. Raises ModelUnusable."""
        import onnxruntime  # noqa: PLC0415 - only a service with a second stage pays for it
        from tokenizers import Tokenizer  # noqa: PLC0415

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        options.enable_cpu_mem_arena = False
        try:
            content = (folder / "model.onnx").read_bytes()
            self._session: Any = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # both raise bare Exceptions
            raise ModelUnusable(_BACKEND, f"{folder} does not load: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=max_tokens)
        self._inputs = tuple(one.name for one in self._session.get_inputs())
        self._marks = [self._tokenizer.token_to_id(mark) for mark in (_QUERY_MARK, _DOCUMENT_MARK)]
        self.model_id = f"{folder.name}:{hashlib.sha256(content).hexdigest()[:16]}/t{max_tokens}"

    def query(self, text: str) -> Tokens:
        """(tokens, dim), unit rows."""
        return self._states(text, self._marks[0])

    def document(self, text: str) -> CompactTokens:
        """(tokens, dim), unit rows times 127."""
        compact: CompactTokens = np.rint(self._states(text, self._marks[1]) * _SCALE).astype(np.int8)
        return compact

    def _states(self, text: str, mark: int | None) -> Tokens:
        ids = self._tokenizer.encode(encodable(text[:_LONGEST_CHARACTERS])).ids
        if mark is not None:
            ids = [*ids[:1], mark, *ids[1:]]
        row = np.array([ids], np.int64)
        columns = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        states: Tokens = self._session.run(None, {name: columns[name] for name in self._inputs})[0][0]
        states /= np.maximum(np.linalg.norm(states, axis=1, keepdims=True), np.float32(1e-9))
        return states


def max_similarity(query: Tokens, documents: Sequence[CompactTokens]) -> NDArray[np.float64]:
    """(documents,): of every query token the best cosine with a token of the document, averaged over the query."""
    rows = np.concatenate(documents).astype(np.float32)
    starts = np.cumsum([0, *map(len, documents[:-1])])
    best = np.maximum.reduceat(query @ rows.T, starts, axis=1)
    found: NDArray[np.float64] = best.mean(axis=0, dtype=np.float64) / _SCALE
    return found
