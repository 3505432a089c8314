"""What the joint proposal's model reads, shortened until it fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...agents.prompts import Prompt
from .case_text import LADDER, Detail, by_blame, cases_text
from .data import as_data, one_line, tokens
from .hand_offs import hand_offs
from .lesson_text import lesson_text
from .needed_rules import needed_rules
from .proposer import Assignment, ProposalFailedError, TurnedDown

_MAX_FAILURES, _MAX_REJECTED = 4, 3
_OUTLINE = 300


def joint_inputs(assignment: Assignment, instructions: str, max_tokens: int) -> dict[str, Any]:
    """Return the inputs in as much detail as fits.

    Args:
        assignment: What to change and what went wrong.
        instructions: What is sent beside the inputs.
        max_tokens: Estimated tokens of both together.

    Raises:
        ProposalFailedError: Even the least detail does not fit.
    """
    size = 0
    for detail in LADDER:
        inputs = _inputs(assignment, detail)
        size = tokens(instructions) + sum(tokens(f"{each}") for each in inputs.values())
        if size <= max_tokens:
            return inputs
    raise ProposalFailedError(
        f"the prompts alone need about {size} tokens of the reflection model and {max_tokens} are "
        "allowed; let fewer agents change at once, or allow more"
    )


def _inputs(assignment: Assignment, detail: Detail) -> dict[str, Any]:
    outlined = (
        prompt for agent, prompt in assignment.bundle.items() if agent not in assignment.prompts
    )
    return {
        "agents_to_change": "\n\n".join(map(_in_full, assignment.prompts.values())),
        "other_agents": "\n".join(map(_in_outline, outlined)) or "none",
        "hand_offs": as_data(_hand_offs_text(assignment)),
        "conversations": as_data(_failures_text(assignment, detail)),
        "rules": as_data(_rules_text(assignment)),
        "turned_down": as_data(_turned_down_text(assignment, detail.longest)),
        "length_limit": assignment.max_length,
    }


def _in_full(prompt: Prompt) -> str:
    purpose = one_line(prompt.description) or "not described"
    return f"Agent {prompt.agent}\nIt is for: {purpose}\n{as_data(prompt.text)}"


def _in_outline(prompt: Prompt) -> str:
    purpose = one_line(prompt.description) or "not described"
    return f"Agent {prompt.agent}\nIt is for: {purpose}\n{as_data(one_line(prompt.text, _OUTLINE))}"


def _hand_offs_text(assignment: Assignment) -> str:
    lines = [
        f"{each.after} is called after {each.before}"
        f"{' and reads what it wrote' if each.reads else ''}: {count} times"
        for each, count in hand_offs(assignment.cases).most_common()
    ]
    tools: Mapping[str, None] = dict.fromkeys(
        f"{call.agent} has the tool {call.tool}"
        for case in assignment.cases
        for turn in case.turns
        for call in turn.calls
        if call.tool
    )
    return "\n".join([*lines, *sorted(tools)]) or "not known"


def _failures_text(assignment: Assignment, detail: Detail) -> str:
    if assignment.cases:
        return cases_text(by_blame(assignment.cases, assignment.prompts), detail)
    most = min(_MAX_FAILURES, detail.conversations)
    calls = [
        f"A call of {agent}\n{lesson_text(lesson)}"
        for agent in assignment.bundle
        for lesson in [each for each in assignment.lessons.get(agent, ()) if each.failed][:most]
    ]
    return "\n\n".join(calls)


def _rules_text(assignment: Assignment) -> str:
    """Return the rules for the agents that may change, those that cost most points first."""
    of_cases = needed_rules(assignment.cases, assignment.prompts)
    lines = (
        f"Rule for {agent}: {rule}"
        for agent in assignment.prompts
        for rule in of_cases.get(agent, ()) or _rules_of_calls(assignment, agent)
    )
    return "\n".join(dict.fromkeys(lines)) or "none"


def _rules_of_calls(assignment: Assignment, agent: str) -> Iterable[str]:
    """Return the rules of single calls; those of whole conversations come with their cases."""
    lessons = () if assignment.cases else assignment.lessons.get(agent, ())
    return (one_line(each.rule) for each in lessons if each.failed and each.rule.strip())


def _turned_down_text(assignment: Assignment, longest: int) -> str:
    latest: Sequence[TurnedDown] = assignment.rejected[-_MAX_REJECTED:]
    parts = [
        "\n".join(
            [
                f"Turned down because: {one_line(one.reason, longest)}",
                *(
                    f"It had {agent}: {one_line(text, longest)}"
                    for agent, text in one.texts.items()
                ),
            ]
        )
        for one in latest
    ]
    return "\n\n".join(parts) or "none"
