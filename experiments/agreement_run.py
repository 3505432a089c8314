"""What annotations, and the verdicts of a judge, come to: criterion by criterion and weighted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..agents.errors import UsageError
from ..rubrics.agreement import JudgeAgreement, Rulings, judge_agreement
from ..rubrics.annotation import Annotation, Item, read_annotations
from ..rubrics.annotation_scale import level_of, scales_of
from ..rubrics.annotator_agreement import AnnotatorAgreement, among_annotators, left_out_pairs
from ..rubrics.clustered_estimate import Resampling
from ..rubrics.comparison import Pair, Scale
from ..rubrics.gold import GoldLabel, GoldMethod, by_item, gold
from ..rubrics.krippendorff_alpha import Level
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from ..rubrics.ruling_file import read_rulings
from ..rubrics.weighted_agreement import WeightedAgreement, by_domain, overall

Items = Mapping[Item, tuple[Annotation, ...]]


@dataclass(frozen=True, slots=True)
class Weighted:
    """Agreement by domain and overall.

    Attributes:
        domains: By domain id.
        overall: Over all domains.
    """

    domains: Mapping[str, WeightedAgreement]
    overall: WeightedAgreement


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """What annotations and verdicts come to.

    Attributes:
        rubric: By what they are weighted; None when no rubric was named.
        scales: Of the criteria that are annotated.
        labels: The gold of all items.
        people: By criterion.
        people_weighted: What a person reaches against the others; None without a rubric, or when
            no item has several annotators.
        judge: By criterion; empty when there are no verdicts.
        judge_weighted: None without a rubric or verdicts.
        by: Who judged: the judge's model and the fingerprints of its prompts and rubric.
        repeated: How many annotations, by the same person about the same, were left out.
        rulings_repeated: How many rulings were on a conversation that had one.
        confidence: Of all intervals.
    """

    rubric: Rubric | None
    scales: Mapping[str, Scale]
    labels: tuple[GoldLabel, ...]
    people: Mapping[str, AnnotatorAgreement]
    people_weighted: Weighted | None
    judge: Mapping[str, JudgeAgreement]
    judge_weighted: Weighted | None
    by: Mapping[str, str]
    repeated: int
    rulings_repeated: int
    confidence: float

    @property
    def rubric_changed(self) -> bool:
        """Whether the verdicts answer to another version of the rubric."""
        judged_by = self.by.get("rubric")
        return None not in (self.rubric, judged_by) and judged_by != self.rubric_fingerprint

    @property
    def rubric_fingerprint(self) -> str | None:
        """Of the rubric that was named."""
        return None if self.rubric is None else self.rubric.fingerprint


@dataclass(frozen=True, slots=True)
class AgreementStudy:
    """Annotations, ready to be measured.

    Attributes:
        rubric: Scales, domains and weights.
        items: Annotations by what they are about.
        scales: Of the criteria that are annotated.
        method: How several people's values become one.
        level: What distances mean to alpha; what suits each scale when None.
        resampling: How intervals are found.
        repeated: How many annotations, by the same person about the same, were left out.
    """

    rubric: Rubric | None
    items: Items
    scales: Mapping[str, Scale]
    method: GoldMethod
    level: Level | None
    resampling: Resampling
    repeated: int = 0

    @classmethod
    def read(
        cls,
        files: Sequence[Path],
        rubric: str | None,
        method: GoldMethod,
        level: Level | None,
        resampling: Resampling,
    ) -> AgreementStudy:
        """Read annotations.

        Raises:
            UsageError: A file cannot be used, or a value is not on the rubric's scale.
        """
        known = None if rubric is None else load_rubric(rubric)
        read = [each for file in files for each in read_annotations(file)]
        if not read:
            raise UsageError(f"{', '.join(map(str, files))}: there are no annotations in it.")
        first: dict[tuple[Item, str], Annotation] = {}
        for each in read:
            first.setdefault((each.item(known), each.annotator), each)
        annotations = list(first.values())
        scales = scales_of(annotations, known)
        _require_on_scale(annotations, scales)
        return cls(
            rubric=known,
            items=by_item(annotations, known),
            scales=scales,
            method=method,
            level=level,
            resampling=resampling,
            repeated=len(read) - len(annotations),
        )

    @property
    def known_rubric(self) -> Rubric:
        """The rubric, of a study that was read with one."""
        assert self.rubric is not None
        return self.rubric

    def labels(self) -> tuple[GoldLabel, ...]:
        """Return the gold of all items."""
        values = {name: scale.values for name, scale in self.scales.items()}
        return gold(self.items, values, self.method)

    def measured(self, verdicts: Path | None) -> AgreementReport:
        """Measure how far people agree and, given verdicts, how far their judge agrees with them.

        Raises:
            UsageError: The verdicts cannot be used.
        """
        labels = self.labels()
        rulings, by = read_judge(verdicts, self.rubric)
        judge = {
            name: judge_agreement(
                [each for each in labels if each.item.criterion == name],
                rulings,
                scale,
                self.resampling,
            )
            for name, scale in self.scales.items()
            if verdicts is not None
        }
        return AgreementReport(
            rubric=self.rubric,
            scales=self.scales,
            labels=labels,
            people={name: self._people(name) for name in self.scales},
            people_weighted=self._weighted(
                {
                    name: tuple(left_out_pairs(self._about(name), scale))
                    for name, scale in self.scales.items()
                }
            ),
            judge=judge,
            judge_weighted=self._weighted({name: each.pairs for name, each in judge.items()}),
            by=by,
            repeated=self.repeated,
            rulings_repeated=len(rulings.repeated),
            confidence=self.resampling.confidence,
        )

    def _about(self, criterion: str) -> Items:
        return {item: said for item, said in self.items.items() if item.criterion == criterion}

    def _people(self, criterion: str) -> AnnotatorAgreement:
        scale = self.scales[criterion]
        level = self.level or level_of(scale)
        return among_annotators(self._about(criterion), scale, level, self.resampling)

    def _weighted(self, pairs: Mapping[str, Sequence[Pair]]) -> Weighted | None:
        if self.rubric is None:
            return None
        whole = overall(pairs, self.scales, self.rubric, self.resampling)
        if whole is None:
            return None
        return Weighted(by_domain(pairs, self.scales, self.rubric, self.resampling), whole)


def read_judge(verdicts: Path | None, rubric: Rubric | None) -> tuple[Rulings, Mapping[str, str]]:
    """Read a judge's verdicts, and who it is; nothing and nobody when None.

    Raises:
        UsageError: The file cannot be read, has several judges, or answers to another rubric.
    """
    read = [] if verdicts is None else list(read_rulings(verdicts))
    judges = {tuple(sorted(ruling.by.items())) for ruling in read}
    if len(judges) > 1:
        raise UsageError(
            f"{verdicts} has verdicts of {len(judges)} judges or rubrics, and agreement is one "
            "judge's. Compare each file by itself."
        )
    for ruling in read[:1]:
        if rubric is not None and ruling.rubric != rubric.id:
            raise UsageError(
                f"The verdicts in {verdicts} answer to the rubric '{ruling.rubric}', not to "
                f"'{rubric.id}'. Name that rubric with --rubric."
            )
    return Rulings(read), dict(next(iter(judges), ()))


def _require_on_scale(annotations: Sequence[Annotation], scales: Mapping[str, Scale]) -> None:
    for each in annotations:
        values = scales[each.criterion].values
        if each.value is not None and each.value not in values:
            scale = ", ".join(f"{value:g}" for value in values)
            raise UsageError(
                f"{each.annotator} gives '{each.criterion}' of '{each.conversation}' the value "
                f"{each.value:g}, and its scale in the rubric is {scale}. Import the annotations "
                "with --rubric, which names and leaves out such values."
            )
