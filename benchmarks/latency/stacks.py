"""Where does the processor's time of this process go? Stacks of all threads, weighed by what each thread has used.

Every millisecond a thread reads the Python stack of every other one, and from /proc what processor time that
thread has used since the last look; the time goes to the stack it is in. So a thread that waits weighs nothing, and
native code without the interpreter's lock weighs what it takes, under the Python function that called it. What a
thread ended between two looks goes to the stack in which it was last seen at work. Linux only.

The result is in the collapsed form that other tools read too: `outermost;…;innermost nanoseconds`, a line a stack.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

EVERY_S = 0.001
_DEEPEST = 80
_AT_REST = ("concurrent.futures.thread._worker", "threading.Condition.wait", "threading.wait")


class StackSampler:
    """Samples this process from `start` to `stop`."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        self.weights: Counter[str] = Counter()
        """Nanoseconds of the processor by stack."""
        self._every_s = every_s
        self._used: dict[int, int] = {}
        self._at_work: dict[int, str] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="stack-sampler", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, if it ever began; `weights` stands still from here on."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def write(self, path: Path) -> None:
        """Writes the collapsed form."""
        path.write_text("".join(f"{stack} {weight}\n" for stack, weight in self.weights.items()), encoding="utf-8")

    def _work(self) -> None:
        while not self._over.wait(self._every_s):
            frames = sys._current_frames()
            for thread in threading.enumerate():
                if thread.ident in frames and thread is not self._thread and thread.native_id is not None:
                    self._weigh(thread.native_id, frames[thread.ident])

    def _weigh(self, native_id: int, frame: FrameType) -> None:
        used = _processor_ns(native_id)
        spent = used - self._used.get(native_id, used)
        self._used[native_id] = used
        stack = collapsed(frame)
        if stack.endswith(_AT_REST):
            stack = self._at_work.get(native_id, stack)
        elif spent > 0:
            self._at_work[native_id] = stack
        if spent > 0:
            self.weights[stack] += spent


def collapsed(frame: FrameType | None) -> str:
    """A stack from the outermost function to the innermost, with semicolons; `module.function` each."""
    names: list[str] = []
    while frame is not None and len(names) < _DEEPEST:
        names.append(f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}")
        frame = frame.f_back
    return ";".join(reversed(names))


def _processor_ns(native_id: int) -> int:
    """What a thread has used so far; 0 when it is gone."""
    try:
        told = Path(f"/proc/self/task/{native_id}/schedstat").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(told.split()[0])
