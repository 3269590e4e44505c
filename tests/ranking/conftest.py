"""A bank to rank, for every test that wants one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ranked_bank import RankedBank, ranked_bank


@pytest.fixture
def small(tmp_path: Path) -> Iterator[RankedBank]:
    """An empty bank that embeds by hashing."""
    with ranked_bank(tmp_path) as made:
        yield made
