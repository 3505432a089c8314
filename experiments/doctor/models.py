"""Models: whether they answer, in the form that is asked of them, and what they cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Literal

import dspy

from ...agents.agent import Agent
from ...agents.errors import CotuneError, FaultError
from ...agents.ledger import Ledger, Role, Usage
from ...agents.lm import LanguageModel
from ...agents.prompts import Prompt
from ...optimizer.plan import Plan
from ..config import RunConfig
from ..model_access import check_reachable
from .finding import Finding, Level, fine, problem, skipped, warning

PLAYED = 2  # conversations

_PROMPT = Prompt("doctor", "Decide whether the text is about food, and say why in one sentence.")
_OTHER_MODEL = (
    "Take a model or server with structured output (response_format with a JSON schema); as a "
    "judge, one with probabilities will do with the strategy 'word'."
)
_TEXT = "Two packs of carrots, please."


class _Decision(dspy.Signature):
    """Instructed by a prompt."""

    text: str = dspy.InputField()
    about_food: Literal["yes", "no"] = dspy.OutputField()
    why: str = dspy.OutputField()


async def reachable(model: LanguageModel) -> Finding:
    """Say whether a model answers."""
    about = f"model {model.role}"
    try:
        await check_reachable(model)
    except CotuneError as error:
        return problem(about, str(error), "See name, address and key under 'models'.")
    return fine(about, f"'{model.settings.model}' answers.")


async def speaks_schema(model: LanguageModel) -> Finding:
    """Say whether a model answers in the form of a JSON schema."""
    about = f"schema {model.role}"
    if model.settings.is_scripted:
        return skipped(about, "A script answers in place of a model.")
    try:
        await Agent("doctor", _Decision).call(_PROMPT, model, {"text": _TEXT}, 0)
    except FaultError as error:
        said = f"'{model.settings.model}' gave no answer in the form that was asked for"
        return problem(about, f"{said}: {error.fault.message}", _OTHER_MODEL)
    except CotuneError as error:
        return problem(about, str(error), "See that the model supports structured output.")
    return fine(about, "Structured output works.")


async def asked(config: RunConfig, models: Mapping[Role, LanguageModel]) -> list[Finding]:
    """Return what is to be said of each model."""
    return [finding async for finding in _each(config, models)]


async def _each(config: RunConfig, models: Mapping[Role, LanguageModel]) -> AsyncIterator[Finding]:
    for role, model in models.items():
        found = await reachable(model)
        yield found
        asked_for_words = role is Role.JUDGE and config.system.judge.strategy == "word"
        in_a_form = role in {Role.JUDGE, Role.REFLECTION} and not asked_for_words
        if found.level is Level.FINE and in_a_form:
            yield await speaks_schema(model)


def prices(config: RunConfig, ledger: Ledger) -> Finding:
    """Say whether what was used so far could be paid for in dollars."""
    unpriced = [str(role) for role, usage in ledger.by_role().items() if usage.unpriced]
    if not ledger.by_role():
        return skipped("prices", "No call was counted, so that nothing is known of prices.")
    if not unpriced:
        return fine("prices", "Known, or nothing is to be paid.")
    said = f"No price is known for the model in the role {', '.join(unpriced)}"
    remedy = (
        f"Set models.{unpriced[0]}.price: {{input: …, output: …}}, in dollars per million tokens."
    )
    if config.limits.usd is not None:
        return problem("prices", f"{said}, and limits.usd is set.", remedy)
    return warning("prices", f"{said}: costs will be reported as unknown.", remedy)


def forecast(ledger: Ledger, plan: Plan | None) -> Finding:
    """Say what a run may use, by what the few turns used."""
    roles = ledger.by_role()
    used = roles.get(Role.TASK, Usage()) + roles.get(Role.USER, Usage())
    if plan is None or not used.calls:
        return skipped("cost", "Nothing to go by.")
    times = plan.total / PLAYED
    tokens = f"{round(used.tokens * times):,} tokens of assistant and customers"
    money = "unknown" if used.unpriced else f"about ${used.cost * times:,.2f}"
    return fine(
        "cost",
        f"{plan.total} conversations like these: {tokens}, {money}; judge and reflection come on "
        "top. These were cut after a few turns.",
    )
