"""By how much the other durable systems are to be beaten, in process, at a hundred thousand memories."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.peers.registry import OURS, OURS_DEFAULT, OURS_SERVED, PEERS
from benchmarks.peers.worker import PeerFigures

JUDGED_AT = 100_000
"""Memories; nothing is judged at another size."""
FASTEST_PEER, FASTEST_BY, OTHERS_BY, VISIBLE_BY = "qdrant-edge", 1.5, 8.0, 5.0
_OWN = (OURS, OURS_DEFAULT, OURS_SERVED)


def least_search(name: str) -> float | None:
    """The least ratio of search times; None where there is no bar: ours, and what is not both hybrid and durable."""
    if name in _OWN or not (PEERS[name].hybrid and PEERS[name].durable):
        return None
    return FASTEST_BY if name == FASTEST_PEER else OTHERS_BY


def least_visible(name: str) -> float | None:
    """The least ratio of save to visible; None for ours, and for what keeps nothing."""
    return None if name in _OWN or not PEERS[name].durable else VISIBLE_BY


def verdicts(name: str, search: float, visible: float, figures: Mapping[str, PeerFigures]) -> str:
    """What holds and what does not of one system, given both ratios; the search bar asks for no less recall too."""
    told = []
    if (bar := least_search(name)) is not None:
        holds = search >= bar and figures[OURS].recall_at_10 >= figures[name].recall_at_10
        told.append(f"search ≥ {bar:g} {'holds' if holds else 'missed'}")
    if (bar := least_visible(name)) is not None:
        told.append(f"visible ≥ {bar:g} {'holds' if visible >= bar else 'missed'}")
    return ", ".join(told)
