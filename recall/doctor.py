"""The check-up: tries the service for real and says what to do about what it finds.

    round_trip   save → recall → delete → recall in a scratch bank of its own, on the same disk
    model        what the encoder is, and whether it tells like from unlike
    disk         free space where the data lies
    coverage     memories that have their vector
    banks        banks that take no writes or cannot be opened
    chain        each event of the logs of open banks carries the sum of the one before

The scratch bank lies in a folder of its own beside the tenants, so no list ever shows it, and is removed whatever
happens. Checks run in this order; one that fails does not keep the others from running.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from index.embedder import EmbedderSlot
from index.errors import EmbeddingError
from recall.memory.errors import MemoryServiceError
from recall.memory.record import NewMemory, Saved
from recall.ranking.budget import Budget
from recall.ranking.engine import Engine
from recall.ranking.query import Mode, RecallQuery
from recall.server.live import LiveBank, LiveBanks

SCRATCH = Path(".new")
"""Where banks are made before they are moved to their place; whatever a crash leaves there goes at the next start."""


class Outcome(StrEnum):
    """How a check went."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, with figures, and what to do about it."""

    name: str
    outcome: Outcome
    detail: str
    remedy: str = ""
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class DoctorSettings:
    """Where the doctor draws the line."""

    disk_warn_bytes: int = 1024**3
    """Free bytes below which the disk is a warning."""
    disk_fail_bytes: int = 64 * 1024**2
    """Free bytes below which the disk is a failure."""
    recall_s: float = 5.0
    """Longest recall of the round trip, in seconds."""
    like: tuple[str, str] = ("the meeting was moved to Thursday", "the appointment is now on Thursday")
    """Two texts that say the same."""
    unlike: str = "bananas are rich in potassium"
    """A text that says something else."""


@dataclass(frozen=True, slots=True)
class Doctor:
    """Examines a running service."""

    data: Path
    live: LiveBanks
    engine: Engine
    slot: EmbedderSlot
    scratch: Callable[[Path], AbstractContextManager[LiveBank]]
    """An empty bank in a new folder; the folder is the caller's to remove."""
    settings: DoctorSettings = DoctorSettings()

    def examine(self, tenant: str) -> Iterator[Finding]:
        """Every finding, in order; of banks, about those of one tenant."""
        for name, check in (
            ("round_trip", self._round_trip),
            ("model", self._model),
            ("disk", self._disk),
            ("coverage", partial(self._coverage, tenant)),
            ("banks", partial(self._banks, tenant)),
            ("chain", partial(self._chain, tenant)),
        ):
            started = time.perf_counter()
            outcome, detail, remedy = check()
            yield Finding(name, outcome, detail, remedy, (time.perf_counter() - started) * 1e3)

    def _round_trip(self) -> tuple[Outcome, str, str]:
        folder = self.data / SCRATCH / f"doctor-{uuid.uuid4().hex[:12]}"
        try:
            with self.scratch(folder) as live:
                problem = self._try(live)
        except (MemoryServiceError, OSError) as error:
            return Outcome.FAIL, str(error), "make the data folder writable, then run doctor again"
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if problem:
            return Outcome.FAIL, problem, "restart the service; if it stays, report it with the server's log"
        return Outcome.PASS, "saved, recalled, deleted and no longer recalled", ""

    def _try(self, live: LiveBank) -> str:
        """What went wrong; empty when nothing did."""
        word = f"doctor{uuid.uuid4().hex[:8]}"
        saved = live.bank.save([NewMemory(text=f"The check-up word is {word}")])[0]
        if not isinstance(saved, Saved):
            return f"the save was refused: {saved}"
        if saved.record.id not in self._recalled(live, word):
            return "a memory was saved but not recalled"
        live.bank.delete(saved.record.id)
        if saved.record.id in self._recalled(live, word):
            return "a memory was deleted but is still recalled"
        return ""

    def _recalled(self, live: LiveBank, text: str) -> frozenset[str]:
        now = time.monotonic()
        allowed = Budget(started=now, deadline=now + self.settings.recall_s)
        ranked = self.engine.recall(live.index, live.bank, RecallQuery(text=text, mode=Mode.LEXICAL), allowed)
        return frozenset(result.record.id for result in ranked.results)

    def _model(self) -> tuple[Outcome, str, str]:
        state, embedder = self.slot.state(), self.slot.current()
        if state.state == "off":
            return Outcome.WARN, "embedding.model is none: recall is lexical", "set embedding.model to default"
        if embedder is None:
            remedy = "wait for it" if state.state == "loading" else "check embedding.model and the server's log"
            return Outcome.WARN, f"the embedder is {state.state}: recall is lexical. {state.detail}".strip(), remedy
        try:
            first, second, other = embedder.encode([*self.settings.like, self.settings.unlike])
        except EmbeddingError as error:
            return Outcome.FAIL, str(error), "check embedding.model and, for an endpoint, that it runs"
        like, unlike = float(first @ second), float(first @ other)
        told = f"{state.backend}, {state.dimensions} dimensions; like texts {like:.2f}, unlike {unlike:.2f}"
        if like <= unlike:
            return Outcome.WARN, told, "the model does not tell like from unlike: choose another embedding.model"
        if state.detail:
            return Outcome.WARN, f"{told}; {state.detail}", "a slower backend serves; see the server's log"
        return Outcome.PASS, told, ""

    def _disk(self) -> tuple[Outcome, str, str]:
        usage = shutil.disk_usage(self.data)
        told = f"{usage.free / 1024**3:.1f} GiB free of {usage.total / 1024**3:.1f} GiB at {self.data}"
        if usage.free < self.settings.disk_fail_bytes:
            return Outcome.FAIL, told, "make room: writes will be refused"
        if usage.free < self.settings.disk_warn_bytes:
            return Outcome.WARN, told, "make room soon"
        return Outcome.PASS, told, ""

    def _coverage(self, tenant: str) -> tuple[Outcome, str, str]:
        model_id = self.slot.state().model_id
        coverages = [live.index.coverage(model_id) for live in self.live.opened() if live.bank.tenant == tenant]
        embedded, total = sum(one.embedded for one in coverages), sum(one.total for one in coverages)
        told = f"{embedded} of {total} memories in {len(coverages)} open banks have a vector"
        if embedded < total:
            return Outcome.WARN, told, "the backfill embeds the rest; until then they are found by their words"
        return Outcome.PASS, told, ""

    def _banks(self, tenant: str) -> tuple[Outcome, str, str]:
        damaged = self.live.banks.trouble(tenant)
        read_only = [
            live.name for live in self.live.opened() if live.bank.tenant == tenant and live.bank.read_only_reason
        ]
        if damaged:
            told = "; ".join(f"{name}: {reason}" for name, reason in sorted(damaged.items()))
            return Outcome.FAIL, told, "run recall check, then recall bank reload"
        if read_only:
            return Outcome.FAIL, f"read-only: {', '.join(read_only)}", "mend the cause, then recall bank reload"
        return Outcome.PASS, "every open bank takes writes", ""

    def _chain(self, tenant: str) -> tuple[Outcome, str, str]:
        """Reads the logs from their first byte, as they stand on the disk."""
        banks = [live.bank for live in self.live.opened() if live.bank.tenant == tenant]
        events = 0
        for bank in banks:
            try:
                image = bank.image()
                image.verify()
            except MemoryServiceError as error:
                return Outcome.FAIL, f"{bank.name}: {error}", "run recall check, then recall bank reload"
            events += image.last_seq
        return Outcome.PASS, f"unbroken over the {events} events of {len(banks)} open banks", ""
