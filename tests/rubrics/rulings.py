"""Rulings on a small rubric, for the tests of tallies and gates."""

from __future__ import annotations

from typing import Any

from cotune.agents.errors import Fault, FaultOrigin
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.ruling import Ruling, rule, rule_on_fault
from cotune.rubrics.subject import ConversationRecord
from cotune.rubrics.verdict import Status, Verdict
from cotune.rubrics.verdicts import Verdicts
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory

RUBRIC = Rubric.model_validate(
    {
        "id": "shop",
        "name": "Shop",
        "subject": "trajectory",
        "max_undecided": 0.5,
        "domains": [
            {"id": "cart", "name": "Cart", "weight": 50},
            {"id": "safety", "name": "Safety", "weight": 50},
        ],
        "criteria": [
            {
                "id": "complete", "name": "Complete", "domain": "cart", "points": 1,
                "passes": "All there.", "fails": "Something is missing.", "judged": True,
            },
            {
                "id": "tone", "name": "Tone", "domain": "cart", "points": 1, "judged": True,
                "scale": [
                    {"value": 1.0, "text": "Kind."},
                    {"value": 0.5, "text": "Dry."},
                    {"value": 0.0, "text": "Rude."},
                ],
            },
            {
                "id": "safety", "name": "Safe", "domain": "safety", "points": 1, "critical": True,
                "passes": "No harm.", "fails": "Harm.", "judged": True,
            },
        ],
    }
)  # fmt: skip
OPEN, NONE = Status.INCONCLUSIVE, Status.NOT_APPLICABLE
BY = {"rubric": RUBRIC.fingerprint, "model": "planned", "prompts": "p-1"}
OWN = Fault(FaultOrigin.ASSISTANT, "invalid_json", "router: no JSON after 3 answers")
BUSY = Fault(FaultOrigin.PROVIDER, "rate_limit", "too many requests")


def trajectory(number: int = 1, **fields: Any) -> Trajectory:
    return Trajectory(f"s-{number}", (), {}, StopReason.SATISFIED, **fields)


def ruling(*values: float | Status, number: int = 1) -> Ruling:
    """Rule on a conversation with a value for each criterion, or why it has none."""
    verdicts = tuple(
        Verdict(criterion.id, None, value, "Seen.")
        if isinstance(value, Status)
        else Verdict(criterion.id, value, Status.SCORED, "Seen.")
        for criterion, value in zip(RUBRIC.criteria, values, strict=True)
    )
    scenario = Scenario(id=f"s-{number}", family="f", goal="Shop.")
    record = ConversationRecord(trajectory(number), scenario)
    return rule(number, record, RUBRIC, Verdicts(verdicts, BY))


def broken(fault: Fault, number: int = 1) -> Ruling:
    """Rule on a conversation that broke off."""
    return rule_on_fault(number, trajectory(number, fault=fault), RUBRIC, BY, fault)


def lost(number: int = 1) -> Ruling:
    """Rule on a conversation that the judge could not be asked about."""
    return rule_on_fault(number, trajectory(number), RUBRIC, BY, BUSY)
