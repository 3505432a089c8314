"""PACE: a structured verdict on one personalized shopping answer (arXiv 2608.26180).

Published: the verdict's parts, the four axes, that an axis below 3.0 says a defect, that GOOD
requires NONE/NONE, that evidence ids come from the record's pool only, and where a defect can be.
Ours: the axes' range, and the families' names and texts but for PREF_CONFLICT and NONE; see
`pace_families.yaml`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..agents.data_file import read_yaml_list
from .verdict import Status, Verdict

FAULTLESS = 3.0
_FAMILIES = Path(__file__).with_name("pace_families.yaml")

AxisName = Literal["persona", "consistency", "grounding", "auxiliary"]
Axis = Annotated[float, Field(ge=0.0, le=5.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Quality(StrEnum):
    """What an answer is as a whole."""

    GOOD = "GOOD"
    BAD = "BAD"


class Family(StrEnum):
    """What kind of defect; all but NONE and PREF_CONFLICT are names of ours."""

    NONE = "NONE"
    PREF_CONFLICT = "PREF_CONFLICT"
    INVENTED_HISTORY = "INVENTED_HISTORY"
    CATEGORY_MISMATCH = "CATEGORY_MISMATCH"
    RELATED_QUERY_MISMATCH = "RELATED_QUERY_MISMATCH"
    UNSUPPORTED_EVIDENCE = "UNSUPPORTED_EVIDENCE"
    EXPLICIT_CONFLICT = "EXPLICIT_CONFLICT"
    FORMAT_OR_SAFETY = "FORMAT_OR_SAFETY"


class Location(StrEnum):
    """Which part of the answer has the defect."""

    NONE = "NONE"
    OVERVIEW = "overview"
    CATEGORIES = "categories"
    RELATED_QUERIES = "related_queries"
    ATTRIBUTIONS = "attributions"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FamilyText(_Model):
    """What a family means, and the axis under which it falls."""

    name: Family
    axis: AxisName
    text: str = Field(min_length=1)


class Axes(_Model):
    """The four scores; 3.0 and above is without a fault.

    Attributes:
        persona: How well the answer suits the persona.
        consistency: How well its parts go together.
        grounding: How well the evidence bears it out.
        auxiliary: Format and safety.
    """

    persona: Axis
    consistency: Axis
    grounding: Axis
    auxiliary: Axis

    @property
    def faulty(self) -> tuple[AxisName, ...]:
        """The axes that say a defect."""
        scores: Mapping[AxisName, float] = {
            "persona": self.persona,
            "consistency": self.consistency,
            "grounding": self.grounding,
            "auxiliary": self.auxiliary,
        }
        return tuple(name for name, value in scores.items() if value < FAULTLESS)


class PaceVerdict(_Model):
    """What a judge says of one record, in the order in which it should be thought of.

    Attributes:
        rationale: One or two sentences.
        evidence: Ids of the pool that bear it out.
        axes: The four scores.
        family: The kind of the defect that decides; NONE for a GOOD answer.
        location: Where it is; NONE for a GOOD answer.
        verdict: GOOD or BAD.
        bad_probability: Probability that the answer is BAD.
        confidence: How sure the judge is of family and location.
    """

    rationale: str
    evidence: tuple[str, ...]
    axes: Axes
    family: Family
    location: Location
    verdict: Quality
    bad_probability: Share
    confidence: Share

    @model_validator(mode="after")
    def _cause_fits_verdict(self) -> Self:
        named = (self.family is not Family.NONE, self.location is not Location.NONE)
        if self.verdict is Quality.GOOD and any(named):
            raise ValueError("a GOOD verdict has the family NONE and the location NONE")
        if self.verdict is Quality.BAD and not all(named):
            raise ValueError("a BAD verdict names a family and a location")
        return self


def read_pace(data: Mapping[str, Any], pool: Collection[str]) -> PaceVerdict:
    """Read a judge's answer about a record.

    Args:
        data: JSON values.
        pool: Ids of the record's evidence.

    Raises:
        ValueError: It is not a verdict, contradicts itself, or names evidence outside the pool;
            says all that is wrong with it.
    """
    verdict = PaceVerdict.model_validate(dict(data))
    strange = sorted(set(verdict.evidence) - set(pool))
    if strange:
        raise ValueError(f"evidence ids outside the pool: {', '.join(strange)}")
    return verdict


@cache
def families() -> tuple[FamilyText, ...]:
    """Return the families with their texts, in the order of the file."""
    return tuple(record.parse(FamilyText) for record in read_yaml_list(_FAMILIES))


def axis_of(family: Family) -> AxisName | None:
    """Return the axis under which a family falls; None for NONE."""
    return next((each.axis for each in families() if each.name is family), None)


def as_verdicts(said: PaceVerdict) -> tuple[Verdict, ...]:
    """Return a structured verdict as verdicts on the criteria of the pack `pace`."""
    faulty = said.axes.faulty
    axes = [
        Verdict(name, float(name not in faulty), Status.SCORED, said.rationale, said.evidence)
        for name in Axes.model_fields
    ]
    good = float(said.verdict is Quality.GOOD)
    cause = f"{said.family} at {said.location}. " if said.verdict is Quality.BAD else ""
    rationale = f"{cause}{said.rationale}"
    return (*axes, Verdict("verdict", good, Status.SCORED, rationale, said.evidence))
