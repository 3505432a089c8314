"""Which conversations are worth a person's time: of every kind, the doubtful ones first.

Conversations are dealt from all families in turn, and within a family from low, middle and high
predicted scores in turn, so that rare failures are annotated, too. The order is whole: whoever
asks for more gets the same conversations and some beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import fsum
from typing import TypeVar

from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..rubrics.conversation_name import conversation_name
from ..rubrics.ruling import Ruling
from ..rubrics.verdict import Status, Verdict
from ..simulation.trajectory import Trajectory

_BANDS = 3
_NOT_JUDGED = -1
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A conversation that may be annotated.

    Attributes:
        name: See `conversation_name`.
        family: Its scenario's; empty when that is not known.
        score: As the judge predicts it, in [0, 1]; None when it was not judged.
        doubt: How far repeats of its scenario, or of the judge's answers, are apart, in [0, 1].
        trajectory: The conversation.
    """

    name: str
    family: str
    score: float | None
    doubt: float
    trajectory: Trajectory


def candidates(
    trajectories: Iterable[Trajectory], rulings: Iterable[Ruling]
) -> tuple[Candidate, ...]:
    """Return what may be annotated: all conversations but those that broke off.

    Args:
        trajectories: The conversations.
        rulings: What a judge said of them, as far as it did.

    Raises:
        UsageError: Two conversations have the same name.
    """
    judged = {conversation_name(each.scenario, each.label): each for each in rulings}
    whole = [each for each in trajectories if each.fault is None and each.turns]
    named = {conversation_name(each.scenario, each.metadata): each for each in whole}
    if len(named) < len(whole):
        raise UsageError(
            f"{len(whole) - len(named)} of {len(whole)} conversations have the name of another, so "
            "what people say of them could not be told apart. Give them scenarios of their own, or "
            "a `repeat` in their metadata."
        )
    apart = _spreads(named, judged)
    return tuple(
        Candidate(
            name,
            str(each.metadata.get("family", "")),
            judged[name].overall if name in judged else None,
            max(apart[name], doubt_of(judged[name].verdicts) if name in judged else 0.0),
            each,
        )
        for name, each in named.items()
    )


def in_order(found: Iterable[Candidate], seed: int) -> list[Candidate]:
    """Return conversations with those first that are most worth a person's time.

    Args:
        found: The conversations.
        seed: Decides among equals.
    """

    def key(each: Candidate) -> tuple[float, str]:
        return -each.doubt, fingerprint([seed, each.name])

    ordered = sorted(found, key=key)
    band = _band_of([each.score for each in ordered if each.score is not None])
    families = _grouped(ordered, lambda each: each.family)
    dealt = [_dealt(_grouped(family, lambda each: band(each.score)), key) for family in families]
    return _dealt(dealt, key)


def doubt_of(verdicts: Sequence[Verdict]) -> float:
    """Return how unsure a judge was, in [0, 1]: the mean over what it was asked.

    What is inconclusive is wholly unsure; of a probability p of a pass it is 1 - |2p - 1|, of a
    confidence c it is 1 - c.
    """
    unsure = list(_unsure(verdicts))
    return fsum(unsure) / len(unsure) if unsure else 0.0


def _unsure(verdicts: Iterable[Verdict]) -> Iterator[float]:
    for each in verdicts:
        if each.status is Status.INCONCLUSIVE:
            yield 1.0
        elif each.pass_probability is not None:
            yield 1.0 - abs(2.0 * each.pass_probability - 1.0)
        elif each.confidence is not None:
            yield 1.0 - each.confidence


def _spreads(named: Mapping[str, Trajectory], judged: Mapping[str, Ruling]) -> Mapping[str, float]:
    """Return how far the scores of each conversation's repeats are apart, by its name."""
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    of = {name: (each.scenario, str(each.metadata.get("prompts"))) for name, each in named.items()}
    for name, repeated in of.items():
        if name in judged and (score := judged[name].overall) is not None:
            scores[repeated].append(score)
    return {
        name: max(scores[repeated], default=0.0) - min(scores[repeated], default=0.0)
        for name, repeated in of.items()
    }


def _band_of(scores: Sequence[float]) -> Callable[[float | None], int]:
    """Return what says in which third of the range of all scores one is."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)

    def band(score: float | None) -> int:
        if score is None:
            return _NOT_JUDGED
        return min(int(_BANDS * (score - low) / (high - low)), _BANDS - 1) if high > low else 0

    return band


def _grouped(found: Iterable[Candidate], key: Callable[[Candidate], _Key]) -> list[list[Candidate]]:
    groups: defaultdict[_Key, list[Candidate]] = defaultdict(list)
    for each in found:
        groups[key(each)].append(each)
    return list(groups.values())


def _dealt(
    groups: Iterable[Sequence[Candidate]], key: Callable[[Candidate], tuple[float, str]]
) -> list[Candidate]:
    """Take one from each group in turn."""
    return [
        each
        for turn in zip_longest(*groups)
        for each in sorted((one for one in turn if one is not None), key=key)
    ]
