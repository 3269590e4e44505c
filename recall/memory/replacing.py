"""Replacing memories in use by one that says it all: the named ones go and the merged one comes, or nothing happens.

It is one command, so one physical write: no reader sees neither or both, and no crash leaves half of it. The order of
the events tells the story: `supersede` of each, then `save` (or `promote`, when the merged text was proposed before),
which names in `replaces` what it took the place of and takes over how often that was said.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from recall.memory import lifecycle
from recall.memory.commands import Setting, check_revision, found, repeated, request
from recall.memory.errors import InvalidField, MemoryServiceError, NotLive, PinnedMemory, ProvenanceTaken, TextTaken
from recall.memory.events import Body
from recall.memory.lifecycle import Action
from recall.memory.names import LIMITS
from recall.memory.record import Record, Status
from recall.memory.saving import Item, Replaced, mint
from recall.memory.state import Draft
from recall.memory.twins import Compared

_VERB = "replace"


@dataclass(frozen=True, slots=True)
class Replacement:
    """The merged memory, those that went, and the seq of the last event; `already` when a retry found it done."""

    record: Record
    gone: tuple[Record, ...]
    seq: int
    already: bool = False


@dataclass(frozen=True, slots=True)
class Replace:
    """Retire `replaced` in favour of a new memory, or of one that was proposed (its id)."""

    replaced: Sequence[str]
    merged: Item | MemoryServiceError | str
    note: str = ""
    expected_revision: int | None = None
    compared: Compared | None = None
    request_id: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Replacement:
        """Raises what Supersede, Save and Promote raise, before anything is written."""
        before = repeated(draft, self.request_id, _VERB)
        if before is not None:
            gone = tuple(found(draft, setting, one) for one in before[0].replaces)
            return Replacement(before[0], gone, before[1], already=True)
        if isinstance(self.merged, MemoryServiceError):
            raise self.merged
        leaving = self._leaving(draft, setting)
        if isinstance(self.merged, str):
            return self._by_proposal(draft, setting, leaving, found(draft, setting, self.merged))
        return self._by_new(draft, setting, leaving, self.merged)

    def _leaving(self, draft: Draft, setting: Setting) -> list[Record]:
        if not 1 <= len(self.replaced) <= LIMITS.replaced:
            raise InvalidField("replaced_ids", f"must be 1 to {LIMITS.replaced}, not {len(self.replaced)}")
        if len(set(self.replaced)) < len(self.replaced):
            raise InvalidField("replaced_ids", "names a memory twice")
        leaving = [found(draft, setting, one) for one in self.replaced]
        for record in leaving:
            lifecycle.check(record, Action.SUPERSEDE, setting.actor.role, setting.policy)
            if record.pinned:
                raise PinnedMemory(record.id, Action.SUPERSEDE)
            if record.status is not Status.ACCEPTED or record.expired(setting.now):
                raise NotLive(record.id, "expired" if record.expired(setting.now) else record.status, _VERB)
        return leaving

    def _by_proposal(self, draft: Draft, setting: Setting, leaving: Sequence[Record], proposal: Record) -> Replacement:
        lifecycle.check(proposal, Action.PROMOTE, setting.actor.role, setting.policy)
        check_revision(proposal, self.expected_revision)
        if self.compared is not None:
            self.compared.check(draft, setting, proposal)
        gone, replaced = self._retire(draft, setting, leaving, proposal.id)
        body = Body(
            op=Action.PROMOTE,
            id=proposal.id,
            note=self.note or UNSET,
            replaces=replaced.ids,
            corroboration=replaced.gain,
            request=request(self.request_id, _VERB),
        )
        change = draft.emit(body, setting.now)
        return Replacement(change.after, gone, change.seq)

    def _by_new(self, draft: Draft, setting: Setting, leaving: Sequence[Record], item: Item) -> Replacement:
        lifecycle.target(item.new_id, None, Action.SAVE, setting.actor.role, setting.policy)
        self._check_free(draft, item, {record.id for record in leaving})
        if self.compared is not None:
            self.compared.check_text(draft, setting, item.new_id, item.memory.text)
        gone, replaced = self._retire(draft, setting, leaving, item.new_id)
        holder = draft.text_holder(item.text_hash)
        asked = request(self.request_id, _VERB)
        saved = mint(draft, setting, item, Action.SAVE, asked, (holder,), replaced)
        return Replacement(saved.record, gone, saved.seq)

    def _check_free(self, draft: Draft, item: Item, leaving: set[str]) -> None:
        """Text and source of the merged memory may be those of what goes, and of nothing else that is live."""
        holder = draft.text_holder(item.text_hash)
        if holder is not None and holder.status.live and holder.id not in leaving:
            raise TextTaken(item.new_id, holder.id)
        provenance = item.memory.source.provenance if item.memory.source is not None else None
        owner = None if provenance is None else draft.source_holder(provenance)
        if provenance is not None and owner is not None and owner.id not in leaving:
            raise ProvenanceTaken(*provenance, owner.id)

    def _retire(
        self, draft: Draft, setting: Setting, leaving: Sequence[Record], winner: str
    ) -> tuple[tuple[Record, ...], Replaced]:
        gone = []
        for record in leaving:
            body = Body(
                op=Action.SUPERSEDE,
                id=record.id,
                winner=winner,
                note=self.note or UNSET,
                updated_at=record.updated_at,  # for an undo
            )
            gone.append(draft.emit(body, setting.now).after)
        gain = min(sum(record.corroboration + 1 for record in leaving), LIMITS.count)
        return tuple(gone), Replaced(tuple(record.id for record in leaving), gain)
