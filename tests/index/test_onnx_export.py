import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.embedder import Embedder, EmbedderSlot, EmbedderState
from index.embedding_settings import EmbeddingSettings
from index.errors import ModelUnusable
from index.loader import bundled_model
from index.onnx_cache import ENCODER_FILE, FORMAT, TOKENIZER_FILE, Manifest, OnnxCache
from index.onnx_export import PROBES, probe_problem
from index.smoothing import CALIBRATION

HASH = "a" * 64
FACTS = Manifest(FORMAT, 4, 256, False, ("input_ids",), {})
EXPORT_S = 110.0


def installed(folder: Path, encoder: bytes = b"encoder") -> OnnxCache:
    cache = OnnxCache(folder)
    work = cache.begin()
    (work / ENCODER_FILE).write_bytes(encoder)
    (work / TOKENIZER_FILE).write_bytes(b"tokenizer")
    cache.install(work, HASH, cache.manifest_of(work, FACTS))
    return cache


def test_what_was_installed_is_loaded(tmp_path: Path) -> None:
    cached = installed(tmp_path).load(HASH)
    assert cached is not None
    assert (cached.encoder, cached.tokenizer, cached.manifest.dimensions) == (b"encoder", b"tokenizer", 4)
    assert [each.name for each in tmp_path.iterdir()] == [HASH]


@pytest.mark.parametrize("name", [ENCODER_FILE, TOKENIZER_FILE, "manifest.json"])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: content[:-1], id="torn"),
        pytest.param(lambda content: content[:0], id="emptied"),
        pytest.param(lambda content: content + b"x", id="longer"),
        pytest.param(lambda content: bytes([content[0] ^ 1]) + content[1:], id="bit flipped"),
        pytest.param(lambda content: b"\0" * len(content), id="zeroed"),
        pytest.param(None, id="removed"),
    ],
)
def test_a_damaged_export_is_not_there_and_a_new_one_takes_its_place(
    tmp_path: Path, name: str, damage: Callable[[bytes], bytes] | None
) -> None:
    cache = installed(tmp_path)
    file = tmp_path / HASH / name
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(damage(file.read_bytes()))
    assert cache.load(HASH) is None
    renewed = installed(tmp_path, b"new encoder").load(HASH)
    assert renewed is not None
    assert renewed.encoder == b"new encoder"
    assert [each.name for each in tmp_path.iterdir()] == [HASH]


def test_an_export_of_another_format_is_not_there(tmp_path: Path) -> None:
    cache = installed(tmp_path)
    manifest = tmp_path / HASH / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f'"format":{FORMAT}', f'"format":{FORMAT + 1}'))
    assert cache.load(HASH) is None


def test_a_kill_at_any_point_before_the_rename_leaves_nothing_under_the_name(tmp_path: Path) -> None:
    cache = OnnxCache(tmp_path)
    work = cache.begin()
    for name in (ENCODER_FILE, TOKENIZER_FILE, "manifest.json"):
        (work / name).write_bytes(b"half")
        assert OnnxCache(tmp_path).load(HASH) is None
    os.utime(work, (0, 0))
    OnnxCache(tmp_path).begin()
    assert not work.exists()


def test_a_refusal_is_remembered_with_its_reason_until_an_export_succeeds(tmp_path: Path) -> None:
    cache = OnnxCache(tmp_path)
    assert cache.refusal(HASH) == ""
    cache.refuse(cache.begin(), HASH, "strays")
    assert (cache.refusal(HASH), cache.load(HASH)) == ("strays", None)
    installed(tmp_path)
    assert cache.refusal(HASH) == ""


