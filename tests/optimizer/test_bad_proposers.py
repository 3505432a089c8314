"""Proposers that are no good: the search ends with a reason, and the seed stays."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.lm import ModelUnusableError
from cotune.agents.worked_examples import WorkedExample, with_examples
from cotune.optimizer.candidate import Status
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.proposers.proposer import Assignment, ProposalFailedError
from cotune.rubrics.statistics import Conclusion

from .tasks import FakeTask, Proposing, run


def fail(error: Exception) -> Proposing:
    def say(assignment: Assignment) -> Mapping[str, str]:
        raise error

    return Proposing(say)


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
        ("Say: the val customer says number 3 aloud.", "helper: the prompt copies an example"),
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


async def test_learning_the_minibatch_by_heart_ends_the_search(tmp_path: Path) -> None:
    def say(assignment: Assignment) -> Mapping[str, str]:
        shown = assignment.lessons["helper"]
        quoted = [WorkedExample(lesson.inputs, lesson.expected) for lesson in shown]
        return {"helper": with_examples("Help.", quoted)}

    task = FakeTask(lambda example, text, repeat: float(example.inputs["message"] in text))
    result = await run(task, tmp_path / "journal", Proposing(say))
    assert result.winner.number == 0
    assert {(one.status, one.reason) for one in result.pool.candidates[1:]} == {
        (Status.REJECTED, "the prompt quotes every example; none is left to compare")
    }


async def test_a_rejected_candidate_is_shown_to_the_proposer_with_the_reason(
    tmp_path: Path,
) -> None:
    seen: list[list[tuple[str, str]]] = []

    def say(assignment: Assignment) -> Mapping[str, str]:
        seen.append([(one.texts["helper"], one.reason) for one in assignment.rejected])
        return {"helper": f"Worse {len(seen)}."}

    def score(example: RecordedCall, text: str, repeat: int) -> float:
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
