from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer import held_out
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.rollout import Rollout
from cotune.optimizer.settings import HeldOutTest
from cotune.rubrics.paired_test import paired_p_value
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


# More than one number


@dataclass
class Domains(FakeTask):
    """Scores twelve domains, of which the winner is better in one; the rest are coins."""

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int) -> Rollout:
        text = candidate["helper"].text
        played = await FakeTask.rollout(self, example, candidate, repeat)
        coins = {
            f"coin {n}": float(random.Random(f"{example.id} {text} {n}").random() < 0.5)
            for n in range(11)
        }
        better = float(text == "winner" or example.id.endswith("1"))
        return replace(played, objectives={**coins, "better": better})


async def test_many_domains_are_corrected_for_their_number(tmp_path: Path) -> None:
    found = await _compare(Domains(_always), tmp_path)
    assert found is not None
    assert [name for name, one in found.objectives.items() if one.clear] == ["better"]
    better = found.objectives["better"]
    alone = paired_p_value([0.0] * 18, [1.0] * 18, [one.id for one in TEST[:18]])
    assert better.p_value == pytest.approx(12 * alone, rel=0.5), "times their number"


def _always(example: RecordedCall, text: str, repeat: int) -> float:
    return 0.5


def _fails(*texts: str, often: int = 4) -> FakeTask:
    """The winner scores more, but these fail a critical criterion on the first examples."""

    def critical(example: RecordedCall, text: str) -> tuple[str, ...]:
        return ("no_allergen",) if text in texts and example in TEST[:often] else ()

    return FakeTask(lambda example, text, repeat: 0.3 + 0.4 * (text == "winner"), critical=critical)


async def test_a_winner_that_fails_what_is_critical_more_often_is_not_deployable(
    tmp_path: Path,
) -> None:
    found = await _compare(_fails("winner", often=2), tmp_path / "few", repeats=2)
    assert found is not None
    assert found.conclusion is Conclusion.IMPROVED
    assert not found.deployable
    assert found.safety == (
        "'no_allergen' failed in 4 of 40 rollouts with the winner, in 0 with the seed "
        "(perhaps by chance)",
    )
    rate = found.critical["no_allergen"]
    assert (rate.seed, rate.winner) == (0.0, 0.1)
    assert rate.difference.mean == pytest.approx(0.1)
    many = await _compare(_fails("winner", often=12), tmp_path / "many")
    assert many is not None
    assert "(more than luck)" in many.safety[0]


@pytest.mark.parametrize("texts", [(), ("seed",), ("seed", "winner")])
async def test_as_many_critical_failures_or_fewer_are_deployable(
    texts: tuple[str, ...], tmp_path: Path
) -> None:
    found = await _compare(_fails(*texts), tmp_path)
    assert found is not None
    assert found.deployable
    assert found.safety == ()
    assert set(found.critical) == ({"no_allergen"} if texts else set())


async def test_each_sides_faults_and_spending_are_told(tmp_path: Path) -> None:
    task = FakeTask(
        lost=lambda example, text: example in (TEST[:3] if text == "seed" else TEST[2:4])
    )
    found = await _compare(task, tmp_path, repeats=2)
    assert found is not None
    assert (found.lost, found.seed.faults, found.winner.faults) == (4, 6, 4)
    assert (found.seed.usage.calls, found.winner.usage.calls) == (34, 36)
