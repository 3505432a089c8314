"""Several people's values become one, and what they are split on stays in sight."""

from __future__ import annotations

import random

import numpy as np
import pytest

from cotune.rubrics.dawid_skene import true_values
from cotune.rubrics.gold import GoldLabel, GoldMethod, by_item, for_tuning, gold
from cotune.rubrics.verdict import Status

from .annotating import annotation, table

NOT, OPEN = Status.NOT_APPLICABLE, Status.INCONCLUSIVE
FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)

# Votes of three people, - where one did not vote, and the probability of 1 that crowd-kit 1.4.2
# gives each item: DawidSkene(n_iter=300, tol=-1).
# fmt: off
VOTES = [
    "011", "1-1", "010", "-11", "111", "011", "1-1", "101", "1-0", "-01", "111", "111", "101",
    "001", "1-1", "001", "010", "100", "111", "1-1", "00-", "111", "011", "-11", "01-", "010",
    "010", "11-", "000", "111", "101", "101", "001", "001", "100", "110", "--1", "000", "111",
    "000",
]
CROWD_KIT = [
    0.0, 0.7351, 0.0, 0.5948, 0.8105, 0.0, 0.7351, 0.5806, 0.0, 0.3222, 0.8105, 0.8105,
    0.5806, 0.0, 0.7351, 0.0, 0.0, 0.0, 0.8105, 0.7351, 0.0, 0.8105, 0.0, 0.5948,
    0.0, 0.0, 0.0, 0.6989, 0.0, 0.8105, 0.5806, 0.5806, 0.0, 0.0, 0.0, 0.0,
    0.4879, 0.0, 0.8105, 0.0,
]
# fmt: on


def one(*values: float | Status | None, method: GoldMethod = GoldMethod.MAJORITY) -> GoldLabel:
    (label,) = gold(by_item(table([values]), None), {"safety": FIVE}, method)
    return label


def test_the_majority_decides_with_its_share():
    label = one(1.0, 1.0, 0.0)
    assert (label.status, label.value, label.options) == (Status.SCORED, 1.0, (1.0,))
    assert (label.annotators, label.certainty) == (3, pytest.approx(2 / 3))
    assert label.mean == pytest.approx(2 / 3)


def test_a_tie_has_no_value_and_keeps_what_it_is_between():
    label = one(1.0, 0.0)
    assert (label.status, label.value) == (Status.INCONCLUSIVE, None)
    assert set(label.options) == {0.0, 1.0}
    assert label.certainty == 0.5


@pytest.mark.parametrize(
    ("values", "status", "annotators"),
    [
        ((NOT, NOT, 1.0), NOT, 3),
        ((NOT, 1.0), OPEN, 2),
        ((OPEN, OPEN, 1.0), Status.SCORED, 1),
        ((OPEN,), OPEN, 0),
    ],
)
def test_who_cannot_say_has_no_vote_and_not_applicable_is_one(
    values: tuple[float | Status, ...], status: Status, annotators: int
):
    label = one(*values)
    assert (label.status, label.annotators) == (status, annotators)


@pytest.mark.parametrize(
    ("values", "value"),
    [((4.0, 5.0, 5.0), 5.0), ((2.0, 3.0), 2.0), ((1.0, 5.0), 3.0), ((NOT, 4.0, 4.0), 4.0)],
)
def test_the_mean_is_the_nearest_value_of_the_scale_the_lower_of_two(
    values: tuple[float, ...], value: float
):
    assert one(*values, method=GoldMethod.MEAN).value == value


def test_a_mean_does_not_outvote_those_who_say_it_does_not_apply():
    assert one(NOT, NOT, 4.0, method=GoldMethod.MEAN).status is NOT
    assert set(one(NOT, 4.0, method=GoldMethod.MEAN).options) == {NOT, 4.0}


def test_tuning_can_leave_out_what_is_unclear_and_the_gold_keeps_it():
    labels = gold(by_item(table([(1.0, 1.0, 1.0), (1.0, 1.0, 0.0), (1.0, 0.0)]), None), {})
    assert len(labels) == 3
    assert [each.item.conversation for each in for_tuning(labels, 0.6)] == ["c-0", "c-1"]
    assert [each.item.conversation for each in for_tuning(labels, 0.9)] == ["c-0"]


def test_turns_are_items_of_their_own_where_no_rubric_says_otherwise():
    said = [annotation("c", "a", 1.0, turn=0), annotation("c", "a", 0.0, turn=1)]
    assert [item.turn for item in by_item(said, None)] == [0, 1]


def crowd() -> list[list[float]]:
    """Two good people and two who guess; who guesses is never told."""
    generator = random.Random(5)
    rows: list[list[float]] = []
    for _ in range(150):
        truth = float(generator.random() < 0.6)
        right = [generator.random() < share for share in (0.95, 0.95, 0.55, 0.55)]
        rows.append([truth if each else 1.0 - truth for each in right] + [truth])
    return rows


def test_dawid_and_skene_learn_whom_to_believe():
    rows = crowd()
    items = by_item(table(row[:4] for row in rows), None)
    truth = {f"c-{number}": row[4] for number, row in enumerate(rows)}

    def right(method: GoldMethod) -> float:
        labels = gold(items, {}, method)
        return np.mean([each.value == truth[each.item.conversation] for each in labels]).item()

    assert right(GoldMethod.DAWID_SKENE) > right(GoldMethod.MAJORITY) + 0.1


def test_dawid_and_skene_give_what_crowd_kit_gives():
    votes = np.array([[[each == "0", each == "1"] for each in row] for row in VOTES], dtype=float)
    assert true_values(votes)[:, 1] == pytest.approx(CROWD_KIT, abs=2e-4)


def test_dawid_and_skene_with_one_value_only_keep_it():
    assert one(1.0, 1.0, method=GoldMethod.DAWID_SKENE).value == 1.0
    assert one(OPEN, method=GoldMethod.DAWID_SKENE).status is Status.INCONCLUSIVE
