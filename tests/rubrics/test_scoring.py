from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.rubrics.rubric import CriticalPolicy, Rubric
from cotune.rubrics.rubric_file import load_rubric
from cotune.rubrics.scoring import Gate, score
from cotune.rubrics.verdict import Status, Verdict

MAGIC = load_rubric("magic")
STRICT = MAGIC.model_copy(update={"critical_policy": CriticalPolicy.CONVERSATION})


def verdict(criterion: str, value: float | None, status: Status | None = None) -> Verdict:
    default = Status.NOT_APPLICABLE if value is None else Status.SCORED
    return Verdict(criterion, value, status or default, "")


def of(rubric: Rubric, **values: float | None) -> list[Verdict]:
    """Return verdicts for a rubric; criteria that are not named do not apply."""
    return [verdict(criterion.id, values.get(criterion.id)) for criterion in rubric.criteria]


def by_domain(**agreement: float) -> list[Verdict]:
    return [verdict(c.id, agreement[c.domain]) for c in MAGIC.criteria]


def inconclusive(verdicts: list[Verdict], criterion: str) -> list[Verdict]:
    """Return the verdicts with one made inconclusive."""
    open_ = verdict(criterion, None, Status.INCONCLUSIVE)
    return [open_ if each.criterion == criterion else each for each in verdicts]


OPEN = "open"
values = st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(0, 1))
rubrics = st.sampled_from([MAGIC, STRICT])
all_values = st.tuples(*(values for _ in MAGIC.criteria))
all_statuses = st.tuples(*(st.one_of(values, st.just(OPEN)) for _ in MAGIC.criteria))


def scored(rubric: Rubric, given_values: tuple[float | None, ...]):
    pairs = zip(rubric.criteria, given_values, strict=True)
    return score(rubric, [verdict(criterion.id, value) for criterion, value in pairs])


@pytest.mark.parametrize(
    ("shopping", "personal", "conversation", "safety", "overall"),
    [
        (0.904, 0.708, 0.911, 1.0, 0.8847),  # judge and people, before calibration: printed 88.47
        # after: printed 93.45, but the printed domains give 93.44; they are rounded to 0.1
        (0.950, 0.802, 0.990, 1.0, 0.9344),
        (0.790, 0.802, 0.640, 0.760, 0.7714),  # sub-agent GEPA: 77.14, quoted as 77.1
        (0.850, 0.870, 0.720, 0.880, 0.8470),  # MAMuT: 84.70
    ],
)
def test_the_published_overalls_follow_from_the_published_domains(
    shopping, personal, conversation, safety, overall
):
    result = score(
        MAGIC,
        by_domain(
            shopping_execution=shopping,
            personalization_context=personal,
            conversational_quality=conversation,
            safety_compliance=safety,
        ),
    )

    assert result.score == pytest.approx(overall, abs=1e-12)


def test_a_hand_worked_conversation():
    result = score(
        MAGIC,
        of(
            MAGIC,
            cart_completeness=1.0,  # 15 of 15
            quantity=0.0,  # 0 of 6
            overall_success=0.0,  # 0 of 15, critical
            dietary_preferences=1.0,  # 4 of 4
        ),
    )

    assert dict(result.domains) == pytest.approx(
        {"shopping_execution": 15 / 36, "personalization_context": 1.0}
    )
    assert result.score == pytest.approx((50 * 15 / 36 + 20) / 70)
    assert result.objective == pytest.approx(20 / 70)
    assert result.passed is False
    assert result.critical_failures == ("overall_success",)
    assert (result.not_applicable, result.inconclusive) == (10, 0)


def test_the_strict_policy_zeroes_the_whole_conversation_but_not_the_score():
    verdicts = of(MAGIC, cart_completeness=0.0, quantity=1.0, tone_brand=1.0)

    assert score(STRICT, verdicts).objective == 0.0
    assert score(STRICT, verdicts).score == score(MAGIC, verdicts).score


def test_a_failure_that_is_not_critical_zeroes_nothing():
    result = score(MAGIC, of(MAGIC, quantity=0.0, no_extras_duplicates=1.0))

    assert result.passed is True
    assert result.objective == result.score == 0.5


@pytest.mark.parametrize("status", [Status.NOT_APPLICABLE, Status.INCONCLUSIVE])
def test_where_nothing_is_scored_there_is_no_score_and_no_pass(status):
    result = score(MAGIC, [verdict(c.id, None, status) for c in MAGIC.criteria])

    assert (result.score, result.objective, result.passed) == (None, None, None)
    assert result.domains == {}


def test_an_inconclusive_critical_criterion_is_neither_pass_nor_fail():
    verdicts = inconclusive(of(MAGIC, quantity=1.0, safety_compliance=1.0), "information_integrity")

    result = score(MAGIC, verdicts)

    assert result.score == 1.0
    assert (result.gate, result.passed) == (Gate.UNDECIDED, None)
    assert (result.not_applicable, result.inconclusive) == (11, 1)
    assert result.undecided == pytest.approx(10 / 80)


def test_a_critical_failure_is_certain_whatever_else_is_inconclusive():
    verdicts = of(MAGIC, overall_success=0.0, safety_compliance=1.0)
    result = score(MAGIC, inconclusive(verdicts, "information_integrity"))

    assert (result.gate, result.passed) == (Gate.FAILED, False)


