"""From what calibration came to, to the judge's card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..agents.counted import counted
from ..agents.ledger import Ledger, Role, Usage
from ..rubrics.agreement_change import change, concluded, flat_weights
from ..rubrics.annotation import Annotation, Item
from ..rubrics.annotation_scale import level_of
from ..rubrics.annotator_agreement import AnnotatorAgreement, among_annotators, left_out_pairs
from ..rubrics.clustered_estimate import Estimate, Resampling
from ..rubrics.comparison import Measure, Pair
from ..rubrics.judge_card import (
    Asked,
    CardCost,
    CardData,
    CardPrompt,
    CriterionResult,
    Earned,
    GroupResult,
    JudgeCard,
    fingerprints_of,
)
from ..rubrics.statistics import Conclusion
from ..rubrics.weighted_agreement import WeightedAgreement, by_domain, overall
from .agreement_words import of_judge, of_people
from .calibration_data import CalibrationData
from .calibration_result import VARIANTS, CalibrationResult, Tested
from .calibration_run import Calibrated, CalibrationRun
from .conclusion import number
from .run_record import installed_versions

_Weighing = Callable[[Mapping[str, Sequence[Pair]]], WeightedAgreement | None]
_MEASURES = (Measure.RAW, Measure.KAPPA, Measure.BALANCED)
_WEIGHTED = (Measure.RAW, Measure.KAPPA)
_WEAK_KAPPA = 0.4
_WEAK_GAP = 0.2


def card_of(run: CalibrationRun, calibrated: Calibrated, ledger: Ledger) -> JudgeCard:
    """Return the card of a calibrated judge.

    Args:
        run: How it was calibrated.
        calibrated: What that came to.
        ledger: Of the run, for what a verdict costs.
    """
    data, result = run.data, calibrated.result
    writer = _Writer(data, result, run.resampling)
    prompts = calibrated.judge.prompts.with_texts(result.tuned.prompts.texts())
    identity = {**calibrated.judge.identity, "prompts": prompts.fingerprint}
    criteria = {name: writer.criterion(name) for name in data.criteria}
    return JudgeCard(
        cotune=installed_versions()["cotune"],
        created=datetime.now(UTC).replace(microsecond=0),
        model=run.model.settings,
        asked=Asked(
            strategy=run.model.asking,
            repeats=run.model.repeats,
            conversation_tokens=run.model.conversation_tokens,
            detail=run.model.detail,
        ),
        rubric=data.rubric.id,
        prompts={
            name: CardPrompt(text=prompt.text, description=prompt.description)
            for name, prompt in prompts.items()
        },
        decisions=result.decisions,
        fingerprints=fingerprints_of(data.rubric, identity, result.decisions),
        data=_data(run),
        confidence=run.resampling.confidence,
        criteria=criteria,
        domains=writer.domains(),
        overall=writer.overall(),
        weak=tuple(weak_points(criteria.values())),
        cost=_cost(calibrated, ledger),
    ).sealed()


def weak_points(criteria: Iterable[CriterionResult]) -> Iterator[str]:
    """Yield what a judge should not be trusted with."""
    for each in criteria:
        kappa = each.measures[Measure.KAPPA]
        if kappa.both.value is None:
            yield f"{each.criterion}: agreement beyond chance is undefined on the test."
        elif kappa.both.value <= 0.0 or (kappa.both.low or 0.0) < 0.0:
            yield (f"{each.criterion}: kappa {number(kappa.both.value)} on the test may be chance.")
        elif kappa.both.value < _WEAK_KAPPA:
            yield f"{each.criterion}: kappa is only {number(kappa.both.value)} on the test."
        if kappa.gap is not None and kappa.gap > _WEAK_GAP:
            yield f"{each.criterion}: people reach a kappa that is {kappa.gap:.2f} higher."


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the results of criteria and groups of them."""

    data: CalibrationData
    result: CalibrationResult
    resampling: Resampling

    def criterion(self, name: str) -> CriterionResult:
        """Return one criterion's result."""
        tested = self.result.tested[name]
        people = self._people(name, tested)
        fitted = self.result.fitted.get(name)
        gain = self.result.tuned.gains.get(self._prompt_of(name))
        measures = {
            measure: self._earned(
                name, measure, people.left_out.estimates[measure] if people.left_out.n else None
            )
            for measure in _MEASURES
        }
        before, after = (tested.variants[each].reliability for each in ("before", "both"))
        return CriterionResult(
            criterion=name,
            name=self.data.rubric.criterion(name).name,
            tested=tested.variants["both"].comparison.n,
            without_value=tested.without_value,
            measures=measures,
            conclusion=_concluded(measures),
            prompt_gain=gain,
            took_prompt=gain is not None and gain > 0,
            decision=fitted.decision if fitted else None,
            took_threshold=fitted.took_cuts if fitted else False,
            brier_before=before.brier.value if before else None,
            brier_after=after.brier.value if after else None,
            notes=tuple(_notes(name, tested, people)),
        )

    def domains(self) -> dict[str, GroupResult]:
        """Return the results of the domains that have something compared."""
        found = {}
        for domain in self.data.rubric.domains:
            held = self.data.rubric.in_domain(domain.id)
            names = tuple(each.id for each in held if each.id in self.data.criteria)
            weights = {each.id: each.points for each in held if each.id in names}
            if any(weights.values()):
                found[domain.id] = self._group(
                    domain.name, domain.weight, names, weights, self._by_domain(domain.id)
                )
        return found

    def overall(self) -> GroupResult | None:
        """Return the result over all domains."""
        names = self.data.criteria
        weights = flat_weights(self.data.rubric, names)
        if not any(weights.values()):
            return None
        return self._group("Overall", 100.0, names, weights, self._overall)

    def _group(
        self,
        name: str,
        weight: float,
        names: tuple[str, ...],
        weights: Mapping[str, float],
        weighed: _Weighing,
    ) -> GroupResult:
        levels = {each: weighed(self._pairs(names, each)) for each in VARIANTS}
        people = weighed(self._people_pairs(names))
        measures: dict[Measure, Earned] = {}
        for measure in _WEIGHTED:
            found = {variant: _of(level, measure) for variant, level in levels.items()}
            measures[measure] = Earned(
                **found,
                **self._differences(names, weights, measure),
                people=_of(people, measure) if people else None,
            )
        conclusion = _concluded(measures)
        return GroupResult(
            name=name, weight=weight, criteria=names, measures=measures, conclusion=conclusion
        )

    def _earned(self, name: str, measure: Measure, people: Estimate | None) -> Earned:
        variants = self.result.tested[name].variants
        return Earned(
            **{each: variants[each].comparison.estimates[measure] for each in VARIANTS},
            **self._differences((name,), {name: 1.0}, measure),
            people=people,
        )

    def _differences(
        self, names: tuple[str, ...], weights: Mapping[str, float], measure: Measure
    ) -> dict[str, Estimate]:
        before = self._pairs(names, "before")
        return {
            f"by_{variant}": change(
                before,
                self._pairs(names, variant),
                self.data.study.scales,
                weights,
                measure,
                self.resampling,
            )
            for variant in VARIANTS[1:]
        }

    def _pairs(self, names: Sequence[str], variant: str) -> dict[str, Sequence[Pair]]:
        return {name: self.result.tested[name].variants[variant].pairs for name in names}

    def _by_domain(self, domain: str) -> _Weighing:
        scales, rubric = self.data.study.scales, self.data.rubric
        return lambda pairs: by_domain(pairs, scales, rubric, self.resampling).get(domain)

    def _overall(self, pairs: Mapping[str, Sequence[Pair]]) -> WeightedAgreement | None:
        return overall(pairs, self.data.study.scales, self.data.rubric, self.resampling)

    def _people(self, name: str, tested: Tested) -> AnnotatorAgreement:
        return among_annotators(
            self._said(tested), tested.scale, level_of(tested.scale), self.resampling
        )

    def _people_pairs(self, names: Sequence[str]) -> dict[str, Sequence[Pair]]:
        return {
            name: tuple(left_out_pairs(self._said(tested), tested.scale))
            for name in names
            for tested in (self.result.tested[name],)
        }

    @staticmethod
    def _said(tested: Tested) -> dict[Item, tuple[Annotation, ...]]:
        return {label.item: label.said for label in tested.labels}

    def _prompt_of(self, name: str) -> str:
        """Return the prompt that decides a criterion: one of its id, its domain or the rubric."""
        criterion = self.data.rubric.criterion(name)
        known = self.result.tuned.prompts
        names = (name, criterion.domain, self.data.rubric.id)
        return next(each for each in names if each in known)


