"""What each agent's part of a joint winner earns alone."""

from __future__ import annotations

from pathlib import Path

from cotune.agents.prompts import Prompt, PromptBundle
from cotune.optimizer.example import RecordedCall
from cotune.optimizer.single_changes import SingleChange, single_changes
from cotune.simulation.journal import Journal

from .tasks import FakeTask, evaluator, examples

SEED = PromptBundle.of(Prompt("helper", "Help."), Prompt("writer", "Write."))


class PairTask(FakeTask):
    """Scores 1 where both prompts are good, and 0.4 where not: alone, either does nothing."""

    @property
    def seed(self) -> PromptBundle:
        return SEED

    async def rollout(self, example: RecordedCall, candidate: PromptBundle, repeat: int):
        both = PromptBundle.of(Prompt("helper", " ".join(p.text for p in candidate.values())))
        return await super().rollout(example, both, repeat)


def _by_both(example: RecordedCall, text: str, repeat: int) -> float:
    return 1.0 if text == "Good. Good." else 0.4


async def _changes(folder: Path, rollouts: int, **texts: str) -> tuple[SingleChange, ...]:
    val = examples("val", 4)
    with Journal(folder / "journal") as journal:
        play = evaluator(PairTask(_by_both), journal, rollouts)
        await play.evaluate(val, SEED, 1)
        return await single_changes(SEED, texts, val, play)


async def test_changes_that_only_help_together_earn_nothing_alone(tmp_path: Path) -> None:
    assert await _changes(tmp_path, 100, helper="Good.", writer="Good.") == (
        SingleChange("helper", 0.4, 0.0),
        SingleChange("writer", 0.4, 0.0),
    )


async def test_what_the_budget_does_not_buy_is_left_out(tmp_path: Path) -> None:
    found = await _changes(tmp_path, 8, helper="Good.", writer="Good.")
    assert [one.agent for one in found] == ["helper"]
