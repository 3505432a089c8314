"""Lessons from conversations: the rubric's rules for those to blame and for who reads from them.

Each proposal adds the rules for want of which most points were lost, to all prompts at once: to
those that may change, and across a hand-off to those of the agents that read what these wrote,
for a fact that is passed on helps only when it is used. Rules that were tried and turned down
come last, and every rejection halves how many are added at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .lesson_prompt import LessonPrompt
from .needed_rules import needed_rules
from .proposer import Assignment, Draft, TurnedDown


def learned_from_cases(assignment: Assignment, max_rules: int, rules_at_once: int) -> Draft:
    """Return prompts with new rules, and which they are.

    Args:
        assignment: What to change, with the conversations that lost points.
        max_rules: Most rules a prompt may hold.
        rules_at_once: Most rules added to a prompt by one proposal.
    """
    texts: dict[str, str] = {}
    said: list[str] = []
    for agent, rules in needed_rules(assignment.cases, assignment.prompts).items():
        prompt = LessonPrompt.parse(assignment.bundle[agent].text)
        new = _new_rules(prompt, rules, [one for one in assignment.rejected if agent in one.texts])
        room = max(0, max_rules - len(prompt.rules))
        at_once = max(1, rules_at_once >> len(_tried(agent, assignment.rejected)))
        chosen = tuple(new[: min(room, at_once)])
        learned = replace(prompt, rules=(*prompt.rules, *chosen)).fitting(assignment.max_length)
        if learned != prompt:
            texts[agent] = learned.render()
            said.append(_diagnosis(agent, learned.rules[len(prompt.rules) :], rules))
    return Draft(texts, "\n".join(said))
