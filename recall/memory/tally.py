"""How many memories of a bank are what: counts by status, tags by frequency."""

from collections import Counter
from collections.abc import Iterable

from recall.memory.record import Counts, Record, Status


def counted(records: Iterable[Record], now: int) -> Counts:
    """How many memories are in each status at `now` (microseconds UTC)."""
    found = Counter(Status.EXPIRED if r.status.live and r.expired(now) else r.status for r in records)
    return Counts(
        live=found[Status.ACCEPTED],
        superseded=found[Status.SUPERSEDED],
        retired=found[Status.RETIRED],
        expired=found[Status.EXPIRED],
        nominated=found[Status.NOMINATED],
        quarantined=found[Status.QUARANTINED],
        rejected=found[Status.REJECTED],
    )


def tags_in_use(records: Iterable[Record], now: int) -> list[tuple[str, int]]:
    """Tags of memories in use, most frequent first, then by name."""
    in_use = (r for r in records if r.status is Status.ACCEPTED and not r.expired(now))
    found = Counter(tag for record in in_use for tag in record.tags)
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))
