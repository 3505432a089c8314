"""Sampling: which parent gepa draws, and on which train examples it meets its child."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gepa.core.state import GEPAState
from gepa.strategies.proposal_sampling import ProposalTask

from ..agents.fingerprint import fingerprint
from ..agents.prompts import PromptBundle
from .experience import Experience
from .faults import to_mend

_FRESH = 4  # one in so many has not been played with the parent, so that its record grows


class Newest:
    """Draws the candidate that was accepted last: each builds on the one before."""

    def select_candidate_idx(self, state: GEPAState) -> int:
        """Return its place among the candidates."""
        return len(state.program_candidates) - 1


@dataclass(frozen=True, slots=True)
class Telling:
    """Draws examples on which a parent's faults can show.

    An edit is tried where the criteria apply that it is to mend, and where the parent was played
    before, so that few rollouts tell whether it works and the parent's cost nothing. While nothing
    is known to be wrong, minibatches are gepa's.

    Attributes:
        size: Examples of a minibatch.
        parallel: Minibatches an iteration needs.
        experience: What was played so far.
        bundle: From gepa's texts to prompts.
    """

    size: int
    parallel: int
    experience: Experience
    bundle: Callable[[Mapping[str, str]], PromptBundle]

    def sample_tasks(
        self, state: GEPAState, candidate_selector: Any, batch_sampler: Any, trainset: Any
    ) -> list[ProposalTask[str, Any]]:
        """Return parents with their minibatches; what gepa asks of a sampling strategy."""
        tasks = []
        for number in range(self.parallel):
            index = candidate_selector.select_candidate_idx(state)
            parent = state.program_candidates[index]
            order = sorted(trainset.all_ids(), key=lambda id_: fingerprint([id_, number]))
            ids = self._telling(self.bundle(parent), order)
            ids = ids or batch_sampler.next_minibatch_ids(trainset, state)
            tasks.append(ProposalTask(index, parent, ids, trainset.fetch(ids)))
        return tasks

    def _telling(self, parent: PromptBundle, order: Sequence[str]) -> list[str]:
        """Return examples for a parent, or none where no fault of it is known.

        Args:
            parent: Its prompts.
            order: All ids; of those that are alike the first are taken.
        """
        wanted = {fault.criterion for fault in to_mend(self.experience, parent, list(parent))}
        if not wanted:
            return []
        played = self.experience.examples_of(parent)
        fresh = [id_ for id_ in order if id_ not in played]
        known = self.size - min(len(fresh), self.size // _FRESH)
        chosen = _covering(self.experience.applied(), wanted, played, order)[:known]
        return [*chosen, *(id_ for id_ in fresh if id_ not in chosen)][: self.size]


def _covering(
    applied: Mapping[str, Collection[str]],
    wanted: Collection[str],
    played: Collection[str],
    order: Sequence[str],
) -> list[str]:
    """Return the examples that were ever played, so that all wanted criteria apply early on.

    Greedily: each time the one with the criteria that were covered least, of those the parent
    was played on where several are alike.
    """
    left = [id_ for id_ in order if id_ in applied]
    covered: Counter[str] = Counter()
    chosen = []
    while left:
        best = max(left, key=lambda id_: (_worth(applied[id_], wanted, covered), id_ in played))
        covered.update(applied[best])
        left.remove(best)
        chosen.append(best)
    return chosen


def _worth(applied: Collection[str], wanted: Collection[str], covered: Mapping[str, int]) -> float:
    return sum((1 + covered[name]) ** -2 for name in applied if name in wanted)
