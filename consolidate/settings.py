"""Every number that shapes consolidation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConsolidateSettings:
    """When a pair of memories is looked at, and how much one run may change."""

    enabled: bool = False
    """Run on a schedule. A run that a person asks for is always possible."""
    interval_hours: float = 24.0
    """Hours between scheduled runs of a bank; a slack of min(5 minutes, interval / 10) is allowed."""
    boot_grace_seconds: float = 45.0
    """Seconds after the start before a run that was missed is made up for."""
    look_seconds: float = 60.0
    """Seconds between two looks at which banks are due."""
    longest_yield_seconds: float = 30.0
    """Longest time that running recalls hold up the next step of a run."""
    merge_cosine: float = 0.93
    """Cosine from which two texts that say the same in other words may merge without anybody asked."""
    propose_cosine: float = 0.80
    """Cosine from which two texts are offered to the judge or a reviewer."""
    related_cosine: float = 0.62
    """Cosine from which two texts that share a word with a meaning of its own are offered as well."""
    related_jaccard: float = 0.35
    """Character-trigram Jaccard from which two texts are offered as related."""
    duplicate_jaccard: float = 0.72
    """Character-trigram Jaccard from which two texts count as near-duplicates."""
    max_supersedes: int = 200
    """Memories one run may retire, over all banks; the rest is reported as capped and done next time."""
    told_proposals: int = 500
    """Proposals of a bank that a report lists, most alike first; all are counted."""
    told_kept: int = 100
    """Pairs kept apart that a report lists; all are counted."""
    inline_memories: int = 256
    """Memories up to which a plan is made inside the server; larger banks are planned by a process of their own."""
    plan_timeout_seconds: float = 900.0
    """Longest that the planning process may take."""

    def __post_init__(self) -> None:
        if self.interval_hours <= 0 or self.look_seconds <= 0 or self.plan_timeout_seconds <= 0:
            raise ValueError("interval_hours, look_seconds and plan_timeout_seconds must be above 0")
        if min(self.boot_grace_seconds, self.longest_yield_seconds) < 0:
            raise ValueError("boot_grace_seconds and longest_yield_seconds must not be negative")
        if not -1.0 <= self.related_cosine <= 1.0:
            raise ValueError("-1 ≤ related_cosine ≤ 1 must hold")
        if not -1.0 <= self.propose_cosine <= self.merge_cosine <= 1.0:
            raise ValueError("-1 ≤ propose_cosine ≤ merge_cosine ≤ 1 must hold")
        if not 0.0 < self.related_jaccard <= self.duplicate_jaccard <= 1.0:
            raise ValueError("0 < related_jaccard ≤ duplicate_jaccard ≤ 1 must hold")
        if min(self.max_supersedes, self.told_proposals, self.told_kept, self.inline_memories) < 0:
            raise ValueError("max_supersedes, told_proposals, told_kept and inline_memories must not be negative")


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The judge: a language model that is asked about what the guards leave open. Off unless an endpoint is set."""

    endpoint: str = ""
    """BASE_URL#MODEL of any OpenAI-compatible endpoint; empty means no judge."""
    api_key: str = ""
    """Bearer key of the endpoint; empty sends none."""
    timeout_seconds: float = 60.0
    """Longest wait for one reply."""
    retries: int = 2
    """Further tries when the endpoint does not answer."""
    retry_wait_seconds: float = 1.0
    """Wait before the first further try; it doubles each time."""
    max_calls: int = 12
    """Questions one run may ask, over all banks, further tries included."""
    max_reply_tokens: int = 2_048
    """Longest reply asked for."""
    max_reply_bytes: int = 262_144
    """A longer reply is void."""
    groups_per_call: int = 20
    """Groups offered in one question."""
    text_characters: int = 600
    """Characters of a memory that the judge is shown."""
    rule_corroboration: int = 4
    """How often a standing instruction must have been said again to be offered as a rule line; 0 offers none."""
    rule_candidates: int = 20
    """Instructions offered as rule lines, those said most often first."""
    episode_batch: int = 40
    """Episodes mined in one question, oldest first."""
    episode_floor: int = 3
    """Fewer episodes than this are left for later."""
    episode_characters: int = 300
    """Characters of an episode that the judge is shown."""

    def __post_init__(self) -> None:
        if self.endpoint and ("#" not in self.endpoint or not self.endpoint.startswith(("http://", "https://"))):
            raise ValueError("endpoint must be BASE_URL#MODEL with an http(s) address")
        if min(self.timeout_seconds, self.retry_wait_seconds) <= 0:
            raise ValueError("timeout_seconds and retry_wait_seconds must be above 0")
        if min(self.retries, self.max_calls, self.rule_corroboration, self.rule_candidates) < 0:
            raise ValueError("retries, max_calls, rule_corroboration and rule_candidates must not be negative")
        counts = (self.max_reply_tokens, self.max_reply_bytes, self.groups_per_call, self.text_characters)
        if min(*counts, self.episode_batch, self.episode_floor, self.episode_characters) < 1:
            raise ValueError("sizes of questions and replies must be at least 1")
