"""Scales of annotations: which values a criterion has, and what their distances mean."""

from __future__ import annotations

from collections.abc import Iterable

from .annotation import Annotation
from .comparison import Scale
from .krippendorff_alpha import Level
from .rubric import Rubric

_PASS_FAIL = (0.0, 1.0)


def scales_of(annotations: Iterable[Annotation], rubric: Rubric | None) -> dict[str, Scale]:
    """Return the scale of every criterion that is annotated, in the rubric's order.

    Of what is in no rubric it is the values that were given, and 0 and 1 are fail and pass.
    """
    given: dict[str, set[float]] = {}
    for annotation in annotations:
        values = given.setdefault(annotation.criterion, set())
        if annotation.value is not None:
            values.add(annotation.value)
    criteria = {} if rubric is None else {each.id: each for each in rubric.criteria}
    scales: dict[str, Scale] = {}
    for name, criterion in criteria.items():
        if name in given:
            values = tuple(sorted(criterion.values))
            scales[name] = Scale(values, tuple(map(criterion.fails_at, values)))
    for name in sorted(given.keys() - criteria):
        scales[name] = _of_values(given[name])
    return scales


def level_of(scale: Scale) -> Level:
    """Return what distances mean on a scale where nobody says so."""
    return Level.NOMINAL if len(scale.values) <= len(_PASS_FAIL) else Level.ORDINAL


def _of_values(given: set[float]) -> Scale:
    if given <= set(_PASS_FAIL):
        return Scale(_PASS_FAIL, (True, False))
    values = tuple(sorted(given))
    return Scale(values, (False,) * len(values))
