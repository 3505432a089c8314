"""Planted faults: the simulated grocery assistant with good prompts and one agent gone wrong.

Every answer of one agent is altered as a bad prompt would alter it, and no other agent's; so it
is known who is at fault when the conversation fails, and credit can be measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dspy
from dspy.lm15 import Message, Request, Response

from ...agents.grocery.assistant import GroceryAssistant
from ...agents.prompts import PromptBundle
from ...agents.scripted import wishes
from ...agents.scripted.behaviours import behaviour_for
from ...agents.scripted.call import Call
from ...agents.scripted.chance import pick
from ...agents.scripted.engine import ScriptedEngine

Output = dict[str, Any]
_PROMPTS = Path(__file__).parent / "good_prompts"
_LABELS = ("search", "selector", "preferences", "cart", "responder")


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One agent's way of going wrong.

    Attributes:
        name: For tables.
        agent: Whose fault it is.
        schema: Name of the agent's output schema.
        alter: From a call and the good answer to the bad one; the good one where it cannot err.
    """

    name: str
    agent: str
    schema: str
    alter: Callable[[Call, Output], Output]


class PlantedModel(dspy.BaseLM):
    """The simulated model, with the answers for one output schema altered."""

    def __init__(self, fault: PlantedFault | None) -> None:
        """Alter nothing when there is no fault."""
        super().__init__("planted")
        self._fault = fault
        self._engine = ScriptedEngine.parse("grocery")

    async def acall(self, prompt: Any = None, **_: Any) -> Response:
        """Answer a `Request`."""
        response = self._engine.answer(prompt)
        if self._fault is None or _schema(prompt) != self._fault.schema:
            return response
        call = Call.of(prompt, behaviour_for(prompt).inputs)
        said = self._fault.alter(call, json.loads(response.text or ""))
        return replace(response, message=Message.assistant(json.dumps(said)))


def assistant_with(fault: PlantedFault | None) -> GroceryAssistant:
    """Return the grocery assistant with a fault, or without one."""
    return GroceryAssistant(PlantedModel(fault))


def good_prompts() -> PromptBundle:
    """Return prompts with which the simulated model serves most customers well."""
    return PromptBundle.load(_PROMPTS)


def _schema(request: Request) -> str:
    return str((request.config.response_format or {}).get("name", ""))


def _wrong_agent(call: Call, said: Output) -> Output:
    others = [label for label in _LABELS if label != said["agent"]]
    return {"agent": pick(others, call.string("message"))}


def _bare_message(call: Call, said: Output) -> Output:
    return {"brief": call.string("message")}


def _invented_wish(call: Call, said: Output) -> Output:
    return {**said, "brand": "Goldhahn", "max_price": 0.3} if said["product"] else said


def _invented_store(call: Call, said: Output) -> Output:
    return {**said, "store": said["store"] or "Bosporus Bazar"}


def _something_else(call: Call, said: Output) -> Output:
    return {**said, "product": "caviar"} if said["product"] else said


def _without_place(call: Call, said: Output) -> Output:
    return {**said, "store": "", "diet": []}


def _against_diet(call: Call, said: Output) -> Output:
    wanted = set(wishes.diets(call.string("request"), implied=True))
    return _other_choice(call, said, lambda each: not wanted <= set(each["diet"]))


def _most_expensive_brand(call: Call, said: Output) -> Output:
    chosen = [each for each in call.items("candidates") if each["id"] == said["choice"]]
    brands = {each["brand"] for each in chosen}
    return _other_choice(call, said, lambda each: each["brand"] not in brands)


def _other_choice(call: Call, said: Output, wrong: Callable[[Mapping[str, Any]], bool]) -> Output:
    bad = [each["id"] for each in call.items("candidates") if each["in_stock"] and wrong(each)]
    return {**said, "choice": bad[0]} if bad and said["choice"] != "none" else said


def _twice(call: Call, said: Output) -> Output:
    doubled = [{**each, "quantity": 2 * each["quantity"]} for each in said["operations"]]
    return {"operations": doubled}


def _none_chosen(call: Call, said: Output) -> Output:
    return {**said, "choice": "none"}


def _nothing_done(call: Call, said: Output) -> Output:
    return {"operations": []}


def _untrue(call: Call, said: Output) -> Output:
    return {"reply": f"{said['reply']} I have added champagne to your cart."}


def _verbose(call: Call, said: Output) -> Output:
    chatter = "By the way, many customers like the organic kind by Goldhahn at Sparkorb. "
    return {"brief": f"{said['brief']}\n{chatter * 3}"}


FAULTS = (
    PlantedFault("drops what is known", "briefer", "Brief", _bare_message),
    PlantedFault("asks the wrong agent", "router", "Route", _wrong_agent),
    PlantedFault("invents wishes", "search", "Search", _invented_wish),
    PlantedFault("invents a store", "search", "Search", _invented_store),
    PlantedFault("looks for something else", "search", "Search", _something_else),
    PlantedFault("leaves out store and diet", "search", "Search", _without_place),
    PlantedFault("ignores the diet", "selector", "Select", _against_diet),
    PlantedFault("takes another brand", "selector", "Select", _most_expensive_brand),
    PlantedFault("chooses nothing", "selector", "Select", _none_chosen),
    PlantedFault("doubles the amount", "cart", "ChangeCart", _twice),
    PlantedFault("does nothing", "cart", "ChangeCart", _nothing_done),
    PlantedFault("says what is not so", "responder", "Respond", _untrue),
    PlantedFault("talks too much", "briefer", "Brief", _verbose),
)
