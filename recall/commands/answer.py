"""How `recall ask` shows its answer: a table of memories, and for `--explain` a bar for each signal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recall.commands.output import one_line
from recall.commands.tables import console, memory_cell, table
from recall.v1 import recall_service_pb2

BAR_CELLS = 24
"""Width of the longest bar."""
LONGEST_TEXT = 1_000
"""Characters of a memory's text in an answer; `recall show` has the whole."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_FACTOR = "recency"


def show_answer(answer: recall_service_pb2.RecallResponse, now: datetime) -> None:
    """Prints results, what was left out and why, and the explanation of an absent memory."""
    screen = console()
    if answer.results:
        longest = _longest(signal for result in answer.results for signal in result.signals)
        rows = table("#", "score", "memory", right=["#", "score"], leading=1)
        for rank, result in enumerate(answer.results, start=1):
            cell = memory_cell(result.memory, now, LONGEST_TEXT)
            rows.add_row(str(rank), f"{result.score:.3f}", _with_bars(cell, list(result.signals), longest))
        screen.print(rows)
    else:
        screen.print("nothing matches")
    for sentence in _footer(answer):
        screen.print(sentence, style="dim")
    if answer.HasField("why_not"):
        screen.print(_why_not(answer.why_not))


def bar(value: float, longest: float) -> str:
    """A bar of up to BAR_CELLS cells, to an eighth of a cell, as long as |value| is to `longest`."""
    eighths = round(min(1.0, abs(value) / longest) * BAR_CELLS * 8) if longest > 0 else 0
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def _with_bars(cell: RenderableType, signals: list[recall_service_pb2.Signal], longest: float) -> RenderableType:
    return Group(cell, _bars(signals, longest)) if signals else cell


def _bars(signals: Iterable[recall_service_pb2.Signal], longest: float) -> Table:
    made = Table.grid(padding=(0, 1))
    made.add_column(no_wrap=True)
    made.add_column(justify="right", no_wrap=True)
    made.add_column(width=BAR_CELLS, no_wrap=True)
    made.add_column(style="dim", no_wrap=True)
    for signal in signals:
        if signal.name == _FACTOR:
            made.add_row(
                signal.name, f"× {signal.contribution:.3f}", Text(bar(signal.contribution, 1.0), style="yellow")
            )
        else:
            style = "green" if signal.contribution >= 0 else "red"
            shown = Text(bar(signal.contribution, longest), style=style)
            made.add_row(one_line(signal.name), f"{signal.contribution:+.3f}", shown, f"raw {signal.value:.3f}")
    return made


def _longest(signals: Iterable[recall_service_pb2.Signal]) -> float:
    return max((abs(signal.contribution) for signal in signals if signal.name != _FACTOR), default=0.0)


def _footer(answer: recall_service_pb2.RecallResponse) -> Iterable[str]:
    yield f"{answer.retrieval} · {answer.timings.total_ms:.1f} ms · as of seq {answer.as_of_seq}"
    if answer.below_min_score:
        yield f"{answer.below_min_score} more below --min-score"
    for each in answer.degraded:
        name = recall_service_pb2.DegradationReason.Name(each.reason).removeprefix("DEGRADATION_REASON_")
        yield f"degraded: {one_line(each.detail) or name.lower().replace('_', ' ')}"


def _why_not(why: recall_service_pb2.WhyNot) -> RenderableType:
    if why.excluded:
        verdict = f"cannot be a result: {one_line(why.excluded)}"
    elif why.rank:
        verdict = f"rank {why.rank} with score {why.score:.3f}"
    else:
        verdict = "matches nothing in the query"
    legs = table("leg", "rank", "score", "best", "is", right=["rank", "score", "best"])
    for leg in why.legs:
        rank = str(leg.rank) if leg.rank else "none"
        best = f"{leg.best_score:.3f}" if leg.best_id else "none"
        legs.add_row(one_line(leg.leg), rank, f"{leg.score:.3f}", best, one_line(leg.best_id))
    parts: list[RenderableType] = [Text(f"\nwhy not {why.id}: {verdict}")]
    if why.legs:
        parts.append(legs)
    if why.signals:
        parts.append(_bars(why.signals, _longest(why.signals)))
    return Group(*parts)
