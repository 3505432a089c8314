"""The examination: a few real turns with marked prompts, and what can be told from them."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...agents.assistant import AgentCall, ToolCall
from ...agents.counted import counted
from ...agents.errors import CotuneError, UsageError
from ...agents.ledger import Ledger, Role, Usage
from ...agents.prompts import PromptBundle
from ...simulation.conversation import ConversationLimits, converse
from ...simulation.player import Player
from ...simulation.scenario import Scenario
from ...simulation.trajectory import Trajectory
from .finding import Finding, fine, problem, skipped, warning
from .markers import marked, marker, markers
from .wire_tap import WireTap, labelled

_TURNS = 4
_PLAYED, _FIRST, _SECOND = "conversations", "first session", "second session"
_BEGINNING = 60  # characters by which a prompt is known again
_TOOLS = ('"role":"tool"', '"function_call_output"', '"functionResponse"', '"tool_result"')


@dataclass(frozen=True, slots=True)
class Seen:
    """What the few turns have shown.

    Attributes:
        prompts: The seed prompts.
        conversations: What was played, with markers in all prompts.
        tap: What was sent meanwhile.
    """

    prompts: PromptBundle
    conversations: Sequence[Trajectory]
    tap: WireTap

    @property
    def calls(self) -> list[AgentCall | ToolCall]:
        """Everything that the assistant says it did."""
        return [
            call for each in self.conversations for turn in each.turns for call in turn.reply.calls
        ]

    @property
    def at_work(self) -> set[str]:
        """The agents that were at work, as far as the assistant says so."""
        return {call.agent for call in self.calls}


async def play(player: Player, prompts: PromptBundle, scenarios: Sequence[Scenario]) -> Seen:
    """Play scenarios side by side, a few turns each, with markers in all prompts.

    Raises:
        CotuneError: No conversation can succeed.
    """
    tap, signs = WireTap(), markers(prompts)
    limits = ConversationLimits(turns=min(_TURNS, player.limits.turns))
    with tap.opened(), labelled(_PLAYED):
        played = await asyncio.gather(
            *(
                converse(player.assistant, marked(prompts, signs), each, player.users, 0, limits)
                for each in scenarios
            )
        )
    return Seen(prompts, played, tap)


def answers(seen: Seen) -> Iterator[Finding]:
    """Say whether the assistant answers at all."""
    for each in seen.conversations:
        if each.fault is not None:
            yield problem(
                "replies",
                f"Scenario '{each.scenario}' ended in a fault of origin {each.fault.origin} "
                f"({each.fault.kind}): {each.fault.message}",
                "Mend what it names: a fault is never scored, and a run pauses at 5 % of them.",
            )
    turns = sum(len(each.turns) for each in seen.conversations)
    if turns:
        yield fine("replies", f"{turns} replies in {len(seen.conversations)} conversations.")


def prompts_in_use(seen: Seen) -> Iterator[Finding]:
    """Say of each agent whether its prompt reaches a model when it changes."""
    sent = seen.tap.texts(_PLAYED)
    if not sent:
        yield skipped(
            "prompts",
            "No request to a model could be seen, so nobody knows whether the prompts are used.",
        )
        return
    for agent, sign in markers(seen.prompts).items():
        beginning = seen.prompts[agent].text.splitlines()[0][:_BEGINNING]
        if any(sign in text for text in sent):
            yield fine(f"prompt {agent}", "A change of it reaches the model.")
        elif any(beginning in text for text in sent):
            yield problem(
                f"prompt {agent}",
                "The seed prompt is sent, but a change of it is not: the assistant keeps the "
                "text it had when it was imported or first called.",
                "Take the text from the prompts that each conversation is given, at the time of "
                "the call, not from a constant, a cache or a client made at import.",
            )
        elif agent in seen.at_work:
            yield problem(
                f"prompt {agent}",
                "The agent was at work, and its prompt was not sent.",
                f"Use prompts['{agent}'] where this agent calls its model, or take it out of the "
                "prompts folder.",
            )
        else:
            yield warning(
                f"prompt {agent}",
                "The agent was not at work in these turns, so nobody knows whether its prompt is "
                "used.",
                "Give a scenario that needs it, or see that it says when it works (agent_call).",
            )


def tools_recorded(seen: Seen) -> Finding:
    """Say whether tools that models use are on record."""
    recorded = sorted({call.tool for call in seen.calls if isinstance(call, ToolCall)})
    sent = [text.replace(": ", ":") for text in seen.tap.texts(_PLAYED)]
    used = any(sign in text for text in sent for sign in _TOOLS)
    if recorded:
        return fine("tools", f"On record: {', '.join(recorded)}.")
    if used:
        return problem(
            "tools",
            "Results of tools were sent to a model, and no tool is on record, so rubric and "
            "judge cannot see what was done.",
            "Record each with tool_call(name, arguments, result) where it is called.",
        )
    return skipped("tools", "None was used in these turns.")


def calls_counted(seen: Seen, ledger: Ledger) -> Iterator[Finding]:
    """Say whether what the assistant's models use is counted."""
    sent = len(seen.tap.texts(_PLAYED))
    if sent and not ledger.by_role().get(Role.TASK, Usage()).calls:
        yield warning(
            "cost",
            f"{counted(sent, 'request')} to models were seen and none was counted, so neither "
            "limits.usd nor limits.tokens holds, and costs will be reported as nothing.",
            "Call models through session.ask, or limit rollouts and watch the provider's bill.",
        )


