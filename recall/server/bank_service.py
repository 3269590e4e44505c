"""BankService: check → keep or watch → convert."""

from __future__ import annotations

import time
from collections.abc import Iterator

import grpc

from recall.memory.errors import MemoryServiceError
from recall.memory.record import BankInfo, Policy
from recall.memory.vacuum import bulk, vacuum
from recall.server import checks_bank, convert, describe, paging
from recall.server.caller import caller, seconds_left
from recall.server.describe import Describer
from recall.server.live import LiveBanks
from recall.server.watch import Interest, Notice, WatchHub, replay, unseen
from recall.v1 import bank_service_pb2 as pb
from recall.v1.bank_service_pb2_grpc import BankServiceServicer

LIST_OPENS_FOR_S = 2.0
"""How long one List may spend on opening banks, in seconds; of banks after that only the name is told."""


class BankService(BankServiceServicer):
    """Keeps the banks of a data folder."""

    def __init__(self, live: LiveBanks, describer: Describer, hub: WatchHub) -> None:
        self._live = live
        self._banks = live.banks
        self._describer = describer
        self._hub = hub

    def Create(  # noqa: N802
        self, request: pb.BankServiceCreateRequest, context: grpc.ServicerContext
    ) -> pb.BankServiceCreateResponse:
        """Makes an empty bank."""
        checks_bank.create(request)
        who = caller(context)
        info = BankInfo(
            description=request.description,
            half_life_days=request.half_life_days,
            default_limit=request.default_limit,
            user_handle=request.user_handle,
            policy=convert.POLICY_IN.get(request.policy, Policy.OPEN),
            scope_kind=convert.SCOPE_IN.get(request.scope_kind),
            scope_ref=request.scope_ref,
            title=request.title,
            preamble=request.preamble,
            agents=tuple(request.agents),
        )
        self._banks.create(who.tenant, request.name, info, who.actor)
        self._tell("bank_created", who.tenant, request.name)
        return pb.BankServiceCreateResponse(bank=self._bank(request.name, context))

    def Get(self, request: pb.BankServiceGetRequest, context: grpc.ServicerContext) -> pb.BankServiceGetResponse:  # noqa: N802
        """One bank."""
        checks_bank.name(request)
        return pb.BankServiceGetResponse(bank=self._bank(request.name, context))

    def List(self, request: pb.BankServiceListRequest, context: grpc.ServicerContext) -> pb.BankServiceListResponse:  # noqa: N802
        """A page of the banks, or of the trash."""
        checks_bank.list_banks(request)
        who = caller(context)
        tenant = who.tenant
        asked = f"{tenant} trash={request.trashed}"
        after = paging.name_after(request.page_token, asked)
        trash = (
            {one.trash_id: one for one in self._banks.trashed(tenant) if who.may_see(one.name)}
            if request.trashed
            else {}
        )
        names = sorted(trash) if request.trashed else [name for name in self._banks.list(tenant) if who.may_see(name)]
        left = [name for name in names if name > after]
        page = left[: request.page_size or paging.DEFAULT_PAGE]
        response = pb.BankServiceListResponse()
        if len(left) > len(page):
            response.next_page_token = paging.token(page[-1], asked)
        if request.trashed:
            found = (trash[trash_id] for trash_id in page)
            response.trash.extend(convert.trashed_message(one.name, one.trash_id, one.deleted_at) for one in found)
        else:
            response.banks.extend(self._described(page, context))
        return response

    def Update(  # noqa: N802
        self, request: pb.BankServiceUpdateRequest, context: grpc.ServicerContext
    ) -> pb.BankServiceUpdateResponse:
        """Changes a bank's own settings."""
        checks_bank.update(request)
        who = caller(context)
        changes = convert.info_changes(request.bank, frozenset(request.update_mask.paths))
        with self._live.lease(request.bank.name, seconds_left(context), who.tenant) as live:
            live.bank.update_info(changes, who.actor)
            self._tell("bank_updated", who.tenant, request.bank.name)
            return pb.BankServiceUpdateResponse(bank=self._describer.message(live))

    def Delete(  # noqa: N802
        self, request: pb.BankServiceDeleteRequest, context: grpc.ServicerContext
    ) -> pb.BankServiceDeleteResponse:
        """Moves a bank to the trash."""
        checks_bank.name(request)
        tenant = caller(context).tenant
        trashed = self._banks.delete(tenant, request.name)
        self._tell("bank_deleted", tenant, request.name)
        message = convert.trashed_message(trashed.name, trashed.trash_id, trashed.deleted_at)
        return pb.BankServiceDeleteResponse(trashed=message)

    def Restore(self, request: pb.RestoreRequest, context: grpc.ServicerContext) -> pb.RestoreResponse:  # noqa: N802
        """Brings a bank back from the trash."""
        checks_bank.restore(request)
        tenant = caller(context).tenant
        bank = self._banks.restore(tenant, request.trash_id, request.name)
        self._tell("bank_restored", tenant, bank.name)
        return pb.RestoreResponse(bank=self._bank(bank.name, context))

    def Reload(self, request: pb.ReloadRequest, context: grpc.ServicerContext) -> pb.ReloadResponse:  # noqa: N802
        """Reads a bank's files again."""
        checks_bank.name(request)
        tenant = caller(context).tenant
        changes = self._banks.reload(tenant, request.name)
        self._tell("bank_reloaded", tenant, request.name)
        return pb.ReloadResponse(bank=self._bank(request.name, context), changes=changes)

    def Vacuum(self, request: pb.VacuumRequest, context: grpc.ServicerContext) -> pb.VacuumResponse:  # noqa: N802
        """Writes a bank's log anew."""
        checks_bank.vacuum(request)
        who = caller(context)
        with self._live.lease(request.name, seconds_left(context), who.tenant) as live:
            found = bulk(live.bank)
            response = pb.VacuumResponse(log_bytes_before=found.log_bytes, superseded_bytes=found.superseded_bytes)
            if not request.dry_run:
                done = vacuum(live.bank, convert.HISTORY_IN[request.history], who.actor)
                response.log_bytes_before, response.log_bytes_after = done.bytes_before, done.bytes_after
                response.history_bytes, response.archived_to_seq = done.history_bytes, done.archived_to
                self._tell("bank_vacuumed", who.tenant, request.name)
            response.bank.CopyFrom(self._describer.message(live))
            return response

    def Watch(self, request: pb.WatchRequest, context: grpc.ServicerContext) -> Iterator[pb.WatchResponse]:  # noqa: N802
        """Streams changes until the caller leaves."""
        checks_bank.watch(request)
        tenant = caller(context).tenant
        interest = Interest(
            tenant=tenant,
            bank=request.bank,
            tags=frozenset(tag.strip().lower() for tag in request.tags),
            ops=frozenset(request.ops),
        )
        watcher = self._hub.subscribe(interest)
        context.add_callback(lambda: self._hub.leave(watcher))
        try:
            replayed_to = 0
            if request.bank:
                with self._live.lease(request.bank, seconds_left(context), tenant) as live:
                    if request.from_seq:
                        replayed_to = live.bank.last_seq
                        past = replay(live.bank, request.from_seq, replayed_to)
                        yield from (self._change(notice) for notice in past if interest.wants(notice))
            yield from (self._change(notice) for notice in unseen(watcher, replayed_to))
        finally:
            self._hub.leave(watcher)

    def _change(self, notice: Notice) -> pb.WatchResponse:
        message = pb.WatchResponse(bank=notice.bank, seq=notice.seq, op=notice.op, missed=notice.missed)
        convert.set_time(message.at, notice.at)
        if notice.record is not None:
            text = notice.text if notice.text is not None else self._text(notice)
            convert.fill_memory(message.memory, notice.record, text, notice.bank)
        return message

    def _text(self, notice: Notice) -> str:
        """The text of a change that did not set it; empty when its bank is gone meanwhile."""
        try:
            with self._banks.lease(notice.tenant, notice.bank) as bank:
                return bank.text(notice.record) if notice.record is not None else ""
        except MemoryServiceError:
            return ""

    def _bank(self, name: str, context: grpc.ServicerContext) -> pb.Bank:
        with self._live.lease(name, seconds_left(context), caller(context).tenant) as live:
            return self._describer.message(live)

    def _described(self, names: list[str], context: grpc.ServicerContext) -> Iterator[pb.Bank]:
        until = time.monotonic() + LIST_OPENS_FOR_S
        tenant = caller(context).tenant
        for name in names:
            if not self._live.is_open(name, tenant) and time.monotonic() > until:
                yield pb.Bank(name=name)
                continue
            try:
                yield self._bank(name, context)
            except MemoryServiceError as error:
                yield describe.unavailable(name, error)

    def _tell(self, op: str, tenant: str, bank: str) -> None:
        self._hub.publish(Notice(tenant, bank, seq=0, at=self._describer.clock.now(), op=op))
