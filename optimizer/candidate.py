"""Candidates: prompt bundles a run has considered, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ..agents.prompts import PromptBundle
from .rollout import Rollout, mean_objectives, mean_score


class Status(StrEnum):
    """What became of a candidate."""

    SEED = "seed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REFUSED = "refused"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One considered bundle.

    Attributes:
        number: Order of appearance; the seed is 0.
        bundle: The prompts.
        parent: Number of the candidate it was written from, None for the seed.
        status: What became of it. `refused` by a guard before any rollout; `unfinished` when
            the budget ended before it was scored on val.
        reason: Why, in a sentence with numbers.
        rollouts: Rollouts the run had used when it was decided.
        before: The parent's mean score on the minibatch, 0 to 1.
        after: Its own mean score there.
        val: Its rollouts on the val split; empty unless accepted or seed.
        diagnosis: What its author thought was wrong with the parent; empty when not said.
    """

    number: int
    bundle: PromptBundle
    parent: int | None
    status: Status
    reason: str
    rollouts: int
    before: float | None = None
    after: float | None = None
    val: Sequence[Rollout] = ()
    diagnosis: str = ""

    @property
    def val_score(self) -> float | None:
        """Mean score on val, 0 to 1, or None when it was not scored there."""
        return mean_score(self.val)

    @property
    def objectives(self) -> Mapping[str, float]:
        """Mean of each objective on val."""
        return mean_objectives(self.val)


@dataclass(slots=True)
class Pool:
    """All candidates of a run, in order of appearance."""

    candidates: list[Candidate] = field(default_factory=list)

    def add(
        self,
        bundle: PromptBundle,
        parent: int | None,
        status: Status,
        reason: str,
        rollouts: int,
        *,
        before: float | None = None,
        after: float | None = None,
        val: Sequence[Rollout] = (),
        diagnosis: str = "",
    ) -> Candidate:
        """Append a candidate and return it with its number."""
        number = len(self.candidates)
        candidate = Candidate(
            number, bundle, parent, status, reason, rollouts, before, after, val, diagnosis
        )
        self.candidates.append(candidate)
        return candidate

    @property
    def seed(self) -> Candidate:
        """The candidate the run started from."""
        return self.candidates[0]

    def scored(self) -> list[Candidate]:
        """Return the seed and the accepted candidates: those with a val score."""
        return [candidate for candidate in self.candidates if candidate.val]

    def line(self, bundle: PromptBundle) -> list[Candidate]:
        """Return the scored candidate with these prompts and all it descends from.

        Raises:
            KeyError: There is none.
        """
        found = [self.candidates[self.number_of(bundle)]]
        while (parent := found[-1].parent) is not None:
            found.append(self.candidates[parent])
        return found

    def number_of(self, bundle: PromptBundle) -> int:
        """Return the number of the scored candidate with these prompts.

        Raises:
            KeyError: There is none.
        """
        for candidate in self.scored():
            if candidate.bundle == bundle:
                return candidate.number
        raise KeyError(bundle.fingerprint)
