"""Annotations by planned people, for the tests of agreement."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from cotune.rubrics.annotation import Annotation
from cotune.rubrics.comparison import Pair, Scale
from cotune.rubrics.verdict import Status

PASS_FAIL = Scale((0.0, 1.0), (True, False))


def annotation(
    conversation: str, annotator: str, value: float | Status, criterion: str = "safety", **more: Any
) -> Annotation:
    """Make an annotation; a status stands for why there is no value."""
    if isinstance(value, Status):
        more = {**more, "status": value}
        number = None
    else:
        number = value
    return Annotation(
        conversation=conversation, criterion=criterion, annotator=annotator, value=number, **more
    )


def table(rows: Iterable[Sequence[float | Status | None]], criterion: str = "safety"):
    """Make annotations of a table: a row for each conversation, a column for each person."""
    return [
        annotation(f"c-{row}", f"p-{column}", value, criterion)
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
        if value is not None
    ]


def pairs(gold: Sequence[float], said: Sequence[float]) -> list[Pair]:
    """Pair two sides, each item in a conversation of its own."""
    both = zip(gold, said, strict=True)
    return [Pair(f"c-{number}", first, second) for number, (first, second) in enumerate(both)]


def ratings(n: int, values: Sequence[float], seed: int = 0) -> list[float]:
    """Draw values, the first ones more often."""
    generator = random.Random(f"ratings {seed}")
    weights = [1.0 / (rank + 1) for rank in range(len(values))]
    return generator.choices(list(values), weights, k=n)
