"""Which banks a turn has: those that its references bring in by scope, and those that it names.

Nothing stands in for a bank that cannot be had: it is omitted, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from recall.context.turn import Layer, Mount, Omission, Omitted, Turn
from recall.memory.record import BankInfo, ScopeKind

_LAYERS = {
    ScopeKind.WORKSPACE: Layer.WORKSPACE,
    ScopeKind.AGENT: Layer.AGENT,
    ScopeKind.WORKFLOW: Layer.WORKFLOW,
    ScopeKind.MISSION: Layer.MISSION,
    ScopeKind.USER: Layer.USER,
    ScopeKind.PROJECT: Layer.PROJECT,
}


def select(turn: Turn, catalogue: Mapping[str, BankInfo], most: int) -> tuple[list[Mount], list[Omitted]]:
    """The banks in the order of their layers and names, and those that were named or meant in vain."""
    mounts, omitted = _by_scope(turn, catalogue)
    for name in dict.fromkeys(turn.banks):
        if name not in {mount.name for mount in mounts}:
            found = _named(turn, name, catalogue.get(name))
            (mounts if isinstance(found, Mount) else omitted).append(found)  # type: ignore[arg-type]
    order = list(Layer)
    mounts.sort(key=lambda mount: (order.index(mount.layer), mount.name))
    detail = f"a turn has at most {most} banks"
    return mounts[:most], omitted + [Omitted(mount.name, Omission.TOO_MANY, detail) for mount in mounts[most:]]


def _by_scope(turn: Turn, catalogue: Mapping[str, BankInfo]) -> tuple[list[Mount], list[Omitted]]:
    if turn.named_only:
        return [], []
    mounts = []
    for name, info in catalogue.items():
        layer = _LAYERS.get(info.scope_kind) if info.scope_kind is not None else None
        if layer is not None and _of_this_turn(turn, info) and _for_agent(turn, info):
            mounts.append(Mount(name, layer, info))
    return mounts, []


def _named(turn: Turn, name: str, info: BankInfo | None) -> Mount | Omitted:
    if info is None:
        return Omitted(name, Omission.NOT_FOUND, f"no bank named {name!r}")
    if info.scope_kind is not None and not _of_this_turn(turn, info):
        return Omitted(name, Omission.OTHER_SCOPE, f"it is the memory of {info.scope_kind} {info.scope_ref!r}")
    if not _for_agent(turn, info):
        return Omitted(name, Omission.OTHER_AGENT, "it is for other agents")
    layer = _LAYERS.get(info.scope_kind) if info.scope_kind is not None else None
    return Mount(name, layer or Layer.NAMED, info)


def _of_this_turn(turn: Turn, info: BankInfo) -> bool:
    """A board or an object is no part of a turn, so that its bank comes by its name; a run's never comes."""
    if info.scope_kind in (ScopeKind.WORKSPACE, ScopeKind.BOARD, ScopeKind.OBJECT):
        return True
    meant = {
        ScopeKind.AGENT: turn.agent,
        ScopeKind.USER: turn.user,
        ScopeKind.WORKFLOW: turn.workflow,
        ScopeKind.MISSION: turn.mission,
        ScopeKind.PROJECT: turn.project,
    }
    return info.scope_kind in meant and meant[info.scope_kind] == info.scope_ref


def _for_agent(turn: Turn, info: BankInfo) -> bool:
    return not info.agents or turn.agent in info.agents
