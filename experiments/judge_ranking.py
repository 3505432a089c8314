"""What comparing judges comes to: who agrees with people, by how much less, and at what price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..rubrics.agreement import JudgeAgreement, judge_agreement
from ..rubrics.agreement_change import change, flat_weights, level, shown_no_worse
from ..rubrics.clustered_estimate import Estimate, Resampling
from ..rubrics.comparison import Measure, Pair
from ..rubrics.gold import GoldLabel
from ..rubrics.verdict import Status
from .agreement_run import AgreementStudy
from .judge_comparison import Heard, compared_criteria
from .judge_cost import VerdictCost

MEASURES = (Measure.RAW, Measure.KAPPA, Measure.BALANCED)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A judge among others.

    Attributes:
        name: Its name.
        criteria: By criterion, against people, on the items to which all judges gave a value.
        overall: The mean over criteria of each measure, weighted by the rubric.
        behind: By criterion, its kappa less the best judge's.
        behind_overall: The same over all criteria.
        without_value: By criterion, the items with a value by people to which it gave none.
        is_good_enough: Whether it is shown not to be worse than the best by the margin.
        cost: Of a verdict; None where nobody knows.
    """

    name: str
    criteria: Mapping[str, JudgeAgreement]
    overall: Mapping[Measure, Estimate]
    behind: Mapping[str, Estimate]
    behind_overall: Estimate
    without_value: Mapping[str, int]
    is_good_enough: bool
    cost: VerdictCost | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "name": self.name,
            "overall": {str(each): asdict(found) for each, found in self.overall.items()},
            "less_than_best": asdict(self.behind_overall),
            "good_enough": self.is_good_enough,
            "cost": self.cost and asdict(self.cost),
            "criteria": {
                name: {
                    "n": each.comparison.n,
                    "confusion": each.comparison.confusion,
                    "measures": {
                        str(one): asdict(found) for one, found in each.comparison.estimates.items()
                    },
                    "less_than_best": asdict(self.behind[name]),
                    "without_value": self.without_value[name],
                }
                for name, each in self.criteria.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Ranking:
    """Judges, the best first.

    Attributes:
        judges: At least two; those that agree alike by price.
        left_out: By criterion, the items with a value by people that some judge gave none.
        margin: How much less kappa is as good.
        confidence: Of the intervals of the judges.
        joint_confidence: Of each interval of a difference, so that all hold together.
        recommended: The cheapest that is good enough; None where nothing is known of any.
    """

    judges: tuple[Ranked, ...]
    left_out: Mapping[str, int]
    margin: float
    confidence: float
    joint_confidence: float
    recommended: Ranked | None

    @property
    def best(self) -> Ranked:
        """The one that agrees most with people."""
        return self.judges[0]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "judges": [each.to_json() for each in self.judges],
            "left_out": dict(self.left_out),
            "margin": self.margin,
            "confidence": self.confidence,
            "joint_confidence": self.joint_confidence,
            "best": self.best.name,
            "recommended": self.recommended and self.recommended.name,
        }


def ranked(study: AgreementStudy, heard: Mapping[str, Heard], margin: float) -> Ranking:
    """Hold judges against people, and against the best of them.

    Only items to which all gave a value are compared. The differences' intervals are as wide as it
    takes for all of them to hold together (Bonferroni). That the best is chosen by the same labels
    makes it look better than it is, and the others harder to recommend, not easier.

    Args:
        study: The annotations.
        heard: By name, at least two judges.
        margin: How much less kappa is as good; above 0.
    """
    bench = _Bench.of(study, heard)
    order = sorted(heard, key=lambda name: (-_kappa(bench.overall[name]), _price(heard[name].cost)))
    confidence = study.resampling.confidence
    joint = 1.0 - (1.0 - confidence) / (len(heard) - 1)
    judges = tuple(bench.ranked(name, order[0], margin, joint) for name in order)
    good = [each for each in judges if each.is_good_enough]
    return Ranking(
        judges=judges,
        left_out=bench.left_out,
        margin=margin,
        confidence=confidence,
        joint_confidence=joint,
        recommended=min(_priced(good), key=lambda each: _price(each.cost), default=None),
    )


