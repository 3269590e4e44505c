"""The gRPC server: services, health, reflection and thread pools, from bound to stopped."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import grpc
from grpc_reflection.v1alpha import reflection

from recall.address import Address
from recall.memory.banks import DEFAULT_TENANT
from recall.memory.clock import Clock
from recall.server.guard import Guard
from recall.server.health import Health
from recall.server.interceptors import Edge
from recall.server.listening import listen
from recall.server.live import LiveBanks
from recall.server.pools import CallPool
from recall.server.requirements import requirements
from recall.server.settings import ServerSettings
from recall.server.trouble import troubles
from recall.server.watch import WatchHub
from recall.settings import Settings
from recall.telemetry import Telemetry
from recall.tokens import Tokens
from recall.v1 import (
    admin_service_pb2,
    bank_service_pb2,
    consolidate_service_pb2,
    context_service_pb2,
    memory_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    rule_service_pb2,
)
from recall.v1.admin_service_pb2_grpc import AdminServiceServicer, add_AdminServiceServicer_to_server
from recall.v1.bank_service_pb2_grpc import BankServiceServicer, add_BankServiceServicer_to_server
from recall.v1.consolidate_service_pb2_grpc import (
    ConsolidateServiceServicer,
    add_ConsolidateServiceServicer_to_server,
)
from recall.v1.context_service_pb2_grpc import ContextServiceServicer, add_ContextServiceServicer_to_server
from recall.v1.memory_service_pb2_grpc import MemoryServiceServicer, add_MemoryServiceServicer_to_server
from recall.v1.recall_service_pb2_grpc import RecallServiceServicer, add_RecallServiceServicer_to_server
from recall.v1.review_service_pb2_grpc import ReviewServiceServicer, add_ReviewServiceServicer_to_server
from recall.v1.rule_service_pb2_grpc import RuleServiceServicer, add_RuleServiceServicer_to_server

DESCRIPTORS = tuple(
    service
    for module in (
        recall_service_pb2,
        memory_service_pb2,
        bank_service_pb2,
        admin_service_pb2,
        consolidate_service_pb2,
        review_service_pb2,
        rule_service_pb2,
        context_service_pb2,
    )
    for service in module.DESCRIPTOR.services_by_name.values()
)
SERVICES = tuple(service.full_name for service in DESCRIPTORS)
WATCH = "/recall.v1.BankService/Watch"
RECALL_STREAM = "/recall.v1.RecallService/RecallStream"
HEALTH = ("/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/List")
STREAMS = (
    "/recall.v1.MemoryService/Import",
    "/recall.v1.MemoryService/Export",
    "/recall.v1.ConsolidateService/Consolidate",
    "/recall.v1.AdminService/Backup",
    f"/{reflection.SERVICE_NAME}/ServerReflectionInfo",
)
SPARE_THREADS = 4
"""Threads beyond the most streams, so that a stream too many is refused at once instead of waiting for a thread."""


@dataclass(frozen=True, slots=True)
class Services:
    """One servicer for each service of the contract."""

    recall: RecallServiceServicer
    memory: MemoryServiceServicer
    bank: BankServiceServicer
    admin: AdminServiceServicer
    consolidate: ConsolidateServiceServicer
    review: ReviewServiceServicer
    rule: RuleServiceServicer
    context: ContextServiceServicer

    def add_to(self, server: grpc.Server) -> None:
        """Registers them all."""
        add_RecallServiceServicer_to_server(self.recall, server)
        add_MemoryServiceServicer_to_server(self.memory, server)
        add_BankServiceServicer_to_server(self.bank, server)
        add_AdminServiceServicer_to_server(self.admin, server)
        add_ConsolidateServiceServicer_to_server(self.consolidate, server)
        add_ReviewServiceServicer_to_server(self.review, server)
        add_RuleServiceServicer_to_server(self.rule, server)
        add_ContextServiceServicer_to_server(self.context, server)


@contextmanager
def answering_calls(
    services: Services, settings: Settings, hub: WatchHub, telemetry: Telemetry, live: LiveBanks, clock: Clock
) -> Iterator[Address]:
    """A server that answers inside the `with`; after it, running calls have had their grace.

    Raises CannotListen, and UndeclaredAccess when an rpc does not say who may call it.
    """
    limits, tokens = settings.server, Tokens(settings.data)
    server = new_server(limits, telemetry, Guard(requirements(DESCRIPTORS), tokens, clock, settings.access))
    services.add_to(server)
    health = Health(SERVICES, partial(troubles, live, DEFAULT_TENANT), partial(shown_to_all, tokens, live))
    health.add_to(server)
    if limits.reflection:
        reflection.enable_server_reflection((*SERVICES, reflection.SERVICE_NAME), server)
    address = listen(server, settings.listen, settings.access, tokens.needed)
    server.start()
    health.serving()
    try:
        yield address
    finally:
        health.stopping()
        stopped = server.stop(limits.grace_s)
        hub.close()
        stopped.wait()


def shown_to_all(tokens: Tokens, live: LiveBanks, bank: str) -> bool:
    """Whether health checks, which bring no token, are told of a bank."""
    return not tokens.needed and live.banks.exists(DEFAULT_TENANT, bank)


def new_server(limits: ServerSettings, telemetry: Telemetry, guard: Guard) -> grpc.Server:
    """A server without services: its pools, its limits, and the layer that guards calls and maps what is raised."""
    streams = ThreadPoolExecutor(limits.stream_workers, "recall-stream")
    watches = ThreadPoolExecutor(limits.max_watchers + SPARE_THREADS, "recall-watch")
    recalls = ThreadPoolExecutor(limits.max_recall_streams + SPARE_THREADS, "recall-hook")
    health = ThreadPoolExecutor(1, "recall-health")
    pools = {
        WATCH: watches,
        RECALL_STREAM: recalls,
        **dict.fromkeys(STREAMS, streams),
        **dict.fromkeys(HEALTH, health),
    }
    return grpc.server(
        CallPool(limits),
        interceptors=[Edge(telemetry, pools, guard)],
        maximum_concurrent_rpcs=limits.max_concurrent_calls,
        options=(
            ("grpc.so_reuseport", 0),  # a port in use is refused, not shared
            ("grpc.max_receive_message_length", limits.max_message_bytes),
            ("grpc.max_send_message_length", limits.max_message_bytes),
        ),
    )
