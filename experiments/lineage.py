"""Lineage: from whom a candidate comes, and what it changed."""

from __future__ import annotations

from .record_parts import CandidateRecord
from .run_record import RunRecord


def line_of(record: RunRecord, number: int) -> list[CandidateRecord]:
    """Return a candidate and all that it comes from, the seed first."""
    line = [record.candidates[number]]
    while (parent := line[-1].parent) is not None:
        line.append(record.candidates[parent])
    return line[::-1]


def changed_agents(record: RunRecord, one: CandidateRecord) -> list[str]:
    """Return the agents whose prompts a candidate changed in its parent's."""
    if one.parent is None:
        return []
    before = record.candidates[one.parent].prompts
    return [agent for agent, text in one.prompts.items() if text != before.get(agent)]


def told_line(record: RunRecord, number: int, most: int = 8) -> str:
    """Write a line of candidates, such as `0 → 3 → 7`; of a long one the middle is left out."""
    numbers = [str(one.number) for one in line_of(record, number)]
    if len(numbers) > most:
        numbers[1 : 2 - most] = ["…"]
    return " → ".join(numbers)
