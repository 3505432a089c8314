"""What a judge is calibrated with: annotations joined to conversations, checked and split."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..agents.counted import counted
from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..optimizer.annotated_conversation import (
    AnnotatedConversation,
    is_answerable,
    split_conversations,
)
from ..optimizer.example import Splits
from ..rubrics.calibrated_judge import two_valued_rubric
from ..rubrics.conversation_name import conversation_name
from ..rubrics.criterion import Criterion
from ..rubrics.gold import GoldLabel, Vote
from ..rubrics.label_need import labels_needed
from ..rubrics.rubric import Rubric
from ..rubrics.subject import ConversationRecord
from ..rubrics.verdict import Status
from ..simulation.scenario_split import Shares
from ..simulation.trajectory_file import read_trajectories
from .agreement_run import AgreementStudy
from .known_scenarios import KnownScenarios

LEAST_LABELS = 30
"""Fewer labels of a criterion than this are refused."""
HALF_TESTED = Shares(train=0.25, val=0.25, test=0.5)
_LEAST_OF_A_VALUE = 2  # in each split, or nothing can be learned, chosen or tested


@dataclass(frozen=True, slots=True)
class Dealing:
    """How labels are chosen and dealt out.

    Attributes:
        shares: Of train, val and test.
        seed: Another seed gives another split.
        certainty: Share of annotators that must agree on a label to be in train or val.
        tested: Conversations in the test at most; all when None.
        width: How wide an interval of kappa may be where a person is told how many labels it takes.
    """

    shares: Shares = HALF_TESTED
    seed: int = 0
    certainty: float = 0.0
    tested: int | None = None
    width: float = 0.4


@dataclass(frozen=True, slots=True)
class CalibrationData:
    """Annotated conversations, ready to be used.

    Attributes:
        study: The annotations.
        labels: The gold of all items.
        rubric: By which is judged.
        asked: The same as the judge is asked by it: without tiers where it knows only two values.
        splits: The conversations, labelled by `asked`.
        tested: The test's labels on their own scales, those of the criteria that are calibrated.
        left_out: Criteria that are not calibrated, and why.
        unknown: Annotated conversations that are not among the trajectories.
    """

    study: AgreementStudy
    labels: tuple[GoldLabel, ...]
    rubric: Rubric
    asked: Rubric
    splits: Splits[AnnotatedConversation]
    tested: tuple[GoldLabel, ...]
    left_out: Mapping[str, str]
    unknown: int

    @property
    def fingerprint(self) -> str:
        """Short hash of all annotations."""
        said = [
            each.model_dump(mode="json") for group in self.study.items.values() for each in group
        ]
        return fingerprint(said)

    @property
    def criteria(self) -> tuple[str, ...]:
        """Ids of the criteria that are calibrated, in the rubric's order."""
        used = {label.item.criterion for label in self.tested}
        return tuple(each.id for each in self.rubric.criteria if each.id in used)


def read_conversations(path: Path, scenarios: KnownScenarios) -> dict[str, ConversationRecord]:
    """Return the conversations of a file by name; those that broke off are left out."""
    return {
        conversation_name(each.scenario, each.metadata): ConversationRecord(
            each, scenarios.of(each)
        )
        for each in read_trajectories(path)
        if each.fault is None
    }


def calibration_data(
    study: AgreementStudy,
    records: Mapping[str, ConversationRecord],
    dealing: Dealing,
    two_values: bool,
) -> CalibrationData:
    """Join, check and split.

    Args:
        study: The annotations; of a study with a rubric.
        records: The conversations by name.
        dealing: How they are dealt out.
        two_values: Whether the judge knows pass and fail only.

    Raises:
        UsageError: No criterion has enough labels; says how many it takes.
    """
    rubric = study.rubric
    assert rubric is not None
    asked = two_valued_rubric(rubric) if two_values else rubric
    labels = study.labels()
    answerable = [
        label
        for label in labels
        if (record := records.get(label.item.conversation)) is not None
        and is_answerable(label, rubric, len(record.trajectory.turns))
    ]
    left_out = _not_judged(labels, rubric) | _too_few(answerable, dealing)
    usable = [each for each in answerable if each.item.criterion not in left_out]
    _require_some(usable, left_out)
    splits = _split(usable, records, rubric, asked, dealing)
    thin = _thin(splits)
    left_out |= thin
    usable = [each for each in usable if each.item.criterion not in thin]
    _require_some(usable, left_out)
    splits = _split(usable, records, rubric, asked, dealing)
    in_test = {each.id for each in splits.test}
    return CalibrationData(
        study=study,
        labels=labels,
        rubric=rubric,
        asked=asked,
        splits=splits,
        tested=tuple(each for each in usable if each.item.conversation in in_test),
        left_out=left_out,
        unknown=len({each.item.conversation for each in labels} - records.keys()),
    )


