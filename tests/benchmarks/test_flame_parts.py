"""The sampler of stacks, the flame graph, and the bank that a benchmark fills by itself."""

from __future__ import annotations

import threading
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.filling import DataFolder, blended
from benchmarks.latency.flame import svg, tree
from benchmarks.latency.stacks import StackSampler
from index.hashing import HashingEmbedder
from recall.memory.banks import DEFAULT_TENANT, Banks
from recall.memory.clock import SystemClock
from recall.memory.files import DiskFiles
from recall.memory.settings import StorageSettings


def _busy_until(over: threading.Event) -> None:
    while not over.is_set():
        sum(range(1_000))


def test_time_is_charged_to_who_works_and_not_to_who_waits() -> None:
    over, enough = threading.Event(), threading.Event()
    working = threading.Thread(target=_busy_until, args=(over,))
    waiting = threading.Thread(target=over.wait, name="waiting")
    sampler = StackSampler()
    for thread in (working, waiting):
        thread.start()
    sampler.start()
    while sum(sampler.weights.copy().values()) < 50_000_000 and not enough.wait(0.01):
        continue
    sampler.stop()
    over.set()
    for thread in (working, waiting):
        thread.join()
    heaviest, weight = sampler.weights.most_common(1)[0]
    assert "test_flame_parts._busy_until" in heaviest
    assert weight > 0.5 * sum(sampler.weights.values())


def test_a_box_is_as_wide_as_its_share_and_names_are_escaped() -> None:
    root = tree(["a.main;a.<lambda> 750", "a.main;b.wait 250"])
    assert root.weight == 1_000
    picture = ElementTree.fromstring(svg(root, "title & more"))
    told = {
        group.find("{*}title").text: float(group.find("{*}rect").get("width"))  # type: ignore[union-attr,arg-type]
        for group in picture.iter("{http://www.w3.org/2000/svg}g")
    }
    assert told["a.<lambda>: 0.0 ms, 75.0%"] == pytest.approx(900)
    assert told["b.wait: 0.0 ms, 25.0%"] == pytest.approx(300)


def test_no_stack_is_no_picture() -> None:
    with pytest.raises(ValueError, match="no stack was sampled"):
        svg(tree([]), "nothing")


_ENCODER = HashingEmbedder(64)


def test_blended_vectors_have_unit_length_and_lie_between_those_of_the_sample() -> None:
    sample = ["the tea is cold", "rain on Monday"]
    rows = blended(_ENCODER, sample, noise=0.0)([str(number) for number in range(50)])
    first, second = _ENCODER.encode(sample)
    in_their_plane = np.linalg.matrix_rank(np.vstack([first, second, rows]), tol=1e-3)
    assert (rows.shape, in_their_plane) == ((50, 64), 2)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert len(np.unique(rows.round(5), axis=0)) > 10


def test_a_filled_folder_opens_as_a_bank_with_every_text(tmp_path: Path) -> None:
    texts = [f"memory {number}" for number in range(30)]
    with DataFolder(tmp_path) as folder:
        folder.fill("notes", texts, _ENCODER)
    banks = Banks(tmp_path, StorageSettings(), DiskFiles(), SystemClock())
    try:
        bank = banks.open(DEFAULT_TENANT, "notes")
        assert sorted(bank.text(record) for record in bank.records()) == sorted(texts)
    finally:
        banks.close()
