"""`cotune scenarios mine` and `cotune examples mine`, on conversations of the grocery assistant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.optimizer.example import Splits
from cotune.simulation.scenario import ItemErrand
from cotune.simulation.scenario_file import load_scenarios
from cotune.simulation.trajectory import StopReason, Trajectory, Turn
from cotune.simulation.trajectory_file import write_trajectories

from ..agents.adapters.endpoint import Request, endpoint, fails, says
from .command_line import cotune

WISHES = ("oat milk", "rye bread", "green tea", "sea salt", "olive oil", "dried figs")
RUBRIC = """
id: shop
name: Shop
subject: trajectory
domains: [{id: all, name: All, weight: 100}]
criteria:
  - id: found
    name: Found
    domain: all
    points: 1
    passes: It is found.
    fails: It is not.
    agents: [search]
    check: {name: "mined_checks:found"}
"""
CHECKS = """
from cotune.rubrics.verdict import Finding

def found(trajectory, scenario, turn):
    said = trajectory.turns[turn].reply.text
    return Finding.scored(float("sorry" not in said), "It says sorry." if "sorry" in said else "")
"""
MINED: dict[str, Any] = {
    "situation": "plain wish",
    "goal": "Get it.",
    "items": [],
    "questions": ["Have you some?"],
    "facts": [],
    "unsure": ["Is that all?"],
}


def talk(wish: str, answers: tuple[str, ...] = ("Here it is.",)) -> Trajectory:
    turns = [
        Turn(
            f"I want {wish}, {number}. My mail is jo@mail.example",
            Reply(
                answer,
                (
                    ToolCall("find_products", "search", {"query": wish}, []),
                    AgentCall("search", {"wish": wish, "n": number}, {"answer": answer}),
                ),
            ),
            {},
        )
        for number, answer in enumerate(answers)
    ]
    return Trajectory(wish.replace(" ", "-"), tuple(turns), {}, StopReason.SATISFIED)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    path = tmp_path / "logs.jsonl"
    first, *others = WISHES
    write_trajectories(
        path, [talk(first, ("Here it is.", "I am sorry.")), *(talk(each) for each in others)]
    )
    return path


def test_scenarios_are_proposed_by_rules(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "scenarios.yaml"
    said = cotune("scenarios", "mine", logs, "--out", out)
    assert said.code == 0, said.err
    assert "6 scenarios in 6 families" in said.words
    wishes = [each for one in load_scenarios(out) for each in one.errands]
    assert [each.item for each in wishes if isinstance(each, ItemErrand)] == list(WISHES)
    text = out.read_text()
    assert "# check: " in text
    assert "jo@mail.example" not in text
    assert cotune("scenarios", "validate", out).code == 0


def test_what_is_there_is_not_overwritten(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.yaml"
    out.write_text("mine")
    said = cotune("scenarios", "mine", logs, "--out", out)
    assert (said.code, out.read_text()) == (2, "mine")
    assert cotune("scenarios", "mine", logs, "--out", tmp_path / "mine.jsonl").code == 2


def mined(request: Request) -> Any:
    return says(json.dumps(MINED) if "Customer:" in request.last else "ready")


def test_a_model_proposes_and_is_not_paid_twice(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "scenarios.yaml"
    with endpoint(mined) as served:
        model = ("--model", "openai/any", "--api-base", served.url)
        said = cotune("scenarios", "mine", logs, "--out", out, *model)
        assert said.code == 0, said.err
        asked = [each for each in served.requests if "Customer:" in each.last]
        assert len(asked) == len(WISHES)
        assert not any("jo@mail.example" in each.last for each in asked)
        out.rename(tmp_path / "first.yaml")
        cotune("scenarios", "mine", logs, "--out", out, *model)
        assert len([each for each in served.requests if "Customer:" in each.last]) == len(asked)
    assert out.read_text() == (tmp_path / "first.yaml").read_text()
    scenarios = load_scenarios(out)
    assert {each.family for each in scenarios} == {"plain-wish"}
    (question,) = scenarios[0].errands
    assert question.say == "Have you some?"
    assert "# check: Is that all?" in out.read_text()


def test_a_model_that_does_not_answer_leaves_no_file(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "scenarios.yaml"
    with endpoint(lambda request: fails(404)) as served:
        model = ("--model", "openai/any", "--api-base", served.url)
        said = cotune("scenarios", "mine", logs, "--out", out, *model)
    assert said.code == 1
    assert "'openai/any' cannot be used" in said.err
    assert not out.exists()


def test_calls_become_examples_with_what_they_are_blamed_for(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "mined_checks.py").write_text(CHECKS)
    verdicts, out = tmp_path / "verdicts.jsonl", tmp_path / "examples"
    judged = cotune("judge", logs, "--rubric", tmp_path / "rubric.yaml", "--out", verdicts)
    assert judged.code == 0, judged.err
    said = cotune(
        "examples", "mine", logs, "--agent", "search", "--verdicts", verdicts, "--out", out
    )
    assert said.code == 0, said.err
    assert "7 examples of 'search'" in said.words
    assert "1 of them lost points" in said.words
    splits = Splits.load(out).named()
    everything = [each for split in splits.values() for each in split]
    (failed,) = [each for each in everything if not each.gold]
    assert failed.inputs == {"wish": "oat milk", "n": 1}
    assert failed.why.startswith("check: found (100%): It says sorry.")
    assert "I am sorry." in failed.why
    assert all(each.gold == {"answer": "Here it is."} for each in everything if each.gold)


def test_without_verdicts_all_calls_are_taken_as_they_are(logs: Path, tmp_path: Path) -> None:
    said = cotune("examples", "mine", logs, "--agent", "search", "--out", tmp_path / "examples")
    assert "0 of them lost points" in said.words
    again = cotune("examples", "mine", logs, "--agent", "search", "--out", tmp_path / "examples")
    assert again.code == 2
    assert "is not overwritten" in again.err


def test_an_agent_that_was_never_called_is_named(logs: Path, tmp_path: Path) -> None:
    said = cotune("examples", "mine", logs, "--agent", "serach", "--out", tmp_path / "examples")
    assert said.code == 2
    assert "Agents there: search" in said.err
