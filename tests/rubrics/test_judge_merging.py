"""Checks decide first, and a judge what they leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cotune.agents.errors import Fault, FaultOrigin
from cotune.rubrics import judged as module
from cotune.rubrics.evaluate import NEEDS_A_JUDGE, evaluate
from cotune.rubrics.judge import Question, judged_questions
from cotune.rubrics.judged import judged, open_questions
from cotune.rubrics.judges.inquiry import Strategy
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.scoring import score
from cotune.rubrics.subject import ConversationRecord
from cotune.rubrics.verdict import Status, Verdict
from cotune.rubrics.verdicts import Verdicts

from .judging import RUBRIC, conversation, llm_judge, scripted_model

NA, OPEN = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
Said = float | Status
Place = tuple[str, int | None]


class Kind:
    """A judge that gives every question full marks, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Place] = []

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"judge": "kind"}

    async def judge(
        self,
        subject: ConversationRecord,
        rubric: Rubric,
        questions: Sequence[Question] | None = None,
    ) -> Verdicts:
        asked = judged_questions(rubric, subject) if questions is None else questions
        self.asked += [(each.criterion.id, each.turn) for each in asked]
        said = (
            Verdict(*_scored(each.criterion.id, 1.0), "Judged.", turn=each.turn) for each in asked
        )
        return Verdicts(tuple(said), {"model": "kind"})


def checked(criterion: str, said: Said, turn: int | None = None) -> Verdict:
    return Verdict(*_scored(criterion, said), "Checked.", turn=turn)


def _scored(criterion: str, said: Said) -> tuple[str, float | None, Status]:
    return (criterion, None, said) if isinstance(said, Status) else (criterion, said, Status.SCORED)


@pytest.mark.parametrize(
    ("verdicts", "asked", "outcome"),
    [
        (  # what a check gave a value stands, be it bad; all else is asked
            [checked("asks", 0.0), checked("clear", NA), checked("integrity", NA)],
            [("clear", None), ("integrity", 0), ("integrity", 1)],
            [("asks", None, 0.0), ("clear", None, 1.0),
             ("integrity", 0, 1.0), ("integrity", 1, 1.0)],
        ),
        (  # turn by turn
            [checked("asks", 1.0), checked("clear", 0.5),
             checked("integrity", 0.0, 0), checked("integrity", NA, 1)],
            [("integrity", 1)],
            [("asks", None, 1.0), ("clear", None, 0.5),
             ("integrity", 0, 0.0), ("integrity", 1, 1.0)],
        ),
        (  # a check that broke says nothing about any turn
            [checked("asks", OPEN), checked("clear", 1.0), checked("integrity", OPEN)],
            [("asks", None), ("integrity", 0), ("integrity", 1)],
            [("asks", None, 1.0), ("clear", None, 1.0),
             ("integrity", 0, 1.0), ("integrity", 1, 1.0)],
        ),
        (  # nothing is left
            [checked("asks", 1.0), checked("clear", 1.0),
             checked("integrity", 1.0, 0), checked("integrity", 0.0, 1)],
            [],
            [("asks", None, 1.0), ("clear", None, 1.0),
             ("integrity", 0, 1.0), ("integrity", 1, 0.0)],
        ),
    ],
    ids=["whole", "turns", "broken", "nothing"],
)  # fmt: skip
async def test_what_a_check_decided_stands_and_the_rest_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    verdicts: list[Verdict],
    asked: list[Place],
    outcome: list[tuple[str, int | None, float]],
):
    monkeypatch.setattr(module, "evaluate", lambda *_: tuple(verdicts))
    judge = Kind()
    merged = await judged(RUBRIC, conversation(), judge)
    assert judge.asked == asked
    assert [(each.criterion, each.turn, each.value) for each in merged.verdicts] == outcome
    assert merged.by == ({"model": "kind"} if asked else {"rubric": RUBRIC.fingerprint})
    score(RUBRIC, merged.verdicts)


def test_only_judged_criteria_are_asked_about():
    closed = RUBRIC.model_copy(
        update={
            "criteria": tuple(
                each.model_copy(update={"judged": each.id == "clear"}) for each in RUBRIC.criteria
            )
        }
    )
    verdicts = [checked(each.id, NA) for each in RUBRIC.criteria]
    questions = open_questions(closed, conversation(), verdicts)
    assert [each.criterion.id for each in questions] == ["clear"]
    assert [each.criterion.id for each in judged_questions(closed, conversation())] == ["clear"]


async def test_a_conversation_that_broke_off_is_not_read():
    fault = Fault(FaultOrigin.PROVIDER, "timeout", "No answer.")
    judge = Kind()
    merged = await judged(RUBRIC, conversation(fault=fault), judge)
    assert not judge.asked
    assert {each.status for each in merged.verdicts} == {Status.INCONCLUSIVE}


async def test_a_lie_that_the_check_found_is_not_put_to_the_judge_and_no_lie_is():
    magic = load_rubric("magic")
    judge = Kind()
    truthful = (await judged(magic, conversation(), judge)).verdicts
    assert ("information_integrity", None) in judge.asked, "the check cannot prove a pass"
    assert not [each for each in truthful if each.rationale == NEEDS_A_JUDGE]
    decided = {v.criterion for v in evaluate(magic, conversation()) if v.status is Status.SCORED}
    assert not decided & {name for name, _ in judge.asked}


@pytest.mark.parametrize("pack", ["magic", "sera"])
async def test_packs_are_scored_whole_with_the_scripted_judge(pack: str):
    rubric = load_rubric(pack)
    judge = llm_judge(scripted_model(), Strategy.DOMAIN, rubric)
    verdicts = await judged(rubric, conversation(), judge)
    result = score(rubric, verdicts.verdicts)
    assert result.score is not None
    assert result.inconclusive == 0
    assert verdicts.by["rubric"] == rubric.fingerprint
