"""A judge held against people: what is compared, what is counted, and how it is weighed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sklearn.metrics import brier_score_loss

from cotune.rubrics.agreement import JudgeAgreement, Rulings, judge_agreement
from cotune.rubrics.annotation_scale import level_of, scales_of
from cotune.rubrics.annotator_agreement import among_annotators, left_out_pairs
from cotune.rubrics.clustered_estimate import Resampling
from cotune.rubrics.comparison import Measure, Pair, Scale, compare
from cotune.rubrics.gold import by_item, gold
from cotune.rubrics.krippendorff_alpha import Level
from cotune.rubrics.reliability import reliability
from cotune.rubrics.verdict import Status
from cotune.rubrics.weighted_agreement import by_domain, overall

from .annotating import PASS_FAIL, annotation, pairs, ratings
from .rulings import NONE, OPEN, OWN, RUBRIC, broken, ruling

QUICK = Resampling(resamples=200)
TIERS = Scale((0.0, 0.5, 1.0), (True, False, False))


def held(
    people: Sequence[Sequence[float | Status]], judge: Sequence[float | Status]
) -> JudgeAgreement:
    """Hold a judge's verdicts on 'safety' against people; conversations are s-1, s-2, …"""
    said = [
        annotation(f"s-{number}", f"p-{who}", value)
        for number, values in enumerate(people, start=1)
        for who, value in enumerate(values)
    ]
    labels = gold(by_item(said, RUBRIC), {})
    rulings = Rulings(
        ruling(1.0, 1.0, value, number=number) for number, value in enumerate(judge, start=1)
    )
    return judge_agreement(labels, rulings, PASS_FAIL, QUICK)


def test_values_on_both_sides_are_compared_and_the_rest_is_counted():
    not_, open_ = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
    found = held(
        [[1.0], [0.0], [1.0], [not_], [not_], [1.0], [1.0], [open_]],
        [1.0, 0.0, NONE, 1.0, NONE, OPEN],
    )
    assert found.comparison.n == 2
    assert found.comparison.confusion == ((1.0, 0.0), (0.0, 1.0))
    assert (found.items, found.not_judged, found.inconclusive, found.not_decided) == (8, 1, 1, 1)
    assert (found.only_judge_excuses, found.only_people_excuse, found.both_excuse) == (1, 1, 1)


def test_a_tie_counts_by_parts_and_is_never_left_out():
    found = held([[1.0], [0.0, 1.0]], [1.0, 1.0])
    assert found.ties == 1
    assert found.comparison.n == 2
    assert found.comparison.value(Measure.RAW) == pytest.approx(0.75)


def test_a_lazy_judge_at_95_percent_has_a_kappa_of_0_and_finds_nothing():
    found = held([[0.0]] * 5 + [[1.0]] * 95, [1.0] * 100).comparison
    assert found.value(Measure.RAW) == pytest.approx(0.95)
    assert found.value(Measure.KAPPA) == 0.0
    assert found.value(Measure.FAILURE_RECALL) == 0.0
    assert found.value(Measure.FAILURE_PRECISION) is None
    assert found.value(Measure.BALANCED) == 0.5


def test_a_conversation_broken_off_has_no_verdict_to_hold_against_people():
    labels = gold(by_item([annotation("s-1", "a", 1.0)], RUBRIC), {})
    found = judge_agreement(labels, Rulings([broken(OWN)]), PASS_FAIL, QUICK)
    assert found.not_judged == 1


def test_the_whole_conversation_is_held_against_whether_it_passed():
    said = [
        annotation(f"s-{number}", "a", value, "overall") for number, value in ((1, 0.0), (2, 1.0))
    ]
    labels = gold(by_item(said, RUBRIC), {})
    rulings = Rulings([ruling(1.0, 1.0, 0.0, number=1), ruling(0.0, 0.0, 1.0, number=2)])
    assert judge_agreement(labels, rulings, PASS_FAIL, QUICK).comparison.value(Measure.RAW) == 1.0


def test_a_rating_of_the_whole_is_not_taken_for_a_pass():
    said = [annotation("s-1", "a", 1.0, "overall"), annotation("s-2", "a", 5.0, "overall")]
    labels = gold(by_item(said, RUBRIC), {})
    rulings = Rulings([ruling(1.0, 1.0, 1.0, number=number) for number in (1, 2)])
    stars = scales_of(said, RUBRIC)["overall"]
    found = judge_agreement(labels, rulings, stars, QUICK)
    assert (found.comparison.n, found.not_judged) == (0, 2)


def test_a_second_ruling_on_a_conversation_is_left_out_and_named():
    rulings = Rulings([ruling(1.0, 1.0, 1.0), ruling(1.0, 1.0, 0.0)])
    assert len(rulings) == 1
    assert rulings.repeated == ["s-1"]


def test_scales_come_from_the_rubric_or_from_what_was_said():
    said = [
        annotation("a", "p", 0.5, "tone"),
        annotation("a", "p", 1.0, "overall"),
        annotation("a", "p", 4.0, "stars"),
        annotation("b", "p", 2.0, "stars"),
        annotation("c", "p", 5.0, "stars"),
    ]
    scales = scales_of(said, RUBRIC)
    assert list(scales) == ["tone", "overall", "stars"]
    assert scales["tone"] == TIERS
    assert scales["overall"] == PASS_FAIL
    assert scales["stars"].values == (2.0, 4.0, 5.0)
    assert not scales["stars"].has_failures
    assert [level_of(scale) for scale in scales.values()] == [
        Level.ORDINAL,
        Level.NOMINAL,
        Level.ORDINAL,
    ]


