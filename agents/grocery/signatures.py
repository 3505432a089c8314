"""What each grocery agent receives and returns; what it is told lives in `prompts/`."""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field

from ..agent import Agent
from .diet import Diet

Handler = Literal["search", "selector", "preferences", "cart", "responder"]


class CartOperation(BaseModel):
    """One change of the cart; `quantity` is ignored by `remove`, `clear`, `show`, `checkout`."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["add", "set_quantity", "remove", "clear", "show", "checkout"]
    product: str = Field(description="product id, or empty for the whole cart")
    quantity: int


class PreferenceChange(BaseModel):
    """One standing fact about the customer."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["remember", "forget", "recall"]
    kind: Literal["diet", "allergy", "brand", "store", "household", "budget", "other"]
    value: str


class Route(dspy.Signature):
    """Instructed by the prompt of `router`."""

    message: str = dspy.InputField()
    agent: Handler = dspy.OutputField()


class Brief(dspy.Signature):
    """Instructed by the prompt of `briefer`: the hand-off to the chosen agent."""

    message: str = dspy.InputField()
    history: str = dspy.InputField()
    preferences: str = dspy.InputField()
    agent: str = dspy.InputField()
    brief: str = dspy.OutputField()


class Search(dspy.Signature):
    """Instructed by the prompt of `search`: from a wish to a catalogue query."""

    message: str = dspy.InputField()
    previous: dict | None = dspy.InputField()
    product: str = dspy.OutputField()
    quantity: float = dspy.OutputField()
    size: str = dspy.OutputField()
    brand: str = dspy.OutputField()
    diet: list[Diet] = dspy.OutputField()
    max_price: float | None = dspy.OutputField()
    exclude: list[str] = dspy.OutputField()
    store: str = dspy.OutputField()


class Select(dspy.Signature):
    """Instructed by the prompt of `selector`: one of the candidates, or `none`."""

    request: str = dspy.InputField()
    candidates: list[dict] = dspy.InputField()
    choice: str = dspy.OutputField()
    quantity: int = dspy.OutputField()


class Prefer(dspy.Signature):
    """Instructed by the prompt of `preferences`: what to remember, forget or recall."""

    message: str = dspy.InputField()
    known: list[dict] = dspy.InputField()
    changes: list[PreferenceChange] = dspy.OutputField()


class ChangeCart(dspy.Signature):
    """Instructed by the prompt of `cart`: operations on the cart."""

    message: str = dspy.InputField()
    brief: str = dspy.InputField()
    cart: list[dict] = dspy.InputField()
    shown: list[dict] = dspy.InputField()
    operations: list[CartOperation] = dspy.OutputField()


class Respond(dspy.Signature):
    """Instructed by the prompt of `responder`: what the customer reads."""

    message: str = dspy.InputField()
    history: str = dspy.InputField()
    events: list[str] = dspy.InputField()
    reply: str = dspy.OutputField()


AGENTS = {
    "router": Agent("router", Route),
    "briefer": Agent("briefer", Brief),
    "search": Agent("search", Search),
    "selector": Agent("selector", Select),
    "preferences": Agent("preferences", Prefer),
    "cart": Agent("cart", ChangeCart),
    "responder": Agent("responder", Respond),
}
