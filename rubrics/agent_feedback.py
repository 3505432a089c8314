"""Agent feedback: what one agent reads about the conversations that it spoilt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..agents.compact_adapter import render_value
from .credit import Blame, points_lost
from .criterion import Criterion
from .rubric import Rubric

_LONGEST_VALUE = 160
_MOST_EVIDENCE = 4


@dataclass(frozen=True, slots=True)
class AgentFeedback:
    """What one failed criterion says to one agent.

    Attributes:
        criterion: What was failed.
        blame: The agent's part in it, with turn and call.
        points: Points lost by the agent's part.
    """

    criterion: Criterion
    blame: Blame
    points: float

    @property
    def text(self) -> str:
        """A few lines of plain text: what went wrong where, what was seen, and what is good."""
        verdict, blame = self.blame.verdict, self.blame
        grade = "Critical" if self.criterion.critical else "Wrong"
        where = "" if blame.turn is None else f" (turn {blame.turn + 1})"
        part = "" if blame.share == 1.0 else f" Your part in it: {blame.share:.0%}."
        lines = [
            f"{grade}: {self.criterion.name}{where}. {verdict.rationale}",
            "" if blame.reason == verdict.rationale else f"{blame.reason}{part}",
            _listed("Evidence", verdict.evidence[:_MOST_EVIDENCE]),
            _listed("Received", _shortened(blame.received)),
            _listed("Returned", _shortened(blame.returned)),
            f"Good: {self.criterion.best} {self.criterion.feedback or ''}".strip(),
        ]
        return "\n".join(line for line in lines if line)


def agent_feedback(
    rubric: Rubric, blames: Iterable[Blame], agent: str
) -> tuple[AgentFeedback, ...]:
    """Return what an agent is blamed for, the gravest first: critical, then by points lost."""
    found = [
        AgentFeedback(
            rubric.criterion(blame.verdict.criterion),
            blame,
            blame.share * points_lost(rubric, blame.verdict),
        )
        for blame in blames
        if blame.agent == agent
    ]
    return tuple(sorted(found, key=lambda each: (not each.criterion.critical, -each.points)))


def _listed(label: str, items: Iterable[str]) -> str:
    text = "; ".join(items)
    return f"{label}: {text}" if text else ""


def _shortened(fields: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {_short(render_value(value))}" for name, value in fields.items()]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_VALUE else f"{line[: _LONGEST_VALUE - 1]}…"
