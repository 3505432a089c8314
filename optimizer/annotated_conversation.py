"""Annotated conversations: what a judge is calibrated with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from ..agents.errors import UsageError
from ..agents.fingerprint import fingerprint
from ..rubrics.gold import GoldLabel, for_tuning
from ..rubrics.rubric import Rubric
from ..rubrics.subject import ConversationRecord
from ..simulation.scenario_split import EVERY, Shares, deal
from ..simulation.trajectory_json import trajectory_to_json
from .example import Splits


@dataclass(frozen=True, slots=True)
class AnnotatedConversation:
    """One conversation with what people say of it.

    Attributes:
        id: Its name; see `conversation_name`.
        record: The conversation.
        labels: The gold of what a judge is asked about it; at least one.
    """

    id: str
    record: ConversationRecord
    labels: tuple[GoldLabel, ...]

    @property
    def family(self) -> str:
        """Its scenario: other conversations of the same one are too much like it."""
        return self.record.trajectory.scenario

    @property
    def fingerprint(self) -> str:
        """Short hash of the conversation and its labels."""
        gold = [[*label.item.order, *map(str, label.options)] for label in self.labels]
        said = [one.rationale for label in self.labels for one in label.said]
        conversation = trajectory_to_json(self.record.trajectory)
        return fingerprint([conversation, self.record.scenario.fingerprint, gold, said])


def is_answerable(label: GoldLabel, rubric: Rubric, turns: int) -> bool:
    """Say whether a judge is asked what a label answers, and anybody could answer it."""
    criterion = {each.id: each for each in rubric.criteria}.get(label.item.criterion)
    if criterion is None or not criterion.judged or not label.options:
        return False
    return (label.item.turn or 0) < turns and criterion.per_turn == (label.item.turn is not None)


def split_conversations(
    conversations: Sequence[AnnotatedConversation], shares: Shares, seed: int, certainty: float
) -> Splits[AnnotatedConversation]:
    """Deal conversations out to train, val and test, with as much of each label everywhere.

    Conversations of one scenario stay together. Labels on which people are split, or less certain
    than `certainty`, are left out of train and val; the test has them all.

    Raises:
        UsageError: There are too few scenarios, or a split has no clear label.
    """
    homes = deal(_families(conversations), shares.model_dump(), seed)
    if len(homes) < len(shares.model_dump()):
        raise UsageError(
            f"The annotated conversations are of {len(homes)} scenarios, and conversations of one "
            "scenario stay in one split; three are the least. Annotate others."
        )
    parts = {
        split: [each for each in conversations if homes[each.family] == split]
        for split in ("train", "val", "test")
    }
    return Splits(_clear(parts["train"], certainty), _clear(parts["val"], certainty), parts["test"])


def _clear(
    conversations: Iterable[AnnotatedConversation], certainty: float
) -> list[AnnotatedConversation]:
    """Leave out labels that are not clear, and conversations that have no other."""
    kept = (replace(one, labels=for_tuning(one.labels, certainty)) for one in conversations)
    return [one for one in kept if one.labels]


def _families(conversations: Iterable[AnnotatedConversation]) -> Mapping[str, Counter[str]]:
    families: dict[str, Counter[str]] = {}
    for one in conversations:
        labels = (f"{label.item.criterion} is {label.options[0]}" for label in one.labels)
        families.setdefault(one.family, Counter()).update([EVERY, *labels])
    having = Counter(label for labels in families.values() for label in labels)
    least = {EVERY: 0, **dict.fromkeys((name for name in having if name != EVERY), 3)}
    return {
        family: Counter(
            {label: n for label, n in labels.items() if having[label] >= least.get(label, inf)}
        )
        for family, labels in families.items()
    }
