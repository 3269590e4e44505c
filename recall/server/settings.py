"""The numbers that shape how calls are taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How the gRPC server runs."""

    workers: int = 16
    """Threads that answer calls."""
    stream_workers: int = 8
    """Threads for imports, exports and reflection, which last longer than calls; more of them wait their turn."""
    max_watchers: int = 64
    """Watch streams at once; they have threads of their own and never eat those of the calls."""
    watch_queue: int = 1_024
    """Changes that wait for one watcher; past it the oldest are dropped and counted as missed."""
    max_recall_streams: int = 32
    """RecallStream calls at once; they have threads of their own and never eat those of the calls."""
    max_waiting_calls: int = 256
    """Calls that wait for a thread; past it the oldest is refused with RESOURCE_EXHAUSTED, to be made again shortly."""
    crowded_ms: float = 100.0
    """Once more calls than threads have been there for so long without a break, the newest begins first."""
    busy_calls: int = 2
    """Calls that then begin beside each other."""
    busy_ms: float = 20.0
    """One that runs for longer is taken to wait for a disk, a model or a bank, and counts no more."""
    burst_ms: float = 2_000.0
    """Once more calls than threads have been there for so long without a break, some are refused as above."""
    standing_ms: float = 25.0
    """Those that waited for longer."""
    max_concurrent_calls: int = 1_000
    """Calls taken at once, waiting ones included; past it a call is refused with RESOURCE_EXHAUSTED."""
    max_message_bytes: int = 64 * 1024 * 1024
    """Largest request or response, in bytes. The default lets a batch of 1,000 of the longest texts pass."""
    page_bytes: int = 2 * 1024 * 1024
    """A page of List ends early past this many bytes: clients with gRPC's default limit of 4 MiB can then read it."""
    import_batch: int = 256
    """Records of an import that share one write."""
    warm_banks: int = 8
    """Banks, those written last first, that are opened at start, before anybody asks for them."""
    flush_every_s: float = 30.0
    """Seconds between two writes of what is derived to disk; a restart builds again what came after the last."""
    reflection: bool = True
    """Whether gRPC reflection tells clients the services there are."""
    grace_s: float = 5.0
    """Seconds that running calls get to finish after SIGTERM."""
    create_banks_on_save: bool = True
    """Whether the first save to a bank that does not exist makes it."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe level that is logged, to stderr."""

    def __post_init__(self) -> None:
        counts = (self.workers, self.stream_workers, self.max_watchers, self.watch_queue, self.import_batch)
        if min(counts) < 1:
            raise ValueError("workers, stream_workers, max_watchers, watch_queue and import_batch must be at least 1")
        if self.max_recall_streams < 1 or self.max_waiting_calls < 1:
            raise ValueError("max_recall_streams and max_waiting_calls must be at least 1")
        if self.busy_calls < 1:
            raise ValueError("busy_calls must be at least 1")
        if min(self.busy_ms, self.crowded_ms, self.burst_ms, self.standing_ms) <= 0:
            raise ValueError("busy_ms, crowded_ms, burst_ms and standing_ms must be above 0")
        if self.warm_banks < 0:
            raise ValueError("warm_banks must not be negative")
        if self.max_message_bytes < 64 * 1024:
            raise ValueError("max_message_bytes must be at least 65536")
        if self.grace_s < 0 or self.flush_every_s <= 0:
            raise ValueError("grace_s must not be negative and flush_every_s must be above 0")
