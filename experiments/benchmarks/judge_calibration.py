"""Writes what `cotune calibrate` is measured with: exchanges whose truth the world shows.

Run `python -m cotune.experiments.benchmarks.judge_calibration FOLDER`, then the command that it
prints. Three simulated people annotate each exchange, each wrong in one item of ten, so that a
judge who knew the truth would agree with their majority in 97 % and a person with the others in
about 82 %. The rubric's words are as bare as a hurried person writes them.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from rich.console import Console

from ...rubrics.annotation import write_annotations
from ...simulation.scenario_file import load_scenarios
from ...simulation.trajectory_file import write_trajectories
from .exchanges import exchanges, people_say

RUBRIC = Path(__file__).with_name("exchange_rubric.yaml")
_MOST = 120
_WRONG = 0.1


def write(folder: Path, wrong: float = _WRONG, most: int = _MOST, shift: int = 0) -> None:
    """Write the exchanges and what people say of them.

    Args:
        folder: Where; created if needed.
        wrong: In which share of the items each person is wrong.
        most: Exchanges at most.
        shift: See `exchanges`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = asyncio.run(exchanges(load_scenarios("grocery"), most, shift))
    write_trajectories(folder / "exchanges.jsonl", (each.trajectory for each in found))
    write_annotations(folder / "annotations.jsonl", people_say(found, wrong))


def main() -> None:
    """Write, and say what to run."""
    parser = argparse.ArgumentParser(description="Writes what calibration is measured with.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", type=float, default=_WRONG, help="share of slips of a person")
    parser.add_argument("--most", type=int, default=_MOST, help="exchanges at most")
    parser.add_argument("--shift", type=int, default=0, help="another one plants other faults")
    given = parser.parse_args()
    write(given.folder, given.wrong, given.most, given.shift)
    folder = given.folder
    Console(highlight=False).print(
        f"cotune calibrate {folder / 'annotations.jsonl'} --trajectories "
        f"{folder / 'exchanges.jsonl'} --rubric {RUBRIC} --judge local --strategy word "
        f"--rollouts 480 --out {folder}",
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
