"""The local task: one agent's share of a conversation, which nobody pays for twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from cotune.optimizer.evaluator import Evaluator
from cotune.optimizer.local_task import LocalTask
from cotune.optimizer.observer import Silent
from cotune.optimizer.rollout import Rollout
from cotune.optimizer.task import Task
from cotune.rubrics.subject import ConversationRecord
from cotune.rubrics.verdict import Status, Verdict
from cotune.simulation.journal import Journal
from cotune.simulation.scenario import Scenario

from .systems import System, scenario_splits, system

SCENARIOS = scenario_splits(2, 12, 2)


async def play(one: System, task: Task, journal: Journal) -> list[Rollout]:
    evaluator = Evaluator(task, journal, one.ledger, one.budget, Silent(), fault_threshold=0.5)
    return await evaluator.evaluate(task.splits.val, task.seed)


def local(one: System, agent: str) -> LocalTask:
    return LocalTask(one.task, agent, one.task.seed)


def verdicts_of(one: System, scenario: Scenario) -> tuple[Verdict, ...]:
    played = one.task.conversation(scenario, one.task.seed, 0)
    assert played is not None
    decisions = one.task.decisions
    known = decisions.known(decisions.key(ConversationRecord(played.trajectory, scenario)))
    assert known is not None
    return known.verdicts


async def test_an_agent_answers_for_its_own_share_and_for_no_other(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal, splits=SCENARIOS)
        whole = await play(one, one.task, journal)
        tasks = [local(one, agent) for agent in one.task.seed]
        parts = {task.agent: await play(one, task, journal) for task in tasks}
        applied = {
            scenario.id: sum(
                one.task.rubric.criterion(each.criterion).points
                for each in verdicts_of(one, scenario)
                if each.status is Status.SCORED
            )
            for scenario in SCENARIOS.val
        }
    assert any(rollout.blame for rollout in whole), "the plain seed prompts lose points"
    for index, rollout in enumerate(whole):
        for agent, own in ((agent, rollouts[index]) for agent, rollouts in parts.items()):
            lost = rollout.blame.get(agent, 0.0)
            assert own.score == pytest.approx(1 - lost / applied[rollout.example])
            assert set(own.blame) == set(own.lessons) == ({agent} if lost else set())
            assert own.lessons.get(agent) == rollout.lessons.get(agent)
            assert own.objectives.keys() == rollout.objectives.keys()
            assert set(own.critical_failures) <= set(rollout.critical_failures)
            assert (own.case is None) == (not lost)
            if own.case is not None:
                names = {name for finding in own.case.findings for name, _, _ in finding.blamed}
                assert names == {agent}
    failed = [set(rollout.critical_failures) for rollout in whole]
    for index, critical in enumerate(failed):
        blamed = [set(rollouts[index].critical_failures) for rollouts in parts.values()]
        assert set().union(*blamed) == critical, "somebody answers for each"


async def test_conversations_are_those_of_the_system_task(tmp_path: Path) -> None:
    """What the whole assistant has played, no agent's task pays for again, nor the other way."""
    with Journal(tmp_path / "journal") as journal:
        one = system(journal, splits=SCENARIOS)
        await play(one, one.task, journal)
        paid, conversations = one.ledger.total, journal.count("conversation")
        for agent in one.task.seed:
            await play(one, local(one, agent), journal)
        assert journal.count("conversation") == conversations
        assert one.ledger.total.calls - one.ledger.total.replayed == paid.calls > 0


async def test_only_that_agents_prompt_is_a_candidates(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal, splits=SCENARIOS)
        task = local(one, "search")
        assert list(task.seed) == ["search"]
        child = task.seed.with_texts({"search": "Say nothing useful."})
        scenario = SCENARIOS.val[0]
        await task.rollout(scenario, child, 0)
        bundle = one.task.seed.with_texts(child.texts())
        assert one.task.conversation(scenario, bundle, 0) is not None


def test_agent_and_the_others_prompts_are_part_of_the_identity(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal)
        seed = one.task.seed
        other = seed.with_texts({"router": "Another prompt."})
        identities = [
            one.task.identity(),
            local(one, "search").identity(),
            local(one, "router").identity(),
            LocalTask(one.task, "search", other).identity(),
        ]
        assert all(identities.count(each) == 1 for each in identities)
        # The agent's own prompt is in the rollout's key, not in the task's identity.
        assert LocalTask(one.task, "router", other).identity() == local(one, "router").identity()


@pytest.mark.parametrize(("trouble", "score"), [("server_error=1", None), ("truncated=1", 0.0)])
async def test_faults_stay_faults_and_broken_conversations_are_worth_nothing(
    trouble: str, score: float | None, tmp_path: Path
) -> None:
    with Journal(tmp_path / "journal") as journal:
        one = system(journal, model=f"scripted:grocery?{trouble}")
        rollout = await local(one, "router").rollout(
            one.task.splits.val[0], one.task.seed.only("router"), 0
        )
    assert rollout.score == score
    assert (rollout.fault is None) == (score is not None)
