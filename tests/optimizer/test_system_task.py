"""The system task: conversations scored, credited, journaled, and never paid for twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from cotune.agents.errors import Fault, FaultError, FaultOrigin
from cotune.agents.fingerprint import canonical_json
from cotune.optimizer.evaluator import Evaluator
from cotune.optimizer.observer import Silent
from cotune.optimizer.rollout import Rollout, mean_score, usage_of
from cotune.simulation.journal import Journal

from .systems import System, system


def evaluator(one: System, journal: Journal) -> Evaluator:
    return Evaluator(one.task, journal, one.ledger, one.budget, Silent(), fault_threshold=0.5)


async def play(one: System, journal: Journal, repeat: int = 0) -> list[Rollout]:
    val = one.task.splits.val
    return await evaluator(one, journal).evaluate(val, one.task.seed, repeat)


async def test_a_rollout_is_a_judged_conversation(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal)
        rollouts = await play(one, journal)
    agents = set(one.task.seed)
    assert all(rollout.score is not None and 0 <= rollout.score <= 1 for rollout in rollouts)
    assert {"shopping_execution"} <= {name for each in rollouts for name in each.objectives}
    lost = [rollout for rollout in rollouts if rollout.case is not None]
    assert lost, "the seed prompts are plain, some conversations lose points"
    for rollout in lost:
        assert rollout.case is not None
        assert rollout.case.findings
        assert set(rollout.lessons) == set(rollout.blame) <= agents
        points = sum(finding.points for finding in rollout.case.findings)
        assert sum(rollout.blame.values()) == pytest.approx(points)
        blamed = {name for finding in rollout.case.findings for name, _, _ in finding.blamed}
        assert blamed == set(rollout.blame)
    for rollout in rollouts:
        assert Rollout.from_json(json.loads(canonical_json(rollout.to_json()))) == rollout


async def test_nothing_is_paid_for_twice(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path) as journal:
        first = system(journal)
        played = await play(first, journal)
        paid = first.ledger.total
        assert usage_of(played).calls == paid.calls > 0
    with Journal(path) as journal:
        again = system(journal)
        assert await play(again, journal) == played
        assert again.ledger.total.replayed == again.ledger.total.calls == paid.calls
        assert again.budget.usage == paid


async def test_a_conversation_that_was_not_judged_any_more_is_not_played_again(
    tmp_path: Path,
) -> None:
    """Killed between the conversation and its rollout: the conversation is there."""
    path = tmp_path / "journal"
    with Journal(path) as journal:
        one = system(journal)
        example = one.task.splits.val[0]
        rollout = await one.task.rollout(example, one.task.seed, 0)
        assert one.task.conversation(example, one.task.seed, 0) is not None
    with Journal(path) as journal:
        again = system(journal)
        (replayed,) = await evaluator(again, journal).evaluate([example], again.task.seed)
    assert replayed == rollout
    assert again.ledger.total.replayed == again.ledger.total.calls > 0
    assert again.budget.usage == one.budget.usage


async def test_repeats_and_prompts_are_other_conversations(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal, model="scripted:grocery?noise=0.3")
        first, second = await play(one, journal), await play(one, journal, repeat=1)
    assert [each.score for each in first] != [each.score for each in second]
    assert mean_score(first) is not None


@pytest.mark.parametrize(
    ("trouble", "score", "origin"),
    [("server_error=1", None, FaultOrigin.PROVIDER), ("truncated=1", 0.0, None)],
)
async def test_a_providers_fault_excludes_and_the_assistants_own_counts(
    trouble: str, score: float | None, origin: FaultOrigin | None, tmp_path: Path
) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal, model=f"scripted:grocery?{trouble}")
        rollout = await one.task.rollout(one.task.splits.val[0], one.task.seed, 0)
    assert rollout.score == score
    assert (rollout.fault and rollout.fault.origin) == origin
    assert (rollout.case is None) == (score is None), "the assistant's own failure is a lesson"


class _Silent:
    """A judge that cannot be asked."""

    identity: ClassVar = {"judge": "silent"}

    async def judge(self, *_: object) -> None:
        raise FaultError(Fault(FaultOrigin.JUDGE, "timeout", "no answer"))


async def test_a_judge_that_cannot_be_asked_is_a_fault_and_the_conversation_is_kept(
    tmp_path: Path,
) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal, judge=_Silent())  # type: ignore[arg-type]
        example = one.task.splits.val[0]
        rollout = await one.task.rollout(example, one.task.seed, 0)
        assert rollout.fault is not None
        assert rollout.fault.origin is FaultOrigin.JUDGE
        assert one.task.conversation(example, one.task.seed, 0) is not None
