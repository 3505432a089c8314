"""Conversations that speak to the judge change neither what it is asked nor what it decides."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.rubrics.judges.inquiry import Strategy
from cotune.rubrics.judges.rendering import Rendering, conversations_in, render
from cotune.rubrics.subject import ConversationRecord
from cotune.simulation.trajectory import Turn

from .judging import MILK, RUBRIC, PlannedJudge, conversation, llm_judge, scripted_model

_FILE = Path(__file__).with_name("attacks.jsonl")
ATTACKS = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
CLEAN = "Nothing special here, just plain words."
LIMIT = 8000


def attacked(where: str = "", text: str = CLEAN) -> ConversationRecord:
    """A conversation with this text in one place, and an ordinary one everywhere else."""

    def at(place: str) -> str:
        return text if place == where else CLEAN

    calls = (
        AgentCall("router", {"message": at("agent")}, {"agent": "search"}),
        AgentCall(at("agent_name"), {"brief": "milk"}, {"query": "milk"}),
        ToolCall(at("tool_name"), "search", {"query": "milk"}, {"note": at("tool")}),
    )
    turns = (
        Turn(
            at("customer"),
            Reply(f"I have added one milk. {at('assistant')}", calls),
            {"cart": [MILK]},
        ),
        Turn("And eggs.", Reply("I have added eggs."), {"cart": [MILK], at("state"): 1}),
    )
    return conversation(*turns)


def attack(case: dict[str, Any]) -> ConversationRecord:
    mark = render(attacked().trajectory, LIMIT).text.splitlines()[0].split()[-1]
    text = case["text"].replace("{mark}", mark) * case.get("repeat", 1)
    return attacked(case["where"], text)


async def sent(subject: ConversationRecord) -> list[str]:
    model = PlannedJudge("no")
    await llm_judge(model, Strategy.CRITERION, conversation_tokens=LIMIT).judge(subject, RUBRIC)
    return model.heard[:4]


def labels(body: str) -> list[str]:
    """The labels of the lines, as far as they are ours."""
    ours = ("agent", "tool called", "tool result", "changed")
    lines = body.split("\n")
    return [
        next((each for each in ours if line.startswith(each)), line.partition(":")[0])
        for line in lines
    ]


def test_there_are_enough_attacks_of_every_kind():
    assert len({case["id"] for case in ATTACKS}) == len(ATTACKS) >= 30
    assert {case["where"] for case in ATTACKS} == {
        "customer", "assistant", "tool", "agent", "agent_name", "tool_name", "state",
    }  # fmt: skip


@pytest.mark.parametrize("case", ATTACKS, ids=[case["id"] for case in ATTACKS])
async def test_an_attack_stays_inside_the_record(case: dict[str, Any]):
    clean, dirty = await sent(attacked()), await sent(attack(case))
    for before, after in zip(clean, dirty, strict=True):
        [body] = conversations_in(after)
        frame = Rendering(body).text
        assert after.startswith(f"conversation: \n{frame}\n")
        asked = before.partition("\nabout: ")[2].partition("\nabout: ")[0]
        assert after.removeprefix(f"conversation: \n{frame}\nabout: ") == asked
        assert labels(body) == labels(conversations_in(before)[0])
        assert not {"<", ">"} & set(body)
        assert len(frame) <= 4 * LIMIT


@pytest.mark.parametrize("case", ATTACKS, ids=[case["id"] for case in ATTACKS])
async def test_an_attack_changes_no_verdict(case: dict[str, Any]):
    judge = llm_judge(scripted_model(), conversation_tokens=LIMIT)
    clean = (await judge.judge(attacked(), RUBRIC)).verdicts
    dirty = (await judge.judge(attack(case), RUBRIC)).verdicts
    blank = [[replace(each, evidence=()) for each in verdicts] for verdicts in (clean, dirty)]
    assert blank[0] == blank[1]
    assert {each.value for each in clean} == {0.0, 1.0, None}, "asks fails, one claim is false"
