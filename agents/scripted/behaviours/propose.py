"""The simulated reflection: appends the rules that the feedback of failing calls states."""

from __future__ import annotations

import re
from typing import Any

from ..call import Call

_RULE = re.compile(r"^\W*Rule: *(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
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
