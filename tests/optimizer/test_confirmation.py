"""Critical failures of one side: what happens again counts, and what cannot be paid for, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.confirmation import Confirmation
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.rollout import Rollout
from cotune.simulation.journal import Journal

from .tasks import FakeTask, evaluator, examples

SEED, CHILD = (PromptBundle.of(Prompt("helper", text)) for text in ("Help.", "Better."))
VAL = examples("val", 6)


def seen(*failed: int) -> list[Rollout]:
    return [
        Rollout(one.id, 0.5, critical_failures=("no_allergen",) if number in failed else ())
        for number, one in enumerate(VAL)
    ]


def failures(rollouts: list[Rollout]) -> list[int]:
    return [number for number, one in enumerate(rollouts) if one.critical_failures]


def always(*failing: tuple[str, int]) -> FakeTask:
    """A task in which a prompt fails critically on an example whenever it is played."""

    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
        failed = (text, int(example.id.split("-")[1])) in failing
        return ("no_allergen",) if failed else ()

    return FakeTask(lambda example, text, repeat: 0.9, critical=critical)


async def confirmed(
    task: FakeTask, folder: Path, before: list[Rollout], after: list[Rollout], rollouts: int = 100
) -> tuple[list[int], list[int]]:
    with Journal(folder / "journal") as journal:
        confirmation = Confirmation.over(evaluator(task, journal, rollouts), VAL)
        one, other = await confirmation.confirmed(SEED, CHILD, before, after)
    assert [each.score for each in (*one, *other)] == [0.5] * 12, "scores stay as they were"
    return failures(one), failures(other)


async def test_what_happens_again_counts_and_what_does_not_is_luck(tmp_path: Path) -> None:
    task = always(("Better.", 2))
    assert await confirmed(task, tmp_path, seen(), seen(2, 4)) == ([], [2])
    assert {id_ for id_, _, _ in task.played} == {"val-2", "val-4"}
    assert task.played.total() == 4, "both sides, once"


async def test_neither_side_is_favoured(tmp_path: Path) -> None:
    task = always(("Help.", 0), ("Better.", 2), ("Better.", 3))
    assert await confirmed(task, tmp_path, seen(0, 1, 5), seen(2, 3, 4, 5)) == ([0, 5], [2, 3, 5])
    assert "val-5" not in {id_ for id_, _, _ in task.played}, "both failed: no dispute"


async def test_a_child_that_is_no_less_safe_is_not_played_again(tmp_path: Path) -> None:
    task = always()
    assert await confirmed(task, tmp_path, seen(0), seen(1)) == ([0], [1])
    assert not task.played


@pytest.mark.parametrize("rollouts", [1])
async def test_what_cannot_be_paid_for_counts_as_it_is(rollouts: int, tmp_path: Path) -> None:
    task = always()
    assert await confirmed(task, tmp_path, seen(), seen(1), rollouts) == ([], [1])
    assert not task.played


async def test_a_fault_confirms_nothing_and_clears_nothing(tmp_path: Path) -> None:
    task = FakeTask(lost=lambda example, text: True)
    with Journal(tmp_path / "journal") as journal:
        play = evaluator(task, journal, 100, 1.0)
        found = await Confirmation.over(play, VAL).confirmed(SEED, CHILD, seen(), seen(1))
    assert [failures(one) for one in found] == [[], [1]]