async def sessions(player: Player, prompts: PromptBundle, scenario: Scenario) -> list[Finding]:
    """Open a conversation after another, and say whether it knows anything of that one.

    Raises:
        CotuneError: No reply can succeed.
    """
    tap, secret = WireTap(), marker("message")
    with tap.opened():
        first = player.assistant.start(prompts, scenario.initial_state, 0)
        fresh = dict(first.state())
        with labelled(_FIRST):
            await first.reply(f"Hello! My name is {secret}.")
        second = player.assistant.start(prompts, scenario.initial_state, 0)
        begun = dict(second.state())
        with labelled(_SECOND):
            await second.reply("Hello!")
    found: list[Finding] = []
    if begun != fresh:
        found.append(
            problem(
                "sessions",
                "A second conversation does not begin with the scenario's state, but with what "
                "the first one left.",
                "Keep the state in the session, made anew for each conversation, not in a module "
                "or a class.",
            )
        )
    if any(secret in text for text in tap.texts(_SECOND)):
        found.append(
            problem(
                "sessions",
                "What a customer said in one conversation was sent to a model in another.",
                "Keep history and memory in the session, not in a module, a class or a shared "
                "agent object.",
            )
        )
    return found or [fine("sessions", "A second conversation knows nothing of the first.")]


async def examined(
    player: Player, prompts: PromptBundle, scenarios: Sequence[Scenario]
) -> list[Finding]:
    """Return what a few turns show of an assistant; what fails becomes a finding."""
    try:
        # First with the prompts as they are, so that a text which is kept from then on shows.
        apart = await sessions(player, prompts, scenarios[0])
        seen = await play(player, prompts, scenarios)
        shown = [*answers(seen), *prompts_in_use(seen), tools_recorded(seen)]
        return [*shown, *calls_counted(seen, player.ledger), *apart]
    except UsageError as error:
        return [problem("replies", str(error), "Mend the assistant or the scenario it names.")]
    except CotuneError as error:
        return [problem("replies", str(error), "See that models and services answer.")]
    except Exception as error:  # whatever a team's code raises
        return [problem("replies", _raised(error), "Mend it: a run could not score anything.")]


def _raised(error: Exception) -> str:
    """Say what the assistant's code raised, and where."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(at.filename).name}, line {at.lineno}"
    return f"The assistant's code raised {type(error).__name__}: {error} ({where})."
