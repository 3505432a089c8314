"""A small rubric, a conversation and a model that answers as planned, for the tests of judges."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from dspy.lm15 import Message, Request, Response
from dspy.lm15 import Usage as LmUsage

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.rubrics.judges.inquiry import Strategy, judge_prompts
from cotune.rubrics.judges.llm import JudgeSettings, LlmJudge
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.subject import ConversationRecord
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

TIERS = (
    {"value": 1.0, "text": "Clear."},
    {"value": 0.5, "text": "So so."},
    {"value": 0.0, "text": "No."},
)
RUBRIC = Rubric.model_validate(
    {
        "id": "small",
        "name": "Small",
        "subject": "trajectory",
        "domains": [
            {"id": "talk", "name": "Talk", "weight": 60},
            {"id": "truth", "name": "Truth", "weight": 40},
        ],
        "criteria": [
            {
                "id": "asks", "name": "Asks or confirms", "domain": "talk", "points": 1,
                "passes": "It asks.", "fails": "It guesses.",
                "agents": ["router", "responder"], "judged": True,
            },
            {
                "id": "clear", "name": "Clear", "domain": "talk", "points": 1,
                "scale": list(TIERS), "pass_at": 0.5,
                "agents": ["responder"], "judged": True,
            },
            {
                "id": "integrity", "name": "Integrity", "domain": "truth", "points": 1,
                "scope": "turn", "aggregate": "minimum",
                "passes": "True.", "fails": "Made up.",
                "agents": ["responder"], "judged": True,
            },
        ],
    }
)  # fmt: skip
SCENARIO = Scenario(id="s-1", family="f", goal="Milk.")


def turn(message: str, reply: str, cart: list[dict[str, Any]], result: Any = "found") -> Turn:
    calls = (
        AgentCall("router", {"message": message}, {"agent": "search"}),
        ToolCall("find_products", "search", {"query": "milk"}, result),
        AgentCall("responder", {"events": ["Here they are."]}, {"reply": reply}),
    )
    return Turn(message, Reply(reply, calls), {"cart": cart})


MILK = {"id": "p-1", "name": "Oat milk", "quantity": 1}
TURNS = (
    turn("I want oat milk.", "I have added one oat milk.", [MILK], [{"id": "p-1", "price": 1.99}]),
    turn("Make it two, please.", "Done. Have a nice day.", [{**MILK, "quantity": 2}]),
)


def conversation(*turns: Turn, **fields: Any) -> ConversationRecord:
    trajectory = Trajectory("s-1", turns or TURNS, {"cart": []}, StopReason.SATISFIED, **fields)
    return ConversationRecord(trajectory, SCENARIO)


def entry(value: Any = "PASS", **changes: Any) -> dict[str, Any]:
    """One entry of an answer; what is not good has a quote."""
    return {
        "applies": value != "NOT_APPLICABLE",
        "rationale": "Because.",
        "evidence": ["I have added one oat milk."],
        "turns": [1],
        "agent": "responder",
        "value": value,
        "confidence": 80,
        **changes,
    }


def turn_entry(value: str = "PASS", **changes: Any) -> dict[str, Any]:
    """One entry of an answer about a single turn."""
    whole = entry(value, **changes)
    return {name: each for name, each in whole.items() if name != "turns"}


class PlannedJudge(LanguageModel):
    """A model that answers as planned, in order; after the last, it says that again.

    A text is answered as it is, an exception is raised, a response is returned, and anything else
    is written as JSON.
    """

    def __init__(self, *answers: Any) -> None:
        settings = ModelSettings(model="scripted:grocery", temperature=0)
        super().__init__(settings, Role.JUDGE, Ledger())
        self.answers = answers
        self.requests: list[Request] = []

    async def respond(self, request: Request) -> Response:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        await asyncio.sleep(0)  # as a real call, it lets the others be sent meanwhile
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Response):
            return answer
        return response(answer if isinstance(answer, str) else json.dumps(answer))

    @property
    def heard(self) -> list[str]:
        """The last message of each request, oldest first."""
        return [request.messages[-1].text or "" for request in self.requests]


def response(text: str, finish_reason: Any = "stop", **fields: Any) -> Response:
    return Response(
        id=None,
        model="planned",
        message=Message.assistant(text),
        finish_reason=finish_reason,
        usage=LmUsage(),
        **fields,
    )


def llm_judge(
    model: LanguageModel,
    strategy: Strategy = Strategy.DOMAIN,
    rubric: Rubric = RUBRIC,
    **settings: Any,
) -> LlmJudge:
    chosen = JudgeSettings(strategy=strategy, **settings)
    return LlmJudge(model, judge_prompts(rubric, strategy), chosen)


def scripted_model(setting: str = "grocery") -> LanguageModel:
    return LanguageModel(ModelSettings(model=f"scripted:{setting}"), Role.JUDGE, Ledger())
