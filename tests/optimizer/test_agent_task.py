"""The agent task on the scripted model: what is scored, what is excluded, what is learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cotune.agents.errors import FaultOrigin
from cotune.agents.grocery.signatures import AGENTS
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.optimizer.rollout import Rollout
from cotune.rubrics.rubric import CheckSpec, Rubric

from .tasks import Model


async def _play(model: str, rubric: Rubric | None = None) -> list[Rollout]:
    task = Model(model).routing()
    task = replace(task, rubric=rubric or task.rubric)
    return [await task.rollout(example, task.seed, 0) for example in task.splits.train]


async def test_answers_are_scored_and_wrong_ones_teach() -> None:
    found = await _play("scripted:grocery")
    assert {one.score for one in found} == {0.0, 1.0}
    for one, example in zip(found, Model().routing().splits.train, strict=True):
        (lesson,) = one.lessons["router"]
        assert lesson.failed == (one.score == 0)
        assert lesson.inputs == example.inputs["message"]
        assert lesson.expected == f'{{"agent": "{example.gold["agent"]}"}}'
        assert (lesson.output == lesson.expected) == (one.score == 1)
        assert lesson.rule == example.why


async def test_an_unusable_answer_is_worth_nothing_where_a_criterion_applies() -> None:
    rubric = Model().routing().rubric
    changes = {
        "judged": {"check": None, "judged": True},
        "no_gold": {"check": CheckSpec.model_validate({"name": "equals", "field": "other"})},
    }
    others = [
        rubric.criteria[0].model_copy(update={"id": id_, **change})
        for id_, change in changes.items()
    ]
    mixed = rubric.model_copy(update={"criteria": (*rubric.criteria, *others)})
    found = await _play("scripted:grocery?invalid_json=1", mixed)
    for one, usable in zip(found, await _play("scripted:grocery", mixed), strict=True):
        assert (one.score, one.fault) == (0.0, None)
        assert one.objectives == dict.fromkeys(usable.objectives, 0.0)
        assert one.objectives.keys().isdisjoint(changes)
        assert one.critical_failures == ()
        assert one.lessons["router"][0].failed


_BREAKS = CheckSpec(name="math:sqrt")
"""A check that cannot look at a call."""


@pytest.mark.parametrize("changes", [{}, {"check": _BREAKS}], ids=["fails", "breaks"])
async def test_an_unusable_answer_fails_every_critical_criterion(changes: dict[str, Any]) -> None:
    rubric = Model().routing().rubric
    critical = rubric.criteria[0].model_copy(update={"critical": True, **changes})
    gated = rubric.model_copy(update={"criteria": (critical,)})
    for one in await _play("scripted:grocery?invalid_json=1", gated):
        assert one.score == 0.0
        assert one.critical_failures == (critical.id,)


async def test_a_check_that_breaks_is_the_judges_fault_and_no_score() -> None:
    rubric = Model().routing().rubric
    broken = rubric.criteria[0].model_copy(update={"id": "broken", "check": _BREAKS})
    for one in await _play(
        "scripted:grocery", rubric.model_copy(update={"criteria": (*rubric.criteria, broken)})
    ):
        assert one.score is None
        assert one.fault is not None
        assert (one.fault.origin, one.fault.kind) == (FaultOrigin.JUDGE, "inconclusive")
        assert one.fault.message.startswith("broken: check 'math:sqrt' broke: TypeError")


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


@pytest.mark.parametrize(("model", "calls"), [("local:qwen2.5-coder-1.5b", 1), ("openai/m", 6)])
def test_an_embedded_model_chooses_words_one_at_a_time(model: str, calls: int) -> None:
    task = Model().routing()
    settings = task.lm.settings.model_copy(update={"model": model, "concurrency": 6})
    lm = LanguageModel(settings, Role.TASK, Ledger(), endpoint="http://127.0.0.1:1/v1")
    assert replace(task, lm=lm).concurrency == calls
    assert replace(task, lm=lm, agent=AGENTS["search"]).concurrency == 6
