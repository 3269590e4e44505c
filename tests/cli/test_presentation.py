"""What is shown without a server: bars, ages, times, escapes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recall.commands.answer import BAR_CELLS, bar
from recall.commands.failure import CommandError
from recall.commands.moments import age, future, moment, past
from recall.commands.output import one_line
from recall.commands.tables import size
from recall.review.visible import visible

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "longest", "cells"),
    [
        (0, 1, ""),
        (1, 1, "█" * BAR_CELLS),
        (0.5, 1, "█" * (BAR_CELLS // 2)),
        (-1, 2, "█" * (BAR_CELLS // 2)),
        (1, 0, ""),
        (1 / (8 * BAR_CELLS), 1, "▏"),
        (9, 1, "█" * BAR_CELLS),
    ],
)
def test_a_bar_is_as_long_as_its_value(value: float, longest: float, cells: str) -> None:
    assert bar(value, longest) == cells


@pytest.mark.parametrize(
    ("back", "said"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=3), "3 d ago"),
        (timedelta(days=800), "2 y ago"),
        (timedelta(days=-2), "in 2 d"),
    ],
)
def test_ages(back: timedelta, said: str) -> None:
    assert age(NOW - back, NOW) == said


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01T09:30+02:00", "2026-03-01T07:30:00+00:00"),
        ("2026-03-01T09:30:00-07:00", "2026-03-01T16:30:00+00:00"),
        ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00+00:00"),
    ],
)
def test_times_take_any_offset_and_are_utc_without_one(text: str, utc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    assert moment("--after", text).isoformat() == utc


def test_spans_lead_back_or_on() -> None:
    assert past("--after", "7d", NOW) == NOW - timedelta(days=7)
    assert future("--expires", "90m", NOW) == NOW + timedelta(minutes=90)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "-7d", "7 parsecs", "0001-01-01T00:00:00+14:00", "9" * 400]
)
def test_no_time_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="--after"):
        past("--after", text, NOW)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 世界 🎉 é", "plain 世界 🎉 é"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31m\x00\x7f\x9b", r"\x1b[31m\x00\x7f\x9b"),
        ("\u202e\u2066\u200b\ufeff\u2028", r"\u202e\u2066\u200b\ufeff\u2028"),
        ("\U000e0041\r", r"\U000e0041\x0d"),
        ("👩\u200d👧", "👩\u200d👧"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert "\n" not in one_line(text)


@pytest.mark.parametrize(("count", "said"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 40, "5.0 TiB")])
def test_sizes(count: int, said: str) -> None:
    assert size(count) == said
