"""How far a judge agrees with people, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .annotation import OVERALL, Item
from .clustered_estimate import Resampling
from .comparison import Comparison, Pair, Scale, compare
from .conversation_name import conversation_name
from .gold import GoldLabel
from .reliability import Reliability, reliability
from .ruling import Ruling
from .verdict import Status, Verdict

_PASS_FAIL = (0.0, 1.0)
_COMPARED = "compared"


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge against people on one criterion.

    Attributes:
        comparison: The gold (rows) against the judge (columns), on the items with a value on both
            sides.
        reliability: Of the judge's probabilities; None when it gives none.
        pairs: What was compared.
        items: Number of items that people annotated.
        ties: Those of them on which people are split evenly; they are compared, by parts.
        not_decided: Those about which no annotator could say.
        not_judged: Those whose conversation, or whose turn, has no verdict on the criterion.
        inconclusive: Those on which the judge could not say.
        only_judge_excuses: Those with a value by people that the judge says does not apply.
        only_people_excuse: Those with a value by the judge that people say does not apply.
        both_excuse: Those that do not apply by both.
        off_scale: Those whose verdict is no value of the scale, such as a mean over turns.
    """

    comparison: Comparison
    reliability: Reliability | None
    pairs: tuple[Pair, ...]
    items: int = 0
    ties: int = 0
    not_decided: int = 0
    not_judged: int = 0
    inconclusive: int = 0
    only_judge_excuses: int = 0
    only_people_excuse: int = 0
    both_excuse: int = 0
    off_scale: int = 0


class Rulings:
    """A judge's rulings by conversation.

    Attributes:
        repeated: Names of conversations with several rulings, of which the first counts.
    """

    def __init__(self, rulings: Iterable[Ruling]) -> None:
        self._by_name: dict[str, Ruling] = {}
        self.repeated: list[str] = []
        for ruling in rulings:
            name = conversation_name(ruling.scenario, ruling.label)
            if self._by_name.setdefault(name, ruling) is not ruling:
                self.repeated.append(name)

    def __len__(self) -> int:
        return len(self._by_name)

    def on(self, item: Item, scale: Scale) -> Verdict | None:
        """Return what the judge says of an item; None when it said nothing.

        A turn's verdict is that turn's. About a conversation whose turns have verdicts, it is
        what these come to. Whether people pass or fail a conversation as a whole is held against
        whether it passed; for what else they say of the whole, the rubric needs a criterion.
        """
        ruling = self._by_name.get(item.conversation)
        if ruling is None or ruling.score is None:
            return None
        found = [each for each in ruling.verdicts if each.criterion == item.criterion]
        if item.criterion == OVERALL and not found and scale.values == _PASS_FAIL:
            return _verdict(OVERALL, None if ruling.passed is None else float(ruling.passed))
        if item.turn is not None:
            return next((each for each in found if each.turn == item.turn), None)
        if len(found) == 1:
            return found[0]
        reached = ruling.score.criteria.get(item.criterion)
        return _verdict(item.criterion, reached.value, reached.status) if reached else None

    def have_value(self, item: Item, scale: Scale) -> bool:
        """Say whether the judge gave an item a value of the scale."""
        verdict = self.on(item, scale)
        return verdict is not None and verdict.value in scale.values


def judge_agreement(
    labels: Sequence[GoldLabel], rulings: Rulings, scale: Scale, resampling: Resampling
) -> JudgeAgreement:
    """Hold a judge against people on one criterion, with intervals over conversations.

    Args:
        labels: The gold of that criterion.
        rulings: What the judge said.
        scale: The criterion's values.
        resampling: How intervals are found.
    """
    pairs: list[Pair] = []
    counts: dict[str, int] = {}
    for label in labels:
        verdict = rulings.on(label.item, scale)
        fate = _fate(label, verdict, scale)
        counts[fate] = counts.get(fate, 0) + 1
        if fate == _COMPARED and verdict is not None:
            pairs += _pairs(label, verdict)
    compared = counts.pop(_COMPARED, 0)
    return JudgeAgreement(
        comparison=compare(pairs, scale, resampling),
        reliability=reliability(pairs, resampling) if scale.values == _PASS_FAIL else None,
        pairs=tuple(pairs),
        items=compared + sum(counts.values()),
        ties=sum(len(label.options) > 1 for label in labels),
        **counts,
    )


def _fate(label: GoldLabel, verdict: Verdict | None, scale: Scale) -> str:
    """Say what becomes of an item: it is compared, or counted by this name."""
    people_excuse = all(isinstance(option, Status) for option in label.options)
    match verdict:
        case _ if not label.options:
            fate = "not_decided"
        case None:
            fate = "not_judged"
        case Verdict(status=Status.INCONCLUSIVE):
            fate = "inconclusive"
        case Verdict(status=Status.NOT_APPLICABLE):
            fate = "both_excuse" if people_excuse else "only_judge_excuses"
        case Verdict() if people_excuse:
            fate = "only_people_excuse"
        case Verdict(value=value):
            fate = _COMPARED if value in scale.values else "off_scale"
    return fate


def _pairs(label: GoldLabel, verdict: Verdict) -> list[Pair]:
    assert verdict.value is not None
    return [
        Pair(
            label.item.conversation,
            option,
            verdict.value,
            1.0 / len(label.options),
            verdict.pass_probability,
        )
        for option in label.options
        if not isinstance(option, Status)
    ]


def _verdict(criterion: str, value: float | None, status: Status | None = None) -> Verdict:
    known = status or (Status.INCONCLUSIVE if value is None else Status.SCORED)
    return Verdict(criterion, value, known, "")
