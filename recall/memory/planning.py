"""From a group of commands to one draft and a result for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from recall.memory.commands import Command, Setting
from recall.memory.group_commit import Ticket
from recall.memory.record import Actor, Record
from recall.memory.state import Draft, State


@dataclass(frozen=True, slots=True)
class Work:
    """A command and who gives it."""

    command: Command[object]
    actor: Actor


def planned(
    bank: str, now: int, state: State, group: Sequence[Ticket[Work]], text: Callable[[int], str]
) -> tuple[Draft, list[tuple[Ticket[Work], object]]]:
    """Each command against the draft of those before it; one that fails halfway (a bug) is left out.

    `text` reads the text of an event that is in the log.
    """
    while True:
        draft, results = Draft(state), []
        for ticket in group:
            if ticket.done:
                continue
            setting = Setting(bank, now, ticket.work.actor, draft.info.policy, partial(_text, draft, text))
            try:
                result = ticket.work.command.plan(draft, setting)
            except Exception as error:  # noqa: BLE001 (it is raised to the one who asked)
                ticket.fail(error)
                if draft.dirty:
                    break
                continue
            draft.finish(ticket.work.actor)
            results.append((ticket, result))
        else:
            return draft, results


def _text(draft: Draft, logged: Callable[[int], str], record: Record) -> str:
    fresh = draft.text(record)
    return logged(record.text_seq) if fresh is None else fresh
