"""Clients of the service: `RecallClient` and, for asyncio, `AsyncRecallClient`.

Every rpc is declared once, in `_Verbs`; a client turns a declaration into a typed call that takes the fields of the
request by keyword and gives the response message:

    with RecallClient() as client:
        client.save(bank="demo", memory=NewMemory(text="Blog posts go out on Tuesday mornings"))
        answer = client.within(0.25).recall(bank="demo", query="when do I publish articles")

Each call has a deadline, is tried again with backoff while the server is UNAVAILABLE, and fails with `grpc.RpcError`,
whose `details()` is one line that says what is wrong. A write without a `request_id` gets one, so that trying again is
harmless. Importing this module imports grpc and `recall.v1`, nothing heavier.
"""

from __future__ import annotations

import copy
import json
import os
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar, cast, overload

import grpc
import grpc.aio
from google.protobuf.message import Message

from recall.connection import bearer, open_channel
from recall.v1 import admin_service_pb2 as admin
from recall.v1 import bank_service_pb2 as banks
from recall.v1 import consolidate_service_pb2 as tending
from recall.v1 import context_service_pb2 as contexts
from recall.v1 import memory_service_pb2 as memories
from recall.v1 import recall_service_pb2 as recalls
from recall.v1 import review_service_pb2 as reviews
from recall.v1 import rule_service_pb2 as rules

P = ParamSpec("P")
Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)

DEFAULT_SERVER = "127.0.0.1:50051"
SERVER_VARIABLE = "RECALL_SERVER"


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """How a client calls."""

    timeout_s: float = 30.0
    """Deadline of one call, in seconds; `client.within(seconds)` gives a client with another."""
    max_message_bytes: int = 64 * 1024 * 1024
    """Largest request or response, in bytes."""
    attempts: int = 4
    """How often a call is made in all while the server is UNAVAILABLE (gRPC allows up to 5)."""
    backoff_s: float = 0.1
    """Pause before the second attempt, in seconds; it doubles each time."""
    max_backoff_s: float = 1.0
    """Longest pause between two attempts, in seconds."""
    token: str = field(default="", repr=False)
    """The token that calls bring; else `RECALL_TOKEN`. TLS is set by `RECALL_CA` and what belongs to it."""


def server_address(server: str | None = None) -> str:
    """The server to call: the argument, else `RECALL_SERVER`, else 127.0.0.1:50051."""
    return server or os.environ.get(SERVER_VARIABLE) or DEFAULT_SERVER


class _Unary(Generic[P, A]):
    """Declares an rpc of one request and one response; `P` are the keywords of the request."""

    def __init__(self, path: str, request: Callable[P, Message], response: type[A]) -> None:
        self.path, self.request, self.response = path, request, response

    @overload
    def __get__(self, client: RecallClient, owner: type) -> Callable[P, A]: ...
    @overload
    def __get__(self, client: AsyncRecallClient, owner: type) -> Callable[P, Awaitable[A]]: ...
    def __get__(self, client: Any, owner: type) -> Callable[P, Any]:
        call = client.connect("unary_unary", self.path, self.response)

        def verb(*args: P.args, **kwargs: P.kwargs) -> Any:
            return call(harmless_to_repeat(self.request(*args, **kwargs)), timeout=client.options.timeout_s)

        return verb


class _Download(Generic[P, A]):
    """Declares an rpc that streams responses; it lasts as long as the caller reads, or as `within` says."""

    def __init__(self, path: str, request: Callable[P, Message], response: type[A]) -> None:
        self.path, self.request, self.response = path, request, response

    @overload
    def __get__(self, client: RecallClient, owner: type) -> Callable[P, Stream[A]]: ...
    @overload
    def __get__(self, client: AsyncRecallClient, owner: type) -> Callable[P, AsyncStream[A]]: ...
    def __get__(self, client: Any, owner: type) -> Callable[P, Any]:
        call = client.connect("unary_stream", self.path, self.response)

        def verb(*args: P.args, **kwargs: P.kwargs) -> Any:
            return call(self.request(*args, **kwargs), timeout=client.stream_timeout_s)

        return verb


