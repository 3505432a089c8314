"""Agreement in words: what the numbers do not allow to be believed."""

from __future__ import annotations

from collections.abc import Iterator

from ..rubrics.agreement import JudgeAgreement
from ..rubrics.annotator_agreement import AnnotatorAgreement
from ..rubrics.comparison import Comparison, Measure, Scale
from .conclusion import number

_PASS_FAIL = (0.0, 1.0)
_DODGED = 0.05


def value_name(value: float, scale: Scale) -> str:
    """Call a value what people call it."""
    if scale.values == _PASS_FAIL:
        return "pass" if value else "fail"
    return f"{value:g}"


def of_judge(name: str, judge: JudgeAgreement) -> Iterator[str]:
    """Yield what must be known of a judge beside its numbers on a criterion."""
    found = judge.comparison
    if not found.n:
        yield f"{name}: nothing could be compared; {judge.items:,} items have annotations."
    elif sum(count > 0 for count in found.gold_counts) == 1:
        yield _one_value_only(name, found)
    else:
        yield from _lazy(name, found)
    excused = judge.only_judge_excuses + judge.inconclusive
    if excused > _DODGED * (excused + found.n):
        yield (
            f"{name}: of {excused + found.n:,} items with a value by people the judge gave none "
            f"to {excused:,} ({judge.inconclusive:,} inconclusive, {judge.only_judge_excuses:,} "
            "said not to apply); the figures are about the others."
        )
    if judge.not_judged:
        yield f"{name}: {judge.not_judged:,} annotated items have no verdict."
    if judge.off_scale:
        yield f"{name}: {judge.off_scale:,} verdicts are no value of the scale, and are left out."


def of_people(name: str, people: AnnotatorAgreement) -> Iterator[str]:
    """Yield what must be known of people's agreement on a criterion."""
    if not people.shared:
        yield (
            f"{name}: no item has values by two annotators, so how far people agree is not known, "
            "nor what can be asked of a judge."
        )
    elif people.alpha.value is None:
        yield (
            f"{name}: all annotators gave the same single value, so agreement beyond chance is "
            "undefined."
        )
    elif people.alpha.low is not None and people.alpha.low <= 0.0:
        yield (
            f"{name}: people's agreement (alpha {number(people.alpha.value)}) may be chance: the "
            "interval includes 0. A judge cannot be calibrated to labels like these."
        )


def _one_value_only(name: str, found: Comparison) -> str:
    (value,) = (
        value_name(value, found.scale)
        for value, count in zip(found.scale.values, found.gold_counts, strict=True)
        if count
    )
    return (
        f"{name}: people say '{value}' of all {found.n:,} items, so agreement beyond chance is "
        f"undefined, and the raw agreement ({_percent(found.value(Measure.RAW))}) says nothing of "
        "what the judge does about anything else."
    )


def _lazy(name: str, found: Comparison) -> Iterator[str]:
    """Yield whether a judge is no better than saying the most frequent value every time."""
    said = [
        value_name(value, found.scale)
        for value, count in zip(found.scale.values, found.said_counts, strict=True)
        if count
    ]
    raw, kappa = found.value(Measure.RAW), found.value(Measure.KAPPA)
    most = max(found.gold_counts)
    usual = value_name(found.scale.values[found.gold_counts.index(most)], found.scale)
    if len(said) == 1:
        yield (
            f"{name}: the judge says '{said[0]}' of all {found.n:,} items. Its raw agreement of "
            f"{_percent(raw)} is the share of '{said[0]}' among the items and nothing it does: "
            f"kappa is {number(kappa)}{_failures(found)}."
        )
    elif raw is not None and raw <= most / found.n:
        yield (
            f"{name}: always saying '{usual}' would agree in {_percent(most / found.n)}, the judge "
            f"agrees in {_percent(raw)} (kappa {number(kappa)}{_failures(found)})."
        )


def _failures(found: Comparison) -> str:
    recall = found.estimates.get(Measure.FAILURE_RECALL)
    if recall is None or recall.value is None:
        return ""
    caught = round(recall.value * recall.n)
    return f", and it finds {caught:,} of {recall.n:,} failures (recall {number(recall.value)})"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
