"""Waiting for the backfill, with a progress bar on stderr."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from recall.commands.failure import CommandError
from recall.commands.progress import progress

if TYPE_CHECKING:
    from recall.client import RecallClient

POLL_S = 0.25
"""Pause between two looks at the coverage, in seconds."""
LOADING_S = 120.0
"""Longest wait for a model to come into force, in seconds: the first start exports it."""


def wait_for_coverage(client: RecallClient, bank: str) -> None:
    """Returns when every live memory has a vector. Raises CommandError when the backfill cannot go on."""
    give_up = time.monotonic() + LOADING_S
    with progress() as bars:
        task = bars.add_task("embedding", total=None)
        while True:
            coverage = client.get_bank(name=bank).bank.coverage
            bars.update(task, completed=coverage.embedded, total=coverage.total)
            if coverage.model and coverage.embedded >= coverage.total:
                return
            if coverage.stalled_reason:
                raise CommandError(f"the backfill of {bank} stands still: {coverage.stalled_reason}")
            if not coverage.model and (client.status().embedder.state in ("off", "down") or time.monotonic() > give_up):
                raise CommandError(f"no model embeds {bank}: `recall status` says why")
            time.sleep(POLL_S)