class _Upload(Generic[Q, A]):
    """Declares an rpc that streams requests."""

    def __init__(self, path: str, request: type[Q], response: type[A]) -> None:
        self.path, self.request, self.response = path, request, response

    @overload
    def __get__(self, client: RecallClient, owner: type) -> Callable[[Iterable[Q]], A]: ...
    @overload
    def __get__(
        self, client: AsyncRecallClient, owner: type
    ) -> Callable[[Iterable[Q] | AsyncIterable[Q]], Awaitable[A]]: ...
    def __get__(self, client: Any, owner: type) -> Callable[[Any], Any]:
        call = client.connect("stream_unary", self.path, self.response)

        def verb(requests: Any) -> Any:
            stream = requests if isinstance(requests, AsyncIterable) else iter(requests)
            return call(stream, timeout=client.stream_timeout_s)

        return verb


class _Talk(Generic[Q, A]):
    """Declares an rpc that streams both ways; answers come in the order of the requests."""

    def __init__(self, path: str, request: type[Q], response: type[A]) -> None:
        self.path, self.request, self.response = path, request, response

    @overload
    def __get__(self, client: RecallClient, owner: type) -> Callable[[Iterable[Q]], Stream[A]]: ...
    @overload
    def __get__(
        self, client: AsyncRecallClient, owner: type
    ) -> Callable[[Iterable[Q] | AsyncIterable[Q]], AsyncStream[A]]: ...
    def __get__(self, client: Any, owner: type) -> Callable[[Any], Any]:
        call = client.connect("stream_stream", self.path, self.response)

        def verb(requests: Any) -> Any:
            stream = requests if isinstance(requests, AsyncIterable) else iter(requests)
            return call(stream, timeout=client.stream_timeout_s)

        return verb


