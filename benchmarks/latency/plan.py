"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """Counts and seconds of one run. A loop's query is new to the server as long as ``queries`` last."""

    rounds: int
    warm_up: int
    saves: int
    repeats: int
    clients: tuple[int, ...]
    loop_s: float
    open_shares: tuple[float, ...] = (0.5, 0.8)
    seed: int = 11
    embedder_timeout_s: float = 900.0
    queries_per_loop: int = 4_000
    sample: int = 0
    """Texts whose vectors the encoder makes where the bank is filled in this process, the others' blended of them; 0
    fills over gRPC and waits for the backfill."""
    flame_s: float = 10.0

    @property
    def queries(self) -> int:
        """Distinct queries: one for each round, and a stock for the loops."""
        return self.rounds + self.warm_up + self.queries_per_loop


FULL = Plan(rounds=1_000, warm_up=50, saves=1_000, repeats=5, clients=(1, 2, 4, 8), loop_s=3.0)
QUICK = Plan(
    rounds=100,
    warm_up=10,
    saves=100,
    repeats=1,
    clients=(1, 4),
    loop_s=0.7,
    queries_per_loop=1_000,
    sample=256,
    flame_s=5.0,
)
