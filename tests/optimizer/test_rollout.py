from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotune.agents.errors import Fault, FaultOrigin
from cotune.agents.fingerprint import canonical_json
from cotune.agents.ledger import Role, Usage
from cotune.optimizer.case import Case, Finding
from cotune.optimizer.rollout import Lesson, Rollout, mean_objectives, mean_score, scored_pairs

from .tasks import rollouts

_SHARES = st.floats(0, 1)
_FINDINGS = st.builds(
    Finding,
    points=_SHARES,
    blamed=st.lists(st.tuples(st.text(), _SHARES, st.text()), max_size=2).map(tuple),
)
_CASES = st.builds(Case, score=_SHARES, findings=st.lists(_FINDINGS, max_size=2).map(tuple))
_LESSONS = st.builds(Lesson, *([st.text()] * 6))
_ROLLOUTS = st.builds(
    Rollout,
    example=st.text(min_size=1),
    score=st.none() | _SHARES,
    objectives=st.dictionaries(st.text(), _SHARES, max_size=3),
    critical_failures=st.lists(st.text(), max_size=2).map(tuple),
    lessons=st.dictionaries(st.text(), st.lists(_LESSONS, max_size=2).map(tuple), max_size=2),
    blame=st.dictionaries(st.text(), _SHARES, max_size=2),
    applied=st.lists(st.text(), max_size=2).map(tuple),
    case=st.none() | _CASES,
    spending=st.dictionaries(
        st.tuples(st.sampled_from(Role), st.text()),
        st.builds(Usage, calls=st.integers(0, 9), cost=st.floats(0, 10)),
        max_size=2,
    ),
    fault=st.none() | st.builds(Fault, st.sampled_from(FaultOrigin), st.text(), st.text()),
)


@given(_ROLLOUTS)
def test_a_rollout_reads_back_from_the_journal_as_it_was(rollout: Rollout) -> None:
    assert Rollout.from_json(json.loads(canonical_json(rollout.to_json()))) == rollout


@given(st.lists(st.tuples(st.none() | _SHARES, st.none() | _SHARES), max_size=12))
def test_a_fault_on_one_side_leaves_the_pair_out_on_both(
    scores: list[tuple[float | None, float | None]],
) -> None:
    before = rollouts(*(one for one, _ in scores))
    after = rollouts(*(other for _, other in scores))
    pairs = scored_pairs(before, after)
    assert [(one.score, other.score) for one, other in pairs] == [
        pair for pair in scores if None not in pair
    ]
    assert all(one.example == other.example for one, other in pairs)


def test_rollouts_of_other_examples_are_no_pairs() -> None:
    one, two = rollouts(1.0, 0.0)
    with pytest.raises(ValueError, match="no pair"):
        scored_pairs([one, two], [two, one])
    with pytest.raises(ValueError, match="shorter"):
        scored_pairs([one, two], [one])


def test_means_leave_out_what_was_not_scored() -> None:
    assert mean_score(rollouts(1.0, None, 0.0)) == 0.5
    assert mean_score(rollouts(None)) is None
    assert mean_score([]) is None
    found = [Rollout("a", 1.0, {"x": 1.0}), Rollout("b", 0.0, {"x": 0.0, "y": 0.25})]
    assert mean_objectives(found) == {"x": 0.5, "y": 0.25}
