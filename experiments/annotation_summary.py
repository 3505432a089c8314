"""Annotations summed up: what was said of each criterion, and where people do not agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ..agents.errors import UsageError
from ..rubrics.annotation import Annotation, Item, read_annotations
from ..rubrics.annotation_scale import scales_of
from ..rubrics.gold import GoldLabel, GoldMethod, by_item, gold
from ..rubrics.rubric import Rubric
from ..rubrics.rubric_file import load_rubric
from .brief import brief, plain

_NAMED = 10


@dataclass(frozen=True, slots=True)
class CriterionSummary:
    """What was said of one criterion.

    Attributes:
        annotations: How many.
        items: Conversations, or turns, that they are about.
        annotators: How many people they are by.
        values: How often each value or status was given.
        ties: Items on which people are split evenly.
    """

    annotations: int
    items: int
    annotators: int
    values: dict[str, int]
    ties: int


@dataclass(frozen=True, slots=True)
class AnnotationSummary:
    """What was said.

    Attributes:
        criteria: By criterion.
        doubtful: Items on which people are split evenly, or less certain than asked.
        certainty: What was asked.
    """

    criteria: dict[str, CriterionSummary]
    doubtful: tuple[GoldLabel, ...]
    certainty: float

    def print(self, console: Console) -> None:
        """Print it as people read it."""
        table = Table("criterion", title="Annotations", title_justify="left")
        for column in ("annotations", "items", "annotators", "ties"):
            table.add_column(column, justify="right")
        table.add_column("values")
        for name, each in self.criteria.items():
            counts = (each.annotations, each.items, each.annotators, each.ties)
            values = ", ".join(f"{value}: {count:,}" for value, count in each.values.items())
            table.add_row(plain(name), *(f"{count:,}" for count in counts), values)
        console.print(table)
        if not self.doubtful:
            console.print("People are split evenly on nothing.")
            return
        console.print(
            f"Split evenly, or decided by less than {self.certainty:.0%}: {len(self.doubtful):,}. "
            "They stay in every test; from tuning they can be left out.",
            soft_wrap=True,
        )
        for label in self.doubtful[:_NAMED]:
            console.print(f"  {named(label.item)}: {_votes(label)}", soft_wrap=True)
        if len(self.doubtful) > _NAMED:
            console.print(f"  … and {len(self.doubtful) - _NAMED:,} more (--json has all)")


def summary(file: Path, rubric: str | None, certainty: float) -> AnnotationSummary:
    """Sum up an annotations file.

    Args:
        file: The file.
        rubric: A pack or a file that says which criteria are scored turn by turn.
        certainty: Share of the annotators below which an item is doubtful.

    Raises:
        UsageError: A file cannot be read.
    """
    known = None if rubric is None else load_rubric(rubric)
    annotations = list(read_annotations(file))
    items = by_item(annotations, known)
    scales = scales_of(annotations, known)
    labels = gold(items, {name: scale.values for name, scale in scales.items()})
    doubtful = [each for each in labels if len(each.options) > 1 or each.certainty < certainty]
    return AnnotationSummary(
        {name: _criterion(name, annotations, labels) for name in scales},
        tuple(sorted(doubtful, key=lambda each: each.certainty)),
        certainty,
    )


def summary_json(summed: AnnotationSummary) -> dict[str, Any]:
    """Return a summary as JSON values."""
    return {
        "gold": str(GoldMethod.MAJORITY),
        "certainty": summed.certainty,
        "criteria": {name: asdict(each) for name, each in summed.criteria.items()},
        "doubtful": [
            {**asdict(each.item), "votes": _counts(each.said), "certainty": each.certainty}
            for each in summed.doubtful
        ],
    }


def said_of(conversation: str, file: Path, rubric: str | None) -> list[dict[str, Any]]:
    """Return all that was said of a conversation.

    Raises:
        UsageError: A file cannot be read, or nothing was said of it.
    """
    known: Rubric | None = None if rubric is None else load_rubric(rubric)
    about = [each for each in read_annotations(file) if each.conversation == conversation]
    if not about:
        raise UsageError(f"{file} has no annotation of a conversation '{conversation}'.")
    return [
        {**each.model_dump(mode="json"), "said": _word(each)}
        for said in by_item(about, known).values()
        for each in said
    ]


def named(item: Item) -> str:
    """Name an item on one line."""
    turn = "" if item.turn is None else f", turn {item.turn}"
    return brief(f"{item.conversation}, {item.criterion}{turn}")


def _criterion(
    name: str, annotations: Sequence[Annotation], labels: Sequence[GoldLabel]
) -> CriterionSummary:
    of_it = [each for each in annotations if each.criterion == name]
    about = [label for label in labels if label.item.criterion == name]
    return CriterionSummary(
        annotations=len(of_it),
        items=len(about),
        annotators=len({each.annotator for each in of_it}),
        values=_counts(of_it),
        ties=sum(len(label.options) > 1 for label in about),
    )


def _counts(annotations: Sequence[Annotation]) -> dict[str, int]:
    return dict(sorted(Counter(map(_word, annotations)).items()))


def _votes(label: GoldLabel) -> str:
    return ", ".join(f"{value} by {count}" for value, count in _counts(label.said).items())


def _word(annotation: Annotation) -> str:
    return str(annotation.status) if annotation.value is None else f"{annotation.value:g}"
