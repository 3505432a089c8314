"""Merging: what two members of the front learned apart, put together agent by agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..agents.prompts import PromptBundle
from .candidate import Candidate, Pool
from .front import example_front


def merged(pool: Pool, parent: Candidate) -> PromptBundle | None:
    """Return a parent's prompts with those that another member of the front changed and it did not.

    Both descend from a common ancestor; an agent whose text differs from the ancestor's in the
    partner only is taken from the partner. Partners are tried in the order of how many val
    examples they do better on than the parent, those that do on none are not.

    Args:
        pool: All candidates so far.
        parent: One with a val score.

    Returns:
        Prompts that no candidate has had, or None when there are none to try.
    """
    known = {candidate.bundle for candidate in pool.candidates}
    for partner in _partners(pool, parent):
        ancestor = _common_ancestor(pool, parent, partner)
        if ancestor is not None and (both := _merged(parent, partner, ancestor)) not in known:
            return both
    return None


def _partners(pool: Pool, parent: Candidate) -> list[Candidate]:
    """Return the front members that win val examples, most wins first, then by val score."""
    scored = pool.scored()
    front = set(example_front(scored))
    wins = {
        candidate.number: _wins(candidate, parent)
        for candidate in scored
        if candidate.number in front and candidate.number != parent.number
    }
    partners = [pool.candidates[number] for number, won in wins.items() if won]
    return sorted(partners, key=lambda one: (-wins[one.number], -(one.val_score or 0.0)))


def _wins(candidate: Candidate, parent: Candidate) -> int:
    own, other = _scores(candidate), _scores(parent)
    return sum(own[example] > other[example] for example in own.keys() & other.keys())


def _scores(candidate: Candidate) -> Mapping[str, float]:
    return {
        rollout.example: rollout.score for rollout in candidate.val if rollout.score is not None
    }


def _common_ancestor(pool: Pool, one: Candidate, other: Candidate) -> Candidate | None:
    """Return the nearest candidate that both come from, one of them perhaps, if there is one."""
    line = {candidate.number for candidate in _line(pool, one)}
    return next((each for each in _line(pool, other) if each.number in line), None)


def _line(pool: Pool, candidate: Candidate) -> Iterator[Candidate]:
    """Yield a candidate and those it was written from, back to the seed."""
    yield candidate
    while candidate.parent is not None:
        candidate = pool.candidates[candidate.parent]
        yield candidate


def _merged(parent: Candidate, partner: Candidate, ancestor: Candidate) -> PromptBundle:
    taken = {
        agent: partner.bundle[agent].text
        for agent, before in ancestor.bundle.items()
        if partner.bundle[agent] != before and parent.bundle[agent] == before
    }
    return parent.bundle.with_texts(taken)
