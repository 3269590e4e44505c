"""One-time export of a sentence-transformers model to int8 ONNX, checked against the original before it may serve.

Runs in a process of its own (`python -m index.onnx_export FOLDER CACHE`), because it needs torch and 1 GB that the
server must not keep. Prints one JSON line, the Outcome. The order is smooth → export → quantise → probe → install:
whatever kills it in between leaves nothing under the final name.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.embedding_settings import EmbeddingSettings
from index.model_folder import ModelFolder, read_model_folder
from index.onnx_cache import ENCODER_FILE, FORMAT, TOKENIZER_FILE, CachedEncoder, Manifest, OnnxCache
from index.onnx_encoder import OnnxEncoder
from index.smoothing import smooth

PROBES = (
    "Blog posts go out on Tuesday mornings.",
    "When do I publish articles?",
    "User is called Dana and lives in Lisbon.",
    "Who am I?",
    "Who are you?",
    "What is my name?",
    "The staging database runs PostgreSQL 16 on port 5433.",
    "Deployments are frozen on Fridays after 15:00 UTC.",
    "def parse(line: str) -> Event: return json.loads(line)",
    "Melanie signed her children up for a pottery class in July.",
    "My favourite colour is purple.",
    "部署 docker 的时候要先备份数据库。",
    "Привет, встреча перенесена на четверг 🎉",
    "x",
    " ".join(f"Point {number}: the reviewer asked for shorter functions and clearer names." for number in range(60)),
)
_NEIGHBOUR_TOLERANCE = 0.03  # two candidates closer than this may change places without harm
_OPSET = 17
_REFERENCE_BATCH = 4


class Outcome(msgspec.Struct, frozen=True):
    """What became of an export: `refused` is why the model must be served by the original, or empty."""

    refused: str
    least_probe_cosine: float


class ExportRefused(Exception):  # noqa: N818 - an answer, not a fault
    """This model cannot be exported, or its export strays from it; trying again changes nothing."""


def export(folder: ModelFolder, cache: OnnxCache, settings: EmbeddingSettings) -> Outcome:
    """Exports, checks and installs; a refusal is installed too, so that it is not tried at every start."""
    work = cache.begin()
    try:
        try:
            manifest = _export_into(work, folder, settings)
        except ExportRefused as refusal:
            cache.refuse(work, folder.weights_hash, str(refusal))
            return Outcome(str(refusal), 0.0)
        cache.install(work, folder.weights_hash, cache.manifest_of(work, manifest))
        return Outcome("", manifest.least_probe_cosine)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def probe_problem(original: NDArray[np.float32], exported: NDArray[np.float32], least_cosine: float) -> str:
    """Why `exported` (n, dim) may not stand for `original` (n, dim), both of unit rows; empty when it may."""
    if original.shape != exported.shape:
        return f"shape {exported.shape} instead of {original.shape}"
    cosines = np.sum(original * exported, axis=1)
    if not (cosines >= least_cosine).all():  # written so that NaN fails
        return f"probe {int(np.argmin(cosines))} has cosine {float(cosines.min()):.4f}, below {least_cosine}"
    chosen = _nearest(exported)
    among_originals = _similarities(original)
    lost = among_originals.max(axis=1) - among_originals[np.arange(len(chosen)), chosen]
    if lost.max() > _NEIGHBOUR_TOLERANCE:
        return f"probe {int(lost.argmax())} has another nearest neighbour"
    return ""


def _export_into(work: Path, folder: ModelFolder, settings: EmbeddingSettings) -> Manifest:
    if folder.unexportable:
        raise ExportRefused(folder.unexportable)
    original = _load_original(folder)
    _tokenizer_of(original).save(str(work / TOKENIZER_FILE))
    reference = _unit_rows(original.encode(list(PROBES), batch_size=_REFERENCE_BATCH, show_progress_bar=False))
    smooth(original[0].auto_model, lambda sentence: original.encode([sentence], show_progress_bar=False))
    inputs = _write_full_precision(original, folder, work / "full.onnx")
    _quantise(work / "full.onnx", work / ENCODER_FILE)
    facts = Manifest(FORMAT, reference.shape[1], folder.window_tokens, folder.lower_case, inputs, {})
    exported = _encode_probes(work, facts, settings)
    if problem := probe_problem(reference, exported, settings.probe_cosine):
        raise ExportRefused(f"the int8 export strays from the original: {problem}")
    return msgspec.structs.replace(facts, least_probe_cosine=float(np.sum(reference * exported, axis=1).min()))


def _load_original(folder: ModelFolder) -> Any:
    import torch  # noqa: PLC0415 - this process alone needs it
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    torch.set_num_threads(1)
    return SentenceTransformer(str(folder.path), device="cpu", local_files_only=True).eval()


def _tokenizer_of(original: Any) -> Any:
    backend = getattr(original.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ExportRefused("its tokenizer has no fast form")
    return backend


def _write_full_precision(original: Any, folder: ModelFolder, path: Path) -> tuple[str, ...]:
    """Writes transformer, pooling and normalisation as one graph; returns the names of its inputs."""
    import torch  # noqa: PLC0415

    transformer = original[0].auto_model
    tokens = original.tokenizer([PROBES[0]], return_tensors="pt")
    inputs = tuple(name for name in ("input_ids", "attention_mask", "token_type_ids") if name in tokens)

    class Encoder(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, *columns: Any) -> Any:
            feed = dict(zip(inputs, columns, strict=True))
            states = self.transformer(**feed).last_hidden_state
            return torch.nn.functional.normalize(_pooled(states, feed["attention_mask"], folder.pooling), dim=1)

    axes = {name: {0: "text", 1: "token"} for name in inputs} | {"vector": {0: "text"}}
    with torch.inference_mode():
        torch.onnx.export(
            Encoder().eval(),
            tuple(tokens[name] for name in inputs),
            str(path),
            dynamo=False,
            opset_version=_OPSET,
            input_names=list(inputs),
            output_names=["vector"],
            dynamic_axes=axes,
        )
    return inputs


def _pooled(states: Any, mask: Any, pooling: str) -> Any:
    """(text, token, dim) and (text, token) → (text, dim)."""
    if pooling == "cls":
        return states[:, 0]
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)


def _quantise(source: Path, target: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic  # noqa: PLC0415

    quantize_dynamic(str(source), str(target), per_channel=True, reduce_range=True)
    source.unlink()


def _encode_probes(work: Path, facts: Manifest, settings: EmbeddingSettings) -> NDArray[np.float32]:
    """Through the very class that will serve, from the very files that will be installed."""
    cached = CachedEncoder(facts, (work / ENCODER_FILE).read_bytes(), (work / TOKENIZER_FILE).read_bytes())
    return OnnxEncoder(cached, "probe", settings).encode(PROBES)


def _unit_rows(vectors: Any) -> NDArray[np.float32]:
    rows = np.asarray(vectors, dtype=np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _nearest(vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    nearest: NDArray[np.int64] = _similarities(vectors).argmax(axis=1)
    return nearest


def _similarities(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines among the rows, each row's own left out."""
    similarities: NDArray[np.float32] = vectors @ vectors.T
    np.fill_diagonal(similarities, -np.inf)
    return similarities


def main(arguments: Sequence[str]) -> int:
    """FOLDER CACHE PROBE_COSINE; exit 0 with an Outcome on stdout, also when the export is refused."""
    folder, cache, probe_cosine = arguments
    os.environ["HF_HUB_OFFLINE"] = "1"
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    settings = EmbeddingSettings(probe_cosine=float(probe_cosine))
    outcome = export(read_model_folder(Path(folder)), OnnxCache(Path(cache)), settings)
    sys.stdout.write(json.dumps(msgspec.to_builtins(outcome)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