class _Verbs:
    """Every rpc of the service."""

    recall = _Unary("RecallService/Recall", recalls.RecallRequest, recalls.RecallResponse)
    recall_batch = _Unary("RecallService/RecallBatch", recalls.RecallBatchRequest, recalls.RecallBatchResponse)

    recall_stream = _Talk("RecallService/RecallStream", recalls.RecallStreamRequest, recalls.RecallStreamResponse)

    save = _Unary("MemoryService/Save", memories.SaveRequest, memories.SaveResponse)
    save_batch = _Unary("MemoryService/SaveBatch", memories.SaveBatchRequest, memories.SaveBatchResponse)
    get = _Unary("MemoryService/Get", memories.GetRequest, memories.GetResponse)
    list_memories = _Unary("MemoryService/List", memories.ListRequest, memories.ListResponse)
    update = _Unary("MemoryService/Update", memories.UpdateRequest, memories.UpdateResponse)
    delete = _Unary("MemoryService/Delete", memories.DeleteRequest, memories.DeleteResponse)
    pin = _Unary("MemoryService/Pin", memories.PinRequest, memories.PinResponse)
    supersede = _Unary("MemoryService/Supersede", memories.SupersedeRequest, memories.SupersedeResponse)
    get_history = _Unary("MemoryService/GetHistory", memories.GetHistoryRequest, memories.GetHistoryResponse)
    list_tags = _Unary("MemoryService/ListTags", memories.ListTagsRequest, memories.ListTagsResponse)
    import_memories = _Upload("MemoryService/Import", memories.ImportRequest, memories.ImportResponse)
    export = _Download("MemoryService/Export", memories.ExportRequest, memories.ExportResponse)

    create_bank = _Unary("BankService/Create", banks.BankServiceCreateRequest, banks.BankServiceCreateResponse)
    get_bank = _Unary("BankService/Get", banks.BankServiceGetRequest, banks.BankServiceGetResponse)
    list_banks = _Unary("BankService/List", banks.BankServiceListRequest, banks.BankServiceListResponse)
    update_bank = _Unary("BankService/Update", banks.BankServiceUpdateRequest, banks.BankServiceUpdateResponse)
    delete_bank = _Unary("BankService/Delete", banks.BankServiceDeleteRequest, banks.BankServiceDeleteResponse)
    restore_bank = _Unary("BankService/Restore", banks.RestoreRequest, banks.RestoreResponse)
    reload_bank = _Unary("BankService/Reload", banks.ReloadRequest, banks.ReloadResponse)
    vacuum_bank = _Unary("BankService/Vacuum", banks.VacuumRequest, banks.VacuumResponse)
    watch = _Download("BankService/Watch", banks.WatchRequest, banks.WatchResponse)

    consolidate = _Download("ConsolidateService/Consolidate", tending.ConsolidateRequest, tending.ConsolidateResponse)
    get_consolidate_status = _Unary(
        "ConsolidateService/GetConsolidateStatus",
        tending.GetConsolidateStatusRequest,
        tending.GetConsolidateStatusResponse,
    )
    list_runs = _Unary("ConsolidateService/ListRuns", tending.ListRunsRequest, tending.ListRunsResponse)
    get_run = _Unary("ConsolidateService/GetRun", tending.GetRunRequest, tending.GetRunResponse)
    undo_run = _Unary("ConsolidateService/UndoRun", tending.UndoRunRequest, tending.UndoRunResponse)
    sweep = _Unary("ConsolidateService/Sweep", tending.SweepRequest, tending.SweepResponse)

    status = _Unary("AdminService/Status", admin.StatusRequest, admin.StatusResponse)
    doctor = _Unary("AdminService/Doctor", admin.DoctorRequest, admin.DoctorResponse)
    list_audit = _Unary("AdminService/ListAudit", admin.ListAuditRequest, admin.ListAuditResponse)
    backup = _Download("AdminService/Backup", admin.BackupRequest, admin.BackupResponse)

    set_rule = _Unary("RuleService/Set", rules.RuleServiceSetRequest, rules.RuleServiceSetResponse)
    get_rule = _Unary("RuleService/Get", rules.RuleServiceGetRequest, rules.RuleServiceGetResponse)
    list_rules = _Unary("RuleService/List", rules.RuleServiceListRequest, rules.RuleServiceListResponse)
    delete_rule = _Unary("RuleService/Delete", rules.RuleServiceDeleteRequest, rules.RuleServiceDeleteResponse)
    assemble = _Unary("ContextService/Assemble", contexts.AssembleRequest, contexts.AssembleResponse)
    preview = _Unary("ContextService/Preview", contexts.PreviewRequest, contexts.PreviewResponse)
    learn_rule = _Unary("RuleService/LearnRule", rules.LearnRuleRequest, rules.LearnRuleResponse)

    nominate = _Unary("ReviewService/Nominate", reviews.NominateRequest, reviews.NominateResponse)
    promote = _Unary("ReviewService/Promote", reviews.PromoteRequest, reviews.PromoteResponse)
    reject = _Unary("ReviewService/Reject", reviews.RejectRequest, reviews.RejectResponse)
    quarantine = _Unary("ReviewService/Quarantine", reviews.QuarantineRequest, reviews.QuarantineResponse)
    reaccept = _Unary("ReviewService/Reaccept", reviews.ReacceptRequest, reviews.ReacceptResponse)
    decide_batch = _Unary("ReviewService/DecideBatch", reviews.DecideBatchRequest, reviews.DecideBatchResponse)
    list_queue = _Unary("ReviewService/ListQueue", reviews.ListQueueRequest, reviews.ListQueueResponse)
    edit_proposal = _Unary("ReviewService/Edit", reviews.EditRequest, reviews.EditResponse)
    replace = _Unary("ReviewService/Replace", reviews.ReplaceRequest, reviews.ReplaceResponse)
    undo_decision = _Unary("ReviewService/Undo", reviews.UndoRequest, reviews.UndoResponse)
    source_retracted = _Unary(
        "ReviewService/SourceRetracted", reviews.SourceRetractedRequest, reviews.SourceRetractedResponse
    )
    source_superseded = _Unary(
        "ReviewService/SourceSuperseded", reviews.SourceSupersededRequest, reviews.SourceSupersededResponse
    )
    move = _Unary("ReviewService/Move", reviews.MoveRequest, reviews.MoveResponse)
    save_preference = _Unary(
        "ReviewService/SavePreference", reviews.SavePreferenceRequest, reviews.SavePreferenceResponse
    )
    get_by_source = _Unary("ReviewService/GetBySource", reviews.GetBySourceRequest, reviews.GetBySourceResponse)


