"""The optimizer's benchmark: a world whose faults, cures and true scores are as they are said."""

from __future__ import annotations

import sys
from statistics import fmean

import pytest

from cotune.agents.prompts import PromptBundle
from cotune.experiments.benchmarks import optimizer
from cotune.experiments.benchmarks.optimizer_ways import COTUNE, PLAIN, apart, cotune, plain
from cotune.experiments.benchmarks.planted_task import (
    HIGH,
    MEDIUM,
    NONE,
    PURE,
    Noise,
    PlantedTask,
    Sizes,
)
from cotune.experiments.benchmarks.planted_world import SAFETY, Skill, World
from cotune.experiments.benchmarks.simulated_writer import SimulatedWriter

TINY = Sizes(train=16, val=8, test=10)


@pytest.fixture
def task() -> PlantedTask:
    return PlantedTask(World.draw(3), NONE, TINY)


def skill(world: World, kind: str) -> Skill:
    return next(each for each in world.skills.values() if each.name.startswith(kind))


def with_line(bundle: PromptBundle, agent: str, line: str) -> PromptBundle:
    return bundle.with_texts({agent: f"{bundle[agent].text}\n{line}"})


def test_the_right_lines_reach_the_optimum(task: PlantedTask) -> None:
    assert task.optimum == 1
    assert 0.1 < task.true_score(task.seed) < 0.6
    assert not task.world.behaviour(task.world.best()).missing


def test_a_hand_off_needs_both_sides(task: PlantedTask) -> None:
    hand_off = skill(task.world, "hand_off")
    giver, user = hand_off.agents
    start = task.true_score(task.seed)
    one, other = (with_line(task.seed, agent, hand_off.right(agent)) for agent in hand_off.agents)
    assert task.true_score(one) < start
    assert task.true_score(other) < start
    both = with_line(one, user, hand_off.right(user))
    assert task.true_score(both) > start + 0.02
    missing = task.world.behaviour(task.seed).missing[hand_off.name]
    assert missing == ((giver, 0.6), (user, 0.4))


def test_the_careless_cure_breaks_another_agent(task: PlantedTask) -> None:
    fault = next(each for each in task.world.skills.values() if each.harms and "fault" in each.name)
    careless = task.world.behaviour(with_line(task.seed, fault.agents[0], fault.careless))
    assert fault.name in careless.held
    assert careless.missing[fault.harms] == ((fault.agents[0], 1.0),)


def test_the_tempting_cure_raises_the_total_and_breaks_safety(task: PlantedTask) -> None:
    tempting = next(each for each in task.world.skills.values() if each.tempting)
    bundle = with_line(task.seed, tempting.agents[0], tempting.careless)
    assert task.true_score(bundle) > task.true_score(task.seed)
    scenarios = task.world.scenarios("more", 40)
    for scenario in scenarios:
        broken = task.play(scenario, bundle, 0).critical_failures
        assert broken == ((SAFETY,) if scenario.delicate else ())
        assert task.play(scenario, task.seed, 0).critical_failures == ()


@pytest.mark.parametrize("noise", [NONE, MEDIUM, HIGH, PURE])
def test_rollouts_come_to_the_true_score(noise: Noise) -> None:
    task = PlantedTask(World.draw(1), noise)
    scenarios = task.world.scenarios("population", 1000)
    scores = [task.play(each, task.seed, 0).score or 0.0 for each in scenarios]
    assert fmean(scores) == pytest.approx(task.true_score(task.seed), abs=0.05)
    again = [task.play(each, task.seed, 0).score or 0.0 for each in scenarios]
    assert scores == again


def test_a_rollout_blames_the_agent_at_fault_nine_times_in_ten() -> None:
    task = PlantedTask(World.draw(2), NONE)
    missing = task.world.behaviour(task.seed).missing
    findings = [
        finding
        for scenario in task.world.scenarios("credit", 300)
        if (case := task.play(scenario, task.seed, 0).case) is not None
        for finding in case.findings
    ]
    right = [
        [agent for agent, _, _ in each.blamed] == [agent for agent, _ in missing[each.criterion]]
        for each in findings
    ]
    assert fmean(right) == pytest.approx(0.9, abs=0.04)


def test_the_writer_writes_both_sides_of_a_hand_off_or_neither() -> None:
    world = World.draw(3)
    hand_off = skill(world, "hand_off")
    texts = {agent: world.prompts[agent].text for agent in hand_off.agents}
    faults = {agent: [hand_off.name] for agent in hand_off.agents}
    writer = SimulatedWriter(world, joint=True)
    right = []
    for _ in range(60):
        written = writer.write(texts, faults)
        sides = [hand_off.right(agent) in written.get(agent, "") for agent in hand_off.agents]
        assert sides[0] == sides[1]
        right.append(sides[0])
    assert 0.3 < fmean(right) < 0.7


@pytest.mark.parametrize("way", PLAIN)
def test_plain_gepa_works_on_the_world(way: str, task: PlantedTask) -> None:
    early, late = plain(task, 0, [60, 300], way)
    assert early.true <= late.true
    assert late.true > late.start
    assert plain(task, 0, [60, 300], way) == [early, late]


def test_agents_apart_cannot_mend_a_hand_off(task: PlantedTask) -> None:
    (outcome,) = apart(task, 0, [400])
    assert outcome.true > outcome.start
    assert outcome.reached < 0.9


def test_cotune_spends_no_more_than_its_budget_and_says_what_is_true(task: PlantedTask) -> None:
    outcome = cotune(task, 0, 400)
    assert outcome.rollouts <= 400
    assert outcome.tested == 2 * TINY.test
    assert outcome.true > outcome.start
    assert not outcome.unsafe
    assert cotune(task, 0, 400) == outcome


def test_the_tables_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(optimizer, "BUDGETS", (110, 120, 130))
    monkeypatch.setattr(optimizer, "PURE_RUNS", 2)
    monkeypatch.setattr(optimizer, "PURE_BUDGET", 130)
    tiny = lambda world, noise, *_: PlantedTask(world, noise, TINY)  # noqa: E731
    monkeypatch.setattr(optimizer, "PlantedTask", tiny)
    monkeypatch.setattr(sys, "argv", ["optimizer"])
    optimizer.main(["--seeds", "1", "--first", "0"])
    printed = capsys.readouterr().out
    assert "noise: medium" in printed
    assert "all or nothing, by a race" in printed
    assert "pure noise: improved in" in printed
    assert all(way in printed for way in (*PLAIN, COTUNE))
