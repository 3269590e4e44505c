import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from index.backfill import Backfill, BackfillSettings, Keyed
from index.embedder import Embedder, EmbedderState
from index.errors import EmbedderUnavailable, EmbeddingError
from index.hashing import HashingEmbedder

WAIT_S = 10.0
SETTINGS = BackfillSettings(
    batch=4, idle_s=9.0, yield_s=0.5, longest_yield_s=5.0, retry_first_s=1.0, retry_longest_s=4.0, retry_text_s=100.0
)


class Moody(HashingEmbedder):
    """Down while told to be; refuses texts with the word `poison`."""

    def __init__(self) -> None:
        super().__init__(16, window_tokens=8, overlap=2)
        self.down = False

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            raise EmbedderUnavailable("test", "gone")
        if any("poison" in text for text in texts):
            raise EmbeddingError("test", "bad text")
        return super().encode(texts)


class Slot:
    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self.is_down = False
        self.is_loading = False

    def current(self) -> Embedder | None:
        return self.embedder

    def state(self) -> EmbedderState:
        return EmbedderState("loading" if self.is_loading else "down" if self.is_down else "ready", "test")

    def report_failure(self, error: Exception) -> None:
        assert error
        self.is_down = True

    def report_success(self) -> None:
        self.is_down = False


