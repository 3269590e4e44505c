"""Work that tells how far it is, followed as a stream."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

from consolidate.report import RunReport
from consolidate.tidy import Step

Work = Callable[[Callable[[Step], None], Callable[[], bool]], RunReport]


def followed(work: Work, when_left: Callable[[Callable[[], None]], object]) -> Iterator[Step | RunReport]:
    """The steps of `work(tell, cancelled)` as they come, then what it returns; raises what it raises.

    `when_left` takes what to call when the reader leaves. The work is then told that it is cancelled and ends between
    two steps; this waits for it, so that nothing runs on unseen.
    """
    parts: queue.SimpleQueue[Step | RunReport | BaseException] = queue.SimpleQueue()
    left = threading.Event()
    when_left(left.set)

    def run() -> None:
        try:
            parts.put(work(parts.put, left.is_set))
        except BaseException as error:  # noqa: BLE001 - it is raised to the reader
            parts.put(error)

    thread = threading.Thread(target=run, name="recall-run", daemon=True)
    thread.start()
    try:
        while True:
            part = parts.get()
            if isinstance(part, BaseException):
                raise part
            yield part
            if isinstance(part, RunReport):
                return
    finally:
        left.set()
        thread.join()