def test_people_reach_what_one_of_them_reaches_against_the_others():
    said = [
        annotation(f"c-{number}", f"p-{who}", value)
        for number, values in enumerate([(1.0, 1.0, 1.0), (1.0, 1.0, 0.0), (0.0, 0.0, 0.0)] * 8)
        for who, value in enumerate(values)
    ]
    items = by_item(said, None)
    found = among_annotators(items, PASS_FAIL, Level.NOMINAL, QUICK)
    assert (found.items, found.shared, found.ratings) == (24, 24, 72)
    # Of (1, 1, 0), the third is against both others, and each of the first two is half right.
    assert found.left_out.value(Measure.RAW) == pytest.approx((3 + 3 + 1) / 9)
    assert found.left_out.n == 72
    first, second, third = found.pairs
    assert (first.first, first.second, first.n) == ("p-0", "p-1", 24)
    assert (first.raw, first.kappa) == (1.0, 1.0)
    assert second.raw == third.raw == pytest.approx(2 / 3)
    assert found.alpha.low is not None


def test_one_person_alone_says_nothing_of_agreement():
    items = by_item([annotation(f"c-{number}", "p", 1.0) for number in range(5)], None)
    found = among_annotators(items, PASS_FAIL, Level.NOMINAL, QUICK)
    assert found.shared == 0
    assert found.alpha.value is None
    assert list(left_out_pairs(items, PASS_FAIL)) == []


def test_probabilities_are_held_against_passes():
    gold_, said = ratings(60, (1.0, 0.0), 1), ratings(60, (0.9, 0.35, 1.0, 0.0), 2)
    both = [
        Pair(f"c-{number}", passed, float(probability > 0.5), probability=probability)
        for number, (passed, probability) in enumerate(zip(gold_, said, strict=True))
    ]
    found = reliability(both, QUICK)
    assert found is not None
    assert found.brier.value == pytest.approx(brier_score_loss(gold_, said))
    share = sum(gold_) / 60
    assert found.constant == pytest.approx(share * (1 - share))
    assert [one.low for one in found.bins] == [0.0, 0.3, 0.9]
    assert sum(one.n for one in found.bins) == 60
    assert reliability(pairs(gold_, said), QUICK) is None


def compared() -> dict[str, list[Pair]]:
    return {
        "complete": pairs([1.0, 0.0] * 10, [1.0, 0.0] * 9 + [0.0, 0.0]),
        "tone": pairs([1.0, 0.5, 0.0, 1.0] * 5, [1.0, 0.5, 0.0, 0.5] * 5),
        "safety": pairs([1.0] * 20, [1.0] * 18 + [0.0] * 2),
    }


def test_domains_are_weighted_as_in_the_rubric():
    scales = {"complete": PASS_FAIL, "tone": TIERS, "safety": PASS_FAIL}
    domains = by_domain(compared(), scales, RUBRIC, QUICK)
    whole = overall(compared(), scales, RUBRIC, QUICK)
    assert whole is not None
    assert domains["cart"].raw.value == pytest.approx((0.95 + 0.75) / 2)
    assert domains["safety"].raw.value == pytest.approx(0.9)
    assert whole.raw.value == pytest.approx(0.5 * 0.85 + 0.5 * 0.9)
    assert whole.raw.low is not None
    kappas = [
        compare(compared()[name], scales[name], QUICK).value(Measure.KAPPA)
        for name in ("complete", "tone")
    ]
    assert whole.kappa.value == pytest.approx(sum(each or 0.0 for each in kappas) / 2)
    assert (whole.criteria, whole.kappa_of) == (3, 2)
    assert domains["safety"].kappa.value is None


def test_weights_give_the_papers_overall_from_its_domains():
    weights = {"execution": 50, "context": 20, "quality": 10, "safety": 20}
    criteria = [
        {"id": name, "name": name, "domain": name, "points": 1, "judged": True,
         "passes": "Yes.", "fails": "No."}
        for name in weights
    ]  # fmt: skip
    domains = [{"id": name, "name": name, "weight": weight} for name, weight in weights.items()]
    rubric = type(RUBRIC).model_validate(
        {
            "id": "paper",
            "name": "P",
            "subject": "trajectory",
            "domains": domains,
            "criteria": criteria,
        }
    )
    shares = {"execution": 904, "context": 708, "quality": 911, "safety": 1000}
    both = {
        name: pairs([1.0] * 1000, [1.0] * right + [0.0] * (1000 - right))
        for name, right in shares.items()
    }
    whole = overall(both, dict.fromkeys(weights, PASS_FAIL), rubric, QUICK)
    assert whole is not None
    assert whole.raw.value == pytest.approx(0.8847)


def test_nothing_to_compare_has_no_overall():
    assert overall({}, {}, RUBRIC, QUICK) is None
    assert by_domain({}, {}, RUBRIC, QUICK) == {}
