"""ContextService: check → put together → convert. Assemble and Preview go one way; Assemble alone leaves a trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import grpc

from recall.context.assemble import Assembler, Material
from recall.context.catalogue import Catalogue, Manifest
from recall.context.select import select
from recall.context.turn import Assembled, Omission, Omitted, Turn
from recall.memory.banks import Banks
from recall.memory.clock import Clock
from recall.memory.record import BankInfo
from recall.ranking.budget import budget
from recall.ranking.engine import Engine
from recall.ranking.query import RecallQuery
from recall.ranking.results import Ranked
from recall.ranking.settings import BudgetSettings
from recall.server import checks_context, convert_context
from recall.server.caller import Caller, caller, seconds_left
from recall.server.guard import tell
from recall.server.live import LiveBank, LiveBanks
from recall.server.refusals import BankNotYours
from recall.v1 import context_service_pb2 as pb
from recall.v1.context_service_pb2_grpc import ContextServiceServicer

ASSEMBLE = "/recall.v1.ContextService/Assemble"
NOT_YOURS = "the token is not for it"


class ContextService(ContextServiceServicer):
    """Tells what a turn is given."""

    def __init__(
        self,
        live: LiveBanks,
        engine: Engine,
        assembler: Assembler,
        catalogue: Catalogue,
        clock: Clock,
        budgets: BudgetSettings,
        going_first: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Background work waits while a turn is inside `going_first()`."""
        self._live = live
        self._engine = engine
        self._assembler = assembler
        self._catalogue = catalogue
        self._clock = clock
        self._budgets = budgets
        self._going_first = going_first

    def Assemble(self, request: pb.AssembleRequest, context: grpc.ServicerContext) -> pb.AssembleResponse:  # noqa: N802
        """What the turn is given; its banks are stamped as used, and its session is remembered."""
        checks_context.assemble(request)
        turn = convert_context.turn(request, self._assembler.settings)
        with self._material(turn, request, context) as material:
            given = self._assembler.assemble(turn, material)
            self._assembler.note(turn, material.owner, given)
            for mount in given.mounts:
                material.banks[mount.name].used.stamp(material.now)
        return convert_context.response(given)

    def Preview(self, request: pb.PreviewRequest, context: grpc.ServicerContext) -> pb.PreviewResponse:  # noqa: N802
        """What the turn would be given."""
        checks_context.preview(request)
        turn = convert_context.turn(request.turn, self._assembler.settings)
        with self._material(turn, request.turn, context) as material:
            given: Assembled = self._assembler.assemble(turn, material)
        return pb.PreviewResponse(given=convert_context.response(given), whole_prefix=given.whole_prefix)

    @contextmanager
    def _material(self, turn: Turn, request: pb.AssembleRequest, context: grpc.ServicerContext) -> Iterator[Material]:
        """The banks of the turn, which stay open inside the `with`."""
        who = caller(context)
        now = time.monotonic()
        deadline = budget(self._budgets, now, convert_context.asked_s(request), seconds_left(context)).deadline
        manifest = self._manifest(turn, who, deadline)
        mounts, omitted = select(turn, manifest.infos, self._assembler.settings.most_banks)
        told = [one for one in omitted if one.bank not in manifest.failed and who.may_see(one.bank)]
        told += [Omitted(name, Omission.UNAVAILABLE, why) for name, why in manifest.failed.items()]
        for name in dict.fromkeys(turn.banks):
            if not who.may_see(name):
                tell(ASSEMBLE, context, BankNotYours(name, who.banks))
                told.append(Omitted(name, Omission.NOT_YOURS, NOT_YOURS))
        with ExitStack() as leases:
            live: dict[str, LiveBank] = {}
            for mount in mounts:
                try:
                    live[mount.name] = leases.enter_context(self._leased(mount.name, who, deadline))
                except Exception as error:  # noqa: BLE001 - one bank never fails a turn
                    told.append(Omitted(mount.name, Omission.UNAVAILABLE, str(error)))
            material = Material(
                mounts=tuple(mount for mount in mounts if mount.name in live),
                omitted=tuple(told),
                banks={name: one.bank for name, one in live.items()},
                ask=_Asking(self._engine, self._budgets, live, deadline, context).ask,
                now=self._clock.now(),
                owner=_owner(who),
            )
            with self._going_first():
                yield material

    def _manifest(self, turn: Turn, who: Caller, deadline: float) -> Manifest:
        banks: Banks = self._live.banks
        there = [str(name) for name in banks.list(who.tenant) if who.may_see(name)]
        names = [name for name in there if name in turn.banks] if turn.named_only else there

        def read(name: str) -> BankInfo:
            with self._leased(name, who, deadline) as live:
                return live.bank.info

        return self._catalogue.manifest(banks, who.tenant, names, read)

    def _leased(self, name: str, who: Caller, deadline: float) -> AbstractContextManager[LiveBank]:
        return self._live.lease(name, max(0.0, deadline - time.monotonic()), who.tenant)


class _Asking:
    """Asks the banks of one turn, each with an equal share of the time that is left."""

    def __init__(
        self,
        engine: Engine,
        settings: BudgetSettings,
        live: dict[str, LiveBank],
        deadline: float,
        context: grpc.ServicerContext,
    ) -> None:
        self._engine, self._settings, self._live = engine, settings, live
        self._deadline, self._context = deadline, context
        self._left = set(live)

    def ask(self, bank: str, query: str, limit: int) -> Ranked:
        """One bank's answer."""
        now = time.monotonic()
        share_s = max(0.0, self._deadline - now) / max(1, len(self._left))
        self._left.discard(bank)
        allowed = budget(self._settings, now, share_s, seconds_left(self._context))
        return self._engine.recall(self._live[bank].index, self._live[bank].bank, RecallQuery(query, limit), allowed)


def _owner(who: Caller) -> str:
    """Sessions are kept apart by tenant, by who acts, and by the banks that are theirs."""
    return "\n".join((who.tenant, who.actor.id, who.actor.role, *sorted(who.banks)))
