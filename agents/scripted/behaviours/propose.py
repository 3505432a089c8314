"""The simulated reflection: appends the rules that it reads of, to one prompt or to several."""

from __future__ import annotations

import re
from typing import Any

from ..call import Call

_RULE = re.compile(r"^\W*Rule: *(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
_RULE_FOR = re.compile(r"^Rule for (?P<agent>[\w-]+): (?P<rule>.+)$", re.MULTILINE)
_AGENT = re.compile(
    r"^Agent (?P<agent>[\w-]+)\n[^\n]*\nBEGIN DATA\n(?P<prompt>.*?)\nEND DATA$",
    re.MULTILINE | re.DOTALL,
)
_DATA = re.compile(r"\ABEGIN DATA\n(.*)\nEND DATA\Z", re.DOTALL)
_HEADING = "## Rules"


def propose(call: Call) -> dict[str, Any]:
    """Return the present prompt with the rules it does not hold yet, the most frequent first."""
    present = _undelimited(call.string("present_prompt"))
    rules = [" ".join(rule.split()) for rule in _RULE.findall(call.string("calls"))]
    ranked = sorted(dict.fromkeys(rules), key=rules.count, reverse=True)
    new = [rule for rule in ranked if rule not in present]
    diagnosis = f"{len(new)} rules are missing from the prompt." if new else "Nothing is missing."
    return {"diagnosis": diagnosis, "prompt": _with_rules(present, new)}


def propose_jointly(call: Call) -> dict[str, Any]:
    """Return, for each agent to change, its prompt with the rules for it that it does not hold."""
    limit = int(call.string("length_limit") or 0)
    edits = []
    for match in _AGENT.finditer(call.string("agents_to_change")):
        agent, present = match["agent"], match["prompt"]
        stated = _RULE_FOR.finditer(call.string("rules"))
        new = [each["rule"] for each in stated if each["agent"] == agent]
        prompt = _within(limit, present, [rule for rule in new if rule not in present])
        if prompt != present:
            edits.append({"agent": agent, "prompt": prompt})
    names = ", ".join(edit["agent"] for edit in edits)
    diagnosis = f"Rules are missing from the prompts of: {names}." if edits else "Nothing to add."
    return {"diagnosis": diagnosis, "edits": edits}


def _within(limit: int, prompt: str, rules: list[str]) -> str:
    """Add as many of the rules as fit, the first first."""
    while rules and len(_with_rules(prompt, rules)) > limit:
        rules = rules[:-1]
    return _with_rules(prompt, rules)


def _with_rules(prompt: str, rules: list[str]) -> str:
    if not rules:
        return prompt
    bullets = "\n".join(f"- {rule}" for rule in rules)
    before, heading, after = prompt.partition(f"{_HEADING}\n")
    if heading:
        return f"{before}{heading}{bullets}\n{after}"
    return f"{prompt.rstrip()}\n\n{_HEADING}\n{bullets}"


def _undelimited(text: str) -> str:
    match = _DATA.match(text)
    return match[1] if match else text