def rows(*angles: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array([[np.cos(angle), np.sin(angle)] for angle in angles], dtype=np.float32)


@pytest.mark.parametrize(
    ("exported", "problem"),
    [
        pytest.param(rows(0.0, 0.2, 1.5, 1.6), "", id="the same"),
        pytest.param(rows(0.05, 0.2, 1.5, 1.6), "", id="close"),
        pytest.param(rows(0.3, 0.2, 1.5, 1.6), "probe 0", id="one strays"),
        pytest.param(rows(0.0, 0.2, 1.5, np.nan), "probe 3", id="not a number"),
        pytest.param(rows(0.0, 0.2, 1.5), "shape", id="one is missing"),
    ],
)
def test_the_probe_check_lets_only_faithful_exports_pass(exported: Any, problem: str) -> None:
    found = probe_problem(rows(0.0, 0.2, 1.5, 1.6), exported, 0.985)
    assert found.startswith(problem) if problem else found == ""


def test_the_probe_check_sees_neighbours_change_places() -> None:
    original, exported = rows(0.0, 0.3, -0.45), rows(0.0, 0.45, -0.3)
    assert "neighbour" in probe_problem(original, exported, 0.98)


def test_no_probe_was_used_to_calibrate() -> None:
    assert not set(PROBES) & set(CALIBRATION)


def test_bundled_weights_that_are_not_the_published_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(bundled_model().weights_hash) == 64
    monkeypatch.setattr("index.loader.BUNDLED_SHA256", "0" * 64)
    with pytest.raises(ModelUnusable, match="not the published model"):
        bundled_model()


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled model, exported once."""
    folder = tmp_path_factory.mktemp("exported")
    assert loaded(folder)[0].state == "ready"
    return folder


@pytest.fixture(scope="module")
def embedder(cache_dir: Path) -> Embedder:
    embedder = loaded(cache_dir)[1]
    assert embedder is not None
    return embedder


def loaded(folder: Path) -> tuple[EmbedderState, Embedder | None]:
    slot = EmbedderSlot(EmbeddingSettings(), folder)
    slot.start()
    assert slot.wait(EXPORT_S)
    slot.close()
    return slot.state(), slot.current()


def in_new_process(code: str, *arguments: str) -> Any:
    """What `code` prints as JSON on its last line."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=EXPORT_S, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


STARTING = """
import json, sys, time
from pathlib import Path
from index.embedder import EmbedderSlot, EmbeddingSettings
slot = EmbedderSlot(EmbeddingSettings(model=sys.argv[2]), Path(sys.argv[1]))
began = time.process_time()
slot.start()
slot.wait(100)
seconds = time.process_time() - began
embedder, state = slot.current(), slot.state()
vectors = embedder.encode(["a cat", "a kitten", "tax law"])
print(json.dumps({
    "cpu_seconds": seconds, "backend": state.backend, "detail": state.detail, "dimensions": state.dimensions,
    "heavy": [name for name in ("torch", "transformers", "sentence_transformers", "onnx") if name in sys.modules],
    "cosines": (vectors @ vectors.T)[0].tolist(),
}))
"""


@pytest.mark.model
def test_a_second_start_takes_under_a_second_and_imports_neither_torch_nor_transformers(cache_dir: Path) -> None:
    start = in_new_process(STARTING, str(cache_dir), "default")
    assert (start["backend"], start["dimensions"], start["detail"]) == ("onnx-int8", 384, "")
    assert start["heavy"] == []
    assert start["cpu_seconds"] < 1.0  # of one thread, so that a busy machine does not fail it
    assert start["cosines"][0] == pytest.approx(1.0, abs=1e-5)
    assert start["cosines"][1] > 0.6
    assert start["cosines"][2] < 0.2


@pytest.mark.model
def test_the_export_is_as_close_to_the_original_as_asked(cache_dir: Path) -> None:
    cached = OnnxCache(cache_dir).load(bundled_model().weights_hash)
    assert cached is not None
    assert cached.manifest.least_probe_cosine >= EmbeddingSettings().probe_cosine
    assert not list(cache_dir.glob(".export-*"))


@pytest.mark.model
@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\0\x01", "...", "🎉", "a\ud800b", "世界大战", "x" * 100_000, "a " * 50_000]
)
def test_any_text_has_a_unit_vector(embedder: Embedder, text: str) -> None:
    vectors = embedder.encode([text])
    assert vectors.shape == (1, 384)
    assert np.linalg.norm(vectors) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.model