def _notes(name: str, tested: Tested, people: AnnotatorAgreement) -> Iterator[str]:
    """Yield what must be known of a criterion beside its numbers."""
    if tested.without_value:
        valued = tested.without_value + len(tested.labels)
        yield (
            f"{name}: of {counted(valued, 'tested item')} with a value by people the judge gave "
            f"{tested.without_value} none, with the old prompts or the new; they are left out."
        )
    if tested.labels:
        yield from of_judge(name, tested.variants["both"])
        yield from of_people(name, people)


def _concluded(measures: Mapping[Measure, Earned]) -> Conclusion | None:
    return concluded(measures[Measure.KAPPA].by_both, measures[Measure.RAW].by_both)


def _of(level: WeightedAgreement | None, measure: Measure) -> Estimate:
    if level is None:
        return Estimate(None, None, None, 0, 0, "undefined")
    return level.raw if measure is Measure.RAW else level.kappa


def _data(run: CalibrationRun) -> CardData:
    data = run.data
    items = [label for label in data.labels if label.item.criterion in data.criteria]
    return CardData(
        annotations=data.fingerprint,
        conversations=sum(map(len, data.splits.named().values())),
        labels=len(items),
        annotators=len({one.annotator for label in items for one in label.said}),
        gold=data.study.method,
        ties=sum(len(label.options) > 1 for label in items),
        splits={name: len(part) for name, part in data.splits.named().items()},
        shares=run.dealing.shares.model_dump(),
        seed=run.dealing.seed,
        left_out=dict(data.left_out),
    )


def _cost(calibrated: Calibrated, ledger: Ledger) -> CardCost:
    spent = ledger.by_role().get(Role.JUDGE, Usage())
    verdicts = max(1, calibrated.asked)
    return CardCost(
        verdicts=verdicts,
        calls=spent.calls / verdicts,
        tokens=spent.tokens / verdicts,
        usd=None if spent.unpriced else spent.cost / verdicts,
    )


def headline(card: JudgeCard) -> str:
    """Say what came of the calibration in one sentence."""
    if card.overall is None or not card.overall.measures[Measure.KAPPA].both.n:
        return "Nothing could be compared on the test."
    earned = card.overall.measures[Measure.KAPPA]
    words = {
        Conclusion.IMPROVED: "The judge agrees better with people than before",
        Conclusion.WORSE: "The judge agrees worse with people than before",
        Conclusion.NO_EVIDENCE: "There is no evidence that the judge agrees better than before",
        None: "Agreement beyond chance is undefined on the test",
    }
    return (
        f"{words[card.overall.conclusion]}: kappa {number(earned.before.value)} before, "
        f"{number(earned.both.value)} after."
    )
