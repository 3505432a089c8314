"""Conversations that went wrong, for tests of proposers."""

from __future__ import annotations

from collections.abc import Sequence

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.case import Case, CaseCall, CaseTurn, Finding
from cotune.optimizer.proposers.proposer import Assignment, TurnedDown

BUNDLE = PromptBundle.of(
    Prompt("router", "Choose the agent.", "Decides who handles a message."),
    Prompt("briefer", "Be brief.", "Writes the hand-off."),
    Prompt("selector", "Pick the best product.", "Chooses a product."),
    Prompt("responder", "Answer kindly.", "Writes the reply."),
)
PASS_ON = "Add the remembered diets."
USE = "Choose only what fits the diet."
SEND = "search: a wish for a product."
BRIEF = "The customer would like two tubs of yogurt."


def turn(message: str = "Two tubs of yogurt, please.", reply: str = "Done.") -> CaseTurn:
    calls = (
        CaseCall("router", "", f"message: {message}", "agent: search"),
        CaseCall("briefer", "", f"message: {message}; preferences: vegan", f"brief: {BRIEF}"),
        CaseCall("search", "find_products", "product: yogurt", '[{"id": "p1"}]'),
        CaseCall("selector", "", f"request: {BRIEF}; candidates: […]", "choice: p1"),
        CaseCall("responder", "", f"message: {message}; events: […]", f"reply: {reply}"),
    )
    return CaseTurn(message, calls, reply)


def finding(
    blamed: str = "briefer", at: int | None = 0, points: float = 15.0, rationale: str = "Not vegan."
) -> Finding:
    return Finding(
        criterion="Cart completeness",
        critical=True,
        points=points,
        rationale=rationale,
        good="Every item is as specified.",
        turn=at,
        blamed=((blamed, 1.0, "It did not pass 'vegan' on."),),
        influences=("router", "briefer", "selector"),
        rules={"briefer": (PASS_ON,), "selector": (USE,), "router": (SEND,)},
    )


def case(
    *findings: Finding, turns: Sequence[CaseTurn] = (), name: str = "s1", goal: str = "Vegan yogurt"
) -> Case:
    return Case(name, goal, "customer_done", 0.4, tuple(turns) or (turn(),), findings)


def assigned(
    cases: Sequence[Case],
    *agents: str,
    rejected: Sequence[TurnedDown] = (),
    bundle: PromptBundle = BUNDLE,
    max_length: int = 900,
) -> Assignment:
    return Assignment(bundle.only(*agents), {}, rejected, max_length, bundle, cases)
