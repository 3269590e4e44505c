"""Every number that shapes consolidation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsolidateSettings:
    """When a pair of memories is looked at, and how much one run may change."""

    enabled: bool = False
    """Run on a schedule. A run that a person asks for is always possible."""
    interval_hours: float = 24.0
    """Hours between scheduled runs of a bank; a slack of min(5 minutes, interval / 10) is allowed."""
    boot_grace_seconds: float = 45.0
    """Seconds after the start before a run that was missed is made up for."""
    merge_cosine: float = 0.93
    """Cosine from which two texts that say the same in other words may merge without anybody asked."""
    propose_cosine: float = 0.80
    """Cosine from which two texts are offered to the judge or a reviewer."""
    related_jaccard: float = 0.35
    """Character-trigram Jaccard from which two texts are offered as related."""
    duplicate_jaccard: float = 0.72
    """Character-trigram Jaccard from which two texts count as near-duplicates."""
    max_supersedes: int = 200
    """Memories one run may retire, over all banks; the rest is reported as capped and done next time."""
