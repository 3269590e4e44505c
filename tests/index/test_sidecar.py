import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from index.sidecar import Sidecar, sidecar_name, text_key
from index.sidecar_files import OsFiles, SidecarHandle

DIMENSIONS = 4
MODEL = "model:1"
RECORD = 16 + 4 + 4 * DIMENSIONS + 8


def vectors(seed: int, windows: int = 1) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(windows, DIMENSIONS)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def filled(path: Path) -> Sidecar:
    """Four texts; the third has two windows."""
    sidecar = Sidecar.open(path, MODEL, DIMENSIONS)
    sidecar.put([(text_key(str(number)), vectors(number, 2 if number == 2 else 1)) for number in range(4)])
    return sidecar


def present(sidecar: Sidecar) -> list[int]:
    found = []
    for number in range(4):
        stored = sidecar.get(text_key(str(number)))
        if stored is not None:
            np.testing.assert_array_equal(stored, vectors(number, 2 if number == 2 else 1))
            found.append(number)
    return found


def test_vectors_come_back_bit_for_bit_after_reopening(tmp_path: Path) -> None:
    filled(tmp_path / "v").close()
    again = Sidecar.open(tmp_path / "v", MODEL, DIMENSIONS)
    assert (present(again), len(again), again.dropped) == ([0, 1, 2, 3], 4, 0)
    assert again.get(text_key("unknown")) is None


def test_a_known_text_is_not_written_twice(tmp_path: Path) -> None:
    sidecar = filled(tmp_path / "v")
    size = (tmp_path / "v").stat().st_size
    sidecar.put([(text_key("1"), vectors(9))])
    assert (tmp_path / "v").stat().st_size == size
    assert present(sidecar) == [0, 1, 2, 3]


@pytest.mark.parametrize("cut", range(1, RECORD + 1))
def test_a_file_torn_at_any_byte_of_its_last_record_loses_that_record_alone(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "v"
    filled(path).close()
    os.truncate(path, path.stat().st_size - cut)
    torn = Sidecar.open(path, MODEL, DIMENSIONS)
    assert present(torn) == [0, 1, 2]
    assert torn.dropped == (0 if cut == RECORD else 1)
    torn.put([(text_key("3"), vectors(3))])
    assert present(Sidecar.open(path, MODEL, DIMENSIONS)) == [0, 1, 2, 3]


@pytest.mark.parametrize("byte", range(RECORD))
@pytest.mark.parametrize("mask", [0x01, 0x80])
def test_a_flipped_bit_costs_one_text_and_is_counted(tmp_path: Path, byte: int, mask: int) -> None:
    path = tmp_path / "v"
    filled(path).close()
    content = bytearray(path.read_bytes())
    content[len(content) - 5 * RECORD + RECORD + byte] ^= mask  # in the record of text 1
    path.write_bytes(content)
    damaged = Sidecar.open(path, MODEL, DIMENSIONS)
    assert (present(damaged), damaged.dropped) == ([0, 2, 3], 1)
    damaged.put([(text_key("1"), vectors(1))])
    assert present(Sidecar.open(path, MODEL, DIMENSIONS)) == [0, 1, 2, 3]


@pytest.mark.parametrize("window", [0, 1])
def test_a_text_with_one_bad_window_is_gone_as_a_whole(tmp_path: Path, window: int) -> None:
    path = tmp_path / "v"
    filled(path).close()
    content = bytearray(path.read_bytes())
    content[len(content) - 5 * RECORD + (2 + window) * RECORD + 30] ^= 0x10
    path.write_bytes(content)
    assert present(Sidecar.open(path, MODEL, DIMENSIONS)) == [0, 1, 3]


def test_windows_that_do_not_follow_each_other_make_no_text(tmp_path: Path) -> None:
    path = tmp_path / "v"
    sidecar = Sidecar.open(path, MODEL, DIMENSIONS)
    sidecar.put([(text_key("a"), vectors(1, 2)), (text_key("b"), vectors(2, 2)), (text_key("c"), vectors(3))])
    content = path.read_bytes()
    start = len(content) - 5 * RECORD
    a0, a1, b0, b1, c = (content[start + at * RECORD :][:RECORD] for at in range(5))
    path.write_bytes(content[:start] + a0 + b0 + a1 + b1 + a1 + c)
    mixed = Sidecar.open(path, MODEL, DIMENSIONS)
    assert [mixed.get(text_key(text)) is not None for text in "abc"] == [False, False, True]
    assert mixed.dropped == 0
    assert mixed.garbage([text_key("c")]) == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: content[:0], id="emptied"),
        pytest.param(lambda content: content[:17], id="header torn"),
        pytest.param(lambda content: b"not a sidecar at all, " * 40 + content, id="foreign"),
        pytest.param(lambda content: b"\0" * len(content), id="zeroed"),
        pytest.param(lambda content: content[:9] + b"\xff" + content[10:], id="header bit"),
    ],
)
def test_a_file_without_our_header_is_begun_anew(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "v"
    filled(path).close()
    path.write_bytes(damage(path.read_bytes()))
    sidecar = Sidecar.open(path, MODEL, DIMENSIONS)
    assert present(sidecar) == []
    sidecar.put([(text_key("1"), vectors(1))])
    assert present(Sidecar.open(path, MODEL, DIMENSIONS)) == [1]


@pytest.mark.parametrize(("model", "dimensions"), [("model:2", DIMENSIONS), (MODEL, DIMENSIONS + 1)])
def test_vectors_of_another_model_are_never_read(tmp_path: Path, model: str, dimensions: int) -> None:
    filled(tmp_path / "v").close()
    assert len(Sidecar.open(tmp_path / "v", model, dimensions)) == 0


def test_models_have_files_of_their_own() -> None:
    assert sidecar_name("a") != sidecar_name("b")


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((1, DIMENSIONS)),
        np.full((1, DIMENSIONS), np.nan),
        np.full((1, DIMENSIONS), np.inf),
        np.full((1, DIMENSIONS), 1e38),
        np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]]),
        np.ones((1, DIMENSIONS + 1)),
        np.ones(DIMENSIONS),
        np.ones((0, DIMENSIONS)),
    ],
)
def test_what_is_no_vector_is_refused_and_nothing_is_written(tmp_path: Path, bad: NDArray[np.float64]) -> None:
    sidecar = Sidecar.open(tmp_path / "v", MODEL, DIMENSIONS)
    with pytest.raises(ValueError, match="vector"):
        sidecar.put([(text_key("good"), vectors(1)), (text_key("bad"), bad.astype(np.float32))])
    assert len(Sidecar.open(tmp_path / "v", MODEL, DIMENSIONS)) == 0


