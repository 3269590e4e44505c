"""Clients that write and ask while a server may be killed, and what each of them was promised."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc

from recall.client import ClientOptions, RecallClient
from recall.v1.memory_pb2 import Memory
from recall.v1.memory_service_pb2 import NewMemory
from recall.v1.recall_service_pb2 import RECALL_MODE_LEXICAL

GONE = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED})
ONCE = ClientOptions(timeout_s=10.0, attempts=1)


@dataclass(slots=True)
class Promises:
    """What one client was told, over all lives of the server. It alone writes the memories it names."""

    client: int
    texts: dict[str, str] = field(default_factory=dict)
    """id → text, as last acknowledged, of memories that are live."""
    retired: set[str] = field(default_factory=set)
    shared: int = 0
    """Acknowledged saves of the text that all clients say."""
    open_saves: dict[str, list[str]] = field(default_factory=dict)
    """request_id → texts of saves that were never answered: done or not, and nobody knows."""
    open_shared: list[str] = field(default_factory=list)
    """request_ids of unanswered saves of the shared text."""
    doubtful: dict[str, set[str]] = field(default_factory=dict)
    """id → texts it may have besides ("" for retired), after an unanswered update or delete."""
    seq: int = 0
    as_of: int = 0
    number: int = 0
    problems: list[str] = field(default_factory=list)


class Worker:
    """One client at work until the server goes or `over` is set."""

    def __init__(self, promises: Promises, address: str, bank: str, seed: int, over: threading.Event) -> None:
        self._promises = promises
        self._address = address
        self._bank = bank
        self._random = random.Random(seed)
        self._over = over

    def run(self) -> None:
        """Returns when the server is gone. What a caller must never see goes to `problems`."""
        verbs = (self._save, self._save, self._batch, self._shared, self._update, self._delete, self._ask, self._ask)
        with RecallClient(self._address, ONCE) as client:
            try:
                self._retry_open(client)
                while not self._over.is_set():
                    self._random.choice(verbs)(client)
            except grpc.RpcError as error:
                if error.code() not in GONE:
                    self._problem(f"{error.code()}: {error.details()}")

    def _save(self, client: RecallClient) -> None:
        text = self._text()
        request_id = f"{self._promises.client}-{self._promises.number}"
        self._promises.open_saves[request_id] = [text]
        self._save_all(client, request_id)

    def _batch(self, client: RecallClient) -> None:
        texts = [self._text() for _ in range(self._random.randint(2, 8))]
        request_id = f"{self._promises.client}-{self._promises.number}"
        self._promises.open_saves[request_id] = texts
        self._save_all(client, request_id)

    def _save_all(self, client: RecallClient, request_id: str) -> None:
        texts = self._promises.open_saves[request_id]
        answer = client.save_batch(
            bank=self._bank, memories=[NewMemory(text=text) for text in texts], request_id=request_id
        )
        for text, result in zip(texts, answer.results, strict=True):
            if result.saved.memory.text != text:
                self._problem(f"saved {text!r}, got {result.saved.memory.text!r}")
            self._promises.texts[result.saved.memory.id] = text
            self._promises.seq = max(self._promises.seq, result.saved.seq)
        del self._promises.open_saves[request_id]
        if self._random.random() < 0.2:  # a retry of what was answered must change nothing
            again = client.save_batch(
                bank=self._bank, memories=[NewMemory(text=text) for text in texts], request_id=request_id
            )
            ids = [result.saved.memory.id for result in answer.results]
            if [result.saved.memory.id for result in again.results] != ids:
                self._problem(f"a retry of {request_id} made other memories")

    def _shared(self, client: RecallClient) -> None:
        self._promises.number += 1
        request_id = f"shared-{self._promises.client}-{self._promises.number}"
        self._promises.open_shared.append(request_id)
        self._say_shared(client, request_id)

    def _say_shared(self, client: RecallClient, request_id: str) -> None:
        client.save(bank=self._bank, memory=NewMemory(text=SHARED), request_id=request_id)
        self._promises.shared += 1
        self._promises.open_shared.remove(request_id)

    def _update(self, client: RecallClient) -> None:
        memory_id = self._mine()
        if memory_id is None:
            return
        text = self._text()
        self._promises.doubtful[memory_id] = {text}
        written = client.update(
            bank=self._bank,
            memory=Memory(id=memory_id, text=text),
            update_mask={"paths": ["text"]},  # type: ignore[arg-type]
        )
        self._promises.texts[memory_id] = text
        self._promises.seq = max(self._promises.seq, written.seq)
        del self._promises.doubtful[memory_id]

    def _delete(self, client: RecallClient) -> None:
        memory_id = self._mine()
        if memory_id is None or self._random.random() < 0.5:
            return
        self._promises.doubtful[memory_id] = {""}
        client.delete(bank=self._bank, id=memory_id)
        del self._promises.texts[memory_id]
        self._promises.retired.add(memory_id)
        del self._promises.doubtful[memory_id]

    def _ask(self, client: RecallClient) -> None:
        memory_id = self._mine()
        if memory_id is None:
            return
        text = self._promises.texts[memory_id]
        answer = client.recall(bank=self._bank, query=text, limit=5, mode=RECALL_MODE_LEXICAL)
        if memory_id not in [result.memory.id for result in answer.results]:
            self._problem(f"did not read its own write {text!r}")
        if answer.as_of_seq < max(self._promises.as_of, self._promises.seq):
            self._problem(f"as_of_seq went back to {answer.as_of_seq} from {self._promises.as_of}")
        self._promises.as_of = answer.as_of_seq

    def _retry_open(self, client: RecallClient) -> None:
        """What was not answered before the kill is asked again, with the same request_id."""
        for request_id in list(self._promises.open_saves):
            self._save_all(client, request_id)
        for request_id in list(self._promises.open_shared):
            self._say_shared(client, request_id)

    def _mine(self) -> str | None:
        sure = [one for one in self._promises.texts if one not in self._promises.doubtful]
        return self._random.choice(sure[-50:]) if sure else None

    def _text(self) -> str:
        self._promises.number += 1
        return f"client{self._promises.client} note{self._promises.number} of client {self._promises.client}"

    def _problem(self, what: str) -> None:
        self._promises.problems.append(f"client {self._promises.client}: {what}")


SHARED = "everybody says this"


def at_work(promises: list[Promises], address: str, bank: str, seed: int) -> Callable[[], None]:
    """Starts a worker for each; call what is returned, after the server was killed, to wait for them."""
    over = threading.Event()
    workers = [Worker(one, address, bank, seed * 1_000 + one.client, over) for one in promises]
    threads = [threading.Thread(target=worker.run) for worker in workers]
    for thread in threads:
        thread.start()

    def end() -> None:
        over.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()

    return end