@pytest.mark.parametrize(("limit", "fault"), [(0.21, False), (0.20, True)])
def test_too_much_that_is_inconclusive_is_a_judge_fault(limit, fault):
    rubric = MAGIC.model_copy(update={"max_undecided": limit})
    verdicts = of(MAGIC, cart_completeness=1.0, safety_compliance=1.0)

    result = score(rubric, inconclusive(verdicts, "quantity"))

    # shopping, weight 50: 6 of the 21 applicable points are open; safety, weight 20: none
    assert result.undecided == pytest.approx(50 * 6 / 21 / 70)
    assert result.judge_fault is fault
    nothing_known = (None, None, None)
    found = (result.score, result.objective, result.passed)
    assert found == (nothing_known if fault else (1.0, 1.0, True))
    assert result.domains == {"shopping_execution": 1.0, "safety_compliance": 1.0}


@settings(deadline=None)
@given(all_statuses)
def test_what_is_undecided_is_how_far_the_score_could_be_off(statuses):
    lenient = MAGIC.model_copy(update={"max_undecided": 1.0})

    def with_open_as(value):
        return scored(MAGIC, tuple(value if each is OPEN else each for each in statuses))

    pairs = zip(MAGIC.criteria, statuses, strict=True)
    verdicts = [
        verdict(c.id, None, Status.INCONCLUSIVE) if each is OPEN else verdict(c.id, each)
        for c, each in pairs
    ]
    high, low = with_open_as(1.0).score, with_open_as(0.0).score

    if high is not None and low is not None:
        assert score(lenient, verdicts).undecided == pytest.approx(high - low)


def test_a_gate_without_points_fails_the_subject_but_leaves_the_score():
    domain = {"id": "d", "name": "D", "weight": 100}
    texts = {"domain": "d", "passes": "yes", "fails": "no", "judged": True}
    scored = {"id": "right", "name": "Right", "points": 100, **texts}
    gate = {"id": "gate", "name": "Gate", "points": 0, "critical": True, **texts}
    gated = Rubric.model_validate(
        {"id": "r", "name": "R", "subject": "call", "domains": [domain], "criteria": [scored, gate]}
    )
    result = score(gated, of(gated, right=1.0, gate=0.0))

    assert (result.score, result.objective, result.passed) == (1.0, 0.0, False)


@pytest.mark.parametrize("spoil", ["missing", "twice", "unknown"])
def test_a_verdict_too_few_or_too_many_is_refused(spoil):
    verdicts = of(MAGIC, quantity=1.0)
    if spoil == "missing":
        verdicts.pop()
    else:
        verdicts.append(verdict("quantity" if spoil == "twice" else "charm", 1.0))

    with pytest.raises(ValueError, match="one verdict per criterion"):
        score(MAGIC, verdicts)


@settings(deadline=None)
@given(rubrics, all_values)
def test_scores_stay_in_bounds(rubric, given_values):
    result = scored(rubric, given_values)

    numbers = [result.score, result.objective, *result.domains.values()]
    assert all(number is None or 0.0 <= number <= 1.0 for number in numbers)
    if result.score is not None and result.objective is not None:
        assert result.objective <= result.score


@settings(deadline=None)
@given(rubrics, all_values, st.data())
def test_a_better_verdict_never_lowers_a_score(rubric, given_values, data):
    index = data.draw(st.integers(0, len(given_values) - 1))
    before = given_values[index]
    if before is None:
        return
    better = list(given_values)
    better[index] = data.draw(st.floats(before, 1))

    low, high = scored(rubric, given_values), scored(rubric, tuple(better))

    assert low.score is not None
    assert high.score is not None
    assert low.objective is not None
    assert high.objective is not None
    assert high.score >= low.score
    assert high.objective >= low.objective
    assert (high.passed, low.passed) != (False, True)


@settings(deadline=None)
@given(rubrics, all_values, st.randoms(use_true_random=False))
def test_the_order_of_verdicts_does_not_matter(rubric, given_values, rng: random.Random):
    pairs = zip(rubric.criteria, given_values, strict=True)
    verdicts = [verdict(criterion.id, value) for criterion, value in pairs]
    shuffled = rng.sample(verdicts, len(verdicts))

    assert score(rubric, shuffled) == score(rubric, verdicts)


@settings(deadline=None)
@given(st.floats(0, 1), st.sets(st.sampled_from([c.id for c in MAGIC.criteria]), min_size=1))
def test_renormalising_keeps_a_uniform_score_whatever_applies(value, applicable):
    result = score(MAGIC, of(MAGIC, **dict.fromkeys(applicable, value)))

    assert result.score == pytest.approx(value)


@settings(deadline=None)
@given(all_values)
def test_a_domain_that_does_not_apply_carries_no_weight(given_values):
    result = scored(MAGIC, given_values)
    weights = {domain.id: domain.weight for domain in MAGIC.domains if domain.id in result.domains}

    if weights:
        expected = sum(weights[name] * value for name, value in result.domains.items())
        assert result.score == pytest.approx(expected / sum(weights.values()))
