"""The plan of a pass, cut to what the pass may do and tell. Large banks are planned by a process of their own.

Planning is minutes of pure computation for a large bank; inside the server it would take the interpreter from running
recalls. The child runs at a lower priority and gives back only what is told: the merges that fit, the first proposals.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from consolidate.candidates import find_candidates
from consolidate.errors import PlanningError, Stopped
from consolidate.memo import Memo
from consolidate.plan import Group, Kept, Pair, capped, make_plan
from consolidate.settings import ConsolidateSettings

_MODULE = "consolidate.planning_process"
_MEMOS_PER_PIECE = 128
_LOOK_S = 0.2
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class Planned:
    """What a pass may do, and what it tells of the rest."""

    merges: tuple[Group, ...]
    capped: int
    proposals: tuple[Group, ...]
    proposed: int
    kept: tuple[Kept, ...]
    kept_pairs: int
    scanned: int


def plan_here(
    memos: Sequence[Memo],
    vectors: NDArray[np.float32] | None,
    settings: ConsolidateSettings,
    budget: int,
    undone: frozenset[Pair],
) -> Planned:
    """Plan in this process; `budget` losers at the most."""
    plan = make_plan(memos, find_candidates(memos, vectors, settings), settings, undone)
    merges, left = capped(plan.merges, budget)
    proposals = sorted(plan.proposals, key=_likeness, reverse=True)
    return Planned(
        merges=merges + tuple(Group(group.winner, (), group.pinned) for group in plan.merges if not group.losers),
        capped=left,
        proposals=tuple(proposals[: settings.told_proposals]),
        proposed=sum(len(group.losers) + len(group.pinned) for group in plan.proposals),
        kept=plan.kept[: settings.told_kept],
        kept_pairs=len(plan.kept),
        scanned=plan.scanned,
    )


def plan_apart(
    memos: Sequence[Memo],
    vectors: NDArray[np.float32] | None,
    settings: ConsolidateSettings,
    budget: int,
    undone: frozenset[Pair],
    stop: Callable[[], bool] = lambda: False,
) -> Planned:
    """As plan_here, by a process of its own when the bank is large; it ends when `stop` says so.

    Raises PlanningError, Stopped.
    """
    if len(memos) <= settings.inline_memories:
        return plan_here(memos, vectors, settings, budget, undone)
    with subprocess.Popen(
        [sys.executable, "-P", "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
    ) as child:
        try:
            return _conversation(child, memos, vectors, settings, budget, undone, stop)
        finally:
            child.kill()


def _conversation(
    child: subprocess.Popen[bytes],
    memos: Sequence[Memo],
    vectors: NDArray[np.float32] | None,
    settings: ConsolidateSettings,
    budget: int,
    undone: frozenset[Pair],
    stop: Callable[[], bool],
) -> Planned:
    assert child.stdin is not None
    replies: list[bytes] = []
    reader = threading.Thread(target=lambda: replies.append(_drain(child.stdout)), daemon=True)
    complaints: list[bytes] = []
    listener = threading.Thread(target=lambda: complaints.append(_drain(child.stderr)), daemon=True)
    reader.start()
    listener.start()
    with suppress(BrokenPipeError):  # the child's own words say why
        _tell(child.stdin, memos, vectors, settings, budget, undone)
    with suppress(BrokenPipeError):
        child.stdin.close()
    waited = 0.0
    while reader.is_alive():
        reader.join(_LOOK_S)
        waited += _LOOK_S
        if stop():
            raise Stopped
        if waited > settings.plan_timeout_seconds:
            raise PlanningError(f"the planning process took longer than {settings.plan_timeout_seconds:g} s")
    if child.wait() != 0 or not replies or not replies[0]:
        listener.join(_LOOK_S)
        last = b"".join(complaints).decode("utf-8", "replace").strip().splitlines()[-1:]
        raise PlanningError(f"the planning process broke: {' '.join(last) or f'exit {child.returncode}'}")
    planned: Planned = pickle.loads(replies[0])
    return planned


def _tell(
    stream: IO[bytes],
    memos: Sequence[Memo],
    vectors: NDArray[np.float32] | None,
    settings: ConsolidateSettings,
    budget: int,
    undone: frozenset[Pair],
) -> None:
    """In small pieces: pickling holds the interpreter, and recalls run beside it."""
    pieces = range(0, len(memos), _MEMOS_PER_PIECE)
    pickle.dump((settings, budget, undone, len(pieces), None if vectors is None else vectors.shape), stream)
    for start in pieces:
        pickle.dump(memos[start : start + _MEMOS_PER_PIECE], stream)
        stream.flush()
    if vectors is not None:
        for start in range(0, len(vectors), _MEMOS_PER_PIECE):
            stream.write(np.ascontiguousarray(vectors[start : start + _MEMOS_PER_PIECE], np.float32).tobytes())
    stream.close()


def _drain(stream: IO[bytes] | None) -> bytes:
    return b"" if stream is None else stream.read()


def _likeness(group: Group) -> tuple[float, float, str]:
    members = group.losers or group.pinned
    best = max(
        (m.judgement.likeness for m in members), key=lambda likeness: (_number(likeness.cosine), likeness.jaccard)
    )
    return (_number(best.cosine), best.jaccard, group.winner.id)


def _number(cosine: float) -> float:
    return -1.0 if np.isnan(cosine) else cosine


def _environment() -> dict[str, str]:
    """On one thread, and able to import this very package wherever it lies."""
    here = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def answer(source: IO[bytes], target: IO[bytes]) -> None:
    """The other end of `_tell`."""
    os.nice(_NICENESS)
    header: Any = pickle.load(source)
    settings, budget, undone, pieces, shape = header
    memos: list[Memo] = []
    for _ in range(pieces):
        memos.extend(pickle.load(source))
    vectors = None if shape is None else np.frombuffer(source.read(), np.float32).reshape(shape)
    pickle.dump(plan_here(memos, vectors, settings, budget, undone), target)
    target.flush()
