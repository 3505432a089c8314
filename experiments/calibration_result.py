"""What calibration came to on the test: the judge before and after, item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..agents.prompts import PromptBundle
from ..optimizer.annotated_conversation import AnnotatedConversation
from ..optimizer.judge_task import JudgeTask
from ..optimizer.judge_tuning import Tuned
from ..rubrics.agreement import JudgeAgreement, Rulings, judge_agreement
from ..rubrics.calibrated_judge import ascending
from ..rubrics.clustered_estimate import Resampling
from ..rubrics.comparison import Scale
from ..rubrics.decision_calibration import Decision, Fitted, Weighed, fit_decision
from ..rubrics.gold import GoldLabel
from ..rubrics.rubric import Rubric
from ..rubrics.ruling import Ruling, rule
from ..rubrics.verdict import Status, Verdict
from ..rubrics.verdicts import Verdicts
from .calibration_data import CalibrationData

VARIANTS = ("before", "prompt", "threshold", "both")
Deciding = Callable[[str], Decision | None]
"""By criterion, how a probability becomes a value; None leaves it to the judge."""


@dataclass(frozen=True, slots=True)
class Tested:
    """One criterion on the test.

    Attributes:
        scale: Its values.
        labels: Those that have a value in all variants.
        without_value: How many others have a value by people.
        variants: The judge's agreement by variant.
    """

    scale: Scale
    labels: tuple[GoldLabel, ...]
    without_value: int
    variants: Mapping[str, JudgeAgreement]


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """A judge, calibrated.

    Attributes:
        tuned: What happened to the prompts.
        fitted: By criterion, the decisions fitted for the kept prompts; empty without
            probabilities.
        tested: By criterion.
    """

    tuned: Tuned
    fitted: Mapping[str, Fitted]
    tested: Mapping[str, Tested]

    @property
    def decisions(self) -> dict[str, Decision]:
        """How the calibrated judge decides."""
        return {name: each.decision for name, each in self.fitted.items()}


def measured(
    task: JudgeTask, tuned: Tuned, data: CalibrationData, resampling: Resampling
) -> CalibrationResult:
    """Fit decisions on val, and hold all variants of the judge against people on the test.

    Everything is decided already: no model is asked.
    """
    seed_fits = _fits(task, task.seed, data)
    fits = _fits(task, tuned.prompts, data)

    def even(name: str) -> Decision | None:
        return Decision.even(ascending(data.rubric.criterion(name))) if name in fits else None

    def fitted(found: Mapping[str, Fitted]) -> Deciding:
        return lambda name: found[name].decision if name in found else None

    rulings = {
        "before": _rulings(task, task.seed, data, even),
        "prompt": _rulings(task, tuned.prompts, data, even),
        "threshold": _rulings(task, task.seed, data, fitted(seed_fits)),
        "both": _rulings(task, tuned.prompts, data, fitted(fits)),
    }
    tested = {name: _tested(name, data, rulings, resampling) for name in data.criteria}
    return CalibrationResult(tuned, fits, tested)


def _fits(task: JudgeTask, prompts: PromptBundle, data: CalibrationData) -> dict[str, Fitted]:
    """Fit each criterion's decision on val; those without probabilities have none."""
    val = {each.id: each for each in task.splits.val}
    labels = [label for label in data.labels if label.item.conversation in val]
    clear = {label.item for one in val.values() for label in one.labels}
    said = {name: task.verdicts(one, prompts) for name, one in val.items()}
    fits: dict[str, Fitted] = {}
    for name in data.criteria:
        items = [
            Weighed(label.item.conversation, probability, label.value)
            for label in labels
            if label.item.criterion == name and label.item in clear and label.value is not None
            for probability in _probability(label, said[label.item.conversation])
        ]
        if items:
            fits[name] = fit_decision(items, ascending(data.rubric.criterion(name)))
    return fits


def _probability(label: GoldLabel, verdicts: Sequence[Verdict]) -> Iterator[float]:
    """Yield the probability that a label's item passes, if the judge gave one."""
    for each in verdicts:
        if each.criterion == label.item.criterion and label.item.turn in (None, each.turn):
            if each.pass_probability is not None:
                yield each.pass_probability
            return


def _rulings(
    task: JudgeTask, prompts: PromptBundle, data: CalibrationData, deciding: Deciding
) -> Rulings:
    return Rulings(_each_ruling(task.splits.test, task, prompts, data.rubric, deciding))


def _each_ruling(
    conversations: Sequence[AnnotatedConversation],
    task: JudgeTask,
    prompts: PromptBundle,
    rubric: Rubric,
    deciding: Deciding,
) -> Iterator[Ruling]:
    for number, one in enumerate(conversations, start=1):
        verdicts = task.verdicts(one, prompts)
        if verdicts:
            decided = [_decided(each, rubric, deciding) for each in verdicts]
            yield rule(number, one.record, rubric, Verdicts(tuple(_whole(decided, rubric))))


def _decided(verdict: Verdict, rubric: Rubric, deciding: Deciding) -> Verdict:
    decision = deciding(verdict.criterion)
    if decision is None:
        return verdict
    return decision.decide(verdict, ascending(rubric.criterion(verdict.criterion)))


def _whole(verdicts: Sequence[Verdict], rubric: Rubric) -> Iterator[Verdict]:
    """Yield verdicts on all criteria; who was not asked about one says nothing of it."""
    for criterion in rubric.criteria:
        found = [each for each in verdicts if each.criterion == criterion.id]
        unasked = Verdict(criterion.id, None, Status.NOT_APPLICABLE, "not asked")
        yield from found or (unasked,)


def _tested(
    name: str, data: CalibrationData, rulings: Mapping[str, Rulings], resampling: Resampling
) -> Tested:
    scale = data.study.scales[name]
    labels = [label for label in data.tested if label.item.criterion == name]
    valued = [
        label for label in labels if any(not isinstance(option, Status) for option in label.options)
    ]
    compared = tuple(
        label
        for label in valued
        if all(each.have_value(label.item, scale) for each in rulings.values())
    )
    variants = {
        variant: judge_agreement(compared, rulings[variant], scale, resampling)
        for variant in VARIANTS
    }
    return Tested(scale, compared, len(valued) - len(compared), variants)
