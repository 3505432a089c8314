"""Planted faults: in flawless conversations, the agent that was made to err is the one blamed."""

from __future__ import annotations

from math import isclose

from cotune.experiments.benchmarks.credit import Case, cases, flawless
from cotune.experiments.benchmarks.planted_faults import FAULTS, good_prompts
from cotune.rubrics.credit import credit
from cotune.rubrics.evaluate import evaluate
from cotune.rubrics.rubric_file import load_rubric
from cotune.simulation.scenario_file import load_scenarios

MAGIC = load_rubric("magic")
SAMPLE = (
    *("one-item-1", "several-of-one-3", "two-items-2", "three-items-4", "vegan-instead-3"),
    *("diet-known-1", "diet-known-2", "usual-store-1", "store-by-type-1", "brand-and-price-2"),
    *("vegan-shop-3", "quantity-changed-2", "label-wanted-2", "take-it-out-1"),
)
ENOUGH = 39


async def spoilt() -> list[Case]:
    scenarios = [each for each in load_scenarios("grocery") if each.id in SAMPLE]
    return await cases(await flawless(scenarios, MAGIC), MAGIC, ENOUGH)


async def test_the_agent_at_fault_is_blamed_most() -> None:
    found = await spoilt()
    assert len(found) == ENOUGH
    assert len({case.fault.agent for case in found}) == 6, "every kind of agent has erred"
    wrong = [(case.fault.name, case.record.scenario.id) for case in found if not case.is_right]
    assert len(wrong) <= 0.05 * len(found), wrong
    for case in found:
        blames = credit(MAGIC, evaluate(MAGIC, case.record), case.record)
        called = {call.agent for _, call in case.record.trajectory.agent_calls()}
        assert {blame.agent for blame in blames} <= called
        for criterion in case.blamed:
            total = sum(each.share for each in blames if each.verdict.criterion == criterion)
            assert isclose(total, 1.0)


def test_every_fault_names_an_agent_that_there_is() -> None:
    assert {fault.agent for fault in FAULTS} < set(good_prompts())
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
