"""Folders that hold an encoder in another form than sentence-transformers' are served as they are."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from index.embedder import EmbeddingSettings
from index.errors import ModelUnusable
from index.loader import Loaded, Loader

WORDS = ["[CLS]", "[UNK]", "otter", "heron", "river"]
ROWS = np.array([[9, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [3, 4, 0]], np.float32)


def _tokenizer(path: Path) -> None:
    model = WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))


def _onnx_folder(path: Path, pooling: str | None, windows: int = 8) -> Path:
    """Token states are rows of a table: what a transformer gives, without the transformer."""
    path.mkdir()
    _tokenizer(path)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["states"])],
        "encoder",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, [1, "tokens", 3])],
        [numpy_helper.from_array(ROWS, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(path / "model.onnx"))
    (path / "config.json").write_text(json.dumps({"max_position_embeddings": windows}))
    if pooling is not None:
        (path / "1_Pooling").mkdir()
        (path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": pooling}))
    return path


def _static_folder(path: Path, **arrays: NDArray[np.generic]) -> Path:
    path.mkdir()
    _tokenizer(path)
    (path / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    types = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64"}
    header, body = {}, b""
    for name, values in arrays.items():
        content = values.tobytes()
        offsets = [len(body), len(body) + len(content)]
        header[name] = {"dtype": types[values.dtype.name], "shape": values.shape, "data_offsets": offsets}
        body += content
    encoded = json.dumps(header).encode()
    (path / "model.safetensors").write_bytes(struct.pack("<Q", len(encoded)) + encoded + body)
    return path


def _loaded(folder: Path, cache: Path) -> Loaded:
    return Loader(EmbeddingSettings(model=str(folder), window_overlap=1), cache).load()


def _near(vector: NDArray[np.float32], expected: Sequence[float]) -> bool:
    return np.allclose(vector, np.array(expected) / np.linalg.norm(expected), atol=1e-6)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [("mean", [4, 4, 0]), ("cls", [1, 0, 0]), (None, [4, 4, 0])],
)
def test_states_of_an_onnx_folder_become_one_vector(
    tmp_path: Path, pooling: str | None, expected: Sequence[float]
) -> None:
    loaded = _loaded(_onnx_folder(tmp_path / "m", pooling), tmp_path / "cache")
    assert (loaded.backend, loaded.embedder.dimensions, loaded.embedder.window_tokens) == ("onnx", 3, 8)
    assert _near(loaded.embedder.encode(["otter river"])[0], expected)


def test_long_texts_are_cut_at_what_the_folder_says_of_its_model(tmp_path: Path) -> None:
    embedder = _loaded(_onnx_folder(tmp_path / "m", "mean", windows=3), tmp_path / "cache").embedder
    assert embedder.windows("otter heron river otter") == ["otter heron river", "river otter"]


def test_the_pooling_is_part_of_the_models_name(tmp_path: Path) -> None:
    names = [
        _loaded(_onnx_folder(tmp_path / pooling, pooling), tmp_path / "cache").embedder.model_id.partition(":")[2]
        for pooling in ("mean", "cls")
    ]
    assert names[0] != names[1]


def test_a_pooling_that_is_not_served_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="pooling max"):
        _loaded(_onnx_folder(tmp_path / "m", "max"), tmp_path / "cache")


def test_a_broken_encoder_is_refused_in_words(tmp_path: Path) -> None:
    folder = _onnx_folder(tmp_path / "m", "mean")
    (folder / "model.onnx").write_bytes(b"not an encoder")
    with pytest.raises(ModelUnusable, match="does not load"):
        _loaded(folder, tmp_path / "cache")


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"embeddings": ROWS}, [4, 4, 0]),
        ({"embeddings": ROWS.astype(np.float16), "weights": np.array([1, 1, 2, 1, 0.5])}, [3.5, 2, 0]),
        ({"embeddings": ROWS[2:], "mapping": np.array([0, 0, 1, 0, 2])}, [3, 5, 0]),
    ],
    ids=["plain", "weighted", "mapped"],
)
def test_a_static_folder_gives_the_mean_of_its_rows(
    tmp_path: Path, arrays: dict[str, NDArray[np.generic]], expected: Sequence[float]
) -> None:
    loaded = _loaded(_static_folder(tmp_path / "m", **arrays), tmp_path / "cache")
    assert (loaded.backend, loaded.embedder.dimensions) == ("static", 3)
    assert _near(loaded.embedder.encode(["otter river"])[0], expected)


def test_a_text_without_tokens_has_a_vector_too(tmp_path: Path) -> None:
    embedder = _loaded(_static_folder(tmp_path / "m", embeddings=ROWS), tmp_path / "cache").embedder
    assert np.linalg.norm(embedder.encode(["", "\ud800", "otter"]), axis=1) == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("spoil", [b"", b"\xff" * 40, struct.pack("<Q", 2) + b"{}"])
def test_a_damaged_table_is_refused_in_words(tmp_path: Path, spoil: bytes) -> None:
    folder = _static_folder(tmp_path / "m", embeddings=ROWS)
    (folder / "model.safetensors").write_bytes(spoil)
    with pytest.raises(ModelUnusable, match="no table of word vectors"):
        _loaded(folder, tmp_path / "cache")