class Bank:
    """Texts, the newest last, and what was stored of them."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.stored: dict[str, NDArray[np.float32]] = {}
        self.batches: list[list[str]] = []
        self.broken = False
        self.full = threading.Event()

    def missing(self, model_id: str, limit: int) -> Sequence[tuple[bytes, str]]:
        assert model_id
        if self.broken:
            raise OSError(5, "disk")
        lacking = [text for text in reversed(self.texts) if text not in self.stored]
        return [(text.encode(), text) for text in lacking[:limit]]

    def store(self, model_id: str, items: Sequence[Keyed]) -> None:
        assert model_id
        self.batches.append([key.decode() for key, _ in items])
        self.stored.update({key.decode(): vectors for key, vectors in items})
        if len(self.stored) == len(self.texts):
            self.full.set()


class Setting:
    def __init__(self, *banks: Bank) -> None:
        self.now = 1_000.0
        self.embedder = Moody()
        self.slot = Slot(self.embedder)
        self.backfill = Backfill(self.slot, SETTINGS, lambda: self.now)
        for bank in banks:
            self.backfill.register(bank)

    def work_off(self) -> float:
        """Steps until there is something to wait for."""
        for _ in range(1_000):
            if (wait_s := self.backfill.step()) > 0.0:
                return wait_s
        raise AssertionError("never idle")


def texts(name: str, count: int) -> list[str]:
    return [f"{name} {number}" for number in range(count)]


def test_everything_missing_is_embedded_newest_first() -> None:
    bank = Bank(*texts("a", 10))
    setting = Setting(bank)
    assert setting.work_off() == SETTINGS.idle_s
    assert [text for batch in bank.batches for text in batch] == texts("a", 10)[::-1]
    np.testing.assert_array_equal(bank.stored["a 3"], HashingEmbedder(16).encode(["a 3"]))


def test_an_embedder_that_loads_is_looked_for_often_one_that_is_off_is_not() -> None:
    setting = Setting(Bank("a"))
    setting.slot.embedder, setting.slot.is_loading = None, True
    assert setting.backfill.step() == SETTINGS.loading_s
    setting.slot.is_loading = False
    assert setting.backfill.step() == SETTINGS.idle_s


def test_a_long_text_is_stored_window_by_window() -> None:
    long, short = " ".join(f"w{number}" for number in range(30)), "short"
    bank = Bank(long, short)
    setting = Setting(bank)
    setting.work_off()
    windows = setting.embedder.windows(long)
    assert len(windows) > 1
    np.testing.assert_array_equal(bank.stored[long], setting.embedder.encode(windows))
    assert bank.stored[short].shape == (1, 16)


def test_banks_take_turns() -> None:
    large, small = Bank(*texts("large", 40)), Bank(*texts("small", 4))
    setting = Setting(large, small)
    for _ in range(2):
        assert setting.backfill.step() == 0.0
    assert (len(large.stored), len(small.stored)) == (4, 4)


def test_no_batch_begins_while_a_recall_runs() -> None:
    bank = Bank(*texts("a", 8))
    setting = Setting(bank)
    with setting.backfill.paused():
        assert setting.backfill.step() == SETTINGS.yield_s
        assert not bank.batches
    assert setting.backfill.step() == 0.0
    assert len(bank.batches) == 1


def test_recalls_that_never_pause_do_not_starve_the_backfill() -> None:
    bank = Bank(*texts("a", 8))
    setting = Setting(bank)
    with setting.backfill.paused():
        setting.backfill.step()
        setting.now += SETTINGS.longest_yield_s
        assert setting.backfill.step() == 0.0
        assert len(bank.batches) == 1
        assert setting.backfill.step() == SETTINGS.yield_s  # one batch, then the recalls' turn again


def test_an_embedder_that_is_down_is_retried_with_doubling_waits() -> None:
    bank = Bank("a")
    setting = Setting(bank)
    setting.embedder.down = True
    waits = []
    for _ in range(4):
        waits.append(setting.work_off())
        assert setting.backfill.step() == waits[-1]  # asking early changes nothing
        setting.now += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 4.0]
    assert setting.slot.is_down
    setting.embedder.down = False
    setting.work_off()
    assert (list(bank.stored), setting.slot.is_down) == (["a"], False)


def test_the_return_of_an_embedder_is_noticed_with_nothing_to_embed() -> None:
    setting = Setting(Bank())
    setting.embedder.down = True
    setting.slot.is_down = True
    assert setting.backfill.step() == 1.0
    setting.now += 1.0
    setting.embedder.down = False
    assert setting.backfill.step() == SETTINGS.idle_s
    assert not setting.slot.is_down


def test_one_bad_text_costs_itself_alone_and_is_tried_again_later() -> None:
    bank = Bank("a", "poison", "b", *texts("c", 9))
    setting = Setting(bank)
    assert setting.work_off() == SETTINGS.idle_s
    assert set(bank.stored) == set(bank.texts) - {"poison"}
    assert setting.backfill.bad_texts() == 1
    bank.texts.append("new")
    setting.work_off()
    assert "new" in bank.stored
    setting.now += SETTINGS.retry_text_s
    setting.work_off()
    assert setting.backfill.bad_texts() == 1


def test_more_bad_texts_than_a_batch_hide_nothing() -> None:
    bank = Bank("good", *[f"poison {number}" for number in range(11)])
    setting = Setting(bank)
    setting.work_off()
    assert list(bank.stored) == ["good"]


def test_a_bank_that_fails_does_not_stop_the_others() -> None:
    broken, sound = Bank("a"), Bank("b")
    broken.broken = True
    setting = Setting(broken, sound)
    setting.work_off()
    assert list(sound.stored) == ["b"]
    broken.broken = False
    setting.now += SETTINGS.retry_first_s
    setting.work_off()
    assert list(broken.stored) == ["a"]


def test_a_bank_that_keeps_nothing_does_not_keep_a_core_busy() -> None:
    forgetful = Bank("a", "b")
    forgetful.store = lambda model_id, items: None  # type: ignore[method-assign]  # noqa: ARG005
    setting = Setting(forgetful)
    assert setting.work_off() == SETTINGS.idle_s


def test_without_an_embedder_nothing_is_asked() -> None:
    bank = Bank("a")
    setting = Setting(bank)
    setting.slot.embedder = None
    assert setting.backfill.step() == SETTINGS.idle_s
    assert not bank.batches


def test_a_bank_that_left_is_not_asked_any_more() -> None:
    bank = Bank("a")
    setting = Setting(bank)
    setting.backfill.unregister(bank)
    setting.work_off()
    assert not bank.batches


@pytest.mark.parametrize("count", [1, 50])
def test_the_thread_works_when_poked_and_ends_when_closed(count: int) -> None:
    bank = Bank()
    backfill = Backfill(Slot(Moody()), SETTINGS)
    backfill.register(bank)
    backfill.start()
    bank.texts.extend(texts("a", count))
    backfill.poke()
    assert bank.full.wait(WAIT_S)
    backfill.close()
    backfill.close()