def _split(
    labels: Iterable[GoldLabel],
    records: Mapping[str, ConversationRecord],
    rubric: Rubric,
    asked: Rubric,
    dealing: Dealing,
) -> Splits[AnnotatedConversation]:
    by_name: defaultdict[str, list[GoldLabel]] = defaultdict(list)
    for label in labels:
        by_name[label.item.conversation].append(_asked_label(label, rubric, asked))
    conversations = [
        AnnotatedConversation(name, records[name], tuple(found))
        for name, found in sorted(by_name.items())
    ]
    splits = split_conversations(conversations, dealing.shares, dealing.seed, dealing.certainty)
    return splits.limited(None, None, dealing.tested)


def _asked_label(label: GoldLabel, rubric: Rubric, asked: Rubric) -> GoldLabel:
    """Return a label with pass and fail where the judge is not asked for tiers."""
    criterion = rubric.criterion(label.item.criterion)
    if asked.criterion(criterion.id) == criterion:
        return label
    options = tuple(dict.fromkeys(_passes(option, criterion) for option in label.options))
    value = options[0] if len(options) == 1 else None
    return replace(label, options=options, value=None if isinstance(value, Status) else value)


def _passes(option: Vote, criterion: Criterion) -> Vote:
    return option if isinstance(option, Status) else float(not criterion.fails_at(option))


def _not_judged(labels: Iterable[GoldLabel], rubric: Rubric) -> dict[str, str]:
    known = {each.id: each for each in rubric.criteria}
    annotated = dict.fromkeys(label.item.criterion for label in labels)
    return {
        name: "no judge is asked about it (`judged: true` in the rubric)"
        for name in annotated
        if name not in known or not known[name].judged
    }


def _too_few(labels: Iterable[GoldLabel], dealing: Dealing) -> dict[str, str]:
    counts: defaultdict[str, Counter[Vote]] = defaultdict(Counter)
    for label in labels:
        counts[label.item.criterion].update(label.options[:1])
    said: dict[str, str] = {}
    tested = labels_needed(dealing.width)
    for name, found in counts.items():
        total = found.total()
        if total < LEAST_LABELS:
            said[name] = (
                f"{counted(total, 'label')}, at least {LEAST_LABELS} are needed; for an interval "
                f"of kappa no wider than {dealing.width:g} about {tested} in the test, so "
                f"{round(tested / dealing.shares.test)} in all"
            )
        elif len(found) < 2:
            (only,) = found
            said[name] = (
                f"undefined: people say {_told(only)} of all {total} items, so nothing beyond "
                "chance can be known of any judge"
            )
    return said


def _thin(splits: Splits[AnnotatedConversation]) -> dict[str, str]:
    """Return the criteria of which a split has too little of some value."""
    said: dict[str, str] = {}
    for split, conversations in splits.named().items():
        counts: defaultdict[str, Counter[Vote]] = defaultdict(Counter)
        for one in conversations:
            for label in one.labels:
                counts[label.item.criterion].update(label.options[:1])
        names = {name for part in splits.named().values() for name in _criteria(part)}
        for name in sorted(names):
            enough = [n for n in counts[name].values() if n >= _LEAST_OF_A_VALUE]
            if len(enough) < 2 and name not in said:
                said[name] = (
                    f"in the {split} split fewer than two of its values have "
                    f"{_LEAST_OF_A_VALUE} clear labels; annotate more of the rare one"
                )
    return said


def _criteria(conversations: Sequence[AnnotatedConversation]) -> set[str]:
    return {label.item.criterion for one in conversations for label in one.labels}


def _require_some(labels: Sequence[GoldLabel], left_out: Mapping[str, str]) -> None:
    if not labels:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise UsageError(
            f"There is nothing to calibrate by. {reasons or 'No label belongs to a conversation'}."
        )


def _told(vote: Vote) -> str:
    if isinstance(vote, Status):
        return "'not applicable'"
    return {1.0: "'pass'", 0.0: "'fail'"}.get(vote, f"{vote:g}")
