"""The assistant that benchmarks talk to: a router and a responder, both asked in every turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import dspy

from ...agents.assistant import AgentCall, Reply
from ...agents.fingerprint import fingerprint
from ...agents.grocery.assistant import PROMPTS
from ...agents.grocery.signatures import AGENTS
from ...agents.prompts import PromptBundle
from .openai_server import TEXT

MESSAGES = (
    "Two litres of oat milk, please.",
    "Something cheaper, if there is any.",
    "Do you have wholegrain bread?",
    "That is all, what do I pay?",
)
CALLS = 2 * len(MESSAGES)


@dataclass(frozen=True, slots=True)
class PairAssistant:
    """An `Assistant` of two agents."""

    lm: dspy.BaseLM

    @property
    def prompts(self) -> PromptBundle:
        """The grocery assistant's prompts for the two."""
        return seed_prompts()

    def start(
        self, prompts: PromptBundle, scenario_state: Mapping[str, Any], seed: int
    ) -> PairSession:
        """Open a conversation; see `Assistant.start`."""
        return PairSession(self.lm, prompts, seed)


@dataclass(slots=True)
class PairSession:
    """A conversation in which the router is asked, then the responder."""

    lm: dspy.BaseLM
    prompts: PromptBundle
    seed: int
    exchanges: int = 0

    async def reply(self, message: str) -> Reply:
        """Ask both agents; see `Session.reply`."""
        routed = await self._ask("router", message=message)
        said = await self._ask("responder", **for_responder(message, self.exchanges))
        self.exchanges += 1
        return Reply(said.outputs["reply"], (routed, said))

    def state(self) -> Mapping[str, Any]:
        """Return how many exchanges there were."""
        return {"exchanges": self.exchanges}

    async def _ask(self, agent: str, **inputs: Any) -> AgentCall:
        seed = int(fingerprint([self.seed, self.exchanges, agent], 7), 16)
        outputs = await AGENTS[agent].call(self.prompts[agent], self.lm, inputs, seed)
        return AgentCall(agent, inputs, outputs)


def for_responder(message: str, exchanges: int) -> dict[str, Any]:
    """Return the responder's inputs after some exchanges of `MESSAGES`."""
    said = [f"Customer: {earlier}\nShop: {TEXT}" for earlier in MESSAGES[:exchanges]]
    return {"message": message, "history": "\n".join(said), "events": []}


@cache
def seed_prompts() -> PromptBundle:
    """Return the grocery assistant's prompts for the two agents."""
    return PromptBundle.load(PROMPTS).only("router", "responder")
