"""Pure noise: whatever a run does, it must not claim an improvement that is not there."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import fmean, stdev

from cotune.optimizer.example import RecordedCall
from cotune.optimizer.settings import NoiseSettings, Race
from cotune.rubrics.statistics import Conclusion

from .tasks import FakeTask, numbered, run, settings, splits

_RUNS = 200


def _coin(trial: int) -> FakeTask:
    """A task on which no prompt is better than another."""

    def score(example: RecordedCall, text: str, repeat: int) -> float:
        return float(random.Random(f"{trial} {example.id} {text} {repeat}").random() < 0.6)

    return FakeTask(score, splits(train=24, val=10, test=20))


async def test_races_and_parts_of_val_improve_nothing_on_pure_noise(tmp_path: Path) -> None:
    """200 whole runs: search, selection and test; the reported gain is 0 within its error."""
    gains, conclusions = [], []
    for trial in range(_RUNS):
        chosen = settings(
            180, trial, minibatch=6, acceptance="race", race=Race(step=6, most=24), val="part"
        ).model_copy(update={"noise": NoiseSettings(examples=5)})
        proposer = numbered(f"T{trial}")
        result = await run(_coin(trial), tmp_path / f"{trial}", proposer, chosen)
        conclusions.append(result.conclusion)
        if result.held_out is not None:
            gains.append(result.held_out.overall.difference.mean)
    assert len(gains) > 10, "now and then a lucky candidate is tested"
    assert conclusions.count(Conclusion.IMPROVED) <= 0.05 * _RUNS
    assert abs(fmean(gains)) < 3 * stdev(gains) / len(gains) ** 0.5