class Stream(Iterator[A], Generic[A]):
    """A running server stream (typing only: what grpc returns)."""

    def cancel(self) -> bool:
        """Ends the stream."""
        raise NotImplementedError


class AsyncStream(AsyncIterator[A], Generic[A]):
    """A running server stream for asyncio (typing only: what grpc returns)."""

    def cancel(self) -> bool:
        """Ends the stream."""
        raise NotImplementedError


class _Connection:
    """A channel, the options of calls on it, and the callables made of it so far."""

    def __init__(self, channel: Any, options: ClientOptions) -> None:
        self._channel = channel
        self._calls: dict[str, Any] = {}
        self.options = options
        self.stream_timeout_s: float | None = None

    def within(self, timeout_s: float) -> Self:
        """The same connection with another deadline, in seconds; streams then have it too."""
        other = copy.copy(self)
        other.options = replace_timeout(self.options, timeout_s)
        other.stream_timeout_s = timeout_s
        return other

    def connect(self, shape: str, path: str, response: type[Message]) -> Any:
        """The grpc callable of the rpc at `path`."""
        call = self._calls.get(path)
        if call is None:
            make = getattr(self._channel, shape)
            call = make(
                f"/recall.v1.{path}",
                request_serializer=lambda message: message.SerializeToString(),  # of the message's own class
                response_deserializer=response.FromString,
            )
            call = self._calls[path] = partial(call, metadata=bearer(self.options.token))
        return call


class RecallClient(_Connection, _Verbs):
    """Calls a server; safe to share between threads. `server` is HOST:PORT."""

    def __init__(self, server: str | None = None, options: ClientOptions = ClientOptions()) -> None:
        channel = open_channel(grpc, server_address(server), channel_options(options))
        super().__init__(channel, options)

    def close(self) -> None:
        """Ends the connection; calls still running fail."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncRecallClient(_Connection, _Verbs):
    """Calls a server from one asyncio event loop. `server` is HOST:PORT."""

    def __init__(self, server: str | None = None, options: ClientOptions = ClientOptions()) -> None:
        channel = open_channel(grpc.aio, server_address(server), channel_options(options))
        super().__init__(channel, options)

    async def close(self) -> None:
        """Ends the connection; calls still running fail."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


def channel_options(options: ClientOptions) -> list[tuple[str, Any]]:
    """gRPC channel arguments: size limits on both ways, retries, and no proxy between an agent and its memory."""
    return [
        ("grpc.max_send_message_length", options.max_message_bytes),
        ("grpc.max_receive_message_length", options.max_message_bytes),
        ("grpc.enable_http_proxy", 0),
        ("grpc.service_config", retry_config(options)),
    ]


def retry_config(options: ClientOptions) -> str:
    """The gRPC service config that makes a call again while the server is UNAVAILABLE.

    A call that reaches a server in the moment it stops is ended by gRPC itself, before it began, as CANCELLED. Where
    there was no room the server says how long to wait, or that another attempt is of no use.
    """
    policy = {
        "maxAttempts": options.attempts,
        "initialBackoff": f"{options.backoff_s}s",
        "maxBackoff": f"{options.max_backoff_s}s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED", "RESOURCE_EXHAUSTED"],
    }
    config = {"name": [{}], "retryPolicy": policy} if options.attempts > 1 else {"name": [{}]}
    return json.dumps({"methodConfig": [config]})


def harmless_to_repeat(request: Q) -> Q:
    """Gives a write a request_id of its own when it has none: a second attempt then changes nothing."""
    if "request_id" in request.DESCRIPTOR.fields_by_name:
        write = cast(Any, request)
        write.request_id = write.request_id or uuid.uuid4().hex
    return request


def replace_timeout(options: ClientOptions, timeout_s: float) -> ClientOptions:
    """The options with another deadline."""
    return replace(options, timeout_s=timeout_s)