def test_compaction_keeps_the_living_and_gives_the_space_back(tmp_path: Path) -> None:
    path = tmp_path / "v"
    sidecar = filled(path)
    before = path.stat().st_size
    live = {text_key("2"), text_key("3"), text_key("never embedded")}
    assert sidecar.garbage(live) == pytest.approx(0.4)
    sidecar.compact(live)
    assert path.stat().st_size == before - 2 * RECORD
    assert present(sidecar) == present(Sidecar.open(path, MODEL, DIMENSIONS)) == [2, 3]
    sidecar.put([(text_key("0"), vectors(0))])
    assert present(Sidecar.open(path, MODEL, DIMENSIONS)) == [0, 2, 3]


def test_readers_are_right_all_through_compactions(tmp_path: Path) -> None:
    sidecar = filled(tmp_path / "v")
    keys = {text_key(str(number)) for number in range(4)}
    wrong: list[list[int]] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            if (seen := present(sidecar)) != [0, 1, 2, 3]:
                wrong.append(seen)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        sidecar.compact(keys)
    stop.set()
    reader.join()
    assert not wrong


def test_damage_that_comes_while_open_is_not_returned(tmp_path: Path) -> None:
    path = tmp_path / "v"
    sidecar = filled(path)
    with path.open("r+b") as file:
        file.seek(-RECORD + 25, os.SEEK_END)
        file.write(b"\xee\xee")
    assert present(sidecar) == [0, 1, 2]
    assert sidecar.dropped == 1


def test_what_was_there_at_the_opening_is_mapped_as_each_text_would_come_alone(tmp_path: Path) -> None:
    path = tmp_path / "v"
    filled(path).close()
    sidecar = Sidecar.open(path, MODEL, DIMENSIONS)
    sidecar.put([(text_key("late"), vectors(1))])
    names = ("3", "unknown", "0", "2", "late")
    mapped = sidecar.mapped([text_key(name) for name in names])
    assert (mapped.first < 0).tolist() == [False, True, False, False, True]
    for name, first, windows in zip(names, mapped.first, mapped.windows, strict=True):
        if first >= 0:
            np.testing.assert_array_equal(mapped.rows[first : first + windows], sidecar.get(text_key(name)))
    assert not mapped.rows.flags.owndata


def test_what_is_damaged_at_the_opening_is_not_mapped_and_a_mapping_outlives_a_compaction(tmp_path: Path) -> None:
    path = tmp_path / "v"
    filled(path).close()
    with path.open("r+b") as file:
        file.seek(-2 * RECORD + 25, os.SEEK_END)  # the second window of the third text
        file.write(b"\xee\xee")
    sidecar = Sidecar.open(path, MODEL, DIMENSIONS)
    keys = [text_key(name) for name in ("0", "2", "3")]
    mapped = sidecar.mapped(keys)
    assert (mapped.first < 0).tolist() == [False, True, False]
    before = mapped.rows[mapped.first[0]].copy()
    sidecar.compact(keys[:1])
    np.testing.assert_array_equal(mapped.rows[mapped.first[0]], before)
    assert (sidecar.mapped(keys).first < 0).all()
    assert sidecar.get(keys[0]) is not None


class FullDisk(OsFiles):
    """Writes half of what it is given, then fails, while `full`."""

    full = False

    def open_append(self, path: Path) -> SidecarHandle:
        handle, disk = super().open_append(path), self
        whole = handle.append

        def append(data: bytes) -> None:
            whole(data[: len(data) // 2] if disk.full else data)
            if disk.full:
                raise OSError(28, "no space left on device")

        handle.append = append  # type: ignore[method-assign]
        return handle


def test_a_full_disk_leaves_whole_records_behind(tmp_path: Path) -> None:
    disk = FullDisk()
    sidecar = Sidecar.open(tmp_path / "v", MODEL, DIMENSIONS, disk)
    sidecar.put([(text_key("0"), vectors(0))])
    disk.full = True
    with pytest.raises(OSError, match="no space"):
        sidecar.put([(text_key("1"), vectors(1))])
    disk.full = False
    sidecar.put([(text_key("3"), vectors(3))])
    assert present(sidecar) == [0, 3]
    again = Sidecar.open(tmp_path / "v", MODEL, DIMENSIONS)
    assert (present(again), again.dropped) == ([0, 3], 0)


@pytest.mark.parametrize("text", ["", "\0", "a\ud800", "x" * 100_000])
def test_any_string_has_a_key(text: str) -> None:
    assert len(text_key(text)) == 16
