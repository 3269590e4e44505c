"""A folder that holds an encoder as ONNX already: served as it is, without torch and without an export.

model.onnx | onnx/model_quantized.onnx | onnx/model.onnx   (input_ids, attention_mask[, token_type_ids]) → token states
                                                            (1, tokens, dim), or sentence vectors (1, dim)
tokenizer.json
1_Pooling/config.json    how states become a vector: mean (also when the file is missing) or cls
config.json, sentence_bert_config.json, tokenizer_config.json    whichever are there say how long a text may be
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from index.errors import ModelUnusable
from index.model_folder import DEFAULT_WINDOW_TOKENS, read_pooling
from index.onnx_cache import ENCODER_FILE, FORMAT, TOKENIZER_FILE, CachedEncoder, Manifest

_BACKEND = "onnx folder"
_ENCODERS = ("model.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx", "onnx/model.onnx")
_LONGEST_WINDOW_TOKENS = 512
"""Tokenizers that know no limit write 10**30; attention takes time in the square."""
_SENTENCE_RANK, _STATES_RANK = 2, 3


class _Limits(msgspec.Struct, frozen=True):
    max_seq_length: int | None = None
    max_length: int | None = None
    model_max_length: float | None = None
    max_position_embeddings: int | None = None


def is_onnx_folder(path: Path) -> bool:
    """An encoder and its tokenizer are there."""
    return _encoder_in(path) is not None and (path / TOKENIZER_FILE).is_file()


def read_onnx_folder(path: Path) -> CachedEncoder:
    """The bytes of encoder and tokenizer, and what serving must know. Raises ModelUnusable."""
    file = _encoder_in(path)
    if file is None:
        raise ModelUnusable(_BACKEND, f"{path} holds none of {', '.join(_ENCODERS)}")
    try:
        encoder, tokenizer = file.read_bytes(), (path / TOKENIZER_FILE).read_bytes()
    except OSError as error:
        raise ModelUnusable(_BACKEND, f"{path} cannot be read: {error}") from error
    inputs, dimensions, states = _shape_of(encoder, path)
    manifest = Manifest(
        format=FORMAT,
        dimensions=dimensions,
        window_tokens=_window_tokens(path),
        lower_case=False,  # tokenizer.json does it
        inputs=inputs,
        files={ENCODER_FILE: _sha256(encoder), TOKENIZER_FILE: _sha256(tokenizer)},
        pooling=read_pooling(path) if states else "none",
    )
    return CachedEncoder(manifest, encoder, tokenizer)


def identity_of(cached: CachedEncoder) -> str:
    """Hex sha256 over everything that a vector depends on."""
    facts = msgspec.structs.replace(cached.manifest, least_probe_cosine=0.0)
    return _sha256(msgspec.json.encode(facts))


def _encoder_in(path: Path) -> Path | None:
    return next((path / name for name in _ENCODERS if (path / name).is_file()), None)


def _shape_of(encoder: bytes, path: Path) -> tuple[tuple[str, ...], int, bool]:
    """Names of the inputs, length of a vector, whether the output is token states."""
    import onnxruntime  # noqa: PLC0415 - only a process that embeds pays for it

    try:
        session: Any = onnxruntime.InferenceSession(encoder, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises bare Exceptions
        raise ModelUnusable(_BACKEND, f"{path}: the encoder does not load: {error}") from error
    shape = session.get_outputs()[0].shape
    if len(shape) not in (_SENTENCE_RANK, _STATES_RANK) or not isinstance(shape[-1], int):
        raise ModelUnusable(_BACKEND, f"{path}: the first output has shape {shape}, neither vectors nor token states")
    return tuple(one.name for one in session.get_inputs()), shape[-1], len(shape) == _STATES_RANK


def _window_tokens(path: Path) -> int:
    limits: list[float] = []
    for name in ("sentence_bert_config.json", "tokenizer_config.json", "config.json"):
        found = _limits(path / name)
        told = (found.max_seq_length, found.max_length, found.model_max_length, found.max_position_embeddings)
        limits += [limit for limit in told if limit]
    return int(min(*limits, _LONGEST_WINDOW_TOKENS)) if limits else DEFAULT_WINDOW_TOKENS


def _limits(path: Path) -> _Limits:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Limits)
    except FileNotFoundError:
        return _Limits()
    except (OSError, msgspec.MsgspecError) as error:
        raise ModelUnusable(_BACKEND, f"{path} cannot be read: {error}") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
