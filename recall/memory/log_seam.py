"""What a bank needs of its log. See `log` for the one that is kept in a file."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from recall.memory.errors import Closed
from recall.memory.events import Entry, Event, Sum
from recall.memory.log_image import LogImage
from recall.memory.scan import Start


class StaleLog(Exception):  # noqa: N818
    """Somebody else appended: the expected last seq is not the last seq."""


class NotThisLog(Exception):  # noqa: N818
    """What is known of a log does not fit the file."""


class LogClosed(Closed):
    """The log was closed before it could be read; whoever asks the bank again gets its successor's."""


class Log(Protocol):
    """An ordered, durable list of events. Reads raise LogClosed once it is closed; those that run end well."""

    @property
    def last_seq(self) -> int:
        """The seq of the last event, 0 when there is none."""

    @property
    def first_seq(self) -> int:
        """The first event that can be read: 1 unless what a vacuum archived was taken away."""

    @property
    def poisoned(self) -> str | None:
        """Why the log takes no more events."""

    @property
    def size_bytes(self) -> int:
        """How much it holds."""

    def life(self, ordinal: int, seqs: Sequence[int]) -> list[int]:
        """The seqs of a memory's events, oldest first; `seqs` as `State.events_of` gives them. Raises Damaged.

        The first is a `kept`, which says how the memory stood, where what came before cannot be read.
        """

    def append(self, expected_seq: int, entries: Sequence[Entry]) -> None:
        """Make events durable, all or none. Raises StaleLog, StorageFailure."""

    def read(self, from_seq: int, to_seq: int) -> Iterator[Event]:
        """The events from_seq to to_seq, both included. Raises HistoryArchived."""

    def event(self, seq: int) -> Event:
        """One event. Raises HistoryArchived."""

    def text(self, seq: int) -> str:
        """The text of one event that holds one."""

    def text_of(self, memory_id: str, seq: int) -> str | None:
        """The same, if that event is one of this memory; None when it is not, or holds no text."""

    def stamp(self, seq: int) -> Sum:
        """The sum of one event, which stands for the whole log up to it; "" for 0. Raises HistoryArchived."""

    def image(self, last_seq: int | None = None) -> LogImage:
        """The log as it stands now, or as it stood at `last_seq`: for a backup, or to be verified."""

    def known(self, last_seq: int) -> Start:
        """A copy of what a later start need not read again."""

    def distrust(self, why: str) -> None:
        """Take no more events."""

    def close(self) -> None:
        """Let go of it; running reads end well."""
