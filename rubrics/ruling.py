"""Rulings: all that was decided about one conversation, as a line of a verdicts file has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_serializer,
    field_validator,
    model_validator,
)

from ..agents.errors import Fault, FaultOrigin
from ..agents.form_version import of_version
from ..simulation.trajectory import Trajectory
from .credit import credit
from .rubric import Rubric
from .scoring import Score, score
from .subject import ConversationRecord
from .verdict import Verdict
from .verdict_file import score_json
from .verdicts import Verdicts

VERSION = 1
_LABEL = ("family", "prompts", "repeat", "seed", "source", "trial")


class Standing(StrEnum):
    """What is known of a conversation after it was judged.

    Attributes:
        SCORED: It has a score, or at least passed or did not.
        FAILED: The assistant itself broke it off; its score is 0.
        UNDECIDED: The judge left too much open, or could not be asked.
        NOT_APPLICABLE: Nothing in the rubric was decided about it.
        EXCLUDED: It broke off by no fault of the assistant's.
    """

    SCORED = "scored"
    FAILED = "failed"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not_applicable"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class Share:
    """What an agent is blamed for; see `credit.Blame`."""

    criterion: str
    agent: str
    share: float
    turn: int | None
    reason: str


class Ruling(BaseModel):
    """One conversation, judged.

    Attributes:
        version: Of the form of the line.
        number: Which conversation of the trajectories file it is, from 1.
        scenario: Id of its scenario.
        label: What tells it from others of the same scenario, as far as it is known: family,
            prompts, repeat, seed.
        standing: What is known of it.
        rubric: Id of the rubric.
        by: Fingerprint of the rubric; and, where a model was asked, the model and its prompts'
            fingerprint.
        fault: Why there is no score, if something broke.
        score: What the verdicts amount to; None when there are none.
        verdicts: In the rubric's order.
        blame: Which agents are at fault for what is below its best.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[int, of_version(VERSION)] = VERSION
    number: int = Field(ge=1)
    scenario: str
    label: dict[str, Any]
    standing: Standing
    rubric: str
    by: dict[str, str]
    fault: Fault | None = None
    score: Score | None = None
    verdicts: tuple[Verdict, ...] = ()
    blame: tuple[Share, ...] = ()

    @field_validator("score")
    @classmethod
    def _is_possible(cls, score: Score | None) -> Score | None:
        if score is not None:
            reached = (each.value for each in score.criteria.values())
            for value in (score.score, score.objective, *score.domains.values(), *reached):
                if value is not None and not 0.0 <= value <= 1.0:
                    raise ValueError(f"{value} is no score: scores are from 0 to 1")
        return score

    @model_validator(mode="after")
    def _verdicts_are_in_the_score(self) -> Ruling:
        scored = self.score.criteria if self.score is not None else {}
        for verdict in self.verdicts:
            if verdict.criterion not in scored:
                raise ValueError(f"the score knows no criterion '{verdict.criterion}'")
        return self

    @field_serializer("score")
    def _score_json(self, score: Score | None) -> dict[str, Any] | None:
        return None if score is None else score_json(score)

    @property
    def counts(self) -> bool:
        """Whether it has a score, be it 0 for the assistant's own failure."""
        return self.standing in (Standing.SCORED, Standing.FAILED)

    @property
    def overall(self) -> float | None:
        """The score, in [0, 1]; None when it does not count."""
        return self._of(self.score and self.score.score)

    @property
    def objective(self) -> float | None:
        """The score after what critical failures zero, in [0, 1]; None when it does not count."""
        return self._of(self.score and self.score.objective)

    @property
    def passed(self) -> bool | None:
        """Whether no critical criterion failed; None when that is not known."""
        if self.standing is Standing.FAILED:
            return False
        return self.score.passed if self.score is not None else None

    def _of(self, value: float | None) -> float | None:
        return 0.0 if self.standing is Standing.FAILED else value


def rule(number: int, record: ConversationRecord, rubric: Rubric, verdicts: Verdicts) -> Ruling:
    """Return the ruling of verdicts on a conversation that has ended."""
    reached = score(rubric, verdicts.verdicts)
    blames = credit(rubric, verdicts.verdicts, record)
    return Ruling(
        **_about(number, record.trajectory, rubric),
        by=dict(verdicts.by),
        standing=_standing(reached),
        score=reached,
        verdicts=verdicts.verdicts,
        blame=tuple(
            Share(each.verdict.criterion, each.agent, each.share, each.turn, each.reason)
            for each in blames
        ),
    )


def rule_on_fault(
    number: int, trajectory: Trajectory, rubric: Rubric, by: Mapping[str, str], fault: Fault
) -> Ruling:
    """Return the ruling on a conversation that broke off, or that could not be judged.

    Args:
        number: Which conversation of the file it is, from 1.
        trajectory: The conversation.
        rubric: The rubric.
        by: Fingerprint of the rubric, as in `Verdicts.by`.
        fault: The conversation's, or the judge's.
    """
    match fault.origin:
        case FaultOrigin.ASSISTANT:
            standing = Standing.FAILED
        case _ if trajectory.fault is None:
            standing = Standing.UNDECIDED
        case _:
            standing = Standing.EXCLUDED
    about = _about(number, trajectory, rubric)
    return Ruling(**about, by=dict(by), standing=standing, fault=fault)


def _standing(reached: Score) -> Standing:
    if reached.score is not None or reached.passed is not None:
        return Standing.SCORED
    return Standing.UNDECIDED if reached.inconclusive else Standing.NOT_APPLICABLE


def _about(number: int, trajectory: Trajectory, rubric: Rubric) -> Mapping[str, Any]:
    metadata = trajectory.metadata
    label = {name: metadata[name] for name in _LABEL if name in metadata}
    return {
        "number": number,
        "scenario": trajectory.scenario,
        "label": label,
        "rubric": rubric.id,
    }
