import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from index.embedder import EmbedderSlot, EmbedderState, EmbeddingSettings
from index.errors import EmbedderUnavailable, ModelUnusable
from index.hashing import HashingEmbedder
from index.loader import Loaded

WAIT_S = 20.0
EAGER = EmbeddingSettings(model="scripted", retry_first_s=0.0, retry_longest_s=0.0)


class ScriptedLoader:
    """Runs one step of the script at each load."""

    def __init__(self, *steps: Callable[[], Loaded]) -> None:
        self.steps = list(steps)
        self.loads = 0
        self.closed = threading.Event()

    def load(self) -> Loaded:
        self.loads += 1
        return self.steps.pop(0)()

    def close(self) -> None:
        self.closed.set()


def success() -> Loaded:
    return Loaded(HashingEmbedder(8), "hashing", "slow for a reason")


def failing(error: Exception) -> Callable[[], Loaded]:
    def fail() -> Loaded:
        raise error

    return fail


def started(loader: ScriptedLoader, tmp_path: Path) -> EmbedderSlot:
    slot = EmbedderSlot(EAGER, tmp_path, loader)
    slot.start()
    return slot


def real(model: str, tmp_path: Path) -> EmbedderSlot:
    slot = EmbedderSlot(EmbeddingSettings(model=model), tmp_path)
    slot.start()
    assert slot.wait(WAIT_S)
    slot.close()
    return slot


def test_nothing_waits_for_the_model_while_it_loads(tmp_path: Path) -> None:
    gate = threading.Event()

    def slow() -> Loaded:
        assert gate.wait(WAIT_S)
        return success()

    slot = started(ScriptedLoader(slow), tmp_path)
    assert (slot.current(), slot.state(), slot.wait(0.0)) == (None, EmbedderState("loading"), False)
    gate.set()
    assert slot.wait(WAIT_S)
    embedder = slot.current()
    assert embedder is not None
    assert slot.state() == EmbedderState("ready", "hashing", 8, "slow for a reason", embedder.model_id)


def test_an_endpoint_that_is_down_at_the_start_is_asked_again(tmp_path: Path) -> None:
    ready = threading.Event()

    def last() -> Loaded:
        ready.set()
        return success()

    down = failing(EmbedderUnavailable("test", "connection refused"))
    loader = ScriptedLoader(down, down, last)
    slot = started(loader, tmp_path)
    assert slot.wait(WAIT_S)
    assert ready.wait(WAIT_S)
    slot.close()
    assert loader.loads == 3


@pytest.mark.parametrize("error", [ModelUnusable("test", "no such folder"), RuntimeError("out of memory")])
def test_a_model_that_cannot_be_loaded_is_told_and_not_tried_again(tmp_path: Path, error: Exception) -> None:
    loader = ScriptedLoader(failing(error))
    slot = started(loader, tmp_path)
    assert slot.wait(WAIT_S)
    assert slot.state().state == "down"
    assert str(error) in slot.state().detail
    assert slot.current() is None
    assert loader.loads == 1


def test_reports_move_it_between_down_and_ready(tmp_path: Path) -> None:
    slot = started(ScriptedLoader(success), tmp_path)
    assert slot.wait(WAIT_S)
    ready = slot.state()
    slot.report_failure(EmbedderUnavailable("openai", "timed out"))
    assert (slot.state().state, slot.state().model_id) == ("down", ready.model_id)
    assert "timed out" in slot.state().detail
    assert slot.current() is not None
    slot.report_success()
    assert slot.state() == ready


def test_closing_ends_a_load_that_waits(tmp_path: Path) -> None:
    loader = ScriptedLoader(failing(EmbedderUnavailable("test", "down")))
    slot = EmbedderSlot(EmbeddingSettings(model="scripted", retry_first_s=3600.0), tmp_path, loader)
    slot.start()
    assert slot.wait(WAIT_S)
    slot.close()
    assert loader.closed.is_set()


def test_no_model_is_off_at_once(tmp_path: Path) -> None:
    slot = real("none", tmp_path)
    assert (slot.state().state, slot.current()) == ("off", None)


def test_the_hashing_model_needs_no_file(tmp_path: Path) -> None:
    slot = real("hashing:32", tmp_path)
    assert (slot.state().state, slot.state().backend, slot.state().dimensions) == ("ready", "hashing", 32)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("model", "word"),
    [
        pytest.param("hashing:0", "DIMENSIONS", id="no dimensions"),
        pytest.param("hashing:many", "DIMENSIONS", id="dimensions in words"),
        pytest.param("openai:localhost", "BASE_URL#MODEL", id="no model in the address"),
        pytest.param("EMPTY", "config.json", id="an empty folder"),
        pytest.param("BROKEN", "modules.json", id="a folder with broken files"),
        pytest.param("nobody/no-such-model", "HF_HUB_OFFLINE", id="a hub name without a hub"),
        pytest.param("./missing/folder", "hub", id="a folder that is missing"),
    ],
)
def test_a_model_that_is_not_there_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, word: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "BROKEN").mkdir()
    for name in ("config.json", "model.safetensors", "modules.json"):
        (tmp_path / "BROKEN" / name).write_text("{")
    state = real(str(tmp_path / model) if model.isupper() else model, tmp_path / "cache").state()
    assert state.state == "down"
    assert word in state.detail


@pytest.mark.parametrize("text", ["", " ", "\0", "...", "🎉", "a\ud800", "世界大战", "x" * 100_000])
def test_the_hashing_embedder_gives_a_unit_vector_for_any_text(text: str) -> None:
    embedder = HashingEmbedder(32)
    vectors = embedder.encode([text, text])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[:1], HashingEmbedder(32).encode([text]))


def test_the_hashing_embedder_puts_shared_words_close() -> None:
    vectors = HashingEmbedder(256).encode(["blog posts go out", "blog posts on tuesday", "quarterly figures rise"])
    assert vectors[0] @ vectors[1] > 0.3 > abs(float(vectors[0] @ vectors[2]))
