"""A child that changes several agents: what helped is kept, what is unsafe never is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.candidate import Status
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.proposers.proposer import Assignment
from cotune.optimizer.result import RunResult
from cotune.optimizer.rollout import Lesson, Rollout

from .tasks import FakeTask, Proposing, outcome, run, settings, splits

SEED = PromptBundle.of(Prompt("helper", "Help."), Prompt("writer", "Write."))
CRITERIA = {"helper": "diet", "writer": "price"}


@dataclass
class PairTask(FakeTask):
    """Each agent has a fault until its prompt is good; what is unsafe is good, too."""

    @property
    def seed(self) -> PromptBundle:
        return SEED

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int) -> Rollout:
        self.played[(example.id, " ".join(one.text for one in candidate.values()), repeat)] += 1
        texts = {agent: prompt.text for agent, prompt in candidate.items()}
        failed = {agent: name for agent, name in CRITERIA.items() if "Good" not in texts[agent]}
        unsafe = any("unsafe" in text for text in texts.values()) and example.id.endswith("1")
        return Rollout(
            example.id,
            1 - len(failed) / 2,
            critical_failures=("no_allergen",) if unsafe else (),
            lessons={
                agent: (Lesson("in", "out", "", "", "wrong", name),)
                for agent, name in failed.items()
            },
            blame=dict.fromkeys(failed, 0.5),
            applied=tuple(CRITERIA.values()),
        )


async def optimized(folder: Path, *texts: Mapping[str, str], **how: Any) -> RunResult:
    """Run a search whose proposals are given, again and again."""
    asked: list[Assignment] = []

    def say(assignment: Assignment) -> Mapping[str, str]:
        asked.append(assignment)
        return texts[(len(asked) - 1) % len(texts)]

    task = PairTask(lambda example, text, repeat: 0.0, splits(24, 12, 12))
    chosen = settings(300, minibatch=8, agents="all", **how)
    return await run(task, folder / "journal", Proposing(say), chosen)


async def test_the_edit_that_helped_is_kept_without_the_one_that_did_not(tmp_path: Path) -> None:
    result = await optimized(tmp_path, {"helper": "Good.", "writer": "Worse."})
    whole, part = result.pool.candidates[1:3]
    assert (whole.status, part.status) == (Status.REJECTED, Status.ACCEPTED)
    assert whole.reason == "the edits for diet helped; as often as before fails price"
    assert part.bundle.texts() == {"helper": "Good.", "writer": "Write."}
    assert part.diagnosis == "what helped of candidate 1"
    assert result.winner.number == 2


async def test_a_child_of_which_all_helped_is_taken_whole(tmp_path: Path) -> None:
    result = await optimized(tmp_path, {"helper": "Good.", "writer": "Good."})
    assert result.pool.candidates[1].status is Status.ACCEPTED
    assert result.winner.bundle.texts() == {"helper": "Good.", "writer": "Good."}


async def test_a_child_of_which_nothing_helped_is_turned_down(tmp_path: Path) -> None:
    result = await optimized(tmp_path, {"helper": "Worse."}, patience=2)
    assert result.winner.number == 0
    assert result.pool.candidates[1].status is Status.REJECTED
    assert result.pool.candidates[1].reason.startswith("not better (0.000 → 0.000")


@pytest.mark.parametrize("acceptance", ["credit", "minibatch", "race"])
async def test_what_mends_a_fault_and_is_unsafe_is_never_accepted(
    acceptance: str, tmp_path: Path
) -> None:
    texts = {"helper": "Good unsafe.", "writer": "Worse."}, {"helper": "Good unsafe."}
    result = await optimized(tmp_path, *texts, acceptance=acceptance, patience=3)
    assert result.winner.number == 0
    assert {one.status for one in result.pool.candidates[1:]} == {Status.REJECTED}
    assert any("no_allergen" in one.reason for one in result.pool.candidates[1:])


async def test_the_same_journal_gives_the_same_run_and_plays_nothing_again(tmp_path: Path) -> None:
    texts = {"helper": "Good.", "writer": "Worse."}, {"writer": "Good."}
    first = await optimized(tmp_path, *texts)
    again = await optimized(tmp_path, *texts)
    assert outcome(first) == outcome(again)
    assert first.winner.bundle.texts() == {"helper": "Good.", "writer": "Good."}


async def test_a_proposer_is_shown_recurring_faults_only_and_what_was_turned_down_before(
    tmp_path: Path,
) -> None:
    asked: list[Assignment] = []

    def say(assignment: Assignment) -> Mapping[str, str]:
        asked.append(assignment)
        return {"helper": "Good.", "writer": f"Worse {len(asked)}."}

    task = PairTask(lambda example, text, repeat: 0.0, splits(24, 12, 12))
    chosen = settings(300, minibatch=8, agents="all", patience=2)
    await run(task, tmp_path / "journal", Proposing(say), chosen)
    assert {one.criterion for one in asked[1].lessons["writer"]} == {"price"}
    assert asked[1].lessons["helper"] == []
    assert "Worse 1." in [one.texts.get("writer") for one in asked[1].rejected]
