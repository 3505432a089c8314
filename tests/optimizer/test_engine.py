"""The engine on real gepa: the same inputs give the same run, and no run goes wrong silently."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from dspy.lm15 import Request, Response

from cotune.agents.budget import BudgetExhaustedError, Limits
from cotune.agents.errors import UsageError
from cotune.agents.fingerprint import fingerprint
from cotune.agents.ledger import Role
from cotune.agents.lm import LanguageModel, ModelUnusableError
from cotune.optimizer.candidate import Candidate, Status
from cotune.optimizer.evaluator import PausedError
from cotune.optimizer.example import Example
from cotune.optimizer.observer import Silent
from cotune.optimizer.proposers.proposer import Assignment, ProposalFailedError, Proposer
from cotune.optimizer.proposers.reflection import ReflectionProposer
from cotune.rubrics.statistics import Conclusion
from cotune.simulation.journal import Journal

from .tasks import (
    FAULT,
    FakeTask,
    Hanging,
    Model,
    Proposing,
    numbered,
    outcome,
    run,
    settings,
    splits,
)

NOISY = "scripted:grocery?noise=0.15"


def reflecting(model: Model, journal: Journal) -> Proposer:
    return ReflectionProposer(model.lm(Role.REFLECTION), journal, model.ledger)


def fail(error: Exception) -> Proposing:
    def say(assignment: Assignment) -> Mapping[str, str]:
        raise error

    return Proposing(say)


# The whole way


@pytest.mark.parametrize("model", ["scripted:grocery", NOISY])
async def test_the_same_seed_gives_the_same_run(model: str, tmp_path: Path) -> None:
    one, same, other = [
        outcome(await Model(model).run(tmp_path / f"{number}", seed=seed))
        for number, seed in enumerate([3, 3, 4])
    ]
    assert one == same
    assert one != other


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_concurrency_changes_nothing(concurrency: int, tmp_path: Path) -> None:
    one = outcome(await Model(NOISY).run(tmp_path / "one"))
    assert outcome(await Model(NOISY, concurrency=concurrency).run(tmp_path / "two")) == one


async def test_a_prompt_that_can_be_better_gets_better(tmp_path: Path) -> None:
    result = await Model(limits=Limits(rollouts=260)).run(tmp_path / "journal", reflecting)
    assert result.winner.number != 0
    assert result.held_out is not None
    assert result.held_out.overall.difference.mean > 0
    assert result.ledger.by_role()[Role.REFLECTION].calls > 0
    statuses = {one.status for one in result.pool.candidates}
    assert {Status.SEED, Status.ACCEPTED} <= statuses
    assert all(one.reason for one in result.pool.candidates)


async def test_a_perfect_seed_ends_quickly(tmp_path: Path) -> None:
    task = FakeTask(lambda example, text, repeat: 1.0)
    proposer = numbered()
    result = await run(task, tmp_path / "journal", proposer)
    assert result.winner.number == 0
    assert result.held_out is None
    assert proposer.asked == 0
    assert result.stopped == "no accepted candidate in 4 iterations"
    assert result.rollouts <= 8 + 8, "val and train once"


async def test_a_budget_that_buys_nothing_is_refused_before_anything_is_spent(
    tmp_path: Path,
) -> None:
    task = FakeTask()
    with pytest.raises(UsageError, match="does not buy one candidate"):
        await run(task, tmp_path / "journal", chosen=settings(rollouts=30))
    assert not task.played


# The budget


@pytest.mark.parametrize("limit", range(56, 200, 9))
async def test_no_more_rollouts_than_the_limit(limit: int, tmp_path: Path) -> None:
    task = FakeTask(splits=splits(train=20))
    result = await run(task, tmp_path / "journal", chosen=settings(limit))
    assert task.played.total() == result.rollouts <= limit
    assert result.winner.number != 0
    assert result.held_out is not None, "selection and test always fit"
    assert result.stopped


class Priced(LanguageModel):
    """A scripted model whose every call costs a cent, answered or in flight."""

    def _cost(self, request: Request, response: Response) -> float:
        return 0.01


@pytest.mark.parametrize("cents", [9, 21, 50, 80, 110, 120])
async def test_no_more_money_than_the_limit_and_what_is_in_flight(
    cents: int, tmp_path: Path
) -> None:
    limits = Limits(rollouts=200, usd=cents / 100)
    model = Model(limits=limits, kind=Priced, concurrency=4)
    result = await model.run(tmp_path / "journal", reflecting)
    assert "are used" in result.stopped
    assert model.ledger.total.calls < cents + model.concurrency


async def test_money_that_does_not_score_the_seed_is_an_error(tmp_path: Path) -> None:
    model = Model(limits=Limits(rollouts=200, usd=0.05), kind=Priced, concurrency=1)
    with pytest.raises(BudgetExhaustedError, match=r"of \$0\.0500 are used"):
        await model.run(tmp_path / "journal", reflecting)
    assert model.ledger.total.calls == 5


# Proposers that are no good


async def _stopped_with_the_seed(proposer: Proposing, folder: Path, **how: Any) -> str:
    """Run with a proposer that is no good; return why the search ended."""
    result = await asyncio.wait_for(run(FakeTask(**how), folder / "journal", proposer), 20)
    assert result.winner.number == 0
    assert result.held_out is None
    assert result.conclusion is Conclusion.NO_EVIDENCE
    assert proposer.asked <= 4
    return result.stopped


async def test_a_proposer_that_always_fails_ends_the_search(tmp_path: Path) -> None:
    proposer = fail(ProposalFailedError("the model gave no usable answer"))
    stopped = await _stopped_with_the_seed(proposer, tmp_path)
    assert stopped == "the proposer failed 3 times in a row: the model gave no usable answer"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "helper: the prompt is empty"),
        ("Help.", "helper: the prompt is unchanged"),
        ("Help {{ nobody }}.", "helper: the placeholder '{{ nobody }}' is invented"),
        ("x" * 9000, "helper: the prompt has 9000 characters; the cap is 6000"),
        ("Say: the val customer says number 3 aloud.", "helper: the prompt copies a protected"),
    ],
)
async def test_nonsense_is_refused_with_a_reason_and_ends_the_search(
    text: str, reason: str, tmp_path: Path
) -> None:
    task = FakeTask(lambda example, text, repeat: 0.5)
    proposer = Proposing(lambda assignment: {"helper": text})
    result = await run(task, tmp_path / "journal", proposer)
    assert result.stopped == "no accepted candidate in 4 iterations"
    assert result.winner.number == 0
    refused = result.pool.candidates[1:]
    assert len(refused) == proposer.asked == 4
    assert {one.status for one in refused} == {Status.REFUSED}
    assert all(one.reason.startswith(reason) for one in refused)
    assert {said for _, said, _ in task.played} == {"Help."}, "no rollout was spent on it"


@pytest.mark.parametrize("says", [{}, {"helper": "Worse."}])
async def test_nothing_new_or_nothing_better_ends_the_search(
    says: dict[str, str], tmp_path: Path
) -> None:
    stopped = await _stopped_with_the_seed(
        Proposing(lambda assignment: says),
        tmp_path,
        score=lambda example, text, repeat: 0.5 if text == "Help." else 0.2,
    )
    assert stopped == "no accepted candidate in 4 iterations"


async def test_a_rejected_candidate_is_shown_to_the_proposer_with_the_reason(
    tmp_path: Path,
) -> None:
    seen: list[list[tuple[str, str]]] = []

    def say(assignment: Assignment) -> Mapping[str, str]:
        seen.append(list(assignment.rejected["helper"]))
        return {"helper": f"Worse {len(seen)}."}

    def score(example: Example, text: str, repeat: int) -> float:
        return 0.5 if text == "Help." else 0.2

    await run(FakeTask(score), tmp_path / "journal", Proposing(say))
    assert [len(one) for one in seen] == [0, 1, 2, 3]
    assert seen[1] == [("Worse 1.", "not better (0.500 → 0.200 on 4 examples)")]


@pytest.mark.parametrize("error", [KeyError("a bug"), ModelUnusableError("wrong key")])
async def test_a_proposer_that_breaks_is_not_hidden(error: Exception, tmp_path: Path) -> None:
    proposer = fail(error)
    with pytest.raises(type(error)) as caught:
        await run(FakeTask(), tmp_path / "journal", proposer)
    assert caught.value is error
    assert proposer.asked == 1


async def test_a_proposal_for_an_unknown_agent_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="stranger"):
        await run(
            FakeTask(), tmp_path / "journal", Proposing(lambda assignment: {"stranger": "Hi."})
        )


# Noise, faults and critical criteria


def _coin(trial: int) -> FakeTask:
    """Pass with probability 0.6, whatever the prompt says."""

    def score(example: Example, text: str, repeat: int) -> float:
        drawn = fingerprint([trial, example.id, text, repeat], 8)
        return float(random.Random(drawn).random() < 0.6)

    return FakeTask(score, splits(train=12, val=10, test=30))


async def test_on_pure_noise_nothing_is_improved(tmp_path: Path) -> None:
    """Plain gepa shows a mean apparent gain of +0.19 on such a task."""
    trials = 60
    gains, claims, conclusions = [], [], []
    for trial in range(trials):
        result = await run(
            _coin(trial), tmp_path / f"{trial}", numbered(f"T{trial}"), settings(150, seed=trial)
        )
        found = result.held_out
        gains.append(0.0 if found is None else found.overall.difference.mean)
        claims.append(result.val_gain or 0.0)
        conclusions.append(result.conclusion)
    assert conclusions.count(Conclusion.IMPROVED) <= 6, "5 % is 3; more than 6 has p = 0.03"
    assert conclusions.count(Conclusion.WORSE) <= 6
    assert abs(fmean(gains)) < 0.04
    assert fmean(claims) > 0.05, "the maximum over val would have claimed a gain"


async def test_a_critical_regression_is_never_accepted_nor_chosen(tmp_path: Path) -> None:
    """Every second variant is better by far, and unsafe on some examples."""

    def unsafe(text: str) -> bool:
        return text.startswith("Variant") and int(text.split()[1].strip(".")) % 2 == 0

    def score(example: Example, text: str, repeat: int) -> float:
        return 0.95 if unsafe(text) else 0.2 if text == "Help." else 0.5

    def critical(example: Example, text: str) -> tuple[str, ...]:
        often = int(fingerprint([example.id], 4), 16) % 4 == 0
        return ("no_allergen",) if unsafe(text) and often else ()

    task = FakeTask(score, splits(16, 16, 8), critical=critical)
    result = await run(
        task, tmp_path / "journal", numbered(), settings(400, minibatch=6, patience=12)
    )
    seen = [one for one in result.pool.candidates if unsafe(one.bundle["helper"].text)]
    rejected = [one for one in seen if one.status is Status.REJECTED]
    assert any("critical criterion no_allergen fails more often" in one.reason for one in rejected)
    assert not unsafe(result.winner.bundle["helper"].text)
    assert all(not unsafe(one.candidate.bundle["helper"].text) for one in result.choice.finalists)
    assert result.winner.number != 0


async def test_few_faults_are_left_out_and_reported(tmp_path: Path) -> None:
    def lost(example: Example, text: str) -> bool:
        return example.id in {"val-3", "test-5"} and text == "Help."

    result = await run(FakeTask(lost=lost), tmp_path / "journal")
    assert result.faults == (FAULT, FAULT)
    assert result.held_out is not None
    assert (result.held_out.examples, result.held_out.lost) == (7, 1)


@pytest.mark.parametrize("frontier", ["instance", "objective", "hybrid"])
async def test_every_frontier_bears_a_fault(frontier: str, tmp_path: Path) -> None:
    task = FakeTask(lost=lambda example, text: example.id == "val-3")
    chosen = settings(frontier=frontier)
    chosen = chosen.model_copy(update={"fault_threshold": 0.2})
    assert (await run(task, tmp_path / "journal", chosen=chosen)).winner.number != 0


async def test_an_outage_pauses_and_the_next_run_ends_as_if_nothing_had_been(
    tmp_path: Path,
) -> None:
    sick = FakeTask(lost=lambda example, text: text != "Help." and example.id.startswith("val"))
    with pytest.raises(PausedError, match="run the same command again"):
        await run(sick, tmp_path / "journal")
    well = FakeTask()
    result = await run(well, tmp_path / "journal")
    assert outcome(result) == outcome(await run(FakeTask(), tmp_path / "other"))
    assert result.faults == ()


# Cancellation


async def _cancelled(work: Coroutine[Any, Any, Any], due: asyncio.Event) -> None:
    """Cancel a run when it is due, and see that it ends."""
    running = asyncio.create_task(work)
    await due.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 5)


@pytest.mark.parametrize("after", [5, 20, 45])
def test_a_cancelled_run_ends_leaves_nothing_behind_and_goes_on_later(
    after: int, tmp_path: Path
) -> None:
    path = tmp_path / "journal"
    threads = set(threading.enumerate())
    task = Hanging(after=after)
    asyncio.run(_cancelled(run(task, path), task.hangs))
    assert set(threading.enumerate()) == threads
    assert (task.in_flight, task.played.total()) == (0, after)
    with Journal(path) as journal:
        kept = journal.count("rollout")
    assert after - task.concurrency < kept <= after
    rest = FakeTask()
    result = asyncio.run(run(rest, path))
    assert rest.played.total() == result.rollouts - kept, "what was journaled is not played again"
    assert outcome(result) == outcome(asyncio.run(run(FakeTask(), tmp_path / "whole")))


async def test_a_run_is_cancelled_while_the_proposer_thinks(tmp_path: Path) -> None:
    thinking = asyncio.Event()

    @dataclass
    class Slow:
        name: str = "slow"
        quotes_train: bool = True

        async def propose(self, assignment: Assignment) -> Mapping[str, str]:
            thinking.set()
            await asyncio.sleep(60)
            return {}

    task = FakeTask()
    await _cancelled(run(task, tmp_path / "journal", Slow()), thinking)
    assert {text for _, text, _ in task.played} == {"Help."}


async def test_a_run_is_cancelled_while_gepa_is_at_work_itself(tmp_path: Path) -> None:
    """There is nothing to cancel then, so what gepa asks for next must be refused."""
    loop, due, task = asyncio.get_running_loop(), asyncio.Event(), FakeTask()

    class Cancelling(Silent):
        def considered(self, candidate: Candidate) -> None:
            loop.call_soon_threadsafe(due.set)
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), loop).result()

    await _cancelled(run(task, tmp_path / "journal", observer=Cancelling()), due)
    await asyncio.sleep(0.1)
    assert task.played.total() == len(task.splits.val)
