"""The engine on real gepa: the same inputs give the same run, and no run goes wrong silently."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import fmean

import pytest
from dspy.lm15 import Request, Response

from cotune.agents.budget import BudgetExhaustedError, Limits
from cotune.agents.errors import Fault, FaultError, FaultOrigin, UsageError
from cotune.agents.fingerprint import fingerprint
from cotune.agents.ledger import Role
from cotune.agents.lm import LanguageModel
from cotune.optimizer.candidate import Status
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.proposers.proposer import Proposer
from cotune.optimizer.proposers.reflection import ReflectionProposer
from cotune.rubrics.statistics import Conclusion
from cotune.simulation.journal import Journal
from cotune.simulation.paused import PausedError

from .tasks import (
    FAULT,
    FakeTask,
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


@pytest.mark.parametrize("limit", range(64, 200, 9))
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


# Noise, faults and critical criteria


def _coin(trial: int) -> FakeTask:
    """Pass with probability 0.6, whatever the prompt says."""

    def score(example: RecordedCall, text: str, repeat: int) -> float:
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
    assert fmean(claims) > 0.02, "the maximum over val would have claimed a gain"


async def test_a_critical_regression_is_never_accepted_nor_chosen(tmp_path: Path) -> None:
    """Every second variant is better by far, and unsafe on some examples."""

    def unsafe(text: str) -> bool:
        return text.startswith("Variant") and int(text.split()[1].strip(".")) % 2 == 0

    def score(example: RecordedCall, text: str, repeat: int) -> float:
        return 0.95 if unsafe(text) else 0.2 if text == "Help." else 0.5

    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
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
    def lost(example: RecordedCall, text: str) -> bool:
        return example.id in {"val-3", "test-5"} and text == "Help."

    result = await run(FakeTask(lost=lost), tmp_path / "journal")
    assert result.faults == (FAULT,) * 3, "val-3 twice: the seed runs again"
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


class Faltering(LanguageModel):
    """A scripted model that answers the first question about a prompt and no other."""

    asked = 0

    async def respond(self, request: Request) -> Response:
        if self.role is Role.REFLECTION:
            self.asked += 1
            if self.asked > 1:
                raise FaultError(Fault(FaultOrigin.PROVIDER, "server_error", "no answer"))
        return await super().respond(request)


async def test_a_reflection_model_that_is_away_pauses_and_the_next_run_ends_as_if_it_had_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal"
    with pytest.raises(PausedError, match="run the same command again"):
        await Model(NOISY, kind=Faltering).run(path, reflecting)
    with Journal(path) as journal:
        assert journal.count("proposal") == 1
    result = await Model(NOISY).run(path, reflecting)
    assert outcome(result) == outcome(await Model(NOISY).run(tmp_path / "other", reflecting))


# The held-out test


async def test_other_winners_tested_before_on_the_same_examples_are_counted(
    tmp_path: Path,
) -> None:
    async def earlier(text: str, rules: str) -> int:
        said = {"helper": f"{text} {rules}"}
        result = await run(FakeTask(), tmp_path / "journal", Proposing(lambda assignment: said))
        return result.earlier_tests

    rules = " ".join(f"Rule {number} decides." for number in range(4))
    assert await earlier("Help.", "Nothing to test.") == 0
    assert await earlier("One.", rules) == 0
    assert await earlier("One.", rules) == 0, "the same test is no other one"
    assert await earlier("Two.", rules) == 1
    assert await earlier("Three.", rules) == 2
    assert await earlier("One.", rules) == 0, "it was the first"
