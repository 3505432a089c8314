"""What became of each prompt between seed and winner, word by word and step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lineage import changed_agents, line_of
from .record_parts import CandidateRecord
from .run_record import RunRecord
from .word_diff import Gap, Kind, Line, folded, word_diff

MOST_STEPS = 20
"""Steps shown of each prompt, the last ones."""


@dataclass(frozen=True, slots=True)
class PromptStep:
    """One candidate on the way to the winner that changed a prompt.

    Attributes:
        candidate: Which one; its diagnosis says what led to the change, its reason what came of it.
        agents: All that it changed.
        lines: What it changed in this prompt; empty when it is the only step.
    """

    candidate: CandidateRecord
    agents: tuple[str, ...]
    lines: tuple[Line | Gap, ...]


@dataclass(frozen=True, slots=True)
class PromptChange:
    """One agent's prompt, from seed to winner.

    Attributes:
        agent: The agent.
        lines: The difference, without long unchanged passages.
        added: Words added.
        removed: Words removed.
        alone: What this change gains alone on val; None where that is not known.
        steps: How it came about, the oldest first.
        earlier: Steps before these that are left out.
    """

    agent: str
    lines: tuple[Line | Gap, ...]
    added: int
    removed: int
    alone: float | None
    steps: tuple[PromptStep, ...]
    earlier: int


def prompt_changes(record: RunRecord) -> list[PromptChange]:
    """Return the changes of all prompts that differ between seed and winner."""
    return [_change(record, agent) for agent in record.changed]


def _change(record: RunRecord, agent: str) -> PromptChange:
    lines = word_diff(record.seed.prompts.get(agent, ""), record.chosen.prompts[agent])
    steps = [one for one in line_of(record, record.winner) if agent in changed_agents(record, one)]
    shown = steps[-MOST_STEPS:]
    return PromptChange(
        agent=agent,
        lines=folded(lines),
        added=_words(lines, Kind.ADDED),
        removed=_words(lines, Kind.REMOVED),
        alone=next((one.gain for one in record.single_changes if one.agent == agent), None),
        steps=tuple(_step(record, agent, one, only=len(steps) == 1) for one in shown),
        earlier=len(steps) - len(shown),
    )


def _step(record: RunRecord, agent: str, one: CandidateRecord, *, only: bool) -> PromptStep:
    agents = tuple(changed_agents(record, one))
    if only or one.parent is None:
        return PromptStep(one, agents, ())
    before = record.candidates[one.parent].prompts.get(agent, "")
    return PromptStep(one, agents, folded(word_diff(before, one.prompts[agent])))


def _words(lines: Sequence[Line], kind: Kind) -> int:
    pieces = (piece for line in lines for piece in line.pieces if piece.kind is kind)
    return sum(len(piece.text.split()) for piece in pieces)
