"""Intake: labels held against the rubric and the conversations, and what is left out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..simulation.importers.importer import MalformedError, Refused
from .annotation import OVERALL, Annotation, Item
from .annotation_sources.format import Format
from .annotation_sources.label import Label
from .annotation_sources.value import Meaning, read_value
from .conversation_name import KnownConversations, Place
from .rubric import Rubric
from .verdict import Status

_Key = tuple[Item, str]


@dataclass(slots=True)
class Intake:
    """Makes annotations of labels.

    Attributes:
        form: What names and values of the source mean.
        rubric: What may be annotated, and on which scales; None takes any criterion.
        known: The conversations there are; None takes any name.
        refused: What was left out so far, and why.
    """

    form: Format
    rubric: Rubric | None
    known: KnownConversations | None
    refused: list[Refused] = field(default_factory=list)
    _taken: dict[_Key, tuple[int, Annotation]] = field(default_factory=dict)

    def take(self, labels: Iterable[Label | Refused]) -> Iterator[Annotation]:
        """Yield annotations; what makes none is left out, and the rest is kept."""
        for label in labels:
            if isinstance(label, Refused):
                self.refused.append(label)
                continue
            try:
                annotation = self._annotation(label)
                self._require_first(annotation, label.number)
            except MalformedError as error:
                self.refused.append(Refused(label.unit, label.number, str(error)))
            else:
                yield annotation

    def _annotation(self, label: Label) -> Annotation:
        criterion = self.form.criteria.get(label.criterion, label.criterion)
        meaning = read_value(label.value, self.form.meanings)
        self._require_on_scale(criterion, meaning)
        place = self._place(label)
        return Annotation(
            conversation=place.conversation,
            criterion=criterion,
            annotator=label.annotator,
            value=None if isinstance(meaning, Status) else meaning,
            status=meaning if isinstance(meaning, Status) else Status.SCORED,
            rationale=label.rationale,
            turn=label.turn if label.turn is not None else place.turn,
            time=label.time,
        )

    def _place(self, label: Label) -> Place:
        if self.known is None:
            return Place(label.conversation, 0)
        place = self.known.find(label.conversation)
        if label.turn is not None and label.turn >= place.turns:
            raise MalformedError(
                f"'{place.conversation}' has {place.turns} turns, so none is number "
                f"{label.turn + self.form.first_turn} from {self.form.first_turn}"
            )
        return place

    def _require_on_scale(self, criterion: str, meaning: Meaning) -> None:
        """Raise when a criterion is not in the rubric, or a value not on its scale."""
        known = {} if self.rubric is None else {each.id: each for each in self.rubric.criteria}
        if self.rubric is not None and criterion not in known and criterion != OVERALL:
            raise MalformedError(
                f"the rubric '{self.rubric.id}' has no criterion '{criterion}'; it has: "
                f"{', '.join(known)}, and there is {OVERALL}"
            )
        allowed = known[criterion].values if criterion in known else self.form.scale
        if allowed is not None and not isinstance(meaning, Status) and meaning not in allowed:
            scale = ", ".join(f"{value:g}" for value in allowed)
            raise MalformedError(f"'{criterion}' is {meaning:g}; its scale is {scale}")

    def _require_first(self, annotation: Annotation, number: int) -> None:
        """Raise when the same person decided about the same before."""
        key = annotation.item(self.rubric), annotation.annotator
        before, first = self._taken.setdefault(key, (number, annotation))
        if first is not annotation:
            same = (first.value, first.status) == (annotation.value, annotation.status)
            raise MalformedError(
                f"{annotation.annotator} decided about '{annotation.criterion}' of "
                f"'{annotation.conversation}' before, at {before}, "
                f"{'with the same value' if same else 'with another value; the first is kept'}"
            )
