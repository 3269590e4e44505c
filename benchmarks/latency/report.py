"""What a latency run found: JSON, and tables that set each ratio beside its bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.latency.load import LoopResult
from benchmarks.latency.percentiles import Percentiles
from benchmarks.latency.probes import STAGES
from benchmarks.latency.restart import Restart

SINGLE = ("empty", "lexical", "encode", "hybrid", "cached", "empty beside saves", "save", "fdatasync")
_RECALLS = ("lexical", "hybrid", "cached")


class Ratio(msgspec.Struct, frozen=True):
    """A figure and the most it may be."""

    value: float
    bar: float
    unit: str

    @property
    def holds(self) -> bool:
        return self.value <= self.bar


class LatencyFigures(msgspec.Struct, frozen=True):
    """Everything that one run found."""

    n: int
    real_texts: int
    corpus: str
    ratios: dict[str, Ratio]
    latency_ms: dict[str, Percentiles]
    stages_p50_ms: dict[str, dict[str, float]]
    stages_mean_ms: dict[str, dict[str, float]]
    bytes_of_a_save: int
    fill_per_s: float
    embed_per_s: float
    restart: Restart | None
    closed_loops: tuple[LoopResult, ...]
    open_loops: tuple[LoopResult, ...]
    wrong_answers: dict[str, int]
    model: str
    machine: str
    versions: dict[str, str]


def ratios(measured: Mapping[str, Percentiles], restart: Restart | None) -> dict[str, Ratio]:
    """The figures that have a bar, as far as they were measured."""
    p50 = {name: values.p50 for name, values in measured.items()}
    found = {"lexical / empty": Ratio(_over(p50["lexical"], p50["empty"]), 3.0, "x")}
    if "hybrid" in p50:
        alone = p50["empty"] + p50["encode"]
        found["hybrid, uncached / (empty + encode)"] = Ratio(_over(p50["hybrid"], alone), 1.25, "x")
        found["hybrid, cached / empty"] = Ratio(_over(p50["cached"], p50["empty"]), 2.0, "x")
    if "save" in p50:
        alone = p50["empty beside saves"] + p50["fdatasync"]
        found["save / (empty + fdatasync)"] = Ratio(_over(p50["save"], alone), 4.0, "x")
    if restart is not None:
        found["restart to hybrid, model load aside"] = Ratio(restart.model_aside_s, 2.0, "s")
    return found


def _over(value: float, base: float) -> float:
    return round(value / base, 3)


def stages(measured: Mapping[str, Percentiles], point: str) -> dict[str, dict[str, float]]:
    """Where the server's time went by its own account, for each kind of Recall."""
    return {
        name: {stage: getattr(measured[f"{name}/{stage}"], point) for stage in STAGES}
        for name in _RECALLS
        if name in measured
    }


def write(found: LatencyFigures, path: Path) -> None:
    """Writes indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def show(found: LatencyFigures, console: Console) -> None:
    """Prints every figure."""
    console.print(_percentile_table(found), _stage_table(found))
    if found.closed_loops:
        console.print(_loop_table([*found.closed_loops, *found.open_loops]))
    if found.restart is not None:
        told = ", ".join(f"{name} {value:g}" for name, value in msgspec.to_builtins(found.restart).items())
        console.print(f"restart: {told}", highlight=False)
    rates = f"filled at {found.fill_per_s:.0f}/s, embedded at {found.embed_per_s:.0f}/s"
    told = rates if found.fill_per_s else "filled before the start, vectors blended"
    console.print(
        f"{found.corpus}; {told}; a save adds {found.bytes_of_a_save} bytes; {found.machine}; {found.model}",
        style="dim",
        highlight=False,
    )
    for reason, count in found.wrong_answers.items():
        console.print(f"not what was asked for: {count} x {reason}", style="red", highlight=False)
    console.print(_ratio_table(found))


def _ratio_table(found: LatencyFigures) -> Table:
    table = Table("figure", title=f"p50 ratios, {found.n} memories", title_justify="left")
    for heading in ("measured", "bar", ""):
        table.add_column(heading, justify="right")
    for name, ratio in found.ratios.items():
        verdict = "[green]holds[/green]" if ratio.holds else "[red]over[/red]"
        table.add_row(name, f"{ratio.value:.2f} {ratio.unit}", f"{ratio.bar:g} {ratio.unit}", verdict)
    return table


def _percentile_table(found: LatencyFigures) -> Table:
    table = Table("call", title="milliseconds at the caller", title_justify="left")
    for heading in ("n", "p50", "p90", "p99", "p99.9", "max"):
        table.add_column(heading, justify="right")
    for name in SINGLE:
        if (one := found.latency_ms.get(name)) is not None:
            table.add_row(
                name, str(one.n), *(f"{value:.3f}" for value in (one.p50, one.p90, one.p99, one.p999, one.max))
            )
    return table


def _stage_table(found: LatencyFigures) -> Table:
    table = Table("recall", title="p50 by stage inside the engine, milliseconds", title_justify="left")
    for stage in STAGES:
        table.add_column(stage, justify="right")
    for name, one in found.stages_p50_ms.items():
        table.add_row(name, *(f"{one[stage]:.3f}" for stage in STAGES))
    return table


def _loop_table(loops: Sequence[LoopResult]) -> Table:
    table = Table("loop", title="under load, milliseconds", title_justify="left")
    for heading in ("clients", "offered/s", "done/s", "failed", "p50", "p90", "p99", "p99.9"):
        table.add_column(heading, justify="right")
    for one in loops:
        latency = one.latency_ms
        counts = (str(one.clients or "-"), f"{one.offered_per_s or '-'}", f"{one.done_per_s:.0f}", str(one.failed))
        points = (latency.p50, latency.p90, latency.p99, latency.p999)
        table.add_row(one.name, *counts, *(f"{value:.2f}" for value in points))
    return table
