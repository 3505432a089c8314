"""Criteria: the single questions of a rubric, their scales and the domains they belong to."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Data(BaseModel):
    """What a rubric is made of: fixed, and with no field beyond those it names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Scope(StrEnum):
    """What one verdict is about."""

    WHOLE = "whole"
    TURN = "turn"


class Aggregate(StrEnum):
    """How the verdicts of a conversation's turns become one value."""

    MINIMUM = "minimum"
    MEAN = "mean"


class CheckProves(StrEnum):
    """What a check can decide; one that looks at a part only can find a failure, not a pass."""

    BOTH = "both"
    FAILURE = "failure"


class Tier(Data):
    """One step of a scale: its value in [0, 1] and what a subject on it looks like."""

    value: float = Field(ge=0.0, le=1.0)
    text: Text


def _form(scale: object) -> str:
    return "word" if isinstance(scale, str) else "tiers"


# With the form told apart first, a mistake is reported for the form that was meant.
Scale = Annotated[
    Annotated[Literal["pass_fail"], Tag("word")] | Annotated[tuple[Tier, ...], Tag("tiers")],
    Discriminator(_form),
]


class CheckSpec(BaseModel):
    """A check by name; every other field is one of its parameters."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: Text

    @property
    def parameters(self) -> dict[str, Any]:
        """The check's parameters as the file gives them."""
        return dict(self.model_extra or {})


class Domain(Data):
    """A part of the rubric; the weights of all domains sum to 100."""

    id: Identifier
    name: Text
    weight: float = Field(gt=0.0, le=100.0)


class Criterion(Data):
    """One question about a subject.

    Attributes:
        id: Unique in the rubric.
        name: For people.
        domain: Id of its domain.
        points: Its share of the domain. A critical criterion may have 0: it then only gates.
        critical: Whether failing it fails the whole subject.
        scope: Whether one verdict is about the whole subject or about one turn of it.
        aggregate: How the turns' verdicts become one value; with the scope `turn` only.
        scale: `pass_fail`, or tiers with the best first.
        pass_at: Lowest value that is no failure. Left out, it is the pass of `pass_fail`, and the
            lowest tier but one of tiers.
        passes: What a pass looks like; only with `pass_fail`.
        fails: What a fail looks like; only with `pass_fail`.
        applies: When the criterion concerns a subject (or a turn) at all.
        agents: The agents that influence it.
        feedback: What to tell an agent that failed it, beside the finding.
        rules: By agent, what its prompt should say so that it does not fail this: rules as they
            can stand there, one sentence or two each.
        check: The check that decides it, if there is one.
        check_proves: `failure` when the check looks at a part of the question only: what it does
            not fail is left to a judge.
        judged: Whether a judge can decide it.
        serves: Id of the criterion of a conversation's rubric to which this one contributes.
    """

    id: Identifier
    name: Text
    domain: Identifier
    points: float = Field(ge=0.0)
    critical: bool = False
    scope: Scope = Scope.WHOLE
    aggregate: Aggregate | None = None
    scale: Scale = "pass_fail"
    pass_at: float | None = None
    passes: str = ""
    fails: str = ""
    applies: Text = "Always."
    agents: tuple[Text, ...] = ()
    feedback: str | None = None
    rules: dict[Text, tuple[Text, ...]] = {}
    check: CheckSpec | None = None
    check_proves: CheckProves = CheckProves.BOTH
    judged: bool = False
    serves: Identifier | None = None

    @property
    def per_turn(self) -> bool:
        """Whether each turn has a verdict of its own."""
        return self.scope is Scope.TURN

    @property
    def values(self) -> tuple[float, ...]:
        """The values a verdict may have, the best first."""
        return (1.0, 0.0) if isinstance(self.scale, str) else tuple(t.value for t in self.scale)

    def allows(self, value: float) -> bool:
        """Say whether the scale has this value."""
        return value in self.values

    def fails_at(self, value: float) -> bool:
        """Say whether a value, of a verdict or aggregated over turns, is a failure."""
        return value < (self.values[-2] if self.pass_at is None else self.pass_at)

    @property
    def best(self) -> str:
        """What the top of the scale looks like."""
        return self.passes if isinstance(self.scale, str) else self.scale[0].text