@dataclass(frozen=True, slots=True)
class _Bench:
    """Everything that judges are held against."""

    study: AgreementStudy
    heard: Mapping[str, Heard]
    labels: Mapping[str, Sequence[GoldLabel]]
    left_out: Mapping[str, int]
    weights: Mapping[str, float]
    agreement: Mapping[str, Mapping[str, JudgeAgreement]]
    overall: Mapping[str, Mapping[Measure, Estimate]]

    @classmethod
    def of(cls, study: AgreementStudy, heard: Mapping[str, Heard]) -> _Bench:
        criteria = compared_criteria(study)
        valued = {
            name: [each for each in study.labels() if each.item.criterion == name and _valued(each)]
            for name in criteria
        }
        common = {
            name: [
                label
                for label in labels
                if all(
                    each.rulings.have_value(label.item, study.scales[name])
                    for each in heard.values()
                )
            ]
            for name, labels in valued.items()
        }
        agreement = {
            judge: {
                name: judge_agreement(
                    common[name], each.rulings, study.scales[name], study.resampling
                )
                for name in criteria
            }
            for judge, each in heard.items()
        }
        weights = flat_weights(study.known_rubric, criteria)
        if not any(weights.values()):  # only what carries no points is annotated
            weights = dict.fromkeys(criteria, 1.0)
        left_out = {name: len(valued[name]) - len(common[name]) for name in criteria}
        overall = {
            judge: {
                measure: level(_pairs(found), study.scales, weights, measure, study.resampling)
                for measure in MEASURES
            }
            for judge, found in agreement.items()
        }
        return cls(study, heard, valued, left_out, weights, agreement, overall)

    def ranked(self, judge: str, best: str, margin: float, confidence: float) -> Ranked:
        """Return a judge with what it is behind the best."""
        resampling = replace(self.study.resampling, confidence=confidence)
        agreement, heard = self.agreement[judge], self.heard[judge]
        behind = self._less(judge, best, self.weights, resampling)
        is_best = judge == best and behind.value is not None
        return Ranked(
            name=judge,
            criteria=agreement,
            overall=self.overall[judge],
            behind={name: self._less(judge, best, {name: 1.0}, resampling) for name in agreement},
            behind_overall=behind,
            without_value={
                name: sum(
                    not heard.rulings.have_value(each.item, self.study.scales[name])
                    for each in labels
                )
                for name, labels in self.labels.items()
            },
            is_good_enough=is_best or shown_no_worse(behind, margin, confidence),
            cost=heard.cost,
        )

    def _less(
        self, judge: str, best: str, weights: Mapping[str, float], resampling: Resampling
    ) -> Estimate:
        sides = (_pairs(self.agreement[best]), _pairs(self.agreement[judge]))
        return change(*sides, self.study.scales, weights, Measure.KAPPA, resampling)


def _pairs(agreement: Mapping[str, JudgeAgreement]) -> dict[str, Sequence[Pair]]:
    return {name: each.pairs for name, each in agreement.items()}


def _kappa(overall: Mapping[Measure, Estimate]) -> float:
    """Return kappa; where it is undefined, less than any."""
    value = overall[Measure.KAPPA].value
    return -2.0 if value is None else value


def _valued(label: GoldLabel) -> bool:
    return any(not isinstance(option, Status) for option in label.options)


def _priced(judges: Sequence[Ranked]) -> list[Ranked]:
    """Return the judges whose prices can be compared: by money, else by time, else the best."""
    by_money = [each for each in judges if each.cost and each.cost.usd is not None]
    by_time = [each for each in judges if each.cost and each.cost.seconds is not None]
    return by_money or by_time or list(judges[:1])


def _price(cost: VerdictCost | None) -> tuple[float, float]:
    """Return dollars, then seconds per verdict; what is not known is dearer than all else."""
    unknown = float("inf")
    if cost is None:
        return unknown, unknown
    return (
        unknown if cost.usd is None else cost.usd,
        unknown if cost.seconds is None else cost.seconds,
    )
