"""Passes over a real bank: what is merged, what is left, what a judge may do, and that all of it comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ranked_bank import DAY, RankedBank, ranked_bank
from scripted_judge import judging

from consolidate.errors import PlanningError, Stopped
from consolidate.planning import plan_apart, plan_here
from consolidate.report import BankReport
from consolidate.settings import ConsolidateSettings, JudgeSettings
from consolidate.tidy import Step
from recall.memory.files import DiskFiles
from recall.memory.record import LOCAL, Kind, MemoryChanges, NewMemory, Source, SourceKind, Status
from recall.memory.run_book import RunBook
from recall.server.live import LiveBank
from recall.tending.bank_port import BankPort
from recall.tending.checkpoints import Checkpoint, Checkpoints
from recall.tending.errors import BankBusy, Ending
from recall.tending.gate import Gate
from recall.tending.run_log import report_of, summaries
from recall.tending.runner import Order, Runner
from recall.tending.scheduler import Scheduler
from recall.tending.sweep import FallenSource, sweep
from recall.tending.traffic import Traffic

SETTINGS = ConsolidateSettings()
SAME = ("Dana likes dark mode", "dana likes dark mode!", "Dana likes the dark mode")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[RankedBank]:
    """An empty bank that embeds by hashing."""
    with ranked_bank(tmp_path) as made:
        yield made


def runner_of(
    small: RankedBank, settings: ConsolidateSettings = SETTINGS, judge: JudgeSettings | None = None
) -> Runner:
    live = LiveBank(small.bank, small.index)
    traffic = Traffic(nullcontext)
    return Runner(
        lambda _tenant, _name: nullcontext(live),
        settings,
        judge or JudgeSettings(),
        Checkpoints(DiskFiles()),
        traffic,
        small.clock,
    )


def tended(small: RankedBank, runner: Runner | None = None, **order: Any) -> BankReport:
    [report] = (runner or runner_of(small)).run(Order("default", ("test",), **order)).banks
    return report


def live_texts(small: RankedBank) -> set[str]:
    return {small.bank.text(record) for record in small.bank.records() if record.status is Status.ACCEPTED}


def files_of(small: RankedBank) -> dict[Path, bytes]:
    root = small.bank.place.folder
    return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_run_merges_what_says_the_same_and_a_second_run_changes_nothing(small: RankedBank) -> None:
    small.save(*SAME, "Always deploy on Fridays", "Never deploy on Fridays")
    report = tended(small)
    assert (report.superseded, report.errors, report.moved) == (2, (), 0)
    assert live_texts(small) == {SAME[0], "Always deploy on Fridays", "Never deploy on Fridays"}
    assert small.texts("dark mode", limit=5)[0] == SAME[0]
    seq = small.bank.last_seq
    assert tended(small).superseded == 0
    assert small.bank.last_seq == seq


def test_a_dry_run_tells_the_same_and_leaves_every_file_byte_identical(small: RankedBank) -> None:
    small.save(*SAME)
    before = files_of(small)
    planned = tended(small, dry_run=True)
    assert files_of(small) == before
    done = tended(small)
    assert [(g.winner_id, {m.id for m in g.members}) for g in planned.merges] == [
        (g.winner_id, {m.id for m in g.members}) for g in done.merges
    ]
    assert {m.outcome for g in planned.merges for m in g.members} == {"planned"}


def test_what_is_left_by_the_limit_is_finished_by_the_next_runs(small: RankedBank) -> None:
    small.save(*SAME)
    reports = [tended(small, max_supersedes=1) for _ in range(3)]
    assert [(report.superseded, report.capped) for report in reports] == [(1, 1), (1, 0), (0, 0)]


def test_a_write_made_while_the_plan_was_made_wins_and_is_told(small: RankedBank) -> None:
    records = small.save(*SAME)

    def edit(step: Step) -> None:
        if step.stage == "merge" and step.done == 0:
            small.bank.update(records[1].id, MemoryChanges(text="Dana likes light mode"))

    [report] = runner_of(small).run(Order("default", ("test",)), edit).banks
    assert (report.superseded, report.moved) == (1, 1)
    assert live_texts(small) == {SAME[0], "Dana likes light mode"}


def test_there_is_no_moment_in_which_neither_winner_nor_loser_is_found(small: RankedBank) -> None:
    texts = [f"{text} in room {number}" for number in range(20) for text in SAME]
    small.save(*texts)
    missing: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for number in range(20):
                found = small.texts(f"Dana likes dark mode in room {number}", limit=50)
                if not any(text.endswith(f"room {number}") for text in found):
                    missing.append(number)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        report = tended(small)
    finally:
        done.set()
        thread.join()
    assert (report.superseded, missing) == (40, [])


def test_a_run_stopped_between_two_merges_is_finished_by_the_next(small: RankedBank) -> None:
    small.save(*(f"{text} in room {number}" for number in range(4) for text in SAME))
    steps: list[Step] = []
    runner = runner_of(small)
    cancelled: Callable[[], bool] = lambda: sum(step.stage == "merge" for step in steps) >= 2  # noqa: E731
    [report] = runner.run(Order("default", ("test",)), steps.append, cancelled).banks
    assert report.superseded == 4
    assert "stopped" in report.errors[0]
    assert Checkpoints(DiskFiles()).read(small.bank.place.folder).last_run == 0
    [run] = summaries(small.bank)
    assert (run.superseded, run.finished) == (4, True)
    assert tended(small, runner).superseded == 4


def test_an_undone_run_is_back_as_it_was_and_is_not_made_again(small: RankedBank) -> None:
    small.save(*SAME)
    report = tended(small)
    port = BankPort(small.bank, small.index, small.clock, lambda: None, LOCAL)
    assert len(port.undo(report.run).done) == 2
    assert live_texts(small) == set(SAME)
    kept, restored = report_of(small.bank, report.run)
    assert (kept.superseded, len(restored)) == (2, 2)
    again = tended(small)
    winner = report.merges[0].winner_id
    assert winner not in {group.winner_id for group in again.merges}
    assert port.undo(report.run).done == ()


def test_a_large_bank_is_planned_by_a_process_of_its_own_to_the_same_plan(small: RankedBank) -> None:
    small.save(*(f"{text} in room {number}" for number in range(6) for text in SAME))
    port = BankPort(small.bank, small.index, small.clock, lambda: None)
    memos = port.memos()
    vectors = port.vectors(memos)
    assert vectors is not None
    here = plan_here(memos, vectors, SETTINGS, 7, frozenset())
    apart = plan_apart(memos, vectors, replace(SETTINGS, inline_memories=0), 7, frozenset())
    assert repr(apart) == repr(here)
    assert (here.capped, here.scanned) == (5, 18)


def test_a_planning_process_that_breaks_or_is_stopped_is_an_error_of_the_pass(small: RankedBank) -> None:
    small.save(*SAME)
    memos = BankPort(small.bank, small.index, small.clock, lambda: None).memos()
    apart = replace(SETTINGS, inline_memories=0)
    with pytest.raises(PlanningError, match="broke"):
        plan_apart(list(memos) * 4_000, None, apart, "no number", frozenset())  # type: ignore[arg-type]
    with pytest.raises(Stopped):
        plan_apart(memos, None, apart, 7, frozenset(), stop=lambda: True)
    with pytest.raises(PlanningError, match="longer"):
        plan_apart(memos, None, replace(apart, plan_timeout_seconds=0.001), 7, frozenset())


def test_only_one_run_is_on_a_bank_and_the_other_is_told(small: RankedBank) -> None:
    small.save(*SAME)
    runner = runner_of(small)
    with runner.gate.enter(("default", "test"), "other"):
        [report] = runner.run(Order("default", ("test",))).banks
    assert "other" in report.errors[0]
    assert live_texts(small) == set(SAME)
    assert tended(small, runner).superseded == 2
    gate = Gate()
    with gate.enter(("t", "b"), "one"), pytest.raises(BankBusy), gate.enter(("t", "b"), "two"):
        pass
    assert gate.inside(("t", "b")) == ""


def test_no_run_begins_once_the_server_ends(small: RankedBank) -> None:
    runner = runner_of(small)
    runner.close()
    with pytest.raises(Ending):
        runner.run(Order("default", ("test",)))


class Folders:
    """One bank of one tenant."""

    def __init__(self, small: RankedBank) -> None:
        self._small = small

    def tenants(self) -> list[str]:
        return ["default"]

    def list(self, _tenant: str) -> list[str]:
        return ["test"]

    def folder(self, _tenant: str, _name: str) -> Path:
        return self._small.bank.place.folder


@contextmanager
def scheduled(small: RankedBank, runner: Runner, seconds: Callable[[], float]) -> Iterator[Scheduler]:
    settings = replace(SETTINGS, enabled=True)
    made = Scheduler(runner, Folders(small), Checkpoints(DiskFiles()), settings, small.clock, seconds)
    with closing(made):
        yield made


def test_the_schedule_tends_what_is_due_once_an_interval(small: RankedBank) -> None:
    small.save(*SAME)
    with scheduled(small, runner_of(small), lambda: 0.0) as schedule:
        assert schedule.look() == [("default", "test")]
        assert live_texts(small) == {SAME[0]}
        assert schedule.look() == []
        small.clock.time += DAY
        assert schedule.look() == [("default", "test")]
        small.clock.time += DAY
        assert schedule.look() == []  # nobody wrote to it since a pass found nothing
        small.clock.time -= 30 * DAY
        small.save("something new")
        assert schedule.look() == [("default", "test")]
        assert schedule.look() == []


def test_the_schedule_sweeps_a_bank_that_nobody_wrote_to(small: RankedBank) -> None:
    small.bank.save([NewMemory(text="past", expires_at=small.clock.time + 5 * DAY), NewMemory(text="stays")], LOCAL)
    with scheduled(small, runner_of(small), lambda: 0.0) as schedule:
        schedule.look()
        assert live_texts(small) == {"past", "stays"}
        small.clock.time += 6 * DAY
        schedule.look()
    assert live_texts(small) == {"stays"}
    assert {record.status for record in small.bank.records()} == {Status.ACCEPTED, Status.EXPIRED}


def test_a_pass_that_was_not_clean_moves_no_checkpoint_and_is_tried_again_later(small: RankedBank) -> None:
    small.save(*SAME)
    runner, seconds = runner_of(small), [0.0]
    folder = small.bank.place.folder
    with scheduled(small, runner, lambda: seconds[0]) as schedule:
        with runner.gate.enter(("default", "test"), "a person's"):
            schedule.look()
        assert Checkpoints(DiskFiles()).read(folder) == Checkpoint()
        assert schedule.look() == []
        seconds[0] = 1_000.0
        assert schedule.look() == [("default", "test")]
        assert Checkpoints(DiskFiles()).read(folder).last_run > 0


def test_recalls_go_first() -> None:
    traffic = Traffic(nullcontext)
    gone = threading.Event()

    def give_way() -> None:
        traffic.give_way(30.0)
        gone.set()

    with traffic.recall():
        thread = threading.Thread(target=give_way)
        thread.start()
        assert not gone.wait(0.05)
    thread.join(10.0)
    assert gone.is_set()


def judge_settings(url: str, **changes: Any) -> JudgeSettings:
    return replace(JudgeSettings(endpoint=f"{url}#m", retries=0), **changes)


REORDERED = ("Tea and coffee are in the kitchen", "Coffee and tea are in the kitchen")
REWORDED = ("Use bun rather than npm for the web app", "For the web app we picked bun over npm")


def verdicts(verdict: str, text: str = "") -> Callable[[dict[str, Any]], dict[str, Any]]:
    def script(question: dict[str, Any]) -> dict[str, Any]:
        rows = [{"index": group["index"], "verdict": verdict, "text": text} for group in question.get("groups", [])]
        return {"groups": rows}

    return script


def test_the_judge_may_confirm_a_reorder_and_nothing_else(small: RankedBank) -> None:
    small.save(*REORDERED, *REWORDED)
    with judging(verdicts("same")) as server:
        report = tended(small, runner_of(small, judge=judge_settings(server.url)), propose_cosine=0.3)
    assert report.judge.state == "ok"
    assert report.superseded == report.judge.confirmed
    assert set(REWORDED) <= live_texts(small)
    assert {m.outcome for g in report.proposals for m in g.members} <= {"confirmed", "proposed", "moved"}


def test_a_new_text_is_only_ever_nominated_with_what_it_replaces(small: RankedBank) -> None:
    small.save(*REWORDED)
    before = live_texts(small)
    text = "The web app uses bun, not npm"
    with judging(verdicts("rewrite", text)) as server:
        runner = runner_of(small, judge=judge_settings(server.url))
        report = tended(small, runner, propose_cosine=0.1, merge_cosine=0.9)
        assert (report.judge.nominated, report.superseded) == (1, 0)
        seq = small.bank.last_seq
        assert tended(small, runner, propose_cosine=0.1, merge_cosine=0.9).judge.nominated == 0
        assert small.bank.last_seq == seq
    [nominated] = [record for record in small.bank.records() if record.status is Status.NOMINATED]
    assert small.bank.text(nominated) == text
    assert len(nominated.metadata["replaces"].split()) == 2
    assert live_texts(small) == before


@pytest.mark.parametrize("reply", ["nonsense", {"groups": [{"index": 99, "verdict": "same", "text": ""}]}])
def test_a_judge_that_fails_leaves_a_clean_pass_that_says_so(small: RankedBank, reply: Any) -> None:
    small.save(*SAME, *REWORDED)
    with judging(lambda _: reply) as server:
        report = tended(small, runner_of(small, judge=judge_settings(server.url)), propose_cosine=0.1)
    assert (report.judge.state, report.judge.nominated, report.judge.confirmed) == ("failed", 0, 0)
    assert report.judge.problem
    assert (report.errors, report.superseded) == ((), 2)


def test_the_judge_is_not_asked_on_a_dry_run(small: RankedBank) -> None:
    small.save(*REWORDED)
    with judging(verdicts("same")) as server:
        report = tended(small, runner_of(small, judge=judge_settings(server.url)), dry_run=True, propose_cosine=0.1)
    assert (server.asked, report.judge.state) == ([], "off")


def test_an_instruction_said_often_enough_may_be_nominated_as_a_rule_line(small: RankedBank) -> None:
    for _ in range(5):
        small.save("please always answer in German, ok?")
    small.save("Dana was here")

    def script(question: dict[str, Any]) -> dict[str, Any]:
        assert [item["text"] for item in question["items"]] == ["please always answer in German, ok?"]
        return {"rules": [{"index": 0, "line": "Answer in German."}]}

    with judging(script) as server:
        report = tended(small, runner_of(small, judge=judge_settings(server.url)))
    assert report.judge.nominated == 1
    [rule] = [record for record in small.bank.records() if record.status is Status.NOMINATED]
    assert (rule.kind, rule.tags) == (Kind.CONVENTION, ("rule",))


def episodes(count: int, start: int = 0) -> list[NewMemory]:
    return [NewMemory(text=f"run {start + number} went well", kind=Kind.EPISODE) for number in range(count)]


def lessons(question: dict[str, Any]) -> dict[str, Any]:
    first = question["items"][0]["text"]
    return {"lessons": [{"indices": [0, 1], "text": f"Learned from {first}"}]}


def test_episodes_are_mined_in_batches_and_the_cursor_moves_past_mined_ones_alone(small: RankedBank) -> None:
    records = small.save(*episodes(82))
    assert records[0].expires_at - records[0].created_at == pytest.approx(30 * DAY, abs=1_000)
    with judging(lessons) as server:
        runner = runner_of(small, judge=judge_settings(server.url))
        report = tended(small, runner)
        assert (report.judge.mined, report.judge.nominated, RunBook(small.bank).mined) == (80, 2, records[79].ordinal)
        assert tended(small, runner).judge.calls == 0  # two are below the floor
        more = small.save(*episodes(1, 82))
        assert (tended(small, runner).judge.mined, RunBook(small.bank).mined) == (3, more[0].ordinal)
    assert small.texts("run went well") == []


def test_the_cursor_stays_where_it_is_when_the_judge_fails(small: RankedBank) -> None:
    small.save(*episodes(45))
    replies: list[Any] = ["nonsense", {"lessons": []}]
    with judging(lambda _: replies.pop()) as server:
        report = tended(small, runner_of(small, judge=judge_settings(server.url)))
    assert (report.judge.state, report.judge.mined) == ("failed", 40)
    assert RunBook(small.bank).mined == 39


def test_the_sweep_records_expiry_and_quarantines_what_lost_its_ground(small: RankedBank) -> None:
    ticket, other = Source(kind=SourceKind.TASK, id="T-1"), Source(kind=SourceKind.TASK, id="T-2")
    [base] = small.save("the decision")
    kept, fallen, derived, pinned, past = small.save(
        NewMemory(text="kept", source=other),
        NewMemory(text="fallen", source=ticket),
        NewMemory(text="derived", source=Source(kind=SourceKind.DECISION, id=base.id)),
        NewMemory(text="pinned", source=Source(kind=SourceKind.DOCUMENT, id="T-1"), pinned=True),
        NewMemory(text="past", expires_at=small.clock.time + 1_000),
    )
    small.bank.delete(base.id)
    small.clock.time += 1_000_000
    asked = [FallenSource(None, "T-1")]
    told = sweep(small.bank, asked, small.clock.now(), dry_run=True)
    assert small.bank.get(past.id).status is Status.ACCEPTED
    swept = sweep(small.bank, asked, small.clock.now())
    assert (told.expired, told.quarantined) == (swept.expired, swept.quarantined)
    assert swept.expired == (past.id,)
    assert set(swept.quarantined) == {fallen.id, derived.id}
    assert [left.id for left in swept.left] == [pinned.id]
    assert small.bank.get(kept.id).status is Status.ACCEPTED
    seq = small.bank.last_seq
    sweep(small.bank, asked, small.clock.now())
    assert small.bank.last_seq == seq


def test_what_stands_on_a_merged_memory_stands(small: RankedBank) -> None:
    records = small.save(*SAME)
    [derived] = small.save(NewMemory(text="derived", source=Source(kind=SourceKind.DECISION, id=records[1].id)))
    tended(small)
    assert small.bank.get(records[1].id).status is Status.SUPERSEDED
    assert sweep(small.bank, [], small.clock.now()).quarantined == ()
    assert small.bank.get(derived.id).status is Status.ACCEPTED
