"""Fakes for conversations: an assistant and a customer's model that do as planned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dspy.lm15 import Message, Request, Response
from dspy.lm15 import Usage as LmUsage

from cotune.agents.assistant import AgentCall, Reply, ToolCall
from cotune.agents.ledger import Ledger, Role
from cotune.agents.lm import LanguageModel
from cotune.agents.models import ModelSettings
from cotune.agents.prompts import Prompt, PromptBundle

PROMPTS = PromptBundle.of(Prompt("clerk", "Serve."))
OAT = {
    "id": "p1", "name": "Oat drink Natural", "brand": "Haferlust", "product": "oat milk",
    "price": 1.88, "diet": ["vegan"],
}  # fmt: skip
COW = {**OAT, "id": "p2", "name": "Whole milk", "brand": "Berghof", "product": "milk", "diet": []}


@dataclass(frozen=True)
class Step:
    """What the assistant does in one turn: says something, shows items, puts items into the cart.

    A step with an error breaks instead.
    """

    text: str
    cart: Sequence[tuple[Mapping[str, Any], int]] = ()
    shows: Sequence[Mapping[str, Any]] = ()
    words: str = "oat milk"
    error: Exception | None = None


@dataclass
class Shop:
    """An assistant that takes these steps whatever it is told; the last one over and over."""

    steps: Sequence[Step]

    @property
    def prompts(self) -> PromptBundle:
        return PROMPTS

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int
    ) -> ShopSession:
        return ShopSession(self.steps)


@dataclass
class ShopSession:
    steps: Sequence[Step]
    taken: int = 0
    world: dict[str, Any] = field(default_factory=lambda: {"cart": [], "shown": []})

    async def reply(self, message: str) -> Reply:
        step = self.steps[min(self.taken, len(self.steps) - 1)]
        self.taken += 1
        if step.error is not None:
            raise step.error
        calls: list[AgentCall | ToolCall] = []
        if step.shows:
            items = [dict(item) for item in step.shows]
            calls.append(ToolCall("find", "clerk", {"words": step.words}, items))
            self.world["shown"] = [item["id"] for item in items]
        for item, quantity in step.cart:
            self.world["cart"] = [*self.world["cart"], {**item, "quantity": quantity}]
        return Reply(step.text, tuple(calls))

    def state(self) -> Mapping[str, Any]:
        return dict(self.world)


class PlannedModel(LanguageModel):
    """A model that answers as planned, in order, and keeps what it was sent.

    A text is answered as it is; anything else is written as JSON. After the last one it says
    what it said last.
    """

    def __init__(self, *answers: Any) -> None:
        super().__init__(
            ModelSettings(model="scripted:grocery", temperature=0), Role.USER, Ledger()
        )
        self.answers = answers
        self.requests: list[Request] = []

    async def respond(self, request: Request) -> Response:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Response(
            id=None,
            model="planned",
            message=Message.assistant(text),
            finish_reason="stop",
            usage=LmUsage(),
        )

    @property
    def heard(self) -> list[str]:
        """The last message of each request, oldest first."""
        return [request.messages[-1].text or "" for request in self.requests]


def turn(message: str, status: str = "continue") -> dict[str, str]:
    """A customer model's answer."""
    return {"message": message, "status": status, "reason": "because"}
