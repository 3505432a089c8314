"""The history of an alias: what it pointed to, prompt by prompt; pure.

A promotion moves the alias on one prompt after the other and may be interrupted in between. So
each step knows the number of its promotion: the highest number is what goes on or was done last,
whichever prompts it has reached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

_KEPT = 50  # steps in the registry


@dataclass(frozen=True, slots=True)
class Step:
    """An alias was moved.

    Attributes:
        version: Of the prompt; None where the alias was taken away.
        promotion: Number of the promotion that did it, from 1; 0 where somebody else did.
        at: When, in ISO 8601; empty where somebody else did.
    """

    version: int | None
    promotion: int = 0
    at: str = ""


Steps = tuple[Step, ...]
"""One prompt's steps, the oldest first; where an alias never was, there is none."""

Histories = Mapping[str, Steps]
"""By the prompts' names."""


def current(steps: Steps) -> int | None:
    """Return the version to which the alias points."""
    return steps[-1].version if steps else None


def agreed(steps: Steps, version: int | None) -> Steps:
    """Return written steps as they agree with the alias itself.

    Steps are written before an alias goes on, and shortened after it went back. Between the two
    the last step is one too many. Anything else was done by somebody else.
    """
    if current(steps) == version:
        return steps
    if steps and current(steps[:-1]) == version:
        return steps[:-1]
    return (*steps, Step(version))


def promoted(
    histories: Histories, versions: Mapping[str, int], at: str, *, is_whole: bool
) -> dict[str, Steps]:
    """Return the histories after a promotion.

    Args:
        histories: Of all prompts of the task.
        versions: What the alias is to point to; prompts that are not named lose it.
        at: When, in ISO 8601.
        is_whole: Whether what is there is one whole bundle. If not, the last promotion was
            interrupted: the same one goes on, and any other one takes its place.
    """
    last = _last(histories)
    if not is_whole and not _is_promotion_of(histories, last, versions):
        histories = rolled_back(histories)
    number = last + 1 if is_whole else max(last, 1)
    after = {}
    for name in sorted({*histories, *versions}):
        steps, version = histories.get(name, ()), versions.get(name)
        same = current(steps) == version
        after[name] = steps if same else (*steps, Step(version, number, at))
    return after


def rolled_back(histories: Histories) -> dict[str, Steps]:
    """Return the histories without the last promotion, and all that came after it."""
    number = _last(histories)
    return {name: _before(steps, number) for name, steps in histories.items()}


def written(steps: Steps) -> str:
    """Write steps as JSON."""
    return json.dumps([asdict(step) for step in steps[-_KEPT:]])


def read(text: str) -> Steps:
    """Read what `written` wrote.

    Raises:
        ValueError: It is something else.
    """
    try:
        return tuple(Step(**step) for step in json.loads(text))
    except TypeError as error:
        raise ValueError(f"these are no steps: {error}") from error


def _last(histories: Histories) -> int:
    return max((step.promotion for steps in histories.values() for step in steps), default=0)


def _is_promotion_of(histories: Histories, number: int, versions: Mapping[str, int]) -> bool:
    return all(
        step.version == versions.get(name)
        for name, steps in histories.items()
        for step in steps
        if step.promotion == number
    )


def _before(steps: Steps, number: int) -> Steps:
    numbers = [step.promotion for step in steps]
    return steps[: numbers.index(number)] if number and number in numbers else steps
