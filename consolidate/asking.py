"""What a run does with a judge: groups that are open, rule lines, episodes. All of it through the port.

A judge that fails, or may be asked no more, ends the asking and nothing else: what it said before stands, the rest is
left for the next run, and the report says so. The cursor of the episodes moves only past a batch that the judge
answered and whose lessons the bank took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec

from consolidate.apply import apply_groups
from consolidate.canonical import canonical, synonymous
from consolidate.errors import BudgetSpent, JudgeError, PortError, Stopped
from consolidate.judge import Judge, Opinion
from consolidate.memo import Memo
from consolidate.plan import Group, capped
from consolidate.port import Nomination, Port
from consolidate.report import GroupReport, JudgeReport, group_report
from consolidate.words import normal_text

RULE_TAG = "rule"
_NO_RULES = frozenset({"glossary", "episode"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of it. `proposals` are those of the plan, with what became of each; `mined` is the new cursor."""

    proposals: tuple[GroupReport, ...]
    report: JudgeReport
    superseded: int
    capped: int
    moved: int
    mined: int | None
    errors: tuple[str, ...]


class Asking:
    """One bank before the judge."""

    def __init__(self, port: Port, run: str, judge: Judge, budget: int, step: Callable[[int, int], None]) -> None:
        """`budget` is how many memories may still go; `step` is told of progress and may raise Stopped."""
        self._port = port
        self._run = run
        self._judge = judge
        self._budget = budget
        self._step = step
        self._nominated = 0
        self._confirmed: list[Group] = []
        self._opinions: dict[str, str] = {}
        self._mined_episodes = 0
        self._mined: int | None = None

    def about(self, proposals: Sequence[Group], memos: Sequence[Memo]) -> Asked:
        """Ask about everything that there is to ask. Raises nothing: what went wrong is part of it."""
        before, state, problem, errors = self._judge.calls, "ok", "", list[str]()
        try:
            self._ask_groups([group for group in proposals if group.losers])
            self._ask_rules(memos)
            self._mine_episodes()
        except BudgetSpent as error:
            state, problem = "spent", error.problem
        except JudgeError as error:
            state, problem = "failed", error.problem
        except (PortError, Stopped) as error:
            errors.append(error.problem)
        calls = self._judge.calls - before
        state = "idle" if not calls and state == "ok" else state
        report = JudgeReport(state, calls, 0, self._nominated, self._mined_episodes, problem)
        return self._settled(proposals, report, errors)

    def _ask_groups(self, groups: Sequence[Group]) -> None:
        size = self._judge.settings.groups_per_call
        for start in range(0, len(groups), size):
            self._step(start, len(groups))
            offered = groups[start : start + size]
            for opinion in self._judge.groups(offered):
                self._heed(offered[opinion.index], opinion)

    def _heed(self, group: Group, opinion: Opinion) -> None:
        self._opinions[group.winner.id] = opinion.verdict
        if opinion.verdict == "rewrite":
            ids = (group.winner.id, *(loser.memo.id for loser in group.losers))
            self._nominate(Nomination(opinion.text.strip(), group.winner.kind, group.winner.tags, "replaces", ids))
        elif opinion.verdict == "same" and not self._port.governed:
            losers = tuple(loser for loser in group.losers if reordered(group.winner.text, loser.memo.text))
            if losers:
                self._confirmed.append(replace(group, losers=losers))

    def _ask_rules(self, memos: Sequence[Memo]) -> None:
        candidates = rule_candidates(
            memos, self._judge.settings.rule_corroboration, self._judge.settings.rule_candidates
        )
        if not candidates:
            return
        known = {normal_text(memo.text) for memo in candidates}
        for rule in self._judge.rules(candidates):
            memo, line = candidates[rule.index], rule.line.strip()
            if normal_text(line) not in known:
                known.add(normal_text(line))
                self._nominate(Nomination(line, "convention", (RULE_TAG,), "rule-from", (memo.id,)))

    def _mine_episodes(self) -> None:
        settings = self._judge.settings
        while True:
            batch = self._port.episodes(settings.episode_batch, self._mined)
            if len(batch) < settings.episode_floor:
                return
            self._step(self._mined_episodes, self._mined_episodes + len(batch))
            for lesson in self._judge.episodes([episode.memo for episode in batch]):
                ids = tuple(batch[index].memo.id for index in lesson.indices)
                self._nominate(Nomination(lesson.text.strip(), "lesson", (), "mined-from", ids))
            self._mined = batch[-1].place
            self._mined_episodes += len(batch)

    def _nominate(self, nomination: Nomination) -> None:
        self._nominated += self._port.nominate(self._run, nomination)

    def _settled(self, proposals: Sequence[Group], report: JudgeReport, errors: Sequence[str]) -> Asked:
        """Carry out what was confirmed, and say what became of each proposal."""
        fitting, left = capped(self._confirmed, self._budget)
        applied = apply_groups(self._port, self._run, fitting, "confirmed", self._step)
        confirmed = {report.winner_id: report for report in applied.groups}
        return Asked(
            proposals=tuple(self._outcome(group, confirmed.get(group.winner.id)) for group in proposals),
            report=msgspec.structs.replace(report, confirmed=applied.superseded),
            superseded=applied.superseded,
            capped=left,
            moved=applied.moved,
            mined=self._mined,
            errors=(*errors, *applied.errors),
        )

    def _outcome(self, group: Group, confirmed: GroupReport | None) -> GroupReport:
        plain = group_report(group, "apart" if self._opinions.get(group.winner.id) == "apart" else "proposed")
        if confirmed is None:
            return plain
        settled = {one.id: one for one in confirmed.members}
        return GroupReport(plain.winner_id, plain.verdict, tuple(settled.get(one.id, one) for one in plain.members))


def reordered(a: str, b: str) -> bool:
    """True when two texts have the same words, as often, in another order or the same."""
    return sorted(synonymous(canonical(a))) == sorted(synonymous(canonical(b))) != []


def rule_candidates(memos: Iterable[Memo], corroboration: int, limit: int) -> list[Memo]:
    """Memories that were said again often enough to be offered as rule lines, most often first. 0 offers none."""
    if corroboration == 0:
        return []
    often = (memo for memo in memos if memo.corroboration >= corroboration and memo.kind not in _NO_RULES)
    return sorted(often, key=lambda memo: (-memo.corroboration, memo.id))[:limit]
