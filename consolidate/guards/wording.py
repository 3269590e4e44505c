"""The last guard: words that nobody listed. Texts whose content words differ never merge unasked."""

from __future__ import annotations

from consolidate.canonical import content, same_but_synonyms, same_wording
from consolidate.guards.verdict import Finding, Verdict
from consolidate.memo import Memo
from consolidate.words import normal_text


def emptiness(a: Memo, b: Memo) -> Finding | None:
    """A text without letters or digits says nothing that could be compared."""
    if normal_text(a.text) and normal_text(b.text):
        return None
    return Finding("emptiness", Verdict.KEEP, "a text without words")


def wording(a: Memo, b: Memo) -> Finding | None:
    """The content words differ in more than the canonical form and the synonyms fold."""
    if same_wording(a.text, b.text) or same_but_synonyms(a.text, b.text):
        return None
    left, right = content(a.text), content(b.text)
    detail = (
        f"{' '.join(sorted(left - right)[:4]) or 'nothing'} against {' '.join(sorted(right - left)[:4]) or 'nothing'}"
    )
    return Finding("wording", Verdict.PROPOSE, detail)
