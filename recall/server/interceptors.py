"""The outermost layer of every call: the guard is asked, what is raised below becomes a status, calls are counted.

A domain error becomes the status that `errors` gives it. Anything else is a bug: the caller gets INTERNAL with a fixed
text, the log gets the frames and the types of the exceptions but not their messages, which may hold memory text. Bytes
that are no message of the contract are the caller's mistake, so they end as INVALID_ARGUMENT too.

Long streams run on thread pools of their own, given by method, so that they never take the threads of short calls. A
call for which there is no room is ended before anything else is done for it: see `pools`.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from recall.server import errors
from recall.server.caller import Call
from recall.server.guard import Guard
from recall.server.pools import refuse_if_told
from recall.server.refusals import InvalidRequest, Violation
from recall.telemetry import Telemetry

logger = logging.getLogger(__name__)

OURS = "/recall.v1."
PUSHBACK = "grpc-retry-pushback-ms"

Behavior = Callable[[Any, Any], Any]


class Malformed:
    """Stands for a request whose bytes are no message of the contract."""


class Edge(grpc.ServerInterceptor):
    """Wraps every method of the contract. `pools` names, by full method, who runs on threads of their own."""

    def __init__(self, telemetry: Telemetry, pools: Mapping[str, ThreadPoolExecutor], guard: Guard) -> None:
        self._guard = guard
        self._telemetry = telemetry
        self._pools = pools
        self._wrapped: dict[str, Any] = {}

    def intercept_service(self, continuation: Callable[[Any], Any], handler_call_details: Any) -> Any:
        """The handler of the method, wrapped once and kept."""
        method = handler_call_details.method
        handler = self._wrapped.get(method)
        if handler is None:
            handler = continuation(handler_call_details)
            if handler is not None:
                handler = self._wrapped[method] = self._wrap(method, handler)
        return handler

    def _wrap(self, method: str, handler: Any) -> Any:
        if not method.startswith(OURS):
            return self._on_its_pool(method, handler)
        wrap = self._wrap_stream if handler.response_streaming else self._wrap_unary
        make = _MAKERS[handler.request_streaming, handler.response_streaming]
        behavior = wrap(method.removeprefix(OURS), self._guarded(method, _behavior(handler)))
        if method in self._pools:
            behavior.experimental_thread_pool = self._pools[method]  # type: ignore[attr-defined]
        return make(behavior, lenient(handler.request_deserializer), handler.response_serializer)

    def _guarded(self, method: str, behavior: Behavior) -> Behavior:
        """The handler, which gets well-formed requests of callers who may send them."""
        guard = self._guard

        def answer(request: Any, context: grpc.ServicerContext) -> Any:
            refuse_if_told()
            who = guard.admit(method, context)
            asked = well_formed(request)
            if who.banks:
                if isinstance(asked, Iterator):
                    asked = guard.checked_stream(method, who, asked, context)
                else:
                    guard.check_banks(method, who, asked, context)
            return behavior(asked, Call(context, who))

        return answer

    def _on_its_pool(self, method: str, handler: Any) -> Any:
        """A handler of somebody else's service: as it is, but on its pool."""
        if method not in self._pools:
            return handler
        behavior = partial(_behavior(handler))
        behavior.experimental_thread_pool = self._pools[method]  # type: ignore[attr-defined]
        make = _MAKERS[handler.request_streaming, handler.response_streaming]
        return make(behavior, handler.request_deserializer, handler.response_serializer)

    def _wrap_unary(self, name: str, behavior: Behavior) -> Behavior:
        def answer(request: Any, context: grpc.ServicerContext) -> Any:
            started = time.perf_counter()
            code = "OK"
            try:
                return behavior(request, context)
            except grpc.RpcError:
                code = "CANCELLED"
                raise
            except Exception as error:  # noqa: BLE001 - the outermost layer: everything is mapped or hidden
                status = status_or_hide(name, error)
                code = errors.code_name(status)
                _abort(context, status)
            finally:
                self._telemetry.observe(name, (time.perf_counter() - started) * 1e3, code)

        return answer

    def _wrap_stream(self, name: str, behavior: Behavior) -> Behavior:
        def answer(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            started = time.perf_counter()
            code = "OK"
            try:
                yield from behavior(request, context)
            except grpc.RpcError:
                code = "CANCELLED"
                raise
            except Exception as error:  # noqa: BLE001 - as above
                status = status_or_hide(name, error)
                code = errors.code_name(status)
                _abort(context, status)
            finally:
                self._telemetry.observe(name, (time.perf_counter() - started) * 1e3, code)

        return answer


def status_or_hide(name: str, error: Exception) -> Status:
    """The status of a domain error; of a bug, which is logged, the fixed one."""
    status = errors.status_of(error)
    if status is None:
        logger.error("bug rpc=%s\n%s", name, frames(error))
        return errors.BUG
    return status


def frames(error: BaseException | None) -> str:
    """The traceback of an exception and what caused it, without messages: those may hold memory text."""
    parts: list[str] = []
    while error is not None:
        parts.append("".join(traceback.format_tb(error.__traceback__)) + type(error).__qualname__)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\ncaused by\n".join(parts)


def lenient(deserialize: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """A deserializer that gives `Malformed` where the bytes are no message."""

    def deserialize_or_malformed(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return Malformed()

    return deserialize_or_malformed


def well_formed(request: Any) -> Any:
    """The request, or the stream of requests. Raises InvalidRequest where one is `Malformed`."""
    if isinstance(request, Malformed):
        raise InvalidRequest((Violation("request", "is not a message of this rpc (or holds text that is not UTF-8)"),))
    return _well_formed_stream(request) if isinstance(request, Iterable) else request


def _well_formed_stream(requests: Iterable[Any]) -> Iterator[Any]:
    for request in requests:
        yield well_formed(request)


def _abort(context: grpc.ServicerContext, status: Status) -> None:
    """Ends the call; gRPC's own retries are told how long to wait where there was no room."""
    ending = rpc_status.to_status(status)
    wait_ms = errors.pushback_ms(status)
    if wait_ms is not None:
        ending = ending._replace(trailing_metadata=(*ending.trailing_metadata, (PUSHBACK, str(wait_ms))))
    context.abort_with_status(ending)


def _behavior(handler: Any) -> Behavior:
    behavior: Behavior = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    return behavior


_MAKERS: dict[tuple[bool, bool], Callable[..., Any]] = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}
