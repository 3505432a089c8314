"""The agent task on the scripted model: what is scored, what is excluded, what is learned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cotune.agents.errors import FaultOrigin
from cotune.optimizer.rollout import Rollout
from cotune.rubrics.rubric import Rubric

from .tasks import Model


async def _play(model: str, rubric: Rubric | None = None) -> list[Rollout]:
    task = Model(model).routing()
    task = replace(task, rubric=rubric or task.rubric)
    return [await task.rollout(example, task.seed, 0) for example in task.splits.train]


async def test_answers_are_scored_and_wrong_ones_teach() -> None:
    found = await _play("scripted:grocery")
    assert {one.score for one in found} == {0.0, 1.0}
    for one, example in zip(found, Model().routing().splits.train, strict=True):
        lesson = one.lessons["router"]
        assert lesson.failed == (one.score == 0)
        assert lesson.inputs == example.inputs["message"]
        assert lesson.expected == f'{{"agent": "{example.gold["agent"]}"}}'
        assert (lesson.output == lesson.expected) == (one.score == 1)
        assert lesson.rule == example.why


async def test_an_unusable_answer_is_the_assistants_own_failure() -> None:
    """It is worth nothing where a criterion applies; one for a judge never does here."""
    rubric = Model().routing().rubric
    judged = rubric.criteria[0].model_copy(update={"id": "tone", "check": None, "judged": True})
    mixed = rubric.model_copy(update={"criteria": (*rubric.criteria, judged)})
    found = await _play("scripted:grocery?invalid_json=1", mixed)
    for one, usable in zip(found, await _play("scripted:grocery", mixed), strict=True):
        assert (one.score, one.fault) == (0.0, None)
        assert one.objectives == dict.fromkeys(usable.objectives, 0.0)
        assert one.lessons["router"].failed
    assert len({frozenset(one.objectives) for one in found}) == 2, "not every criterion applies"


@pytest.mark.parametrize("trouble", ["empty", "server_error"])
async def test_what_the_provider_does_is_no_score(
    trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cotune.agents.lm._BACKOFF", lambda state: 0.0)
    for one in await _play(f"scripted:grocery?{trouble}=1"):
        assert one.score is None
        assert one.fault is not None
        assert one.fault.origin is FaultOrigin.PROVIDER


async def test_a_repeat_has_another_sampling_seed_and_the_same_one_again() -> None:
    task = Model("scripted:grocery?noise=0.5").routing()
    example = task.splits.train[0]
    found = [
        [(await task.rollout(example, task.seed, repeat)).score for repeat in range(20)]
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert set(found[0]) == {0.0, 1.0}
