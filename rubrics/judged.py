"""Judged: the verdicts of checks, and a judge's about what they leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .criterion import Criterion
from .evaluate import evaluate
from .judge import Judge, Question, questions_about
from .rubric import Rubric
from .subject import ConversationRecord
from .verdict import Status, Verdict
from .verdicts import Verdicts


async def judged(rubric: Rubric, subject: ConversationRecord, judge: Judge) -> Verdicts:
    """Judge a conversation by the rubric's checks first, and by the judge where they say nothing.

    What a check decided stands. The judge is asked about every criterion that is judged and that
    no check gave a value, turn by turn where it is scored so. A conversation that broke off is not
    read: its verdicts stay inconclusive.

    Returns:
        The verdicts in the rubric's order, turns in theirs.

    Raises:
        FaultError: The judge could not be asked.
        ValueError: The rubric scores another kind of subject.
    """
    checked = evaluate(rubric, subject)
    questions = open_questions(rubric, subject, checked)
    if not questions:
        return Verdicts(checked, {"rubric": rubric.fingerprint})
    said = await judge.judge(subject, rubric, questions)
    merged = [
        verdict
        for criterion in rubric.criteria
        for verdict in _merged(criterion, checked, said.verdicts)
    ]
    return Verdicts(tuple(merged), said.by)


def open_questions(
    rubric: Rubric, subject: ConversationRecord, checked: Sequence[Verdict]
) -> tuple[Question, ...]:
    """Return what the checks' verdicts leave to a judge, in the rubric's order."""
    if subject.trajectory.fault is not None:
        return ()
    decided = {(each.criterion, each.turn) for each in checked if each.status is Status.SCORED}
    whole = {each.criterion for each in checked if each.status is Status.SCORED}
    return tuple(
        question
        for criterion in rubric.criteria
        if criterion.judged and (criterion.per_turn or criterion.id not in whole)
        for question in questions_about(criterion, subject)
        if (criterion.id, question.turn) not in decided
    )


def _merged(
    criterion: Criterion, checked: Sequence[Verdict], said: Sequence[Verdict]
) -> Iterator[Verdict]:
    """Yield a criterion's verdicts: the judge's, and the checks' that it was not asked about."""
    own = [each for each in checked if each.criterion == criterion.id]
    answered = [each for each in said if each.criterion == criterion.id]
    if not answered:
        yield from own
    elif not criterion.per_turn:
        yield from answered
    else:
        turns = {each.turn for each in answered}
        stand = [each for each in own if each.turn is not None and each.turn not in turns]
        yield from sorted([*answered, *stand], key=lambda each: each.turn or 0)
