"""Rubrics: what good is, as data.

A rubric has weighted domains, and criteria worth points in one domain each. It is a YAML file,
read by `load_rubric`; a rubric that exists is consistent, however it was made.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..agents.problem import Problem, inconsistent
from .checks.registry import find_check
from .subject import SubjectKind

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, Field(min_length=1)]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CriticalPolicy(StrEnum):
    """What a failed critical criterion zeroes in the objective."""

    DOMAIN = "domain"
    CONVERSATION = "conversation"


class Tier(_Data):
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


class Domain(_Data):
    """A part of the rubric; the weights of all domains sum to 100."""

    id: Identifier
    name: Text
    weight: float = Field(gt=0.0, le=100.0)


class Criterion(_Data):
    """One question about a subject.

    Attributes:
        id: Unique in the rubric.
        name: For people.
        domain: Id of its domain.
        points: Its share of the domain. A critical criterion may have 0: it then only gates.
        critical: Whether failing it fails the whole subject.
        scale: `pass_fail`, or tiers with the best first.
        passes: What a pass looks like; only with `pass_fail`.
        fails: What a fail looks like; only with `pass_fail`.
        applies: When the criterion concerns a subject at all.
        agents: The agents that influence it.
        feedback: What to tell an agent that failed it, beside the finding.
        check: The check that decides it, if there is one.
        judged: Whether a judge can decide it.
        serves: Id of the criterion of a conversation's rubric to which this one contributes.
    """

    id: Identifier
    name: Text
    domain: Identifier
    points: float = Field(ge=0.0)
    critical: bool = False
    scale: Scale = "pass_fail"
    passes: str = ""
    fails: str = ""
    applies: Text = "Always."
    agents: tuple[Text, ...] = ()
    feedback: str | None = None
    check: CheckSpec | None = None
    judged: bool = False
    serves: Identifier | None = None

    def allows(self, value: float) -> bool:
        """Say whether the scale has this value."""
        if isinstance(self.scale, str):
            return value in (0.0, 1.0)
        return value in {tier.value for tier in self.scale}

    def fails_at(self, value: float) -> bool:
        """Say whether a value is a failure: below a pass, or below the lowest tier but one."""
        return value < (1.0 if isinstance(self.scale, str) else self.scale[-2].value)

    @property
    def best(self) -> str:
        """What the top of the scale looks like."""
        return self.passes if isinstance(self.scale, str) else self.scale[0].text


class Rubric(_Data):
    """What good is, for one kind of subject.

    Attributes:
        id: Short name.
        name: For people.
        description: What it is for and where it comes from.
        subject: What it scores.
        critical_policy: What a failed critical criterion zeroes in the objective.
        domains: With weights that sum to 100.
        criteria: In the order in which they are shown.
    """

    id: Identifier
    name: Text
    description: str = ""
    subject: SubjectKind
    critical_policy: CriticalPolicy = CriticalPolicy.DOMAIN
    domains: tuple[Domain, ...] = Field(min_length=1)
    criteria: tuple[Criterion, ...] = Field(min_length=1)

    @property
    def fingerprint(self) -> str:
        """Short hash of everything that decides a score: the rubric and its checks' code."""
        checks = {
            criterion.check.name: find_check(criterion.check.name, self.subject).source
            for criterion in self.criteria
            if criterion.check is not None
        }
        return fingerprint([self.model_dump(mode="json"), checks])

    def criterion(self, criterion_id: str) -> Criterion:
        """Return a criterion.

        Raises:
            KeyError: The rubric has no such criterion.
        """
        return {criterion.id: criterion for criterion in self.criteria}[criterion_id]

    def in_domain(self, domain_id: str) -> tuple[Criterion, ...]:
        """Return the criteria of a domain, in the rubric's order."""
        return tuple(criterion for criterion in self.criteria if criterion.domain == domain_id)

    @model_validator(mode="after")
    def _consistent(self) -> Rubric:
        problems = [*_domain_problems(self), *_criteria_problems(self)]
        if problems:
            raise inconsistent(problems)
        return self


def _domain_problems(rubric: Rubric) -> Iterator[Problem]:
    total = math.fsum(domain.weight for domain in rubric.domains)
    if not math.isclose(total, 100.0, abs_tol=1e-6):
        yield ("domains",), f"the domains' weights sum to {total:g}; they must sum to 100"
    yield from _repeated("domains", [domain.id for domain in rubric.domains])
    for index, domain in enumerate(rubric.domains):
        if not any(criterion.points for criterion in rubric.in_domain(domain.id)):
            yield ("domains", index), f"domain '{domain.id}' has no criterion with points"


def _criteria_problems(rubric: Rubric) -> Iterator[Problem]:
    yield from _repeated("criteria", [criterion.id for criterion in rubric.criteria])
    known = [domain.id for domain in rubric.domains]
    for index, criterion in enumerate(rubric.criteria):
        at = ("criteria", index)
        if criterion.domain not in known:
            message = f"found the domain '{criterion.domain}'; known: {', '.join(known)}"
            yield (*at, "domain"), message
        if not (criterion.points or criterion.critical):
            yield (*at, "points"), "found 0 points; only a critical criterion may have none"
        for field, message in _scale_problems(criterion):
            yield (*at, field), message
        for field, message in _decision_problems(criterion, rubric.subject):
            yield (*at, field), message


def _repeated(section: str, ids: list[str]) -> Iterator[Problem]:
    for name, count in Counter(ids).items():
        if count > 1:
            last = len(ids) - 1 - ids[::-1].index(name)
            yield (section, last, "id"), f"the id '{name}' is used {count} times; ids are unique"


def _scale_problems(criterion: Criterion) -> Iterator[tuple[str, str]]:
    texts = {"passes": criterion.passes, "fails": criterion.fails}
    if isinstance(criterion.scale, str):
        for field, text in texts.items():
            if not text.strip():
                yield field, f"a pass/fail criterion needs the text '{field}'"
        return
    for field, text in texts.items():
        if text:
            yield field, f"'{field}' is for pass/fail only; the tiers have their own texts"
    values = [tier.value for tier in criterion.scale]
    if len(values) < 2:
        yield "scale", f"found {len(values)} tiers; a scale has at least two"
    if any(better <= worse for better, worse in pairwise(values)):
        yield "scale", f"found tiers with values {values}; each must be lower than the one before"


def _decision_problems(criterion: Criterion, kind: SubjectKind) -> Iterator[tuple[str, str]]:
    if criterion.check is None:
        if not criterion.judged:
            yield "check", "nothing decides this criterion; give it a check or set 'judged: true'"
        return
    try:
        find_check(criterion.check.name, kind).validate(criterion.check.parameters)
    except UsageError as error:
        yield "check", str(error)
