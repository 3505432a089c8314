"""Lessons from conversations: the rubric's rules for those to blame and for who reads from them.

A proposal adds the rules for want of which most points were lost, to several prompts at once: to
those that may change, and across a hand-off to those of the agents that read what these wrote,
for a fact that is passed on helps only when it is used. Rules that were tried and turned down
come last, and every rejection halves how many are added at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from .lesson_prompt import LessonPrompt
from .needed_rules import needed_rules
from .proposer import Assignment, Draft


def learned_from_cases(assignment: Assignment, max_rules: int, rules_at_once: int) -> Draft:
    """Return prompts with new rules, and which they are.

    Args:
        assignment: What to change, with the conversations that lost points.
        max_rules: Most rules a prompt may hold.
        rules_at_once: Most rules added to a prompt by one proposal.
    """
    learned: dict[str, LessonPrompt] = {}
    said: list[str] = []
    for agent, rules in needed_rules(assignment.cases, assignment.prompts).items():
        if agent not in assignment.bundle:
            continue
        prompt = LessonPrompt.parse(assignment.bundle[agent].text)
        tried = [one.texts[agent] for one in assignment.rejected if agent in one.texts]
        room = min(max_rules - len(prompt.rules), max(1, rules_at_once >> len(tried)))
        new = _new_rules(prompt, rules, tried)[: max(0, room)]
        longer = replace(prompt, rules=(*prompt.rules, *new)).fitting(assignment.max_length)
        if len(longer.rules) > len(prompt.rules):
            learned[agent] = longer
            said.append(_diagnosis(agent, longer.rules[len(prompt.rules) :], rules))
    texts = {agent: prompt.render() for agent, prompt in learned.items()}
    return Draft(texts, "\n".join(said))


def _new_rules(prompt: LessonPrompt, rules: Iterable[str], tried: Iterable[str]) -> list[str]:
    """Return the rules that the prompt does not hold; those turned down most often come last."""
    times = Counter(rule for text in tried for rule in LessonPrompt.parse(text).rules)
    held = prompt.render()
    return sorted((rule for rule in rules if rule not in held), key=lambda rule: times[rule])


def _diagnosis(agent: str, new: Iterable[str], points: Mapping[str, float]) -> str:
    listed = "; ".join(f"{rule} ({points[rule]:.3g} points lost)" for rule in new)
    return f"{agent} lacked: {listed}"
