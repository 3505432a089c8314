"""What people are asked of a conversation: a question for each criterion that a judge decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..agents.errors import UsageError
from ..rubrics.criterion import Criterion
from ..rubrics.rubric import Rubric
from ..rubrics.subject import SubjectKind

_ALWAYS = Criterion.model_fields["applies"].default
_LONGEST = 1000  # what MLflow takes
_BESIDE_THE_SCALE = ("n/a", "unsure")


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        criterion: Id of the criterion; answers are kept by it.
        instruction: What each answer means.
        options: The answers there are, as `read_value` understands them.
        per_turn: Whether every turn is asked about, or the conversation once.
    """

    criterion: str
    instruction: str
    options: tuple[str, ...]
    per_turn: bool


def questions(rubric: Rubric, only: Sequence[str] = ()) -> tuple[Question, ...]:
    """Return the questions of a rubric, in its order.

    Args:
        rubric: The rubric.
        only: Ids of the criteria to ask about; all that a judge decides when empty.

    Raises:
        UsageError: A criterion is not in the rubric, or nothing is left to ask.
    """
    if rubric.subject is not SubjectKind.TRAJECTORY:
        raise UsageError(
            f"The rubric '{rubric.id}' scores single calls of agents; people are asked about "
            "conversations. Use a rubric with `subject: trajectory`."
        )
    known = {each.id: each for each in rubric.criteria}
    judged = [each.id for each in rubric.criteria if each.judged]
    if unknown := [name for name in only if name not in known]:
        raise UsageError(
            f"The rubric '{rubric.id}' has no criterion '{unknown[0]}'; it has: {', '.join(known)}."
        )
    wanted = [name for name in known if name in (only or judged)]
    if not wanted:
        raise UsageError(
            f"The rubric '{rubric.id}' has no criterion that a judge decides (`judged: true`), so "
            "nothing is to be calibrated. Name criteria with --criterion to ask about them anyway."
        )
    return tuple(_question(known[name]) for name in wanted)


def _question(criterion: Criterion) -> Question:
    said = "\n".join(_instruction(criterion))
    cut = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
    return Question(criterion.id, cut, (*_scale(criterion), *_BESIDE_THE_SCALE), criterion.per_turn)


def _scale(criterion: Criterion) -> tuple[str, ...]:
    if isinstance(criterion.scale, str):
        return "pass", "fail"
    return tuple(f"{tier.value:g}" for tier in criterion.scale)


def _instruction(criterion: Criterion) -> Iterator[str]:
    yield f"{criterion.name}. {_about(criterion)}"
    if isinstance(criterion.scale, str):
        yield f"pass: {criterion.passes}"
        yield f"fail: {criterion.fails}"
    else:
        yield from (f"{tier.value:g}: {tier.text}" for tier in criterion.scale)
    if criterion.applies != _ALWAYS:
        yield f"n/a: unless this applies: {criterion.applies}"
    yield "unsure: it cannot be said."


def _about(criterion: Criterion) -> str:
    return "The last exchange only." if criterion.per_turn else "The whole conversation."
