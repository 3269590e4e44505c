"""A bank as its message: settings, counts, coverage, sizes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from index.embedder import EmbedderSlot, EmbedderState
from recall.memory.clock import Clock
from recall.memory.errors import MemoryServiceError
from recall.memory.segments import FOLDER as HISTORY
from recall.memory.tally import counted
from recall.server import convert
from recall.server.live import LiveBank
from recall.v1 import bank_service_pb2 as pb

DERIVED = "derived"


@dataclass(frozen=True, slots=True)
class Describer:
    """Describes banks."""

    slot: EmbedderSlot
    clock: Clock

    def message(self, live: LiveBank) -> pb.Bank:
        """Everything about an open bank."""
        bank, info = live.bank, live.bank.info
        message = pb.Bank(
            name=bank.name,
            description=info.description,
            half_life_days=info.half_life_days,
            default_limit=info.default_limit,
            user_handle=info.user_handle,
            policy=convert.POLICY_OUT[info.policy],
            title=info.title,
            scope_ref=info.scope_ref,
            preamble=info.preamble,
            agents=info.agents,
            last_seq=bank.last_seq,
            counts=self._counts(live),
            coverage=self._coverage(live),
            sizes=pb.BankSizes(
                log_bytes=bank.log_bytes,
                derived_bytes=bytes_below(bank.place.folder / DERIVED),
                history_bytes=bytes_below(bank.place.folder / HISTORY),
            ),
            read_only_reason=bank.read_only_reason or "",
        )
        if info.scope_kind is not None:
            message.scope_kind = convert.SCOPE_OUT[info.scope_kind]
        if bank.used.at:
            convert.set_time(message.last_used_at, bank.used.at)
        convert.set_time(message.created_at, info.created_at)
        return message

    def _counts(self, live: LiveBank) -> pb.BankCounts:
        counts = counted(live.bank.records(), self.clock.now())
        return pb.BankCounts(
            live=counts.live,
            superseded=counts.superseded,
            retired=counts.retired,
            expired=counts.expired,
            nominated=counts.nominated,
            quarantined=counts.quarantined,
            rejected=counts.rejected,
        )

    def _coverage(self, live: LiveBank) -> pb.Coverage:
        state = self.slot.state()
        covered = live.index.coverage(state.model_id)
        return pb.Coverage(
            embedded=covered.embedded,
            total=covered.total,
            model=state.model_id,
            stalled_reason=stalled_by(state),
        )


def stalled_by(state: EmbedderState) -> str:
    """Why nothing is embedded; a model that is being loaded is only waited for."""
    if state.state in ("ready", "loading"):
        return ""
    return f"the embedder is {state.state}: {state.detail}".rstrip(": ")


def unavailable(name: str, error: MemoryServiceError) -> pb.Bank:
    """A bank that cannot be opened."""
    return pb.Bank(name=name, unavailable_reason=str(error))


def bytes_below(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(_size(Path(root) / name) for root, _, names in os.walk(folder) for name in names)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # a derived file may go at any time
        return 0
