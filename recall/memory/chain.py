"""Whether the events that a start did not read are what was written: every sum, and each line's place in the chain.

The lines are not parsed. What an intact line says was folded before, when the state image was made of this very chain;
a line that does not hold here is looked at by `LogImage.verify`, which says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recall.memory.events import LineError, Sum, verified_sum
from recall.memory.log_image import LogImage


def verify_chain(image: LogImage, pause: Callable[[], bool]) -> None:
    """Read all of an image, a megabyte at a time. `pause` is called between two and says False to give up.

    Raises Damaged, StorageFailure.
    """
    chain = _Chain(image.base, image.base_sum)
    for lines in _lines(image):
        if not all(map(chain.continued_by, lines)):
            image.verify()
            return
        if not pause():
            return
    if chain.seq != image.last_seq:
        image.verify()


class _Chain:
    def __init__(self, seq: int, last: Sum) -> None:
        self.seq = seq
        self._last = last

    def continued_by(self, line: bytes) -> bool:
        self.seq += 1
        if not line.startswith(b'{"seq":%d,"prev":"%b",' % (self.seq, self._last.encode())):
            return False
        try:
            self._last = verified_sum(line)
        except LineError:
            return False
        return True


def _lines(image: LogImage) -> Iterator[list[bytes]]:
    rest = b""
    for chunk in image.chunks():
        *lines, rest = (rest + chunk).split(b"\n")
        yield lines
    if rest:
        yield [rest]
