"""Every verb of the command line, where its function stands, and the line that explains it.

Only the verb that is called is imported; the others are known by this table.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class Verb(NamedTuple):
    """A verb: `function` in `recall.commands.<module>`."""

    name: str
    module: str
    function: str
    help: str

    def load(self) -> Callable[..., Any]:
        """The function."""
        loaded: Callable[..., Any] = getattr(import_module(f"recall.commands.{self.module}"), self.function)
        return loaded


VERBS = (
    Verb("serve", "serve", "serve", "Start the service."),
    Verb("save", "save", "save", "Save a text; saved again, it grows stronger."),
    Verb("ask", "ask", "ask", "Recall the memories that match, best first."),
    Verb("list", "memory", "list_memories", "List memories, newest first."),
    Verb("show", "memory", "show", "Show one memory with all its fields."),
    Verb("history", "memory", "history", "Show what happened to a memory."),
    Verb("edit", "edit", "edit", "Change fields of a memory; its id stays."),
    Verb("rm", "memory", "rm", "Retire memories; history keeps them."),
    Verb("pin", "memory", "pin", "Pin a memory, or unpin it with --off."),
    Verb("supersede", "memory", "supersede", "Retire a memory in favour of another."),
    Verb("tags", "memory", "tags", "List the tags of live memories."),
    Verb("import", "transfer", "import_file", "Take in memories from a file of JSON lines."),
    Verb("export", "transfer", "export", "Write a bank's memories as JSON lines."),
    Verb("consolidate", "consolidate", "consolidate", "Merge what says the same; tell of the rest."),
    Verb("runs", "consolidate", "runs", "List consolidation runs, or show one."),
    Verb("undo", "consolidate", "undo", "Bring back what a consolidation run retired."),
    Verb("sweep", "consolidate", "sweep", "Take out of use what expired or lost its source."),
    Verb("watch", "watch", "watch", "Show changes as they happen; Ctrl-C ends it."),
    Verb("status", "admin", "status", "Show what the server is doing."),
    Verb("doctor", "admin", "doctor", "Try the server for real, and say what to do."),
    Verb("audit", "audit", "audit", "Show who did what in a bank, and when."),
    Verb("check", "check", "check", "Verify the files of a data folder."),
    Verb("repair", "check", "repair", "Make a damaged bank open again; nothing is dropped."),
    Verb("backup", "backup", "backup", "Write every bank of a running service to a file."),
    Verb("restore", "backup", "restore", "Make a data folder out of a backup."),
    Verb("settings", "settings", "settings", "Show the settings in force and their origins."),
    Verb("version", "version", "version", "Show the release."),
    Verb("hook", "hook", "hook", "Give an agent its notes: a hook's JSON on stdin."),
)

BANK_HELP = "Keep banks: isolated, named scopes of memory."
BANK_VERBS = (
    Verb("create", "bank", "create", "Make an empty bank."),
    Verb("list", "bank", "list_banks", "List all banks."),
    Verb("show", "bank", "show", "Show a bank: counts, coverage, sizes."),
    Verb("update", "bank", "update", "Change a bank's settings."),
    Verb("delete", "bank", "delete", "Move a bank to the trash."),
    Verb("trash", "bank", "trash", "List the banks in the trash."),
    Verb("restore", "bank", "restore", "Bring a bank back from the trash."),
    Verb("reload", "bank", "reload", "Read a bank's files again."),
    Verb("vacuum", "vacuum", "vacuum", "Write a bank's log anew, without what was superseded."),
)

WHO_MAY_CALL = "Say who may call, in which role, for which banks."
TOKEN_VERBS = (
    Verb("create", "token", "create", "Make a token; it is shown once."),
    Verb("list", "token", "list_tokens", "List the tokens."),
    Verb("revoke", "token", "revoke", "End a token at once."),
)

REVIEW_HELP = "Decide what comes into use."
REVIEW_VERBS = (
    Verb("list", "review", "list_queue", "List what waits for a decision."),
    Verb("promote", "review", "promote", "Put nominated memories into use."),
    Verb("reject", "review", "reject", "Refuse memories for good; needs a reason."),
    Verb("quarantine", "review", "quarantine", "Take memories out of use; needs a reason."),
    Verb("reaccept", "review", "reaccept", "Put quarantined memories back into use."),
    Verb("edit", "proposals", "edit", "Change the text of what waits for a decision."),
    Verb("replace", "proposals", "replace", "Retire memories in favour of a merged one."),
    Verb("undo", "proposals", "undo", "Take the last decision on a memory back."),
    Verb("fallen", "proposals", "fallen", "Take out of use what stands on a fallen source."),
    Verb("move", "proposals", "move", "Move a memory to the bank it belongs in."),
    Verb("prefer", "proposals", "prefer", "Keep a preference of your own."),
    Verb("source", "proposals", "source", "Show what was taken from one source."),
)


RULE_HELP = "Keep rules: documents that a turn is given whole."
RULE_VERBS = (
    Verb("set", "rule", "set_rule", "Write a rule."),
    Verb("get", "rule", "get", "Show a rule, or all its revisions."),
    Verb("list", "rule", "list_rules", "List the rules of a bank."),
    Verb("delete", "rule", "delete", "Take a rule out of use."),
)


CONTEXT_HELP = "See what a turn of an agent is given."
CONTEXT_VERBS = (Verb("preview", "context", "preview", "Show what a turn would be given."),)


class Group(NamedTuple):
    """Verbs of a second word."""

    name: str
    help: str
    verbs: tuple[Verb, ...]


GROUPS = (
    Group("bank", BANK_HELP, BANK_VERBS),
    Group("token", WHO_MAY_CALL, TOKEN_VERBS),
    Group("review", REVIEW_HELP, REVIEW_VERBS),
    Group("rule", RULE_HELP, RULE_VERBS),
    Group("context", CONTEXT_HELP, CONTEXT_VERBS),
)
