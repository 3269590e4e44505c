"""How text that comes from memory is told from what people say: blocks, and text that cannot close one.

Of the standard library alone: an agent's hook imports it.
"""

from __future__ import annotations

import re
import unicodedata

NOTES, RULES, DIGEST, CHANGE = "recalled-notes", "recall-rules", "recall-digest", "recall-change"
BLOCKS = (NOTES, RULES, DIGEST, CHANGE)
_NAMES = "|".join(BLOCKS)
_OLD_BLOCK = re.compile(rf"<({_NAMES})\b.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OWN_TAG = re.compile(rf"<(?=\s*/?\s*(?:{_NAMES}))", re.IGNORECASE)
_KEPT_FORMAT_CHARACTERS = "\u200c\u200d"  # joiners: scripts and emoji need them


def block(name: str, *parts: str) -> str:
    """Parts between the two tags of a block."""
    return "".join((f"<{name}>\n", *parts, f"</{name}>\n"))


def without_blocks(text: str) -> str:
    """A text less the blocks that an earlier turn was given, so that they are never asked for or learned again."""
    return _OLD_BLOCK.sub(" ", text).encode("utf-8", "replace").decode().strip()


def harmless(text: str) -> str:
    """Text on one line that can neither close a block nor hide: `<` and `>` escaped, control characters gone."""
    seen = (" " if c.isspace() else c for c in text if c.isspace() or not _hidden(c))
    return " ".join("".join(seen).split()).replace("<", "&lt;").replace(">", "&gt;")


def own_tags_escaped(text: str) -> str:
    """Markdown as it is, but for our own tags and characters that hide."""
    shown = "".join(c for c in text if c in "\n\t" or not _hidden(c))
    return _OWN_TAG.sub("&lt;", shown)


def _hidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and (
        character not in _KEPT_FORMAT_CHARACTERS
    )
