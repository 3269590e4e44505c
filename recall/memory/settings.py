"""The numbers that shape how memories are kept."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """How banks are kept on disk and in RAM."""

    max_open_banks: int = 256
    """Banks kept open; the least recently used is closed beyond it."""
    request_ids_kept: int = 10_000
    """Last request ids a bank remembers: a retry within that many writes with an id changes nothing."""
    max_group: int = 2_048
    """Most commands that share one write and one fdatasync."""
    gather_share: float = 0.5
    """Part of the last write's time that the next one waits for those who wrote then; who writes alone never waits."""
    episode_days: float = 30.0
    """Days after which a saved memory of kind EPISODE expires, unless it names its own end; 0 means never."""
    image_events: int = 200
    """Events of a bank beyond what its image on disk holds that are worth a new one; a smaller bank is read whole."""
    image_share: float = 0.1
    """As above, as a part of the bank's events: a new image is written, while the bank is in use, past both."""
    slow_sync_ms: float = 100.0
    """An fdatasync that takes longer is logged as a warning."""
    vacuum_share: float = 0.0
    """Part of a log that no memory needs any more, past which it is vacuumed by itself, history kept; 0 means never."""
    vacuum_least_bytes: int = 16 * 1024 * 1024
    """A log of fewer bytes is not vacuumed by itself."""

    def __post_init__(self) -> None:
        if not 0 <= self.vacuum_share < 1:
            raise ValueError("vacuum_share must be 0 or more and less than 1")
        if self.vacuum_least_bytes < 0:
            raise ValueError("vacuum_least_bytes must not be negative")
