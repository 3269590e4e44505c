"""The fast lane: a signed-in user keeps preferences of their own, in use at once, in a governed bank too.

It is narrow by structure. The role USER has this one edge and no other, and no token of another role has it. It leads
only into a bank whose scope is that very user (`scope_kind` USER, `scope_ref` the token's name), so nobody else gets
what it writes. It makes PREFERENCE memories alone, never pinned, and changes none: what the bank holds already, in
whatever live status, is answered as it is. A reviewer sees them among what is in use and takes them out like any other.
"""

from dataclasses import dataclass

from recall.memory import lifecycle
from recall.memory.commands import Setting, repeated, request
from recall.memory.errors import MemoryServiceError, NotYourScope
from recall.memory.lifecycle import Action
from recall.memory.record import BankInfo, Outcome, Saved, ScopeKind
from recall.memory.saving import Item, in_use, mint
from recall.memory.state import Draft
from recall.memory.twins import Compared


@dataclass(frozen=True, slots=True)
class Prefer:
    """Keep one preference of whoever acts."""

    item: Item | MemoryServiceError
    compared: Compared
    request_id: str = ""

    def plan(self, draft: Draft, setting: Setting) -> Saved:
        """Raises NotYourScope, IllegalTransition, NearDuplicate, InvalidField."""
        check_scope(draft.info, setting.bank, setting.actor.id)
        before = repeated(draft, self.request_id, Action.PREFER)
        if before is not None:
            return Saved(before[0], Outcome.REPEATED, before[1])
        if isinstance(self.item, MemoryServiceError):
            raise self.item
        lifecycle.target(self.item.new_id, None, Action.PREFER, setting.actor.role, setting.policy)
        holder = draft.text_holder(self.item.text_hash)
        if holder is not None and in_use(holder, setting.now):
            return Saved(holder, Outcome.UNCHANGED, 0)
        self.compared.check_text(draft, setting, self.item.new_id, self.item.memory.text)
        asked = request(self.request_id, Action.PREFER)
        return mint(draft, setting, self.item, Action.PREFER, asked, (holder,))


def check_scope(info: BankInfo, bank: str, user: str) -> None:
    """Raises NotYourScope unless the bank is the memory of this very user."""
    if info.scope_kind is not ScopeKind.USER or info.scope_ref != user:
        raise NotYourScope(bank, user)
