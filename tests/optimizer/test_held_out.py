from __future__ import annotations

from pathlib import Path

import pytest

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer import held_out
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.settings import HeldOutTest
from cotune.rubrics.statistics import Conclusion
from cotune.simulation.journal import Journal

from .tasks import FakeTask, evaluator, splits

TEST = splits(test=20).test
SEED, WINNER = (PromptBundle.of(Prompt("helper", text)) for text in ("seed", "winner"))


async def _compare(
    task: FakeTask, folder: Path, repeats: int = 1, threshold: float = 0.9
) -> held_out.HeldOut | None:
    with Journal(folder / "journal") as journal:
        return await held_out.compare_held_out(
            TEST,
            SEED,
            WINNER,
            evaluator(task, journal, threshold=threshold),
            HeldOutTest(repeats=repeats),
            0,
        )


def _worse_of(text: str, low: float = 0.25, high: float = 0.75) -> FakeTask:
    return FakeTask(lambda example, said, repeat: low if said == text else high)


@pytest.mark.parametrize(
    ("task", "difference", "conclusion"),
    [
        (_worse_of("seed"), 0.5, Conclusion.IMPROVED),
        (_worse_of("winner"), -0.5, Conclusion.WORSE),
        (_worse_of("neither"), 0.0, Conclusion.NO_EVIDENCE),
    ],
)
async def test_the_difference_is_winner_minus_seed(
    task: FakeTask, difference: float, conclusion: Conclusion, tmp_path: Path
) -> None:
    found = await _compare(task, tmp_path)
    assert found is not None
    assert found.overall.difference.mean == pytest.approx(difference)
    assert found.overall.winner - found.overall.seed == pytest.approx(difference)
    assert found.conclusion is conclusion
    assert (found.examples, found.lost) == (20, 0)
    assert found.objectives["right"].difference.mean == pytest.approx(difference)


async def test_every_example_is_played_once_a_side_and_repeat(tmp_path: Path) -> None:
    task = _worse_of("seed")
    found = await _compare(task, tmp_path, repeats=3)
    assert found is not None
    assert len(task.played) == 20 * 2 * 3
    assert set(task.played.values()) == {1}
    assert found.overall.difference.n == 60
    assert found.overall.difference.clusters == 20, "repeats of an example are no new evidence"


async def test_what_a_fault_hit_is_left_out_on_both_sides_and_counted(tmp_path: Path) -> None:
    def score(example: RecordedCall, text: str, repeat: int) -> float:
        return float(text == "winner") if example == TEST[3] else 0.5

    task = FakeTask(score, lost=lambda example, text: example == TEST[3])
    found = await _compare(task, tmp_path)
    assert found is not None
    assert (found.examples, found.lost) == (19, 1)
    assert found.overall.difference.mean == 0
    assert found.overall.difference.n == 19


async def test_without_a_pair_there_is_no_result(tmp_path: Path) -> None:
    def lost(example: RecordedCall, text: str) -> bool:
        return (TEST.index(example) % 2 == 0) == (text == "seed")

    assert await _compare(FakeTask(lost=lost), tmp_path) is None