def test_a_vector_does_not_depend_on_its_neighbours(embedder: Embedder) -> None:
    texts = ["short", "a sentence of middling length about boats", "word " * 200]
    together = embedder.encode(texts)
    alone = np.concatenate([embedder.encode([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)
    assert embedder.encode([]).shape == (0, 384)


@pytest.mark.model
def test_a_fact_at_the_end_of_a_long_text_is_found_through_its_windows(embedder: Embedder) -> None:
    filler = "The committee discussed the budget and postponed every decision to another week. " * 60
    text = filler + "The spare key to the boat house hangs behind the blue door."
    question = embedder.encode(["where is the spare key of the boat house?"])[0]
    windows = embedder.windows(text)
    assert len(windows) > 2
    assert max(embedder.encode(windows) @ question) > 0.5 > float(embedder.encode([text])[0] @ question)
    assert all(len(embedder.windows(window)) == 1 for window in windows)


@pytest.mark.model
def test_a_truncated_encoder_is_exported_anew(cache_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(cache_dir, tmp_path / "cache")
    (encoder,) = (tmp_path / "cache").glob(f"*/{ENCODER_FILE}")
    whole = encoder.read_bytes()
    os.truncate(encoder, len(whole) // 2)
    state, again = loaded(tmp_path / "cache")
    assert (state.state, state.backend) == ("ready", "onnx-int8")
    assert again is not None
    assert len(encoder.read_bytes()) == len(whole)


@pytest.mark.model
@pytest.mark.deep
def test_a_killed_export_leaves_nothing_that_could_be_taken_for_one(tmp_path: Path) -> None:
    model = bundled_model()
    command = [sys.executable, "-m", "index.onnx_export", str(model.path), str(tmp_path), "0.985"]
    export = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + EXPORT_S
    while not list(tmp_path.glob(".export-*/*")) and time.monotonic() < deadline and export.poll() is None:
        time.sleep(0.02)
    export.send_signal(signal.SIGKILL)
    assert export.wait() == -signal.SIGKILL
    assert OnnxCache(tmp_path).load(model.weights_hash) is None
    assert not (tmp_path / model.weights_hash).exists()


MAKING = """
import json, shutil, sys
from pathlib import Path
import torch
from transformers import BertConfig, BertModel
torch.manual_seed(3)
bundled, folder, pooling, modules = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4].split(",")
config = BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
BertModel(config, add_pooling_layer=False).save_pretrained(folder)
for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
    shutil.copy(bundled / name, folder / name)
(folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64, "do_lower_case": False}))
(folder / "modules.json").write_text(json.dumps([
    {"idx": at, "name": str(at), "path": "" if kind == "Transformer" else f"{at}_{kind}",
     "type": f"sentence_transformers.models.{kind}"} for at, kind in enumerate(modules)]))
(folder / "1_Pooling").mkdir()
modes = {"pooling_mode_mean_tokens": False, f"pooling_mode_{pooling}": True}
(folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32} | modes))
print(json.dumps("made"))
"""


@pytest.mark.model
@pytest.mark.parametrize(
    ("pooling", "modules", "backend", "reason"),
    [
        pytest.param(
            "cls_token",
            "Transformer,Pooling",
            "onnx-int8",
            "",
            id="a BERT with cls pooling is exported",
            marks=pytest.mark.deep,
        ),
        pytest.param(
            "max_tokens", "Transformer,Pooling,Normalize", "sentence-transformers", "max", id="max pooling is not"
        ),
    ],
)
def test_a_folder_is_exported_or_served_as_it_is_with_the_reason(
    tmp_path: Path, pooling: str, modules: str, backend: str, reason: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    in_new_process(MAKING, str(bundled_model().path), str(folder), pooling, modules)
    start = in_new_process(STARTING, str(tmp_path / "cache"), str(folder))
    assert (start["backend"], start["dimensions"]) == (backend, 32)
    assert reason in start["detail"]
    assert bool(start["detail"]) is bool(reason)
