"""Rubrics: what good is, as data.

A rubric has weighted domains, and criteria worth points in one domain each. It is a YAML file,
read by `load_rubric`; a rubric that exists is consistent, however it was made.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, model_validator

from ..agents.fingerprint import fingerprint
from ..agents.problem import inconsistent
from .checks.registry import find_check
from .consistency import (
    criterion_problems,
    empty_domain_problems,
    repeated_id_problems,
    weight_problems,
)
from .criterion import CheckSpec, Criterion, Data, Domain, Identifier, Text
from .subject import SubjectKind

__all__ = ["CheckSpec", "Criterion", "CriticalPolicy", "Domain", "Rubric"]


class CriticalPolicy(StrEnum):
    """What a failed critical criterion zeroes in the objective."""

    DOMAIN = "domain"
    CONVERSATION = "conversation"


class Rubric(Data):
    """What good is, for one kind of subject.

    Attributes:
        id: Short name.
        name: For people.
        description: What it is for and where it comes from.
        subject: What it scores.
        critical_policy: What a failed critical criterion zeroes in the objective.
        max_undecided: Share of the score, in [0, 1], that inconclusive verdicts may leave open; a
            subject with more open than that is a judge fault and has no score.
        domains: With weights that sum to 100.
        criteria: In the order in which they are shown.
    """

    id: Identifier
    name: Text
    description: str = ""
    subject: SubjectKind
    critical_policy: CriticalPolicy = CriticalPolicy.DOMAIN
    max_undecided: float = Field(default=0.25, ge=0.0, le=1.0)
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
        domains, criteria = list(enumerate(self.domains)), list(enumerate(self.criteria))
        problems = [
            *weight_problems(self.domains),
            *repeated_id_problems("domains", [(index, each.id) for index, each in domains]),
            *empty_domain_problems(domains, self.criteria),
            *repeated_id_problems("criteria", [(index, each.id) for index, each in criteria]),
            *criterion_problems(criteria, [each.id for each in self.domains], self.subject),
        ]
        if problems:
            raise inconsistent(problems)
        return self
