"""Judging many conversations: each is paid for once, and faults are nobody's score."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.budget import Budget, BudgetExhaustedError, Limits
from cotune.agents.errors import Fault, FaultError
from cotune.agents.ledger import Ledger, LedgerEntry, Role, Sent, Usage, current_attribution
from cotune.rubrics.judge import Judge, Question, judged_questions
from cotune.rubrics.judging import Case, Judging
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.ruling import Ruling, Standing
from cotune.rubrics.subject import ConversationRecord
from cotune.rubrics.verdict import Status, Verdict
from cotune.rubrics.verdict_journal import VerdictJournal
from cotune.rubrics.verdicts import Verdicts
from cotune.simulation.journal import Journal
from cotune.simulation.paused import PausedError
from cotune.simulation.scenario import Scenario

from .rulings import BUSY, OWN, RUBRIC, trajectory

TOKENS = 100


@dataclass
class CountingJudge:
    """Finds everything good, and counts what it was asked; some conversations it cannot read."""

    ledger: Ledger
    budget: Budget
    unreadable: frozenset[str] = frozenset()
    name: str = "kind"
    read: list[str] = field(default_factory=list)

    @property
    def identity(self) -> dict[str, Any]:
        return {"judge": self.name}

    async def judge(
        self,
        subject: ConversationRecord,
        rubric: Rubric,
        questions: Any = None,
    ) -> Verdicts:
        self.budget.check_call()
        usage = Usage(calls=1, attempts=1, input_tokens=TOKENS)
        key = current_attribution().key
        self.budget.add(usage)
        self.ledger.record(
            LedgerEntry(Role.JUDGE, "", key, Sent("kind", 0, None, None), usage, 0.1)
        )
        await asyncio.sleep(0)
        id_ = subject.trajectory.scenario
        self.read.append(id_)
        if id_ in self.unreadable:
            raise FaultError(BUSY)
        asked: tuple[Question, ...] = questions or judged_questions(rubric, subject)
        by = {"model": self.name, "prompts": "p", "rubric": rubric.fingerprint}
        said = (Verdict(each.criterion.id, 1.0, Status.SCORED, "Good.") for each in asked)
        return Verdicts(tuple(said), by)


@dataclass
class Watching:
    """Counts what it is told."""

    replayed: int = 0
    faults: list[Fault] = field(default_factory=list)

    def decided(self, case: Case, *, replayed: bool) -> None:
        self.replayed += replayed

    def lost(self, case: Case, fault: Fault) -> None:
        self.faults.append(fault)


@dataclass
class Invocation:
    """One run of the command."""

    judging: Judging
    judge: CountingJudge
    watching: Watching

    async def run(self, cases: list[Case]) -> list[Ruling]:
        await self.judging.run(cases, len(cases))
        return list(self.judging.rulings(cases))


@contextmanager
def invocation(
    folder: Path,
    *,
    unreadable: frozenset[str] = frozenset(),
    tokens: int | None = None,
    name: str = "kind",
    fault_threshold: float = 0.05,
) -> Iterator[Invocation]:
    ledger, budget = Ledger(), Budget(Limits(rollouts=1000, tokens=tokens))
    judge, watching = CountingJudge(ledger, budget, unreadable, name), Watching()
    asked: Judge = judge
    with Journal(folder / "journal.sqlite") as journal:
        decisions = VerdictJournal(RUBRIC, asked, journal, ledger, budget)
        judging = Judging(decisions, watching, 3, fault_threshold)
        yield Invocation(judging, judge, watching)


def case(number: int, **fields: Any) -> Case:
    scenario = Scenario(id=f"s-{number}", family="f", goal="Shop.")
    return Case(number, ConversationRecord(trajectory(number, **fields), scenario))


CASES = [case(number) for number in range(1, 11)]


async def test_rulings_come_in_the_order_of_the_file(tmp_path: Path):
    with invocation(tmp_path) as one:
        rulings = await one.run(CASES)
    assert [each.number for each in rulings] == list(range(1, 11))
    assert {each.overall for each in rulings} == {1.0}
    assert {each.by["model"] for each in rulings} == {"kind"}


async def test_what_was_judged_is_not_paid_again(tmp_path: Path):
    with invocation(tmp_path) as first:
        before = await first.run(CASES[:6])
    with invocation(tmp_path) as second:
        after = await second.run(CASES)
    assert (len(first.judge.read), len(second.judge.read)) == (6, 4)
    assert after[:6] == before
    assert second.watching.replayed == 6
    assert (second.judge.ledger.total.calls, second.judge.ledger.total.replayed) == (10, 6)
    assert second.judge.budget.usage.tokens == 10 * TOKENS


async def test_another_judge_conversation_or_scenario_is_judged_anew(tmp_path: Path):
    with invocation(tmp_path) as first:
        await first.run(CASES)
    with invocation(tmp_path, name="strict") as strict:
        await strict.run(CASES)
    assert len(strict.judge.read) == 10
    other = [case(1, metadata={"reward": 1}), case(2)]
    goal = other[1].record.scenario.model_copy(update={"goal": "Shop twice."})
    other[1] = replace(other[1], record=replace(other[1].record, scenario=goal))
    with invocation(tmp_path) as again:
        await again.run(other)
    assert sorted(again.judge.read) == ["s-1", "s-2"]


async def test_the_same_conversation_twice_is_paid_once(tmp_path: Path):
    twice = [CASES[0], replace(CASES[0], number=2)]
    with invocation(tmp_path) as one:
        rulings = await one.run(twice)
    assert one.judge.read == ["s-1"]
    assert [(each.number, each.overall) for each in rulings] == [(1, 1.0), (2, 1.0)]
    with invocation(tmp_path) as again:
        await again.run(twice)
    assert again.judge.budget.usage.tokens == TOKENS


async def test_a_conversation_that_broke_off_is_not_read(tmp_path: Path):
    with invocation(tmp_path) as one:
        failed, excluded = await one.run([case(1, fault=OWN), case(2, fault=BUSY)])
    assert one.judge.read == []
    assert (failed.standing, failed.objective) == (Standing.FAILED, 0.0)
    assert (excluded.standing, excluded.objective) == (Standing.EXCLUDED, None)


async def test_a_lost_conversation_has_no_score_and_is_tried_again(tmp_path: Path):
    with invocation(tmp_path, unreadable=frozenset({"s-3"})) as one:
        rulings = await one.run(CASES)
    assert [each.number for each in rulings if each.standing is Standing.UNDECIDED] == [3]
    assert one.watching.faults == [BUSY]
    with invocation(tmp_path) as again:
        rulings = await again.run(CASES)
    assert again.judge.read == ["s-3"]
    assert {each.standing for each in rulings} == {Standing.SCORED}
    # The call that brought nothing was paid for, and the budget knows.
    assert again.judge.budget.usage.tokens == 11 * TOKENS


async def test_too_many_lost_pause_the_run(tmp_path: Path):
    with invocation(tmp_path, unreadable=frozenset({"s-2", "s-5"})) as one:
        with pytest.raises(PausedError, match=r"2 of 10 .* provider fault \(rate_limit\)"):
            await one.run(CASES)
        known = list(one.judging.rulings(CASES))
    assert {each.standing for each in known} == {Standing.SCORED, Standing.UNDECIDED}
    with invocation(tmp_path) as again:
        rulings = await again.run(CASES)
    assert len(one.judge.read) + len(again.judge.read) == 12
    assert {each.standing for each in rulings} == {Standing.SCORED}


async def test_a_spent_budget_stops_and_more_of_it_goes_on(tmp_path: Path):
    with invocation(tmp_path, tokens=4 * TOKENS) as one:
        with pytest.raises(BudgetExhaustedError):
            await one.run(CASES)
        assert len(list(one.judging.rulings(CASES))) == 4
    with invocation(tmp_path, tokens=4 * TOKENS) as again:
        with pytest.raises(BudgetExhaustedError):
            await again.run(CASES)
        assert again.judge.read == []
    with invocation(tmp_path, tokens=20 * TOKENS) as richer:
        assert len(await richer.run(CASES)) == 10
        assert len(richer.judge.read) == 6


async def test_without_a_judge_only_checks_decide(tmp_path: Path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        budget = Budget(Limits(rollouts=10))
        judging = Judging(VerdictJournal(RUBRIC, None, journal, Ledger(), budget), Watching())
        await judging.run(CASES, len(CASES))
        rulings = list(judging.rulings(CASES))
    assert {each.standing for each in rulings} == {Standing.NOT_APPLICABLE}
    assert rulings[0].by == {"rubric": RUBRIC.fingerprint}


async def test_a_stopped_run_counts_what_was_under_way(tmp_path: Path):
    with invocation(tmp_path) as one:
        task = asyncio.create_task(one.run(CASES))
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # the first calls are paid, and not yet answered
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        paid = one.judge.budget.usage.tokens
    assert paid > 0
    with invocation(tmp_path) as again:
        await again.run(CASES)
    assert again.judge.budget.usage.tokens == 10 * TOKENS + paid
