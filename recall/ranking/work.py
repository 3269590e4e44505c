"""From changes of a bank to what each derived structure has to do: the last state of every memory that was touched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recall.memory.record import Change, Record
from recall.ranking.columns import archived, indexed


@dataclass(frozen=True, slots=True)
class Touched:
    """One memory, before the first and after the last of some changes."""

    before: Record | None
    after: Record
    text: str | None
    """Its text; None when no structure needs it."""

    @property
    def ordinal(self) -> int:
        """Of the memory."""
        return self.after.ordinal

    @property
    def enters(self) -> bool:
        """The legs must take its text anew."""
        return indexed(self.after) and (not self._was or self._reworded or self._renamed)

    @property
    def leaves(self) -> bool:
        """The legs must let go of it."""
        return self._was and not indexed(self.after)

    @property
    def reworded(self) -> bool:
        """Its vector no longer stands for it, or it had none."""
        return indexed(self.after) and (not self._was or self._reworded)

    @property
    def enters_archive(self) -> bool:
        """Only a query with `include_superseded` finds it from now on."""
        return archived(self.after) and not (self.before is not None and archived(self.before))

    @property
    def leaves_archive(self) -> bool:
        """It was in the archive and is no longer."""
        return self.before is not None and archived(self.before) and not archived(self.after)

    @property
    def _was(self) -> bool:
        return self.before is not None and indexed(self.before)

    @property
    def _reworded(self) -> bool:
        return self.before is not None and self.before.text_seq != self.after.text_seq

    @property
    def _renamed(self) -> bool:
        return self.before is not None and names_of(self.before) != names_of(self.after)


def names_of(record: Record) -> tuple[str, ...]:
    """The names a memory is found by: its entities and who said it, lower-cased."""
    author = (record.author.casefold(),) if record.author else ()
    return tuple(dict.fromkeys((*record.entities, *author)))


def indexed_text(record: Record, text: str) -> str:
    """What the lexical leg reads: the text and the entities. Who said it is matched by the entity leg alone."""
    return "\n".join((text, *record.entities)) if record.entities else text


def gather(changes: Sequence[Change], text_of: Callable[[Record], str]) -> list[Touched]:
    """One entry a memory, in the order first touched; `text_of` reads a text that no change brought."""
    first: dict[int, Record | None] = {}
    last: dict[int, Record] = {}
    texts: dict[int, str] = {}
    for change in changes:
        ordinal = change.after.ordinal
        first.setdefault(ordinal, change.before)
        last[ordinal] = change.after
        if change.text is not None:
            texts[ordinal] = change.text
    return [_touched(first[ordinal], last[ordinal], texts.get(ordinal), text_of) for ordinal in first]


def _touched(before: Record | None, after: Record, text: str | None, text_of: Callable[[Record], str]) -> Touched:
    touched = Touched(before, after, text)
    if text is None and (touched.enters or touched.enters_archive):
        return Touched(before, after, text_of(after))
    return touched
