"""Tag → ordinals that carry it, for masks; tags filter, they do not rank."""

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class TagPostings:
    """Postings of one bank. A memory keeps its postings whatever its status: other masks say who may be recalled."""

    def __init__(self) -> None:
        self._postings: dict[str, array[int]] = {}

    def put(self, ordinal: int, tags: Sequence[str]) -> None:
        """The memory carries these tags, besides those it has."""
        for tag in tags:
            self._postings.setdefault(tag, array("q")).append(ordinal)

    def drop(self, ordinal: int, tags: Sequence[str]) -> None:
        """The memory no longer carries these tags, which it has. Takes time linear in the postings."""
        for tag in tags:
            self._postings[tag].remove(ordinal)

    def mask(self, tags: Sequence[str], size: int) -> NDArray[np.bool_]:
        """True for the memories that carry all of `tags`."""
        marked = np.ones(size, np.bool_)
        for tag in tags:
            one = np.zeros(size, np.bool_)
            one[np.array(self._postings.get(tag, ()), np.int64)] = True
            marked &= one
        return marked
