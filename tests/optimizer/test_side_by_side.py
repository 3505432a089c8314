"""Two sides in pairs: what is paired, what flips, and that the sides can be swapped."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cotune.optimizer.settings import HeldOutTest
from cotune.optimizer.side_by_side import SideBySide, compare_rulings
from cotune.rubrics.ruling import Ruling

from ..rubrics.rulings import BUSY, NONE, OPEN, OWN, broken, ruling

_SETTINGS = HeldOutTest(resamples=1000)
_VALUES = st.tuples(
    st.sampled_from([0.0, 1.0, NONE]), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 1.0])
)
_SIDES = st.lists(st.tuples(_VALUES, _VALUES), min_size=1, max_size=12)


def side(*values: tuple[Any, ...]) -> list[Ruling]:
    return [ruling(*each, number=number) for number, each in enumerate(values, start=1)]


def compare(before: list[Ruling], after: list[Ruling]) -> SideBySide:
    found = compare_rulings(before, after, _SETTINGS)
    assert found is not None
    return found


def labelled(one: Ruling, **label: Any) -> Ruling:
    return one.model_copy(update={"label": label})


@settings(deadline=None)
@given(_SIDES)
def test_swapping_the_sides_turns_every_difference_around(sides: list[Any]) -> None:
    one, other = side(*(a for a, _ in sides)), side(*(b for _, b in sides))
    there, back = compare(one, other).held_out, compare(other, one).held_out
    assert there.overall.difference.mean == -back.overall.difference.mean
    assert there.objectives.keys() == back.objectives.keys()
    for name, each in there.objectives.items():
        assert each.difference.mean == -back.objectives[name].difference.mean
        assert (each.seed, each.winner) == (
            back.objectives[name].winner,
            back.objectives[name].seed,
        )


@settings(deadline=None)
@given(_SIDES)
def test_a_side_beside_itself_differs_in_nothing(sides: list[Any]) -> None:
    one = side(*(a for a, _ in sides))
    found = compare(one, one)
    assert found.held_out.overall.difference.mean == 0.0
    assert found.flips == ()
    assert found.alone == (0, 0)
    assert found.judged_alike


def test_parts_are_domains_and_criteria_that_both_have() -> None:
    found = compare(side((1.0, 0.5, 1.0)), side((NONE, 1.0, 1.0)))
    means = {name: each.difference.mean for name, each in found.held_out.objectives.items()}
    assert means == {
        "domain cart": 0.25,
        "domain safety": 0.0,
        "criterion tone": 0.5,
        "criterion safety": 0.0,
    }


def test_what_is_met_on_one_side_only_is_a_flip_and_the_largest_change_comes_first() -> None:
    before = side((1.0, 1.0, 1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (OPEN, 0.5, 1.0))
    after = side((0.0, 1.0, 0.0), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (1.0, 0.0, 1.0))
    flips = compare(before, after).flips
    assert [(flip.scenario, flip.gained, flip.lost) for flip in flips] == [
        ("s-1", (), ("complete", "safety")),
        ("s-2", ("complete",), ()),
    ]
    assert abs(flips[0].change) > abs(flips[1].change)


def test_what_the_assistant_broke_off_is_worth_nothing_and_flips() -> None:
    found = compare(side((1.0, 1.0, 1.0)), [broken(OWN)])
    assert found.held_out.overall.winner == 0.0
    (flip,) = found.flips
    assert flip.change == -1.0
    assert flip.after.fault == OWN


def test_a_fault_leaves_the_pair_out_on_both_sides() -> None:
    found = compare(
        side((1.0, 1.0, 1.0), (0.0, 0.0, 1.0)), [broken(BUSY, 1), ruling(0.0, 0.0, 1.0, number=2)]
    )
    assert (found.held_out.examples, found.held_out.lost) == (1, 1)
    assert found.held_out.overall.difference.mean == 0.0
    assert found.flips == ()


def test_repetitions_are_paired_by_number_and_others_are_counted() -> None:
    before = [labelled(ruling(0.0, 1.0, 1.0), repeat=repeat) for repeat in (0, 1, 2)]
    after = [
        labelled(ruling(1.0, 1.0, 1.0), repeat=2),
        labelled(ruling(0.0, 1.0, 1.0), repeat=0),
        ruling(1.0, 1.0, 1.0, number=9),
    ]
    found = compare(before, after)
    assert found.alone == (1, 1)
    assert found.held_out.overall.difference.n == 2
    assert found.held_out.objectives["criterion complete"].difference.mean == 0.5


def test_what_does_not_say_its_repetition_is_paired_with_the_first() -> None:
    found = compare([labelled(ruling(0.0, 1.0, 1.0), repeat=0)], side((1.0, 1.0, 1.0)))
    assert found.alone == (0, 0)
    assert found.held_out.objectives["criterion complete"].difference.mean == 1.0


def test_what_is_there_twice_is_not_dropped_in_silence() -> None:
    twice = [labelled(ruling(value, 1.0, 1.0), repeat=0) for value in (0.0, 1.0)]
    found = compare(twice, twice[:1])
    assert found.alone == (1, 0)
    assert found.held_out.objectives["criterion complete"].difference.mean == 0.0


def test_nothing_in_common_is_said() -> None:
    assert compare_rulings(side((1.0, 1.0, 1.0)), [], _SETTINGS) is None
    assert compare_rulings([broken(BUSY)], side((1.0, 1.0, 1.0)), _SETTINGS) is None


def test_another_judge_on_one_side_is_noticed() -> None:
    other = [each.model_copy(update={"by": {"rubric": "r"}}) for each in side((1.0, 1.0, 1.0))]
    assert not compare(side((1.0, 1.0, 1.0)), other).judged_alike
