"""What is chosen to be annotated is of every kind, doubtful first, and what is asked is clear."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cotune.agents.assistant import Reply
from cotune.agents.errors import UsageError
from cotune.experiments.annotation_choice import Candidate, candidates, doubt_of, in_order
from cotune.experiments.annotation_questions import questions
from cotune.rubrics.annotation_sources.value import read_value
from cotune.rubrics.rubric import Rubric
from cotune.rubrics.ruling import Ruling, rule
from cotune.rubrics.scoring import Score
from cotune.rubrics.subject import ConversationRecord
from cotune.rubrics.verdict import Status, Verdict
from cotune.rubrics.verdicts import Verdicts
from cotune.simulation.scenario import Scenario
from cotune.simulation.trajectory import StopReason, Trajectory, Turn

from ..optimizer.judged_talk import RUBRIC


def talk(scenario: str, family: str = "f", **metadata: Any) -> Trajectory:
    turn = Turn("Hi.", Reply("Hello.", ()), {})
    about = {"family": family, **metadata}
    return Trajectory(scenario, (turn,), {}, StopReason.SATISFIED, metadata=about)


def candidate(name: str, family: str = "f", score: float | None = None, doubt: float = 0.0):
    return Candidate(name, family, score, doubt, talk(name, family))


def ruled(trajectory: Trajectory, *verdicts: Verdict) -> Ruling:
    scenario = Scenario(id=trajectory.scenario, family="f", goal="Any.")
    ruling = rule(1, ConversationRecord(trajectory, scenario), RUBRIC, Verdicts(verdicts, {}))
    assert isinstance(ruling.score, Score)
    return ruling


def said(kept: float, **more: Any) -> tuple[Verdict, ...]:
    return (
        Verdict("kept", kept, Status.SCORED, "", **more),
        Verdict("polite", 1.0, Status.SCORED, ""),
    )


def test_rare_failures_and_small_families_are_among_the_first():
    many = [candidate(f"a-{number}", "a", 1.0) for number in range(50)]
    rare = [candidate("low", "a", 0.0), candidate("b-0", "b", 1.0)]
    first = in_order([*many, *rare], seed=1)[:4]
    assert {"low", "b-0"} <= {each.name for each in first}


def test_among_equals_the_doubtful_go_first():
    sure = [candidate(f"s-{number}") for number in range(9)]
    doubtful = [candidate("d-1", doubt=0.2), candidate("d-2", doubt=0.7)]
    assert [each.name for each in in_order([*sure, *doubtful], 0)[:2]] == ["d-2", "d-1"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.none() | st.floats(0, 1), st.floats(0, 1)), max_size=30
    ),
    st.integers(0, 3),
)
def test_the_order_is_whole_fair_and_the_same_again(
    drawn: list[tuple[str, float | None, float]], seed: int
):
    found = [candidate(f"c-{number}", *each) for number, each in enumerate(drawn)]
    order = in_order(found, seed)
    assert sorted(each.name for each in order) == sorted(each.name for each in found)
    assert order == in_order(reversed(found), seed)
    sizes = Counter(each.family for each in found)
    for size in range(1, len(order)):
        taken = Counter(each.family for each in order[:size])
        left = [family for family in sizes if taken[family] < sizes[family]]
        assert all(taken[family] >= max(taken.values()) - 1 for family in left)


def test_doubt_is_of_repeats_and_of_the_judge():
    apart = [talk("a", repeat=0), talk("a", repeat=1)]
    alike = [talk("b", repeat=0), talk("b", repeat=1)]
    unsure = talk("c", repeat=0)
    rulings = [
        ruled(apart[0], *said(1.0)),
        ruled(apart[1], *said(0.0)),
        *(ruled(each, *said(0.0)) for each in alike),
        ruled(unsure, *said(1.0, pass_probability=0.6)),
    ]
    found = {each.name: each for each in candidates([*apart, *alike, unsure, talk("d")], rulings)}
    assert {name: round(each.doubt, 9) for name, each in found.items()} == {
        "a#repeat=0": 0.5,
        "a#repeat=1": 0.5,
        "b#repeat=0": 0.0,
        "b#repeat=1": 0.0,
        "c#repeat=0": 0.8,
        "d": 0.0,
    }
    assert found["d"].score is None
    assert doubt_of([Verdict("kept", None, Status.INCONCLUSIVE, "")]) == 1.0
    assert doubt_of(said(1.0, confidence=0.75)[:1]) == 0.25


def test_what_is_asked_can_be_answered_and_read_back():
    content = RUBRIC.model_dump(mode="json", exclude_none=True)
    tiers = [{"value": value, "text": f"Tier {value}."} for value in (1.0, 0.5, 0.0)]
    content["criteria"][1] |= {
        "scale": tiers, "passes": "", "fails": "", "scope": "turn", "aggregate": "mean",
    }  # fmt: skip
    rubric = Rubric.model_validate(content)
    kept, polite = questions(rubric)
    assert [read_value(option, {}) for option in kept.options] == [
        1.0, 0.0, Status.NOT_APPLICABLE, Status.INCONCLUSIVE,
    ]  # fmt: skip
    assert [read_value(option, {}) for option in polite.options[:3]] == [1.0, 0.5, 0.0]
    assert (kept.per_turn, polite.per_turn) == (False, True)
    assert "pass: Kept." in kept.instruction
    assert "0.5: Tier 0.5." in polite.instruction
    assert [each.criterion for each in questions(rubric, ["polite"])] == ["polite"]
    with pytest.raises(UsageError, match="no criterion 'speed'"):
        questions(rubric, ["speed"])
