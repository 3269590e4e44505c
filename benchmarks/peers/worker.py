"""One system in a process of its own: ``python -m benchmarks.peers.worker NAME PREPARED FOLDER SEARCHES``.

Prints its figures as JSON on the last line of stdout.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.load.footprint import shared_out_mib
from benchmarks.peers.peer import Peer
from benchmarks.peers.prepared import Prepared, read
from benchmarks.peers.registry import PEERS

_WARM_UP, _VISIBLE_S = 20, 30.0
_LONGEST_SEARCHES_S = 120.0
"""A slow system is asked fewer questions; its figures say how many."""
_MS = 1e3


class PeerFigures(msgspec.Struct, frozen=True):
    """What one system did; milliseconds, MiB, bytes."""

    fill_per_s: float
    search_p50_ms: float
    search_p99_ms: float
    recall_at_10: float
    save_p50_ms: float
    visible_p50_ms: float
    rss_mib: float
    rss_grown_mib: float
    disk_bytes: int
    searches: int
    saves: int


def measure(peer: Peer, made: Prepared, folder: Path, searches: int, before_mib: float, depth: int) -> PeerFigures:
    """Fills, asks, saves. Raises whatever the system raises."""
    count, k = len(made.texts.memories), made.exact.k
    began = time.perf_counter()
    peer.fill(made.texts.memories, made.vectors[:count])
    filled = time.perf_counter() - began
    taken, recalls = [], []
    ends = time.perf_counter() + _LONGEST_SEARCHES_S
    for place in range(min(searches, len(made.texts.questions))):
        began = time.perf_counter()
        if began > ends:
            break
        found = peer.search(made.texts.questions[place], made.questions[place], k)
        taken.append((time.perf_counter() - began) * _MS)
        recalls.append(recall(found, made.exact.rows[place][int(depth > 0)], k))
    saved, seen = zip(*(_saved(peer, made, count + at, k) for at in range(len(made.texts.saved))), strict=True)
    warm = taken[min(_WARM_UP, len(taken) // 2) :]
    rss = footprint_mib(peer)
    return PeerFigures(
        fill_per_s=round(count / filled, 1),
        search_p50_ms=round(float(np.percentile(warm, 50)), 4),
        search_p99_ms=round(float(np.percentile(warm, 99)), 4),
        recall_at_10=round(float(np.mean(recalls)), 4),
        save_p50_ms=round(float(np.median(saved)), 4),
        visible_p50_ms=round(float(np.median(seen)), 4),
        rss_mib=rss,
        rss_grown_mib=round(rss - before_mib, 1),
        disk_bytes=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        searches=len(warm),
        saves=len(saved),
    )


def recall(found: Sequence[int], exact: Sequence[int], k: int) -> float:
    """The share of the k best that were found."""
    return len(set(found[:k]) & set(exact)) / k


def footprint_mib(peer: Peer) -> float:
    """Resident memory of this process and of those the system runs beside it; what they share counts once."""
    return round(sum(shared_out_mib(pid) for pid in (os.getpid(), *peer.processes())), 1)


def _saved(peer: Peer, made: Prepared, row: int, k: int) -> tuple[float, float]:
    """Milliseconds of the save, and until a search found it."""
    text, vector = made.texts.saved[row - len(made.texts.memories)], np.array(made.vectors[row])
    began = time.perf_counter()
    peer.save(row, text, vector)
    saved = time.perf_counter()
    while row not in peer.search(text, vector, k):
        if time.perf_counter() - saved > _VISIBLE_S:
            raise TimeoutError(f"a saved memory is not found after {_VISIBLE_S:g} s")
    return (saved - began) * _MS, (time.perf_counter() - began) * _MS


def main() -> None:
    """As the module's docstring says."""
    name, prepared, folder, searches = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    made = read(prepared)
    peer_type = PEERS[name].load()
    before = shared_out_mib(os.getpid())
    peer = peer_type(folder, prepared)
    try:
        figures = measure(peer, made, folder, searches, before, PEERS[name].depth)
    finally:
        peer.close()
    sys.stdout.write(msgspec.json.encode(figures).decode() + "\n")


if __name__ == "__main__":
    main()
