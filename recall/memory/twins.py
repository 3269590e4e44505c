"""Near-duplicates under the one writer: two promotions of almost the same text never both pass.

Comparing a text with a whole bank takes its time (see `recall.review.likeness`), and no write may wait for it. So it is
done before, on what the bank held at some seq; under the write lock only what came into use since is compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recall.memory.commands import Setting
from recall.memory.errors import NearDuplicate, StaleRevision
from recall.memory.record import Record, Status
from recall.memory.state import Draft

Likeness = Callable[[str, Sequence[str]], Sequence[float]]
"""How like a text is to each of others, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A text that was compared with all in use at `seq`: the text's hash, its memory's revision, and how to go on."""

    seq: int
    text_hash: bytes
    revision: int
    likeness: Likeness
    least: float
    """The likeness from which two are near-duplicates."""
    leaving: frozenset[str] = frozenset()
    """Memories that go in the same write, and so do not count."""

    def check(self, draft: Draft, setting: Setting, record: Record) -> None:
        """Raises NearDuplicate; StaleRevision when the memory has another text by now."""
        if record.text_hash != self.text_hash:
            raise StaleRevision(record.id, self.revision, record.revision)
        self.check_text(draft, setting, record.id, setting.text(record))

    def check_text(self, draft: Draft, setting: Setting, memory_id: str, text: str) -> None:
        """Raises NearDuplicate, naming the one that is most alike of what came into use since."""
        fresh = [one for one in draft.changed_since(self.seq) if self._counts(one, memory_id, setting.now)]
        if not fresh:
            return
        scores = self.likeness(text, [setting.text(one) for one in fresh])
        score, place = max((score, -place) for place, score in enumerate(scores))
        if score >= self.least:
            raise NearDuplicate(memory_id, fresh[-place].id, score)

    def _counts(self, record: Record, memory_id: str, now: int) -> bool:
        in_use = record.status is Status.ACCEPTED and not record.expired(now)
        return in_use and record.id != memory_id and record.id not in self.leaving
