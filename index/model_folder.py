"""What a sentence-transformers folder says about its model, read without torch.

modules.json                  Transformer, Pooling and perhaps Normalize, in this order
sentence_bert_config.json     max_seq_length, do_lower_case
1_Pooling/config.json         mean or cls; the old one-flag-a-mode and the new one-word form
config.json                   the transformer;  model.safetensors | pytorch_model.bin its weights
tokenizer.json | vocab.txt    the tokenizer
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from index.errors import ModelUnusable

MODULES_FILE = "modules.json"
POOLING_FOLDER = "1_Pooling"
DEFAULT_WINDOW_TOKENS = 256
_BACKEND = "model folder"
_EXPORTABLE = (("Transformer", "Pooling"), ("Transformer", "Pooling", "Normalize"))
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "pytorch_model.bin.index.json")
_SHAPING = (
    "config.json",
    "modules.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)
_READ_BYTES = 1 << 20
_T = TypeVar("_T")

Pooling = Literal["mean", "cls"]


class _Module(msgspec.Struct, frozen=True):
    type: str
    path: str


class _SentenceConfig(msgspec.Struct, frozen=True):
    max_seq_length: int | None = None
    do_lower_case: bool = False


class _PoolingConfig(msgspec.Struct, frozen=True):
    pooling_mode: str | list[str] | None = None
    pooling_mode_cls_token: bool = False
    pooling_mode_mean_tokens: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    pooling_mode_lasttoken: bool = False


class _TransformerConfig(msgspec.Struct, frozen=True):
    max_position_embeddings: int | None = None


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model on disk; `unexportable` is the reason why only sentence-transformers can serve it, or empty."""

    path: Path
    weights_hash: str
    """sha256 over `files`, in hex: names the model."""
    files: tuple[tuple[str, str], ...]
    """(name, sha256 in hex) of every file that shapes a vector: weights, configuration, tokenizer."""
    window_tokens: int
    lower_case: bool
    pooling: Pooling
    unexportable: str


def read_model_folder(path: Path) -> ModelFolder:
    """Raises ModelUnusable when the folder holds no model."""
    if not path.is_dir():
        raise ModelUnusable(_BACKEND, f"no folder at {path}")
    if not has_weights(path) or not (path / "config.json").is_file():
        raise ModelUnusable(_BACKEND, f"{path} holds no config.json with model.safetensors or pytorch_model.bin")
    modules = _decode(path / MODULES_FILE, list[_Module], [])
    sentence = _decode(path / "sentence_bert_config.json", _SentenceConfig, _SentenceConfig())
    modes = _pooling_modes(path, modules)
    files = _shaping_files(path)
    return ModelFolder(
        path=path,
        weights_hash=hashlib.sha256(repr(files).encode()).hexdigest(),
        files=files,
        window_tokens=_window_tokens(path, sentence),
        lower_case=sentence.do_lower_case,
        pooling="cls" if modes == ("cls",) else "mean",
        unexportable=_unexportable(modules, modes),
    )


def has_weights(path: Path) -> bool:
    """Weights that sentence-transformers reads lie in the folder."""
    return any((path / name).is_file() for name in _WEIGHTS)


def read_pooling(path: Path) -> Pooling:
    """How the folder's `1_Pooling` makes one vector of token states; mean without it. Raises ModelUnusable."""
    modes = _pooling_modes(path, [_Module("Pooling", POOLING_FOLDER)])
    if modes not in (("mean",), ("cls",)):
        raise ModelUnusable(_BACKEND, f"{path}: pooling {'+'.join(modes)} is neither mean nor cls")
    return "cls" if modes == ("cls",) else "mean"


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _shaping_files(path: Path) -> tuple[tuple[str, str], ...]:
    """Shards of split weights included."""
    names = {*_SHAPING, "1_Pooling/config.json"}
    names |= {file.name for pattern in ("*.safetensors", "*.bin") for file in path.glob(pattern)}
    return tuple((name, file_sha256(path / name)) for name in sorted(names) if (path / name).is_file())


def _window_tokens(path: Path, sentence: _SentenceConfig) -> int:
    positions = _decode(path / "config.json", _TransformerConfig, _TransformerConfig()).max_position_embeddings
    limits = [limit for limit in (sentence.max_seq_length, positions) if limit]
    return min(limits, default=DEFAULT_WINDOW_TOKENS)


def _pooling_modes(path: Path, modules: list[_Module]) -> tuple[str, ...]:
    folder = next((module.path for module in modules if _kind(module) == "Pooling"), "")
    config = _decode(path / folder / "config.json", _PoolingConfig, _PoolingConfig()) if folder else _PoolingConfig()
    if config.pooling_mode is not None:
        return (config.pooling_mode,) if isinstance(config.pooling_mode, str) else tuple(config.pooling_mode)
    flags = {
        "cls": config.pooling_mode_cls_token,
        "mean": config.pooling_mode_mean_tokens,
        "max": config.pooling_mode_max_tokens,
        "mean_sqrt_len_tokens": config.pooling_mode_mean_sqrt_len_tokens,
        "weightedmean": config.pooling_mode_weightedmean_tokens,
        "lasttoken": config.pooling_mode_lasttoken,
    }
    return tuple(mode for mode, chosen in flags.items() if chosen) or ("mean",)


def _unexportable(modules: list[_Module], modes: tuple[str, ...]) -> str:
    kinds = tuple(_kind(module) for module in modules)
    if modules and kinds not in _EXPORTABLE:
        return f"modules {', '.join(kinds)} are more than a transformer with pooling"
    if modes not in (("mean",), ("cls",)):
        return f"pooling {'+'.join(modes)} is neither mean nor cls"
    return ""


def _kind(module: _Module) -> str:
    return module.type.rsplit(".", 1)[-1]


def _decode(path: Path, shape: type[_T], absent: _T) -> _T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except FileNotFoundError:
        return absent
    except (OSError, msgspec.MsgspecError) as error:
        raise ModelUnusable(_BACKEND, f"{path} cannot be read: {error}") from error
